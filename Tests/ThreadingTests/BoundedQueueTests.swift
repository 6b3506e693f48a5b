import Foundation
import Synchronization
import TestSupport
import Testing
import Threading

@Suite("Bounded queue between stages")
struct BoundedQueueTests {
    @Test("BoundedQueue.offer() returns false while the queue is full, and adds the element once there is space")
    func offerIsBounded() {
        let queue = BoundedQueue<Int>(capacity: 2)
        #expect(queue.offer(1) && queue.offer(2))
        #expect(!queue.offer(3))
        #expect(queue.take() == 1)
        #expect(queue.offer(3))
        #expect(queue.count == 2)
    }

    @Test("a closed BoundedQueue returns its remaining elements, then nil, and accepts no more")
    func closedDrains() {
        let queue = BoundedQueue<Int>(capacity: 4)
        _ = queue.offer(1)
        queue.close()
        #expect(!queue.offer(2))
        #expect(!queue.put(2))
        #expect(queue.take() == 1)
        #expect(queue.take() == nil)
        #expect(queue.take() == nil)
    }

    @Test("10,000 elements pass from one thread to another through a BoundedQueue of capacity 1, in order")
    func handsOverInOrder() {
        let queue = BoundedQueue<Int>(capacity: 1)
        let received = Mutex<[Int]>([])
        let taker = StageThread("taker") {
            while let element = queue.take() { received.withLock { $0.append(element) } }
        }
        for element in 0..<10_000 { queue.put(element) }
        queue.close()
        taker.join()
        #expect(received.withLock { $0 } == Array(0..<10_000))
    }

    /// Whether a thread of this process with this name waits: state S of proc(5), /proc/pid/stat.
    private static func isAsleep(_ name: String) -> Bool {
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        return threads.contains { thread in
            let text = try? String(contentsOfFile: "/proc/self/task/\(thread)/stat", encoding: .utf8)
            return text?.contains("(\(name)) S ") == true
        }
    }

    @Test("closing a BoundedQueue wakes threads that wait to put and to take")
    func closeWakes() async throws {
        let full = BoundedQueue<Int>(capacity: 1)
        _ = full.offer(1)
        let empty = BoundedQueue<Int>(capacity: 1)
        let results = Mutex<[String]>([])
        let begun = Atomic(0)
        // No other test has threads with these names.
        let putter = StageThread("closed-putter") {
            begun.add(1, ordering: .relaxed)
            if !full.put(2) { results.withLock { $0.append("put") } }
        }
        let taker = StageThread("closed-taker") {
            begun.add(1, ordering: .relaxed)
            if empty.take() == nil { results.withLock { $0.append("take") } }
        }
        try await waitUntil("both threads wait") {
            begun.load(ordering: .relaxed) == 2 && Self.isAsleep("closed-putter") && Self.isAsleep("closed-taker")
        }
        full.close()
        empty.close()
        for thread in [putter, taker] { #expect(thread.join(within: 20_000_000_000), "\(thread.name) is not woken") }
        #expect(results.withLock { $0.sorted() } == ["put", "take"])
    }

    @Test(
        "a BoundedQueue's consumer woken only per batch of three gets all elements in order, the last ones at close()")
    func wakesForBatches() {
        let queue = BoundedQueue<Int>(capacity: 4, batch: 3)
        let received = Mutex<[Int]>([])
        let taker = StageThread("taker") {
            while let element = queue.take() { received.withLock { $0.append(element) } }
        }
        for element in 0..<100 { queue.put(element) }
        queue.close()
        taker.join()
        #expect(received.withLock { $0 } == Array(0..<100))
    }

    @Test("a BoundedQueue's producer woken only when three positions are free still passes on every element, in order")
    func wakesForPlaces() {
        let queue = BoundedQueue<Int>(capacity: 4, places: 3)
        let putter = StageThread("putter") {
            for element in 0..<100 { queue.put(element) }
        }
        var taken: [Int] = []
        while taken.count < 100, let element = queue.take() { taken.append(element) }
        putter.join()
        #expect(taken == Array(0..<100) && queue.count == 0)
    }

    @Test("a BoundedQueue's batch larger than its capacity is reduced to the capacity, so that no thread waits forever")
    func batchFitsTheQueue() {
        let queue = BoundedQueue<Int>(capacity: 2, batch: 9)
        let putter = StageThread("putter") { for element in 0..<5 { queue.put(element) } }
        var taken: [Int] = []
        while taken.count < 4, let element = queue.take() { taken.append(element) }
        putter.join()
        #expect(taken == [0, 1, 2, 3] && queue.poll() == 4 && queue.poll() == nil)
    }

    @Test("BoundedQueue.offer(all:) adds all elements or none, and wakes a waiting consumer for each")
    func together() {
        let queue = BoundedQueue<Int>(capacity: 4)
        #expect(queue.offer(all: [1, 2, 3]) && !queue.offer(all: [4, 5]) && queue.count == 3)
        #expect(queue.offer(all: []) && queue.offer(all: [4]))
        #expect((0..<4).map { _ in queue.poll() } == [1, 2, 3, 4])
        let taken = Mutex<[Int]>([])
        let takers = (0..<2).map { _ in
            StageThread("taker") { if let element = queue.take() { taken.withLock { $0.append(element) } } }
        }
        #expect(queue.offer(all: [5, 6]))
        for taker in takers { taker.join() }
        #expect(taken.withLock { $0.sorted() } == [5, 6])
        queue.close()
        #expect(!queue.offer(all: [7]))
    }
}
