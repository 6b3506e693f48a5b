import Threading
import Testing

@Suite("Deadline: time limits for asynchronous operations")
struct DeadlineTests {
    @Test("an operation that ends before its deadline returns its result")
    func ends() async {
        #expect(await Deadline.run(within: 60_000_000_000) { 5 } == 5)
    }

    @Test(
        "an operation still running at the deadline is cancelled, its later result is ignored, and nil is returned",
        arguments: [0, 5_000_000, -1])
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

    @Test("if the task that waits for an operation with a deadline is cancelled, it gets nil before the deadline")
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
