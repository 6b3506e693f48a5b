import Testing

import Events

@Suite("Webhook queue")
struct WebhookQueueTests {
    private static func page(_ numbers: [Int64], type: String = "source.live", missed: Int64 = 0) -> EventLog.Page {
        EventLog.Page(
            events: numbers.map { RoomEvent(sequence: $0, type: type, line: "{}") }, missed: missed,
            last: numbers.last ?? 0, isClosed: false)
    }

    /// So that what changes it can stand in an expectation.
    private final class Shared {
        private var queue: WebhookQueue

        init(types: [String], delivered: Int64) { self.queue = WebhookQueue(types: types, delivered: delivered) }

        var due: Int64 { self.queue.due }
        var delivered: Int64 { self.queue.delivered }
        func next(in page: EventLog.Page) -> RoomEvent? { self.queue.next(in: page) }
        func missed(_ count: Int64) -> WebhookQueue.Notice? { self.queue.missed(count) }

        func attempted(_ event: RoomEvent, _ outcome: WebhookQueue.Outcome, now: Int64, jitter: Int64)
            -> WebhookQueue.Notice?
        { self.queue.attempted(event, outcome, now: now, jitter: jitter) }
    }

    private static let second: Int64 = 1_000_000_000

    @Test("one at a time, in order, each until it is taken")
    func order() throws {
        let queue = Shared(types: [], delivered: 1)
        let page = Self.page([1, 2, 3])
        let first = try #require(queue.next(in: page))
        #expect(first.sequence == 2)
        #expect(queue.attempted(first, .failed("timeout"), now: 0, jitter: 500) == .failing("timeout"))
        #expect(queue.next(in: page) == first, "the next one waits for it")
        #expect(queue.attempted(first, .status(500), now: 0, jitter: 500) == nil, "told once")
        #expect(queue.attempted(first, .status(204), now: 0, jitter: 500) == .restored(failures: 2))
        #expect(queue.next(in: page)?.sequence == 3)
    }

    @Test("waits longer after each failure, half a minute at most, and as long as it is asked to")
    func backOff() throws {
        let queue = Shared(types: [], delivered: 0)
        let event = try #require(queue.next(in: Self.page([1])))
        var waits: [Int64] = []
        for _ in 0..<9 {
            _ = queue.attempted(event, .status(302), now: 0, jitter: 500)
            waits.append(queue.due)
        }
        #expect(waits == [1, 2, 4, 8, 16, 32, 60, 60, 60].map { $0 * Self.second / 2 })
        _ = queue.attempted(event, .status(503, retryAfter: 90), now: 7, jitter: 0)
        #expect(queue.due == 7 + 90 * Self.second)
        _ = queue.attempted(event, .status(503, retryAfter: Int.max), now: 0, jitter: 999)
        #expect(queue.due == 3600 * Self.second, "an hour is the most that is believed")
        _ = queue.attempted(event, .status(404, retryAfter: 90), now: 0, jitter: 0)
        #expect(queue.due == 22_500_000_000, "asked for by a status that may ask")
    }

    @Test("410 ends it")
    func gone() throws {
        let queue = Shared(types: [], delivered: 0)
        let event = try #require(queue.next(in: Self.page([1])))
        #expect(queue.attempted(event, .status(410), now: 0, jitter: 0) == .disabled)
        #expect(queue.next(in: Self.page([1, 2])) == nil)
    }

    @Test(
        "only the kinds that are wanted",
        arguments: [
            (["source.live"], "source.live", true), (["source.*"], "source.live", true),
            (["source.*"], "sources.live", false), (["source"], "source.live", false), ([], "room.closed", true),
            (["room.*", "pk.*"], "pk.started", true),
        ])
    func kinds(types: [String], type: String, isWanted: Bool) {
        let queue = Shared(types: types, delivered: 0)
        #expect((queue.next(in: Self.page([1, 2], type: type)) != nil) == isWanted)
        #expect(queue.delivered == (isWanted ? 0 : 2), "what is not wanted counts as done")
    }

    @Test("what the log has given up is told and passed over")
    func missed() {
        let queue = Shared(types: [], delivered: 3)
        #expect(queue.missed(4) == .lost(4))
        #expect(queue.delivered == 7)
        #expect(queue.missed(0) == nil)
    }
}
