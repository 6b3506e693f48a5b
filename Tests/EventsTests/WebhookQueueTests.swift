import Testing

import Events

@Suite("Webhook queue")
struct WebhookQueueTests {
    private static func page(_ numbers: [Int64], type: String = "source.live", missed: Int64 = 0) -> EventLog.Page {
        EventLog.Page(
            events: numbers.map { EventRecord(sequence: $0, type: type, line: "{}") }, missed: missed,
            last: numbers.last ?? 0, isClosed: false)
    }

    /// A class, so that changes to it can be part of an expectation.
    private final class Shared {
        private var queue: WebhookQueue

        init(types: [String], delivered: Int64) { self.queue = WebhookQueue(types: types, delivered: delivered) }

        var due: Int64 { self.queue.due }
        var delivered: Int64 { self.queue.delivered }
        func next(in page: EventLog.Page) -> EventRecord? { self.queue.next(in: page) }
        func missed(_ count: Int64) -> WebhookQueue.Notice? { self.queue.missed(count) }

        func attempted(_ event: EventRecord, _ outcome: WebhookQueue.Outcome, now: Int64, jitter: Int64)
            -> WebhookQueue.Notice?
        { self.queue.attempted(event, outcome, now: now, jitter: jitter) }
    }

    private static let second: Int64 = 1_000_000_000

    @Test("a webhook gets an event again until it answers 2xx, and only then the next one")
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

    @Test("the retry delay of a webhook doubles to 30 s; Retry-After of a 503 is used, up to an hour")
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
        #expect(queue.due == 3600 * Self.second, "at most an hour is accepted")
        _ = queue.attempted(event, .status(404, retryAfter: 90), now: 0, jitter: 0)
        #expect(queue.due == 22_500_000_000, "requested with a status that allows it")
    }

    /// The result of a simulation: sequence numbers of events that the receiver accepted, notices, and the time at
    /// the end.
    private struct Delivery {
        var taken: [Int64] = []
        var notices: [WebhookQueue.Notice] = []
        var end: Int64 = 0
    }

    /// Simulates a room, a queue and a receiver until all events are delivered, or for an hour.
    ///
    /// - Parameters:
    ///   - count: Number of events, one each `interval`.
    ///   - answer: The receiver's answer at a time, and how long it takes.
    private static func deliver(
        _ count: Int64, each interval: Int64, capacity: Int = 4096,
        answer: (_ now: Int64) -> (WebhookQueue.Outcome, Int64)
    ) -> Delivery {
        let log = EventLog(capacity: capacity)
        var queue = WebhookQueue(types: [], delivered: 0)
        var delivery = Delivery()
        var told: Int64 = 0
        var now: Int64 = 0
        func tell() {
            while told < count, told * interval <= now {
                told += 1
                log.append(EventRecord(sequence: told, type: "a.b", line: "{}"))
            }
        }
        while queue.delivered < count, now < 3_600 * Self.second {
            tell()
            let page = log.page(after: queue.delivered, limit: 64)
            if let notice = queue.missed(page.skipped) { delivery.notices.append(notice) }
            guard let event = queue.next(in: page) else {
                now += interval
                continue
            }
            now = max(now, queue.due)
            tell()
            let (outcome, time) = answer(now)
            now += time
            if case .status(204, _) = outcome { delivery.taken.append(event.sequence) }
            if let notice = queue.attempted(event, outcome, now: now, jitter: now % 1_000) {
                delivery.notices.append(notice)
            }
        }
        delivery.end = now
        return delivery
    }

    @Test(
        "a receiver that fails for 60 s by timeout, 5xx, 302 or 404 then gets every event in order",
        arguments: [
            WebhookQueue.Outcome.failed("connectTimeout"), .failed("readTimeout"), .status(500), .status(503),
            .status(503, retryAfter: 20), .status(302), .status(404),
        ])
    func outage(wrong: WebhookQueue.Outcome) {
        let away = 10 * Self.second...70 * Self.second
        // Ten events a second for two minutes; an answer takes 20 ms, a failure three seconds.
        let delivery = Self.deliver(1_200, each: Self.second / 10) { now in
            away.contains(now) ? (wrong, 3 * Self.second) : (.status(204), Self.second / 50)
        }
        #expect(delivery.taken == Array(1...1_200))
        #expect(delivery.notices.count == 2, "reported when it failed, and when it accepted events again")
        guard case .failing = delivery.notices.first, case .restored(let failures) = delivery.notices.last else {
            Issue.record("\(delivery.notices)")
            return
        }
        #expect((2...12).contains(failures), "retried, but not all the time")
        #expect(delivery.end < 125 * Self.second, "it has caught up before the two minutes are over: \(delivery.end)")
    }

    @Test(
        """
        a receiver slower than the room gets every event in order; if it is further behind than the event log reaches, \
        the oldest events are lost and reported
        """)
    func slow() {
        let late = Self.deliver(600, each: Self.second / 2) { _ in (.status(204), Self.second) }
        #expect(late.taken == Array(1...600) && late.notices.isEmpty)
        let lost = Self.deliver(600, each: Self.second / 2, capacity: 64) { _ in (.status(204), Self.second) }
        #expect(lost.taken == lost.taken.sorted() && Set(lost.taken).count == lost.taken.count)
        let missing = lost.notices.reduce(into: Int64(0)) { if case .lost(let count) = $1 { $0 += count } }
        #expect(missing > 0 && Int64(lost.taken.count) + missing == 600, "every lost event is reported")
        #expect(lost.taken.last == 600)
    }

    @Test("after a webhook has answered 410, its queue sends no further event")
    func gone() throws {
        let queue = Shared(types: [], delivered: 0)
        let event = try #require(queue.next(in: Self.page([1])))
        #expect(queue.attempted(event, .status(410), now: 0, jitter: 0) == .disabled)
        #expect(queue.next(in: Self.page([1, 2])) == nil)
    }

    @Test(
        "a webhook gets only the event types of its list, where `source.*` matches all of a family; an empty list means all",
        arguments: [
            (["source.live"], "source.live", true), (["source.*"], "source.live", true),
            (["source.*"], "sources.live", false), (["source"], "source.live", false), ([], "room.closed", true),
            (["room.*", "pk.*"], "pk.started", true),
        ])
    func kinds(types: [String], type: String, isWanted: Bool) {
        let queue = Shared(types: types, delivered: 0)
        #expect((queue.next(in: Self.page([1, 2], type: type)) != nil) == isWanted)
        #expect(queue.delivered == (isWanted ? 0 : 2), "unwanted events count as delivered")
    }

    @Test("the webhook queue reports and skips events that the event log has dropped")
    func missed() {
        let queue = Shared(types: [], delivered: 3)
        #expect(queue.missed(4) == .lost(4))
        #expect(queue.delivered == 7)
        #expect(queue.missed(0) == nil)
    }
}
