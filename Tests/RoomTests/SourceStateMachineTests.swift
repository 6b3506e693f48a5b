import Room
import RoomSources
import TestSupport
import Testing

@Suite("SourceStateMachine: a source's states idle, connected, publishing, live, stalled, lost, reconnecting, gone")
struct SourceStateMachineTests {
    private static let second = Kit.second

    private static func live() -> SourceStateMachine {
        var source = SourceStateMachine(rules: Kit.rules)
        for event in [SourceStateMachine.Event.published, .arrived, .firstFrameDecoded] {
            _ = source.receive(event, now: 0)
        }
        return source
    }

    @Test("a source's connection, first packet and first frame each change its state once")
    func beginning() {
        var source = SourceStateMachine(rules: Kit.rules)
        #expect(source.receive(.published, now: 1).map(\.to) == [.connected])
        #expect(source.receive(.arrived, now: 2).map(\.to) == [.publishing])
        #expect(source.receive(.arrived, now: 3).isEmpty)
        #expect(source.receive(.firstFrameDecoded, now: 4).map(\.to) == [.live])
        #expect(source.receive(.firstFrameDecoded, now: 5).isEmpty)
        #expect(source.since == 4)
    }

    @Test("a source whose publisher leaves is lost, then reconnecting until its grace period ends, then gone")
    func grace() {
        var source = Self.live()
        let changes = source.receive(.left(reason: "reset"), now: Self.second)
        #expect(changes.map(\.to) == [.lost, .reconnecting])
        #expect(changes.map(\.awaitsPublisher) == [false, true])
        #expect(changes.first?.reason == "reset")
        #expect(source.graceUntil == 16 * Self.second)
        #expect(source.poll(now: 16 * Self.second - 1, arrivals: .init()).isEmpty)
        #expect(source.poll(now: 16 * Self.second, arrivals: .init()).map(\.to) == [.gone])
        #expect(source.poll(now: 99 * Self.second, arrivals: .init()).isEmpty)
    }

    @Test(
        "while a returned publisher has no frame yet, the grace period is stopped; its first frame makes the source live"
    )
    func returning() {
        var source = Self.live()
        _ = source.receive(.left(reason: "reset"), now: 0)
        _ = source.receive(.drained, now: 0)
        #expect(source.receive(.published, now: Self.second).isEmpty)
        #expect(source.graceUntil == nil)
        #expect(source.poll(now: 60 * Self.second, arrivals: .init()).isEmpty)
        #expect(source.receive(.firstFrameDecoded, now: 61 * Self.second).map(\.to) == [.live])
        #expect(!source.isAway(now: 99 * Self.second))
    }

    @Test("the hold time of a lost source starts when its queued media has been shown")
    func holdOfWhatWaits() {
        var source = Self.live()
        _ = source.receive(.left(reason: "reset"), now: 0)
        #expect(source.deadline(after: 0) == 15 * Self.second, "the end of the grace")
        #expect(!source.isAway(now: 10 * Self.second), "ten seconds of it are still to be shown")
        _ = source.receive(.drained, now: 10 * Self.second)
        #expect(source.deadline(after: 10 * Self.second) == 12 * Self.second)
        #expect(!source.isAway(now: 12 * Self.second - 1) && source.isAway(now: 12 * Self.second))
        // A publisher that connects and leaves without a frame does not bring back the last frame.
        _ = source.receive(.published, now: 13 * Self.second)
        _ = source.receive(.left(reason: "again"), now: 14 * Self.second)
        #expect(source.isAway(now: 14 * Self.second))
        _ = source.receive(.drained, now: 14 * Self.second)
        #expect(source.isAway(now: 14 * Self.second))
    }

    @Test("if a lost source's decoder never finishes, its hold time starts 55 s after the loss")
    func decoderThatHangs() {
        var source = Self.live()
        _ = source.receive(.left(reason: "reset"), now: 0)
        _ = source.poll(now: 15 * Self.second, arrivals: .init())
        #expect(source.deadline(after: 15 * Self.second) == 57 * Self.second)
        #expect(!source.isAway(now: 57 * Self.second - 1) && source.isAway(now: 57 * Self.second))
        _ = source.receive(.drained, now: 60 * Self.second)
        #expect(source.isAway(now: 60 * Self.second), "its pane does not return for media that was not waited for")
    }

    @Test("if a lost source's media was decoded before the loss is reported, its hold time starts at the report")
    func drainedFirst() {
        var source = Self.live()
        _ = source.receive(.drained, now: 1)
        _ = source.receive(.left(reason: "reset"), now: 2)
        #expect(!source.isAway(now: 2 * Self.second + 1) && source.isAway(now: 2 * Self.second + 2))
    }

