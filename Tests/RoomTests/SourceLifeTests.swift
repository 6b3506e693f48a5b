import Room
import RoomSources
import TestSupport
import Testing

@Suite("A source's life: idle, connected, publishing, live, stalled, lost, reconnecting, gone")
struct SourceLifeTests {
    private static let second = Kit.second

    private static func live() -> SourceLife {
        var source = SourceLife(rules: Kit.rules)
        for event in [SourceLife.Event.published, .arrived, .pictured] { _ = source.receive(event, now: 0) }
        return source
    }

    @Test("from the first connection to the first picture, one change a step")
    func beginning() {
        var source = SourceLife(rules: Kit.rules)
        #expect(source.receive(.published, now: 1).map(\.to) == [.connected])
        #expect(source.receive(.arrived, now: 2).map(\.to) == [.publishing])
        #expect(source.receive(.arrived, now: 3).isEmpty)
        #expect(source.receive(.pictured, now: 4).map(\.to) == [.live])
        #expect(source.receive(.pictured, now: 5).isEmpty)
        #expect(source.since == 4)
    }

    @Test("a lost publisher has the grace to come back, and is gone after it")
    func grace() {
        var source = Self.live()
        let changes = source.receive(.left(reason: "reset"), now: Self.second)
        #expect(changes.map(\.to) == [.lost, .reconnecting])
        #expect(changes.first?.reason == "reset")
        #expect(source.graceUntil == 16 * Self.second)
        #expect(source.poll(now: 16 * Self.second - 1, arrivals: .init()).isEmpty)
        #expect(source.poll(now: 16 * Self.second, arrivals: .init()).map(\.to) == [.gone])
        #expect(source.poll(now: 99 * Self.second, arrivals: .init()).isEmpty)
    }

    @Test("who comes back in time is live at its first picture; no grace runs meanwhile")
    func returning() {
        var source = Self.live()
        _ = source.receive(.left(reason: "reset"), now: 0)
        _ = source.receive(.drained, now: 0)
        #expect(source.receive(.published, now: Self.second).isEmpty)
        #expect(source.graceUntil == nil)
        #expect(source.poll(now: 60 * Self.second, arrivals: .init()).isEmpty)
        #expect(source.receive(.pictured, now: 61 * Self.second).map(\.to) == [.live])
        #expect(!source.isAway(now: 99 * Self.second))
    }

    @Test("the hold begins when what has come is decoded to its end, whenever the connection ended")
    func holdOfWhatWaits() {
        var source = Self.live()
        _ = source.receive(.left(reason: "reset"), now: 0)
        #expect(source.deadline(after: 0) == 15 * Self.second, "the end of the grace")
        #expect(!source.isAway(now: 10 * Self.second), "ten seconds of it are still to be seen")
        _ = source.receive(.drained, now: 10 * Self.second)
        #expect(source.deadline(after: 10 * Self.second) == 12 * Self.second)
        #expect(!source.isAway(now: 12 * Self.second - 1) && source.isAway(now: 12 * Self.second))
        // Who comes and goes without a picture does not bring the last one back.
        _ = source.receive(.published, now: 13 * Self.second)
        _ = source.receive(.left(reason: "again"), now: 14 * Self.second)
        #expect(source.isAway(now: 14 * Self.second))
        _ = source.receive(.drained, now: 14 * Self.second)
        #expect(source.isAway(now: 14 * Self.second))
    }

    @Test("a decoder that never comes to the end holds nothing up for ever")
    func decoderThatHangs() {
        var source = Self.live()
        _ = source.receive(.left(reason: "reset"), now: 0)
        _ = source.poll(now: 15 * Self.second, arrivals: .init())
        #expect(source.deadline(after: 15 * Self.second) == 47 * Self.second)
        #expect(!source.isAway(now: 47 * Self.second - 1) && source.isAway(now: 47 * Self.second))
        _ = source.receive(.drained, now: 60 * Self.second)
        #expect(source.isAway(now: 60 * Self.second), "its pane does not come back for what nobody waited for")
    }

    @Test("a decoder that is through before its connection's end is told holds from that")
    func drainedFirst() {
        var source = Self.live()
        _ = source.receive(.drained, now: 1)
        _ = source.receive(.left(reason: "reset"), now: 2)
        #expect(!source.isAway(now: 2 * Self.second + 1) && source.isAway(now: 2 * Self.second + 2))
    }

