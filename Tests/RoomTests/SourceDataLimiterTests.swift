import Room
import RoomSources
import Testing

@Suite("Rate limit of publishers' data messages")
struct SourceDataLimiterTests {
    @Test(
        "each source may send ten data messages a second; excess is dropped and counted, and other sources are not affected"
    )
    func rate() {
        var limiter = SourceDataLimiter()
        let second = Kit.second
        let first = (0..<25).count { _ in limiter.take(Kit.a, now: 0) }
        #expect(first == 10 && limiter.count(of: Kit.a).dropped == 15)
        #expect(limiter.take(Kit.b, now: 0) && limiter.count(of: Kit.b).dropped == 0)
        // Every 10 ms for ten seconds.
        let next = (1...1_000).count { limiter.take(Kit.a, now: Int64($0) * second / 100) }
        #expect(next == 100)
        limiter.note(Kit.b, isTaken: true)
        limiter.note(Kit.b, isTaken: false)
        #expect(limiter.count(of: Kit.b).taken == 1 && limiter.count(of: Kit.b).dropped == 1)
        limiter.forget(Kit.a)
        #expect(limiter.sources == [Kit.b], "a removed source leaves nothing behind")
        #expect(limiter.take(Kit.a, now: 10 * second) && limiter.count(of: Kit.a).dropped == 0)
    }
}