    @Test("a connection that ends without a frame does not renew a source's grace period")
    func graceIsNotRenewed() {
        var source = Self.live()
        _ = source.receive(.left(reason: "reset"), now: 0)
        _ = source.receive(.published, now: 14 * Self.second)
        #expect(source.receive(.left(reason: "again"), now: 20 * Self.second).isEmpty)
        #expect(source.poll(now: 20 * Self.second, arrivals: .init()).map(\.to) == [.gone])
    }

    @Test("a source that was gone, connects and leaves without a frame gets a new grace period")
    func graceAfterGone() {
        var source = Self.live()
        _ = source.receive(.left(reason: "reset"), now: 0)
        _ = source.receive(.drained, now: 0)
        #expect(source.poll(now: 15 * Self.second, arrivals: .init()).map(\.to) == [.gone])
        #expect(source.receive(.published, now: 600 * Self.second).map(\.to) == [.connected])
        let changes = source.receive(.left(reason: "again"), now: 601 * Self.second)
        #expect(changes.map(\.to) == [.lost, .reconnecting])
        #expect(source.graceUntil == 616 * Self.second)
        #expect(source.isAway(now: 601 * Self.second), "its last frame is not held again")
        #expect(source.poll(now: 616 * Self.second - 1, arrivals: .init()).isEmpty)
        #expect(source.poll(now: 616 * Self.second, arrivals: .init()).map(\.to) == [.gone])
    }

    @Test("after a takeover a source is reconnecting, not lost, until the new connection's first frame")
    func takeover() {
        var source = Self.live()
        let changes = source.receive(.takenOver, now: 1)
        #expect(changes.map(\.to) == [.reconnecting] && changes.map(\.awaitsPublisher) == [false])
        _ = source.receive(.published, now: 1)
        #expect(source.receive(.firstFrameDecoded, now: 2).isEmpty, "the older connection's end, still in the decoder")
        _ = source.receive(.drained, now: 3)
        #expect(source.receive(.firstFrameDecoded, now: 4).map(\.to) == [.live])
    }

    @Test(
        "after stallMs without packets a source is stalled, and with the next packet live; audio packets count")
    func stall() {
        var source = Self.live()
        var changes: [SourceStateMachine.Change] = []
        for now in stride(from: Int64(0), through: 4 * Self.second, by: 100_000_000) {
            // Video until 1 s, audio until 2 s, a frame again at 3.5 s.
            let arrivals = SourceStateMachine.Arrivals(
                video: now < 3_500_000_000 ? min(now, Self.second) : 3_500_000_000, audio: min(now, 2 * Self.second))
            changes += source.poll(now: now, arrivals: arrivals)
        }
        #expect(changes.map(\.to) == [.stalled, .live])
        #expect(source.since == 3_500_000_000)
    }

    /// Polls every 50 ms from the last packet on. Returns the transitions and their times in milliseconds.
    private static func silence(
        _ source: inout SourceStateMachine, until end: Int64, shownAfter: Int64 = 0
    ) -> [(at: Int64, to: SourceStateMachine.State)] {
        stride(from: Int64(0), through: end, by: 50_000_000).flatMap { now in
            source.poll(now: now, arrivals: .init(video: 0, audio: 0, shownAfter: shownAfter))
                .map { (now / 1_000_000, $0.to) }
        }
    }

    @Test(
        "a stalled source counts as away after stalledHold, counted from when its last packet was shown",
        arguments: [(hold: Int64(0), shownAfter: 0, away: 1050), (1000, 0, 1050), (1000, 250, 1250), (2000, 200, 2200)])
    func stalledHold(hold: Int64, shownAfter: Int64, away: Int64) {
        let rules = SourceStateMachine.Rules(
            stall: Self.second, grace: 15 * Self.second, hold: 9 * Self.second, stalledHold: hold * 1_000_000)
        var source = SourceStateMachine(rules: rules)
        for event in [SourceStateMachine.Event.published, .arrived, .firstFrameDecoded] {
            _ = source.receive(event, now: 0)
        }
        let changes = Self.silence(&source, until: (away - 50) * 1_000_000, shownAfter: shownAfter * 1_000_000)
        #expect(changes.allSatisfy { $0.at == 1050 && $0.to == .stalled })
        #expect(!source.isAway(now: (away - 50) * 1_000_000))
        _ = source.poll(now: away * 1_000_000, arrivals: .init(video: 0, shownAfter: shownAfter * 1_000_000))
        #expect(source.state == .stalled && source.isAway(now: away * 1_000_000))
        _ = source.poll(now: 3 * Self.second, arrivals: .init(video: 3 * Self.second))
        #expect(source.state == .live && !source.isAway(now: 99 * Self.second))
    }