    @Test("connections without a picture do not renew the grace")
    func graceIsNotRenewed() {
        var source = Self.live()
        _ = source.receive(.left(reason: "reset"), now: 0)
        _ = source.receive(.published, now: 14 * Self.second)
        #expect(source.receive(.left(reason: "again"), now: 20 * Self.second).isEmpty)
        #expect(source.poll(now: 20 * Self.second, arrivals: .init()).map(\.to) == [.gone])
    }

    @Test("who was gone, and comes back and goes without a picture, has the grace of anybody who comes")
    func graceAfterGone() {
        var source = Self.live()
        _ = source.receive(.left(reason: "reset"), now: 0)
        _ = source.receive(.drained, now: 0)
        #expect(source.poll(now: 15 * Self.second, arrivals: .init()).map(\.to) == [.gone])
        #expect(source.receive(.published, now: 600 * Self.second).map(\.to) == [.connected])
        let changes = source.receive(.left(reason: "again"), now: 601 * Self.second)
        #expect(changes.map(\.to) == [.lost, .reconnecting])
        #expect(source.graceUntil == 616 * Self.second)
        #expect(source.isAway(now: 601 * Self.second), "its last picture is not held anew")
        #expect(source.poll(now: 616 * Self.second - 1, arrivals: .init()).isEmpty)
        #expect(source.poll(now: 616 * Self.second, arrivals: .init()).map(\.to) == [.gone])
    }

    @Test("a takeover is no loss: reconnecting until the new connection's picture")
    func takeover() {
        var source = Self.live()
        #expect(source.receive(.takenOver, now: 1).map(\.to) == [.reconnecting])
        _ = source.receive(.published, now: 1)
        #expect(source.receive(.pictured, now: 2).isEmpty, "the older connection's, still in the decoder")
        _ = source.receive(.drained, now: 3)
        #expect(source.receive(.pictured, now: 4).map(\.to) == [.live])
    }

    @Test(
        "ReplayKit 1: silent for stallMs it is stalled, with a packet live again; a still screen's sound keeps it live")
    func stall() {
        var source = Self.live()
        var changes: [SourceLife.Change] = []
        for now in stride(from: Int64(0), through: 4 * Self.second, by: 100_000_000) {
            // Pictures until 1 s, sound until 2 s, a picture again at 3.5 s.
            let arrivals = SourceLife.Arrivals(
                picture: now < 3_500_000_000 ? min(now, Self.second) : 3_500_000_000, sound: min(now, 2 * Self.second))
            changes += source.poll(now: now, arrivals: arrivals)
        }
        #expect(changes.map(\.to) == [.stalled, .live])
        #expect(source.since == 3_500_000_000)
    }

    /// Polls every 50 ms from the last packet on, and gives what changed and when, in milliseconds.
    private static func silence(
        _ source: inout SourceLife, until end: Int64, shownAfter: Int64 = 0
    ) -> [(at: Int64, to: SourceLife.State)] {
        stride(from: Int64(0), through: end, by: 50_000_000).flatMap { now in
            source.poll(now: now, arrivals: .init(picture: 0, sound: 0, shownAfter: shownAfter))
                .map { (now / 1_000_000, $0.to) }
        }
    }

    @Test(
        "a silent source is away after its hold, counted from the last packet and from when that was shown",
        arguments: [(hold: Int64(0), shownAfter: 0, away: 1050), (1000, 0, 1050), (1000, 250, 1250), (2000, 200, 2200)])
    func stalledHold(hold: Int64, shownAfter: Int64, away: Int64) {
        let rules = SourceLife.Rules(
            stall: Self.second, grace: 15 * Self.second, hold: 9 * Self.second, stalledHold: hold * 1_000_000)
        var source = SourceLife(rules: rules)
        for event in [SourceLife.Event.published, .arrived, .pictured] { _ = source.receive(event, now: 0) }
        let changes = Self.silence(&source, until: (away - 50) * 1_000_000, shownAfter: shownAfter * 1_000_000)
        #expect(changes.allSatisfy { $0.at == 1050 && $0.to == .stalled })
        #expect(!source.isAway(now: (away - 50) * 1_000_000))
        _ = source.poll(now: away * 1_000_000, arrivals: .init(picture: 0, shownAfter: shownAfter * 1_000_000))
        #expect(source.state == .stalled && source.isAway(now: away * 1_000_000))
        _ = source.poll(now: 3 * Self.second, arrivals: .init(picture: 3 * Self.second))
        #expect(source.state == .live && !source.isAway(now: 99 * Self.second))
    }

