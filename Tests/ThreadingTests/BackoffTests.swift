import Threading
import Testing

@Suite("Backoff: delays between connection attempts")
struct BackoffTests {
    @Test(
        "each Backoff delay is random from half a ceiling to the ceiling, which doubles from 1 s to 8 s; reset() restores 1 s",
        arguments: [0, 7, UInt64.max])
    func doubles(random: UInt64) {
        var backoff = Backoff()
        for ceiling in [1000, 2000, 4000, 8000, 8000, 8000] as [Int64] {
            let wait = backoff.next(random: random) / 1_000_000
            #expect((ceiling / 2...ceiling).contains(wait))
        }
        backoff.reset()
        #expect(backoff.next(random: random) <= 1_000_000_000)
    }

    @Test(
        "a Backoff delay never exceeds the given maximum, and limits near Int64.max or below 0 do not overflow",
        arguments: [0, 7, UInt64.max])
    func bounds(random: UInt64) {
        var short = Backoff(first: 300, longest: 1_000)
        for ceiling in [300, 600, 1_000, 1_000] as [Int64] {
            #expect((ceiling / 2...ceiling).contains(short.next(random: random)))
        }
        var long = Backoff(first: .max - 1, longest: .max)
        for _ in 0..<4 { #expect(long.next(random: random) >= Int64.max / 2 - 1) }
        var none = Backoff(first: 0, longest: -5)
        #expect((0...1).contains(none.next(random: random)))
    }
}