    @Test("without stalledHold, a stalled source stays present and is not away while it is connected")
    func stillScreenWithoutAudio() {
        var source = SourceStateMachine(
            rules: SourceStateMachine.Rules(
                stall: Self.second, grace: 15 * Self.second, hold: Self.second, stalledHold: nil))
        for event in [SourceStateMachine.Event.published, .arrived, .firstFrameDecoded] {
            _ = source.receive(event, now: 0)
        }
        #expect(Self.silence(&source, until: 60 * Self.second).map(\.to) == [.stalled])
        #expect(source.isPresent && !source.isAway(now: 60 * Self.second))
        _ = source.receive(.left(reason: "reset"), now: 60 * Self.second)
        #expect(source.graceUntil == 75 * Self.second)
    }

    @Test("a silent source that is then lost has a single grace period, which starts with its last packet")
    func oneGrace() {
        // The connection stays open.
        var open = Self.live()
        _ = Self.silence(&open, until: 15 * Self.second - 50_000_000)
        #expect(!open.isGivenUp && open.isPresent)
        #expect(open.deadline(after: 15 * Self.second - 1) == 15 * Self.second)
        _ = open.poll(now: 15 * Self.second, arrivals: .init(video: 0))
        #expect(open.isGivenUp && open.isAbsent && !open.isPresent && open.state == .stalled)
        // It ends after the grace: there is no second grace.
        #expect(open.receive(.left(reason: "idle"), now: 90 * Self.second).map(\.to) == [.lost, .reconnecting])
        #expect(open.isAway(now: 90 * Self.second) && open.isAbsent, "its last frame is not held again")
        #expect(open.poll(now: 90 * Self.second, arrivals: .init()).map(\.to) == [.gone])
        // It ends within the grace.
        var ended = Self.live()
        _ = Self.silence(&ended, until: 10 * Self.second)
        _ = ended.receive(.left(reason: "reset"), now: 10 * Self.second)
        #expect(ended.graceUntil == 15 * Self.second)
        _ = ended.receive(.drained, now: 10 * Self.second)
        #expect(ended.isAway(now: 10 * Self.second))
        // A publisher that returns meanwhile has a grace of its own later.
        _ = ended.receive(.published, now: 14 * Self.second)
        #expect(ended.graceUntil == nil && !ended.isAbsent)
        #expect(ended.receive(.firstFrameDecoded, now: 16 * Self.second).map(\.to) == [.live])
        _ = ended.receive(.left(reason: "again"), now: 20 * Self.second)
        #expect(ended.graceUntil == 35 * Self.second)
    }

    @Test("a source that was silent beyond its grace period is present again with its next packet")
    func backFromSilence() {
        var source = Self.live()
        _ = Self.silence(&source, until: 20 * Self.second)
        #expect(source.isGivenUp)
        let changes = source.poll(now: 20 * Self.second + 1, arrivals: .init(video: 20 * Self.second))
        #expect(changes.map(\.to) == [.live])
        #expect(source.isPresent && !source.isAbsent && !source.isAway(now: 99 * Self.second))
    }

