import Threading
import Synchronization
import Testing

@Suite("Bounded queue between stages")
struct BoundedQueueTests {
    @Test("offer refuses what does not fit and takes it after room was made")
    func offerIsBounded() {
        let queue = BoundedQueue<Int>(capacity: 2)
        #expect(queue.offer(1) && queue.offer(2))
        #expect(!queue.offer(3))
        #expect(queue.take() == 1)
        #expect(queue.offer(3))
        #expect(queue.count == 2)
    }

    @Test("a closed queue hands out what it holds, then ends, and takes no more")
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

    @Test("every element arrives once and in order through a queue of one, whoever waits")
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

    @Test("closing wakes whoever waits to put and whoever waits to take")
    func closeWakes() {
        let full = BoundedQueue<Int>(capacity: 1)
        _ = full.offer(1)
        let empty = BoundedQueue<Int>(capacity: 1)
        let results = Mutex<[String]>([])
        let putter = StageThread("putter") { if !full.put(2) { results.withLock { $0.append("put") } } }
        let taker = StageThread("taker") { if empty.take() == nil { results.withLock { $0.append("take") } } }
        full.close()
        empty.close()
        putter.join()
        taker.join()
        #expect(results.withLock { $0.sorted() } == ["put", "take"])
    }

    @Test("whoever waits for a batch is woken when there is one, and gets what is left when the queue is closed")
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

    @Test("a putter that waits for several places gets them, a taker takes each element that is there")
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

    @Test("a batch larger than the queue is the whole queue, and nobody waits for ever")
    func batchFitsTheQueue() {
        let queue = BoundedQueue<Int>(capacity: 2, batch: 9)
        let putter = StageThread("putter") { for element in 0..<5 { queue.put(element) } }
        var taken: [Int] = []
        while taken.count < 4, let element = queue.take() { taken.append(element) }
        putter.join()
        #expect(taken == [0, 1, 2, 3] && queue.poll() == 4 && queue.poll() == nil)
    }

    @Test("elements that come together go in together, or none of them; whoever waits for them is woken")
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
