import Synchronization
import TestSupport
import Testing
import Threading

@Suite("Turns of stage threads")
struct WorkTurnTests {
    /// Records the names of threads in the order of their turns.
    private final class Order: Sendable {
        private let names = Mutex<[String]>([])
        var all: [String] { self.names.withLock { $0 } }
        func append(_ name: String) { self.names.withLock { $0.append(name) } }

        /// Starts a thread that waits for its turn and notes it; returns when the thread waits.
        func start(_ name: String, _ limiter: WorkLimiter, rank: Int) async throws -> StageThread {
            let before = limiter.waiting
            let thread = StageThread(name) {
                var turn = WorkTurn(limiter, rank: rank)
                turn.begin()
                self.append(name)
                turn.end()
            }
            try await waitUntil("thread \(name) waits") { limiter.waiting == before + 1 }
            return thread
        }
    }

    @Test("the waiting thread with the highest rank has its turn next; of equal ranks, the one that has waited longest")
    func order() async throws {
        let limiter = WorkLimiter(limit: 1)
        let order = Order()
        var own = WorkTurn(limiter, rank: 0)
        own.begin()
        var threads: [StageThread] = []
        for (name, rank) in [("a", 1), ("b", 3), ("c", 2), ("d", 3)] {
            threads.append(try await order.start(name, limiter, rank: rank))
        }
        #expect(order.all.isEmpty)
        own.end()
        for thread in threads { #expect(thread.join(within: 20_000_000_000), "\(thread.name)") }
        #expect(order.all == ["b", "d", "c", "a"])
        #expect(limiter.waiting == 0)
    }

    @Test("between two elements of a queue, a thread lets only threads with a higher rank have their turn")
    func between() async throws {
        let limiter = WorkLimiter(limit: 1)
        let order = Order()
        let queue = BoundedQueue<Int>(capacity: 3)
        for element in 0..<3 { queue.put(element) }
        var own = WorkTurn(limiter, rank: 2)
        #expect(own.take(from: queue) == 0)
        let low = try await order.start("low", limiter, rank: 1)
        #expect(own.take(from: queue) == 1)
        #expect(order.all.isEmpty && limiter.waiting == 1)
        let high = try await order.start("high", limiter, rank: 3)
        #expect(own.take(from: queue) == 2)
        #expect(order.all == ["high"])
        own.end()
        for thread in [high, low] { #expect(thread.join(within: 20_000_000_000), "\(thread.name)") }
        #expect(order.all == ["high", "low"])
    }

    @Test("no more threads than the limit have their turn at the same time", arguments: [1, 2, 3])
    func limit(limit: Int) {
        let limiter = WorkLimiter(limit: limit)
        let working = Atomic(0)
        let most = Atomic(0)
        var threads: [StageThread] = []
        for number in 0..<5 {
            let thread = StageThread("turn\(number)") {
                var turn = WorkTurn(limiter, rank: number % 3)
                for _ in 0..<500 {
                    turn.begin()
                    most.max(working.add(1, ordering: .relaxed).newValue, ordering: .relaxed)
                    working.subtract(1, ordering: .relaxed)
                    turn.end()
                }
            }
            threads.append(thread)
        }
        for thread in threads { #expect(thread.join(within: 20_000_000_000), "\(thread.name)") }
        #expect(most.load(ordering: .relaxed) <= limit)
    }

    @Test("with one turn for two threads and a queue of one element, every element passes in order", arguments: [1, 2])
    func waitsWithoutTurn(limit: Int) {
        let limiter = WorkLimiter(limit: limit)
        let queue = BoundedQueue<Int>(capacity: 1)
        let received = Mutex<[Int]>([])
        let putter = StageThread("turn-putter") {
            var turn = WorkTurn(limiter, rank: 1)
            turn.begin()
            for element in 0..<2_000 { turn.put(element, into: queue) }
            turn.end()
            queue.close()
        }
        let taker = StageThread("turn-taker") {
            var turn = WorkTurn(limiter, rank: 2)
            while let element = turn.take(from: queue) { received.withLock { $0.append(element) } }
            turn.end()
        }
        for thread in [putter, taker] { #expect(thread.join(within: 20_000_000_000), "\(thread.name)") }
        #expect(received.withLock { $0 } == Array(0..<2_000))
    }

    @Test("without a limiter, no thread waits for a turn")
    func unlimited() {
        let queue = BoundedQueue<Int>(capacity: 1)
        var (one, other) = (WorkTurn(nil, rank: 0), WorkTurn(nil, rank: 0))
        one.begin()
        other.begin()
        one.put(1, into: queue)
        #expect(other.take(from: queue) == 1)
        queue.close()
        #expect(other.take(from: queue) == nil)
        one.end()
        other.end()
    }
}