    @Test("while its socket has unread data, a source is not stalled")
    func unread() {
        var source = Self.live()
        var changes: [SourceStateMachine.Change] = []
        for now in stride(from: Int64(0), through: 5 * Self.second, by: 100_000_000) {
            // Read every quarter of a second, always with new packets; from 3 s on none arrive.
            let read = now - now % 250_000_000
            changes += source.poll(
                now: now, arrivals: .init(video: min(read, 3 * Self.second) - 900_000_000, readUntil: read))
            if now < 3_250_000_000 { #expect(changes.isEmpty) }
        }
        #expect(changes.map(\.to) == [.stalled])
        #expect(SourceStateMachine.Arrivals(readUntil: 7).known(at: 5) == 5, "reads cannot be in the future")
    }

    @Test("a still screen with a frame every five seconds is live while audio arrives")
    func stillScreen() {
        var source = Self.live()
        for now in stride(from: Int64(0), through: 60 * Self.second, by: 100_000_000) {
            let arrivals = SourceStateMachine.Arrivals(video: now - now % (5 * Self.second), audio: now)
            #expect(source.poll(now: now, arrivals: arrivals).isEmpty)
        }
        #expect(source.state == .live)
    }

    @Test("after the worker was suspended, a source is not stalled until it has been silent for stallMs again")
    func absence() {
        var source = Self.live()
        #expect(source.poll(now: 0, arrivals: .init(video: 0)).isEmpty)
        #expect(source.poll(now: 20 * Self.second, arrivals: .init(video: 0)).isEmpty)
        #expect(source.poll(now: 20 * Self.second + 400_000_000, arrivals: .init(video: 0)).isEmpty)
        #expect(source.poll(now: 20 * Self.second + 800_000_000, arrivals: .init(video: 0)).isEmpty)
        let late = source.poll(now: 20 * Self.second + 1_200_000_000, arrivals: .init(video: 0))
        #expect(late.map(\.to) == [.stalled])
    }

    @Test("while the worker is suspended, a stalled source stays stalled, and its grace period continues")
    func absenceWhileStalled() {
        var source = Self.live()
        _ = Self.silence(&source, until: 2 * Self.second)
        #expect(source.state == .stalled)
        #expect(source.poll(now: 4 * Self.second, arrivals: .init(video: 0)).isEmpty)
        #expect(source.state == .stalled && source.silentSince == 0)
        for now in stride(from: 4 * Self.second, through: 15 * Self.second, by: 100_000_000) {
            #expect(source.poll(now: now, arrivals: .init(video: 0)).isEmpty)
        }
        #expect(source.isGivenUp, "at the end of the grace that began with the last packet")

        // Suspended across the end of the grace: packets that arrived meanwhile may not have been read yet.
        var longer = Self.live()
        _ = Self.silence(&longer, until: 2 * Self.second)
        #expect(longer.poll(now: 60 * Self.second, arrivals: .init(video: 0)).isEmpty)
        #expect(!longer.isGivenUp && longer.deadline(after: 60 * Self.second) == 61 * Self.second + 1)
        var back = longer
        let again = back.poll(now: 60 * Self.second + 50_000_000, arrivals: .init(video: 60 * Self.second))
        #expect(again.map(\.to) == [.live])
        for now in stride(from: 60 * Self.second, through: 61 * Self.second, by: 100_000_000) {
            #expect(longer.poll(now: now, arrivals: .init(video: 0)).isEmpty && !longer.isGivenUp)
        }
        _ = longer.poll(now: 61 * Self.second + 1, arrivals: .init(video: 0))
        #expect(longer.isGivenUp)
    }

    @Test("in a room with video, a source whose publisher sends only audio is live after one second")
    func audioOnly() {
        var source = SourceStateMachine(rules: Kit.rules)
        for event in [SourceStateMachine.Event.published, .arrived, .firstAudioDecoded] {
            _ = source.receive(event, now: 0)
        }
        #expect(source.deadline(after: 0) == Self.second)
        #expect(source.poll(now: Self.second - 1, arrivals: .init(audio: Self.second)).isEmpty)
        #expect(source.poll(now: Self.second, arrivals: .init(audio: Self.second)).map(\.to) == [.live])
    }

    @Test("without a grace period a lost source is gone at once, and returns like a new publisher")
    func noGrace() {
        var source = SourceStateMachine(rules: SourceStateMachine.Rules(stall: nil, grace: 0, hold: 0))
        for event in [SourceStateMachine.Event.published, .firstFrameDecoded] { _ = source.receive(event, now: 0) }
        #expect(source.receive(.left(reason: "x"), now: 1).map(\.to) == [.lost, .gone])
        _ = source.receive(.drained, now: 1)
        #expect(source.receive(.published, now: 2).map(\.to) == [.connected])
        #expect(source.receive(.firstFrameDecoded, now: 3).map(\.to) == [.live])
    }

    @Test(
        "for random events, each state change of a source begins with its last state, and a publisher with a frame makes it live"
    )
    func total() {
        var random = TestRandom(state: 7)
        let events: [SourceStateMachine.Event] = [
            .published, .arrived, .firstFrameDecoded, .firstAudioDecoded, .left(reason: "r"), .takenOver, .drained,
            .finished,
        ]
        for _ in 0..<50 {
            var source = SourceStateMachine(rules: Kit.rules)
            var state = source.state
            var now: Int64 = 0
            for _ in 0..<500 {
                now += Int64.random(in: 0...Self.second, using: &random)
                let arrivals = SourceStateMachine.Arrivals(video: Bool.random(using: &random) ? now : nil)
                let changes =
                    source.receive(events.randomElement(using: &random) ?? .arrived, now: now)
                    + source.poll(now: now, arrivals: arrivals)
                for change in changes {
                    #expect(change.from == state && change.to != state)
                    state = change.to
                }
                #expect(state == source.state)
            }
            _ = source.receive(.left(reason: "end"), now: now)
            for _ in 0..<500 { _ = source.receive(.drained, now: now) }
            _ = source.receive(.published, now: now)
            _ = source.receive(.firstFrameDecoded, now: now)
            #expect(source.state == .live)
        }
    }
}
