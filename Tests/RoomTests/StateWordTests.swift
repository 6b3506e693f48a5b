import Room
import RoomAPI
import RoomSources
import Testing

@Suite("State names of rooms and sources in the API")
struct StateWordTests {
    @Test("the API lists the states of a room completely and in order")
    func roomStates() {
        #expect(RoomFacts.states == RoomPhase.State.allCases.map(\.rawValue))
    }

    @Test("the API lists the states of a source completely and in order")
    func sourceStates() {
        #expect(SourceFacts.states == SourceStateMachine.State.allCases.map(\.rawValue))
    }
}
