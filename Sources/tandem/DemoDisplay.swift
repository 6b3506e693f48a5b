import Room
import Synchronization
import TerminalText

/// Shows the demo on the terminal: addresses, the scene on air, and the state of the room.
final class DemoDisplay: Sendable {
    private struct State {
        var scene = "solo"
        var segments = 0
        var hasLine = false
    }

    private let isLive: Bool
    private let output: String
    private let state = Mutex(State())

    init(isLive: Bool, output: String) {
        self.isLive = isLive
        self.output = output
    }

    func opened(control: String, page: String, rtmp: String, whip: String?) {
        self.say(DemoText(control: control, viewer: page, rtmp: rtmp, whip: whip, output: self.output).text)
    }

    func scene(_ name: String) {
        self.state.withLock { $0.scene = name }
        if !self.isLive { self.say("scene \(name)\n") }
    }

    /// Handles an event line: counts segments, and prints lost sources, failed outputs and, if there is no live status
    /// line, that the room can be played.
    func received(_ line: String) {
        if line.hasPrefix("{\"type\":\"segment.published\"") {
            self.state.withLock { $0.segments += 1 }
        } else if line.hasPrefix("{\"type\":\"broadcast.active\""), !self.isLive {
            self.say("on air: the first segment can be played\n")
        } else if line.contains("\"type\":\"source.lost\"") || line.contains("\"type\":\"output.failed\"") {
            self.say("\(line)\n")
        }
    }

    func update(_ room: Room) {
        let (scene, segments) = self.state.withLock { ($0.scene, $0.segments) }
        guard self.isLive else { return }
        let facts = room.facts.progress
        let time = "\(facts.seconds / 60):\(facts.seconds % 60 < 10 ? "0" : "")\(facts.seconds % 60)"
        let sources = facts.sources.map { "\($0.name) \($0.state)" }.joined(separator: ", ")
        self.state.withLock { $0.hasLine = true }
        StandardError.write(
            "\r\u{1b}[2K  \(time)  scene \(scene)  |  \(sources)  |  segments \(segments), late \(facts.late), lost \(facts.lost)"
        )
    }

    func finish() {
        if self.state.withLock({ $0.hasLine }) { StandardError.write("\n") }
    }

    private func say(_ text: String) {
        let hasLine = self.state.withLock { state in
            defer { state.hasLine = false }
            return state.hasLine
        }
        StandardError.write((hasLine ? "\r\u{1b}[2K" : "") + text)
    }
}
