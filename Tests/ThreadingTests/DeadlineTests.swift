import Threading
import Testing

@Suite("Work of others that may never end")
struct DeadlineTests {
    @Test("what ends in time is returned")
    func ends() async {
        #expect(await Deadline.run(within: 60_000_000_000) { 5 } == 5)
    }

    @Test(
        "what does not is cancelled, and what it returns then is not taken for a result", arguments: [0, 5_000_000, -1])
    func hangs(nanoseconds: Int64) async {
        let (never, source) = AsyncStream.makeStream(of: Int.self)
        let seen = await Deadline.run(within: nanoseconds) { () -> Int in
            var last = 0
            for await number in never { last = number }
            return last
        }
        #expect(seen == nil)
        source.finish()
    }

    @Test("who waits for it may be cancelled")
    func cancelled() async {
        let (never, source) = AsyncStream.makeStream(of: Int.self)
        let waiting = Task {
            await Deadline.run(within: .max) { () -> Bool in
                for await _ in never {}
                return true
            }
        }
        waiting.cancel()
        #expect(await waiting.value == nil)
        source.finish()
    }
}
