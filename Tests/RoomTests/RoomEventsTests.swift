import MediaTypes
import RoomAPI
import Synchronization
import Testing

import Room

@Suite("The room's event stream")
struct RoomEventsTests {
    @Test("events after room.closed continue the sequence numbers")
    func behindTheEnd() {
        let lines = Mutex<[String]>([])
        let events = RoomEvents(roomID: "r", wall: StandingWall()) { line in lines.withLock { $0.append(line) } }
        events.emit("room.closed")
        events.close()
        events.emit("webhook.failing")
        events.emit("webhook.restored")
        let numbers = lines.withLock { $0 }.compactMap { line in
            line.firstMatch(of: /"sequence":([0-9]+)/).map { String($0.output.1) }
        }
        #expect(numbers == ["1", "2", "3"])
    }

    @Test("the time of an event comes from the wall clock, not from the program")
    func time() {
        let lines = Mutex<[String]>([])
        let events = RoomEvents(roomID: "r", wall: StandingWall(time: 1_700_000_000_250_000_000)) { line in
            lines.withLock { $0.append(line) }
        }
        events.emit("room.ready")
        events.setProgramTime(origin: 1_600_000_000_000_000_000) { 2_000_000_000 }
        events.emit("room.closed")
        let told = lines.withLock { $0 }
        #expect(told.count == 2 && told.allSatisfy { $0.contains(#""time":"2023-11-14T22:13:20.250Z""#) }, "\(told)")
        #expect(told.last?.contains(#""programDateTime":"2020-09-13T12:26:42.000Z""#) == true)
    }
}