    @Test("without a limit a silent source is held as long as it is connected, and its grace begins with its loss")
    func stillScreenWithoutSound() {
        var source = SourceLife(
            rules: SourceLife.Rules(stall: Self.second, grace: 15 * Self.second, hold: Self.second, stalledHold: nil))
        for event in [SourceLife.Event.published, .arrived, .pictured] { _ = source.receive(event, now: 0) }
        #expect(Self.silence(&source, until: 60 * Self.second).map(\.to) == [.stalled])
        #expect(source.isPresent && !source.isAway(now: 60 * Self.second))
        _ = source.receive(.left(reason: "reset"), now: 60 * Self.second)
        #expect(source.graceUntil == 75 * Self.second)
    }

    @Test("silence and loss have one grace together, however the connection ends")
    func oneGrace() {
        // The connection stays open.
        var open = Self.live()
        _ = Self.silence(&open, until: 15 * Self.second - 50_000_000)
        #expect(!open.isGivenUp && open.isPresent)
        #expect(open.deadline(after: 15 * Self.second - 1) == 15 * Self.second)
        _ = open.poll(now: 15 * Self.second, arrivals: .init(picture: 0))
        #expect(open.isGivenUp && open.isAbsent && !open.isPresent && open.state == .stalled)
        // It ends after the grace: nobody waits for a second one.
        #expect(open.receive(.left(reason: "idle"), now: 90 * Self.second).map(\.to) == [.lost, .reconnecting])
        #expect(open.isAway(now: 90 * Self.second) && open.isAbsent, "its last picture is not held again")
        #expect(open.poll(now: 90 * Self.second, arrivals: .init()).map(\.to) == [.gone])
        // It ends within the grace.
        var ended = Self.live()
        _ = Self.silence(&ended, until: 10 * Self.second)
        _ = ended.receive(.left(reason: "reset"), now: 10 * Self.second)
        #expect(ended.graceUntil == 15 * Self.second)
        _ = ended.receive(.drained, now: 10 * Self.second)
        #expect(ended.isAway(now: 10 * Self.second))
        // Who comes back meanwhile has a grace of its own later.
        _ = ended.receive(.published, now: 14 * Self.second)
        #expect(ended.graceUntil == nil && !ended.isAbsent)
        #expect(ended.receive(.pictured, now: 16 * Self.second).map(\.to) == [.live])
        _ = ended.receive(.left(reason: "again"), now: 20 * Self.second)
        #expect(ended.graceUntil == 35 * Self.second)
    }

    @Test("a source that was given up in its silence is present again with its next packet")
    func backFromSilence() {
        var source = Self.live()
        _ = Self.silence(&source, until: 20 * Self.second)
        #expect(source.isGivenUp)
        let changes = source.poll(now: 20 * Self.second + 1, arrivals: .init(picture: 20 * Self.second))
        #expect(changes.map(\.to) == [.live])
        #expect(source.isPresent && !source.isAbsent && !source.isAway(now: 99 * Self.second))
    }

