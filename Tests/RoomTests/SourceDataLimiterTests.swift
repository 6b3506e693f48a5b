import Room
import RoomSources
import Testing

@Suite("Rate limit of publishers' data messages")
struct SourceDataLimiterTests {
    @Test(
        "each source may send ten data messages a second; excess is dropped and counted, and other sources are not affected"
    )
    func rate() {
        var book = SourceDataLimiter()
        let second = Kit.second
        let first = (0..<25).count { _ in book.take(Kit.a, now: 0) }
        #expect(first == 10 && book.count(of: Kit.a).dropped == 15)
        #expect(book.take(Kit.b, now: 0) && book.count(of: Kit.b).dropped == 0)
        // Every 10 ms for ten seconds.
        let next = (1...1_000).count { book.take(Kit.a, now: Int64($0) * second / 100) }
        #expect(next == 100)
        book.note(Kit.b, isTaken: true)
        book.note(Kit.b, isTaken: false)
        #expect(book.count(of: Kit.b).taken == 1 && book.count(of: Kit.b).dropped == 1)
        book.forget(Kit.a)
        #expect(book.sources == [Kit.b], "a removed source leaves nothing behind")
        #expect(book.take(Kit.a, now: 10 * second) && book.count(of: Kit.a).dropped == 0)
    }
}
