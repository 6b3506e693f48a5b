import Room
import Testing

@Suite("How long the viewers' listener stays open after the room's end (linger)")
struct ViewerLingerTests {
    private static let second: Int64 = 1_000_000_000

    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var facts: ViewerLinger.Facts
        var seconds: Int64
    }

    private static func facts(
        hasEnded: Bool = true, isOffline: Bool = false, configured: Int? = nil, window: Int? = 60, since: Int64? = 0
    ) -> ViewerLinger.Facts {
        ViewerLinger.Facts(
            hasEnded: hasEnded, isOffline: isOffline, configuredSeconds: configured, windowSeconds: window,
            sinceRequest: since.map { $0 * Self.second })
    }

    private static let cases = [
        Case(testDescription: "a viewer, and a window of 24 s", facts: Self.facts(window: 24), seconds: 24),
        Case(testDescription: "a viewer, and a window of an hour", facts: Self.facts(window: 3600), seconds: 60),
        Case(
            testDescription: "a viewer, and a playlist that lists everything", facts: Self.facts(window: nil),
            seconds: 60),
        Case(testDescription: "a viewer, and a window of 2 s", facts: Self.facts(window: 2), seconds: 3),
        Case(testDescription: "a viewer asked 30 s ago", facts: Self.facts(window: 24, since: 30), seconds: 24),
        Case(testDescription: "a viewer asked 31 s ago", facts: Self.facts(window: 24, since: 31), seconds: 3),
        Case(testDescription: "no viewer", facts: Self.facts(since: nil), seconds: 3),
        Case(testDescription: "lingerSeconds 300, with a viewer", facts: Self.facts(configured: 300), seconds: 300),
        Case(
            testDescription: "lingerSeconds 10, without a viewer", facts: Self.facts(configured: 10, since: nil),
            seconds: 10),
        Case(testDescription: "lingerSeconds 0", facts: Self.facts(configured: 0), seconds: 0),
        Case(testDescription: "an offline job", facts: Self.facts(isOffline: true), seconds: 0),
        Case(
            testDescription: "an offline job with lingerSeconds 5", facts: Self.facts(isOffline: true, configured: 5),
            seconds: 5),
        Case(testDescription: "a room that is handed over", facts: Self.facts(hasEnded: false), seconds: 0),
        Case(
            testDescription: "a room that is handed over, with lingerSeconds 300",
            facts: Self.facts(hasEnded: false, configured: 300), seconds: 0),
    ]

    @Test(
        "how long an ended room still serves viewers follows from lingerSeconds, the playlist's window and the last viewer request",
        arguments: Self.cases
    )
    func length(one: Case) {
        #expect(ViewerLinger.length(one.facts) == one.seconds * Self.second)
        var linger = ViewerLinger()
        linger.closed()
        let until = linger.begin(one.facts, now: 7)
        #expect(until == (one.seconds > 0 ? 7 + one.seconds * Self.second : nil))
        #expect(linger.until == until && linger.isOver(at: 7) == (one.seconds == 0))
        #expect(linger.isOver(at: 7 + one.seconds * Self.second))
    }

    @Test("while an ended room still serves viewers (linger), a request to end or to stop ends the linger at once")
    func asked() {
        for isStop in [false, true] {
            var linger = ViewerLinger()
            linger.closed()
            _ = linger.begin(Self.facts(), now: 0)
            #expect(!linger.isOver(at: 1))
            if isStop { linger.stopAsked() } else { linger.endAsked() }
            #expect(linger.isOver(at: 1) && linger.until == nil)
            // Any number of times.
            let again = linger.endAsked()
            #expect(again)
        }
    }

    @Test("while a room is ending, a repeated request to end changes nothing; a request to stop skips the linger")
    func askedBefore() {
        var repeated = ViewerLinger()
        let isKnown = repeated.endAsked()
        #expect(!isKnown && !repeated.isOver(at: 0))
        repeated.closed()
        let until = repeated.begin(Self.facts(window: 24), now: 0)
        #expect(until == 24 * Self.second)
        var stopped = ViewerLinger()
        stopped.stopAsked()
        // An operator may still abort a room that has not ended.
        let isOver = stopped.endAsked()
        #expect(!isOver)
        stopped.closed()
        let none = stopped.begin(Self.facts(configured: 300), now: 0)
        #expect(none == nil && stopped.isOver(at: 0))
    }

    @Test("a request to end between the room's end and the linger skips the linger")
    func askedBetween() {
        var linger = ViewerLinger()
        linger.closed()
        let isOver = linger.endAsked()
        let until = linger.begin(Self.facts(configured: 300), now: 0)
        #expect(isOver && until == nil)
    }
}