    @Test("what may wait in the socket is no silence, and what has been looked for in vain is")
    func unread() {
        var source = Self.live()
        var changes: [SourceLife.Change] = []
        for now in stride(from: Int64(0), through: 5 * Self.second, by: 100_000_000) {
            // Read every quarter of a second, and something always came just now; from 3 s on nothing comes.
            let read = now - now % 250_000_000
            changes += source.poll(
                now: now, arrivals: .init(picture: min(read, 3 * Self.second) - 900_000_000, readUntil: read))
            if now < 3_250_000_000 { #expect(changes.isEmpty) }
        }
        #expect(changes.map(\.to) == [.stalled])
        #expect(SourceLife.Arrivals(readUntil: 7).known(at: 5) == 5, "nobody has read the future")
    }

    @Test("P17, ReplayKit 3: a still screen, a picture every five seconds, is live as long as its sound comes")
    func stillScreen() {
        var source = Self.live()
        for now in stride(from: Int64(0), through: 60 * Self.second, by: 100_000_000) {
            let arrivals = SourceLife.Arrivals(picture: now - now % (5 * Self.second), sound: now)
            #expect(source.poll(now: now, arrivals: arrivals).isEmpty)
        }
        #expect(source.state == .live)
    }

    @Test("a process that was stopped itself does not blame its publishers")
    func absence() {
        var source = Self.live()
        #expect(source.poll(now: 0, arrivals: .init(picture: 0)).isEmpty)
        #expect(source.poll(now: 20 * Self.second, arrivals: .init(picture: 0)).isEmpty)
        #expect(source.poll(now: 20 * Self.second + 400_000_000, arrivals: .init(picture: 0)).isEmpty)
        #expect(source.poll(now: 20 * Self.second + 800_000_000, arrivals: .init(picture: 0)).isEmpty)
        let late = source.poll(now: 20 * Self.second + 1_200_000_000, arrivals: .init(picture: 0))
        #expect(late.map(\.to) == [.stalled])
    }

    @Test("a watcher that was stopped takes its pause for no packet of a stalled source, and grants no second grace")
    func absenceWhileStalled() {
        var source = Self.live()
        _ = Self.silence(&source, until: 2 * Self.second)
        #expect(source.state == .stalled)
        #expect(source.poll(now: 4 * Self.second, arrivals: .init(picture: 0)).isEmpty)
        #expect(source.state == .stalled && source.silentSince == 0)
        for now in stride(from: 4 * Self.second, through: 15 * Self.second, by: 100_000_000) {
            #expect(source.poll(now: now, arrivals: .init(picture: 0)).isEmpty)
        }
        #expect(source.isGivenUp, "at the end of the grace that began with the last packet")

        // Stopped over the end of the grace: what came meanwhile may not have been read yet.
        var longer = Self.live()
        _ = Self.silence(&longer, until: 2 * Self.second)
        #expect(longer.poll(now: 60 * Self.second, arrivals: .init(picture: 0)).isEmpty)
        #expect(!longer.isGivenUp && longer.deadline(after: 60 * Self.second) == 61 * Self.second + 1)
        var back = longer
        let again = back.poll(now: 60 * Self.second + 50_000_000, arrivals: .init(picture: 60 * Self.second))
        #expect(again.map(\.to) == [.live])
        for now in stride(from: 60 * Self.second, through: 61 * Self.second, by: 100_000_000) {
            #expect(longer.poll(now: now, arrivals: .init(picture: 0)).isEmpty && !longer.isGivenUp)
        }
        _ = longer.poll(now: 61 * Self.second + 1, arrivals: .init(picture: 0))
        #expect(longer.isGivenUp)
    }

    @Test("sound alone makes a source live after a second without any picture")
    func soundOnly() {
        var source = SourceLife(rules: Kit.rules)
        for event in [SourceLife.Event.published, .arrived, .sounded] { _ = source.receive(event, now: 0) }
        #expect(source.deadline(after: 0) == Self.second)
        #expect(source.poll(now: Self.second - 1, arrivals: .init(sound: Self.second)).isEmpty)
        #expect(source.poll(now: Self.second, arrivals: .init(sound: Self.second)).map(\.to) == [.live])
    }

    @Test("without grace it is gone at once, and comes back as a new publisher does")
    func noGrace() {
        var source = SourceLife(rules: SourceLife.Rules(stall: nil, grace: 0, hold: 0))
        for event in [SourceLife.Event.published, .pictured] { _ = source.receive(event, now: 0) }
        #expect(source.receive(.left(reason: "x"), now: 1).map(\.to) == [.lost, .gone])
        _ = source.receive(.drained, now: 1)
        #expect(source.receive(.published, now: 2).map(\.to) == [.connected])
        #expect(source.receive(.pictured, now: 3).map(\.to) == [.live])
    }

    @Test(
        "any events in any order: each change begins where the last one ended, and a publisher with a picture is live")
    func total() {
        var random = TestRandom(state: 7)
        let events: [SourceLife.Event] = [
            .published, .arrived, .pictured, .sounded, .left(reason: "r"), .takenOver, .drained, .finished,
        ]
        for _ in 0..<50 {
            var source = SourceLife(rules: Kit.rules)
            var state = source.state
            var now: Int64 = 0
            for _ in 0..<500 {
                now += Int64.random(in: 0...Self.second, using: &random)
                let arrivals = SourceLife.Arrivals(picture: Bool.random(using: &random) ? now : nil)
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
            _ = source.receive(.pictured, now: now)
            #expect(source.state == .live)
        }
    }
}
