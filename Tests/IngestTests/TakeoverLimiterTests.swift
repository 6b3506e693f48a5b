import Ingest
import Testing

@Suite("Takeover limit: two encoders competing for a key, and one encoder that reconnects")
struct TakeoverLimiterTests {
    /// A takeover at `at` from a publisher that was admitted at `since` and sent its last packet at `lastPacket`, in
    /// milliseconds.
    struct Attempt: Sendable {
        var at: Int64
        var since: Int64
        var lastPacket: Int64
        var isAllowed: Bool

        init(_ at: Int64, since: Int64, last: Int64, _ isAllowed: Bool) {
            self.at = at
            self.since = since
            self.lastPacket = last
            self.isAllowed = isAllowed
        }
    }

    static let cases: [(name: String, attempts: [Attempt])] = [
        (
            "two encoders that send: the third takeover within ten seconds is refused; after ten seconds one more is allowed",
            [
                Attempt(1000, since: 0, last: 980, true), Attempt(2000, since: 1000, last: 1980, true),
                Attempt(3000, since: 2000, last: 2980, false), Attempt(10_999, since: 2000, last: 10_980, false),
                Attempt(11_000, since: 2000, last: 10_980, true), Attempt(11_500, since: 11_000, last: 11_480, false),
            ]
        ),
        (
            "connections that send nothing: packets of the connection before do not count",
            (1...9).map { Attempt($0 * 100, since: $0 * 100 - 100, last: $0 == 1 ? 0 : -1, true) }
        ),
        (
            "connections that went silent a second ago: every takeover is allowed",
            (1...9).map { Attempt($0 * 1100, since: $0 * 1100 - 1100, last: $0 * 1100 - 1000, true) }
        ),
        (
            "takeovers from silent publishers do not change the count",
            [
                Attempt(1000, since: 0, last: 999, true), Attempt(2000, since: 1000, last: 999, true),
                Attempt(3000, since: 2000, last: 2999, true), Attempt(4000, since: 3000, last: 3999, false),
                Attempt(5000, since: 3000, last: 3999, true), Attempt(6000, since: 5000, last: 5999, false),
            ]
        ),
    ]

    @Test(
        "if publishers still send, two takeovers in ten seconds are allowed; takeovers from silent ones have no limit",
        arguments: TakeoverLimiterTests.cases)
    func takeovers(name: String, attempts: [Attempt]) {
        var guardian = TakeoverLimiter()
        for attempt in attempts {
            let isAllowed = guardian.allowsTakeover(
                since: attempt.since * 1_000_000, lastPacket: attempt.lastPacket * 1_000_000,
                now: attempt.at * 1_000_000)
            #expect(isAllowed == attempt.isAllowed, "\(name): at \(attempt.at) ms")
        }
    }
}
