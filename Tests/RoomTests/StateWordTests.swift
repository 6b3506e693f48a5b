import Room
import RoomAPI
import RoomSources
import Testing

@Suite("Replies and metrics list every state")
struct StateWordTests {
    @Test("the states of a room that the API lists are those there are, in their order")
    func roomStates() {
        #expect(RoomReply.states == RoomPhase.State.allCases.map(\.rawValue))
    }

    @Test("the states of a source that the API lists are those there are, in their order")
    func sourceStates() {
        #expect(SourceFacts.states == SourceLife.State.allCases.map(\.rawValue))
    }
}
