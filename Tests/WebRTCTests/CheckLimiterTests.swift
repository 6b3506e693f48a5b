import Testing
import WebRTC

@Suite("Connectivity checks from unknown senders are limited")
struct CheckLimiterTests {
    @Test("of 50,000 checks per second from unknown addresses, 2,000 per second and 500 at once are processed")
    func flood() {
        var limiter = CheckLimiter(now: 0)
        var processed = 0
        // A check each 20 µs for 10 s.
        for time in stride(from: Int64(0), to: 10_000_000_000, by: 20_000) {
            if limiter.allows(0, isKnown: false, now: time) { processed += 1 }
        }
        #expect((20_490...20_510).contains(processed), "\(processed)")
    }

    @Test("during a flood, checks from known addresses and all datagrams other than STUN are processed")
    func known() {
        var limiter = CheckLimiter(now: 0)
        while limiter.allows(1, isKnown: false, now: 0) {}
        var processed = [limiter.allows(1, isKnown: true, now: 0)]
        for first in UInt8(4)...255 { processed.append(limiter.allows(first, isKnown: false, now: 0)) }
        #expect(processed.allSatisfy { $0 })
        let others = [limiter.allows(3, isKnown: false, now: 0), limiter.allows(0, isKnown: false, now: 0)]
        #expect(others == [false, false])
    }

    @Test("after a flood, a new client's checks are processed at once")
    func afterwards() {
        var limiter = CheckLimiter(now: 0)
        while limiter.allows(0, isKnown: false, now: 0) {}
        let processed = (0..<20).map { limiter.allows(0, isKnown: false, now: 10_000_000 + $0) }
        #expect(processed.allSatisfy { $0 })
    }
}
