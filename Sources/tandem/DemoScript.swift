import Room
import RoomAPI
import Synchronization

/// Runs the demo: starts two publishers and switches the scenes from solo to PK and back.
final class DemoScript: Sendable {
    private let duration: Int?
    private let publishers = Mutex<[Int32]>([])
    private let result = Mutex<RoomSummary?>(nil)

    init(duration: Int?) { self.duration = duration }

    var summary: RoomSummary? { self.result.withLock { $0 } }

    /// The scenes of the demo with their durations in seconds, repeated without end; if the demo has a duration, each of
    /// three scenes takes about a third of it.
    private var steps: [(scene: String, seconds: Int)] {
        guard let duration = self.duration else { return [("solo", 10), ("pk", 20)] }
        let third = max(1, duration / 3)
        return [("solo", third), ("pk", duration - 2 * third), ("solo", third)]
    }

    func play(in room: Room, _ display: DemoDisplay) async {
        defer { self.result.withLock { $0 = room.summary() } }
        guard await self.wait({ room.address("control") != nil }, room) else { return }
        let rtmp = room.address("rtmp") ?? ""
        display.opened(
            control: room.address("control") ?? "", page: room.address("viewer") ?? "", rtmp: rtmp,
            whip: room.address("whip"))
        for (name, key) in [("ANNA", "anna"), ("BEN", "ben")] {
            if let child = RoomProcess.spawnSelf(["publish", "pattern:\(name)", "\(rtmp)/live/\(key)"]) {
                self.publishers.withLock { $0.append(child) }
            }
        }
        guard await self.wait({ room.state == .live }, room) else { return }
        var step = 0
        while !Task.isCancelled {
            let (scene, seconds) = self.steps[step % self.steps.count]
            if step > 0 { try? room.setProgram(sceneID: scene) }
            display.scene(scene)
            for _ in 0..<seconds * 4 {
                try? await Task.sleep(for: .milliseconds(250))
                self.result.withLock { $0 = room.summary() }
                display.update(room)
                guard !Task.isCancelled, room.state == .live else { return }
            }
            step += 1
            if self.duration != nil, step >= self.steps.count {
                // The room ends by its own clock; the last scene stays until then.
                while !Task.isCancelled, room.state == .live { try? await Task.sleep(for: .milliseconds(100)) }
                return
            }
        }
    }

    func stopPublishers() {
        let children = self.publishers.withLock { children in
            defer { children = [] }
            return children
        }
        for child in children { RoomProcess.end(child) }
    }

    private func wait(_ condition: () -> Bool, _ room: Room) async -> Bool {
        while !condition() {
            if Task.isCancelled || room.state == .closed { return false }
            try? await Task.sleep(for: .milliseconds(20))
        }
        return true
    }
}
