import MediaTypes
import Synchronization
import Testing

import Room

@Suite("The room's stream of events")
struct RoomEventsTests {
    @Test("what is told behind the end has numbers of its own: no two events have the same")
    func behindTheEnd() {
        let lines = Mutex<[String]>([])
        let events = RoomEvents(roomID: "r") { line in lines.withLock { $0.append(line) } }
        events.emit("room.closed")
        events.close()
        events.emit("webhook.failing")
        events.emit("webhook.restored")
        let numbers = lines.withLock { $0 }.compactMap { line in
            line.firstMatch(of: /"sequence":([0-9]+)/).map { String($0.output.1) }
        }
        #expect(numbers == ["1", "2", "3"])
    }
}
