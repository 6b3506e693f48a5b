import Egress
import HTTPListener
import HTTPProbe
import HTTPTypes
import Logging
import MediaTypes
import PipelineSpec
import Synchronization
import TestSupport
import Testing

import Events

@Suite("Event webhooks, delivered to a receiver on loopback", .timeLimit(.minutes(1)))
struct EventDeliveryTests {
    /// A receiver with a list of answers, one per request; the last one repeats.
    private final class Receiver: Sendable {
        private struct State {
            var numbers: [String] = []
            var answers: [HTTPResponse.Status]
        }

        private let state: Mutex<State>
        private let server = Mutex<HTTPListener?>(nil)

        init(_ answers: [HTTPResponse.Status] = [.ok]) { self.state = Mutex(State(answers: answers)) }

        /// From here on responses have no end.
        let isEndless = Atomic(false)

        func start() async throws -> String {
            let server = try await HTTPListener.start(
                listen: ListenAddress(parsing: "127.0.0.1:0"),
                limits: HTTPListenerLimits(connections: 8, bodyBytes: 1 << 20),
                group: nil, place: "test", logger: Logger(label: "test")
            ) { request, answer in
                let id = request.head.headerFields[HTTPField.Name("webhook-id") ?? .from] ?? "?"
                let status = self.state.withLock { state in
                    state.numbers.append(id)
                    return state.answers.count > 1 ? state.answers.removeFirst() : state.answers[0]
                }
                let isEndless = self.isEndless.load(ordering: .relaxed)
                answer(ListenerReply(status, body: isEndless ? .stream(Endless()) : .none))
            }
            self.server.withLock { $0 = server }
            return server.boundAddress
        }

        /// Sets the answer from here on, and drops the requests before.
        func turn(_ answer: HTTPResponse.Status) { self.state.withLock { $0 = State(answers: [answer]) } }

        var received: [String] { self.state.withLock { $0.numbers } }

        func stop() async { await self.server.withLock { $0 }?.stop(within: .seconds(0)) }
    }

    private final class Endless: ReplyStream {
        func next() -> ReplyStreamPiece { .later }
        func whenMore(_ body: @escaping @Sendable () -> Void) {}
        func cancel() {}
    }

    private static func tell(_ log: EventLog, _ numbers: ClosedRange<Int64>, type: String = "a.b") {
        for number in numbers { log.append(EventRecord(sequence: number, type: type, line: "{}")) }
    }

    /// Reports of a delivery about its webhooks.
    private final class Notices: Sendable {
        private let list = Mutex<[WebhookQueue.Notice]>([])

        func add(_ notice: WebhookQueue.Notice) { self.list.withLock { $0.append(notice) } }
        var all: [WebhookQueue.Notice] { self.list.withLock { $0 } }
    }

    /// - Parameter line: The line that a failure names.
    private static func until(line: Int = #line, _ isMet: () -> Bool) async throws {
        try await waitUntil("the condition in line \(line)") { isMet() }
    }

    @Test("an event answered with 500 or 302 is sent again before later events; none is delivered twice")
    func order() async throws {
        let receiver = Receiver([.ok, .internalServerError, .found, .ok])
        let url = try await receiver.start()
        let notices = Mutex<[WebhookQueue.Notice]>([])
        let log = EventLog()
        let delivery = EventDelivery([Webhook(url: url)], of: log, roomID: "r", directory: nil) { _, notice in
            notices.withLock { $0.append(notice) }
        }
        delivery.begin(new: 0)
        Self.tell(log, 1...4)
        log.close()
        await delivery.finish(within: .seconds(20))
        #expect(receiver.received == ["r-1", "r-2", "r-2", "r-2", "r-3", "r-4"])
        #expect(notices.withLock { $0 } == [.failing("status 500"), .restored(failures: 2)])
        let tallies = delivery.tallies
        #expect(tallies.map(\.url) == [url] && tallies.map(\.tally.delivered) == [4], "\(tallies)")
        #expect(tallies.map(\.tally.refused) == [2] && tallies.map(\.tally.failed) == [0])
        await receiver.stop()
    }

    @Test(
        "the egress policy is checked at each attempt of a webhook that was set by request; redirects are not followed")
    func egress() async throws {
        let receiver = Receiver([.found, .ok])
        let url = try await receiver.start().replacing("127.0.0.1", with: "localhost")
        let (log, notices) = (EventLog(), Notices())
        let gate = EgressGate(EgressPolicy())
        let delivery = EventDelivery(
            [Webhook(url: url, secrets: ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"])], of: log, roomID: "r",
            directory: nil, egress: gate
        ) { notices.add($1) }
        delivery.begin(new: 0)
        Self.tell(log, 1...2)
        try await Self.until { !notices.all.isEmpty }
        #expect(delivery.backlogs.map(\.events) == [2] && delivery.backlogs.map(\.url) == [url])
        let reason = "is at a loopback or private address, which control.egress.allowedHosts does not list"
        #expect("\(notices.all)".contains(reason), "\(notices.all)")
        #expect(receiver.received.isEmpty)
        gate.policy = EgressPolicy(allowed: ["127.0.0.0/8", "::1/128"].compactMap { EgressEntry($0) })
        log.close()
        await delivery.finish(within: .seconds(20))
        #expect(receiver.received == ["r-1", "r-1", "r-2"])
        #expect(delivery.tallies.first?.tally.refused == 1, "a redirect is a refusal")
        #expect(delivery.backlogs.map(\.events) == [0])
        await receiver.stop()
    }

    @Test(
        "if the receiver refuses connections, the failure's reason is 'connection refused'")
    func refused() async throws {
        let receiver = Receiver()
        let url = try await receiver.start()
        await receiver.stop()
        let (log, notices) = (EventLog(), Notices())
        let gate = EgressGate(EgressPolicy(allowed: ["127.0.0.0/8"].compactMap { EgressEntry($0) }))
        let delivery = EventDelivery(
            [Webhook(url: url)], of: log, roomID: "r", directory: nil, egress: gate
        ) { notices.add($1) }
        delivery.begin(new: 0)
        Self.tell(log, 1...1)
        try await Self.until { !notices.all.isEmpty }
        #expect(notices.all.first == .failing("connection refused"), "\(notices.all)")
        await delivery.finish(within: .seconds(0))
    }

    @Test("a webhook that the pipeline file names may be at a loopback address")
    func namedByTheFile() async throws {
        let receiver = Receiver()
        let url = try await receiver.start()
        let log = EventLog()
        let delivery = EventDelivery(
            [Webhook(url: url)], of: log, roomID: "r", directory: nil,
            egress: EgressGate(EgressPolicy(allowed: [], webhooks: [url]))
        ) { _, _ in }
        delivery.begin(new: 0)
        Self.tell(log, 1...1)
        log.close()
        await delivery.finish(within: .seconds(20))
        #expect(receiver.received == ["r-1"])
        await receiver.stop()
    }

    @Test(
        "the egress check reads host and port of a webhook's URL, and refuses ambiguous, malformed and non-HTTP URLs",
        arguments: [
            ("http://hooks.example/a?b=1", "hooks.example:80"), ("https://Hooks.example:8443", "hooks.example:8443"),
            ("HTTPS://hooks.example", "hooks.example:443"), ("http://[::1]:8080/a", "[::1]:8080"),
            ("http://[::1]", "[::1]:80"), ("http://hooks.example?x=@127.0.0.1/", "hooks.example:80"),
            ("http://2130706433/", "2130706433:80"), ("http://0x7f.1:80/", "0x7f.1:80"),
            ("http://user:pass@hooks.example/", nil), ("http://hooks.example\\@127.0.0.1/", nil),
            ("http://hooks.example:80@127.0.0.1/", nil), ("http://hooks.example#@127.0.0.1/", "hooks.example:80"),
            ("http://127.0.0.1%2f@x/", nil), ("http://hooks.example:0/", nil), ("http://hooks.example:/", nil),
            ("http://hooks.example:80:81/", nil), ("http://[::1", nil), ("http://[::1]x/", nil), ("http:///a", nil),
            ("http://", nil), ("ftp://hooks.example/", nil), ("http://h\u{fc}ks.example/", nil),
            ("http://[hooks]/", nil),
        ] as [(String, String?)])
    func servers(url: String, server: String?) {
        #expect(EgressPolicy.Target(webhook: url)?.description == server)
    }

    @Test("events that a receiver refused with 503 are delivered by the room's next worker")
    func successor() async throws {
        let directory = try TemporaryDirectory()
        let receiver = Receiver([.serviceUnavailable])
        let url = try await receiver.start()
        let log = EventLog(earlier: [EventRecord(sequence: 1, type: "a.b", line: "{}")])
        let first = EventDelivery([Webhook(url: url)], of: log, roomID: "r", directory: directory.path) { _, _ in }
        first.begin(new: 1)
        Self.tell(log, 2...3)
        log.close()
        await first.finish(within: .milliseconds(300))
        receiver.turn(.ok)
        let next = EventLog(
            earlier: (1...3).map { EventRecord(sequence: Int64($0), type: "a.b", line: "{}") })
        let second = EventDelivery([Webhook(url: url)], of: next, roomID: "r", directory: directory.path) { _, _ in }
        second.begin(new: next.last)
        Self.tell(next, 4...4)
        next.close()
        await second.finish(within: .seconds(20))
        #expect(receiver.received == ["r-2", "r-3", "r-4"], "not the first: sending had not started then")
        await receiver.stop()
        directory.remove()
    }

    @Test("an event whose 200 response never ends is delivered, and later events are sent")
    func endless() async throws {
        let receiver = Receiver()
        receiver.isEndless.store(true, ordering: .relaxed)
        let url = try await receiver.start()
        let log = EventLog()
        let delivery = EventDelivery(
            [Webhook(url: url, timeout: 1_000_000_000)], of: log, roomID: "r", directory: nil
        ) { _, _ in }
        delivery.begin(new: 0)
        Self.tell(log, 1...3)
        try await Self.until { receiver.received.count == 3 }
        #expect(receiver.received == ["r-1", "r-2", "r-3"])
        log.close()
        await delivery.finish(within: .seconds(20))
        await receiver.stop()
    }

    @Test("if the journal is lost but the delivery record is not, events that are numbered from 1 again are still sent")
    func lostJournal() async throws {
        let directory = try TemporaryDirectory()
        let receiver = Receiver()
        let url = try await receiver.start()
        for numbers in [Int64(1)...9, 1...2] {
            let log = EventLog()
            let delivery = EventDelivery([Webhook(url: url)], of: log, roomID: "r", directory: directory.path) { _, _ in
            }
            delivery.begin(new: 0)
            Self.tell(log, numbers)
            log.close()
            await delivery.finish(within: .seconds(20))
        }
        #expect(receiver.received == (1...9).map { "r-\($0)" } + ["r-1", "r-2"])
        await receiver.stop()
        directory.remove()
    }

    @Test("when webhooks change at run time, an added one starts with the next event, and a kept one misses none")
    func replaced() async throws {
        let (one, two) = (Receiver(), Receiver())
        let (first, second) = (try await one.start(), try await two.start())
        let log = EventLog()
        let notices = Notices()
        let delivery = EventDelivery([Webhook(url: first)], of: log, roomID: "r", directory: nil) { notices.add($1) }
        delivery.begin(new: 0)
        Self.tell(log, 1...2)
        delivery.replace([Webhook(url: second), Webhook(url: first)])
        Self.tell(log, 3...4)
        try await Self.until { one.received.count == 4 && two.received.count == 2 }
        #expect(two.received == ["r-3", "r-4"])
        delivery.replace([Webhook(url: first, types: ["c.*"], secrets: ["s"]), Webhook(url: second)])
        Self.tell(log, 5...5)
        Self.tell(log, 6...6, type: "c.d")
        // Also the replies have arrived.
        try await Self.until {
            one.received.count == 5 && two.received.count == 4 && delivery.backlogs.allSatisfy { $0.events == 0 }
        }
        delivery.replace([Webhook(url: first)])
        try await Self.until { !notices.all.isEmpty }
        Self.tell(log, 7...8)
        log.close()
        await delivery.finish(within: .seconds(20))
        #expect(one.received == [1, 2, 3, 4, 6, 7, 8].map { "r-\($0)" })
        #expect(two.received == [3, 4, 5, 6].map { "r-\($0)" })
        #expect(notices.all == [.removed(undelivered: 0)])
        delivery.replace([Webhook(url: second)])
        #expect(log.observers == 0, "nothing starts after the end")
        await one.stop()
        await two.stop()
    }

    @Test("undelivered events of a removed webhook are dropped and counted; if added again it gets only later events")
    func removed() async throws {
        let directory = try TemporaryDirectory()
        let receiver = Receiver([.serviceUnavailable])
        let url = try await receiver.start()
        let log = EventLog()
        let notices = Notices()
        let webhook = Webhook(url: url, types: ["a.*"])
        let delivery = EventDelivery([webhook], of: log, roomID: "r", directory: directory.path) { notices.add($1) }
        delivery.begin(new: 0)
        Self.tell(log, 1...3)
        Self.tell(log, 4...5, type: "c.d")
        try await Self.until { !notices.all.isEmpty }
        delivery.replace([])
        try await Self.until { notices.all.count == 2 }
        #expect(notices.all == [.failing("status 503"), .removed(undelivered: 3)])
        #expect(log.observers == 0)
        receiver.turn(.ok)
        Self.tell(log, 6...6)
        delivery.replace([webhook])
        Self.tell(log, 7...7)
        try await Self.until { receiver.received == ["r-7"] }
        delivery.replace([])
        try await Self.until { notices.all.count == 3 }
        log.close()
        await delivery.finish(within: .seconds(20))
        let next = EventLog(earlier: (1...9).map { EventRecord(sequence: Int64($0), type: "a.b", line: "{}") })
        let successor = EventDelivery([webhook], of: next, roomID: "r", directory: directory.path) { _, _ in }
        successor.begin(new: next.last)
        Self.tell(next, 10...10)
        next.close()
        await successor.finish(within: .seconds(20))
        #expect(receiver.received == ["r-7", "r-10"])
        await receiver.stop()
        directory.remove()
    }

    @Test("a webhook that answers 410 gets no more events until its configuration changes")
    func refusing() async throws {
        let receiver = Receiver([.gone])
        let url = try await receiver.start()
        let other = Receiver()
        let second = try await other.start()
        let log = EventLog()
        let notices = Notices()
        let delivery = EventDelivery([Webhook(url: url)], of: log, roomID: "r", directory: nil) { notices.add($1) }
        delivery.begin(new: 0)
        Self.tell(log, 1...1)
        try await Self.until { notices.all == [.disabled] && log.observers == 0 }
        delivery.replace([Webhook(url: url), Webhook(url: second)])
        Self.tell(log, 2...2)
        try await Self.until { other.received == ["r-2"] }
        #expect(receiver.received == ["r-1"])
        receiver.turn(.ok)
        delivery.replace([Webhook(url: url, timeout: 1_000_000_000), Webhook(url: second)])
        Self.tell(log, 3...3)
        try await Self.until { receiver.received == ["r-3"] && other.received.count == 2 }
        log.close()
        await delivery.finish(within: .seconds(20))
        await receiver.stop()
        await other.stop()
    }

    @Test(
        "a webhook that answered 410 gets no events from a successor, until a worker has other settings for it or runs without it",
        arguments: [true, false])
    func refusingSuccessor(hasOtherSettings: Bool) async throws {
        let (receiver, other) = (Receiver([.gone]), Receiver())
        let (url, second) = (try await receiver.start(), try await other.start())
        let directory = try TemporaryDirectory()
        let earlier = EventLog()
        let notices = Notices()
        let first = EventDelivery(
            [Webhook(url: url, secrets: ["s"])], of: earlier, roomID: "r", directory: directory.path
        ) { notices.add($1) }
        first.begin(new: 0)
        Self.tell(earlier, 1...1)
        try await Self.until { notices.all == [.disabled] }
        earlier.close()
        await first.finish(within: .seconds(20))
        receiver.turn(.ok)

        /// A worker with these webhooks, which emits one event.
        func run(_ number: Int, _ webhooks: [Webhook]) async {
            let log = EventLog(earlier: (1..<number).map { EventRecord(sequence: Int64($0), type: "a.b", line: "{}") })
            let delivery = EventDelivery(webhooks, of: log, roomID: "r", directory: directory.path) { _, _ in }
            delivery.begin(new: log.last)
            Self.tell(log, Int64(number)...Int64(number))
            log.close()
            await delivery.finish(within: .seconds(20))
        }
        let same = Webhook(url: url, secrets: ["s"])
        await run(2, [same, Webhook(url: second)])
        await run(3, [same, Webhook(url: second)])
        #expect(receiver.received.isEmpty && other.received == ["r-2", "r-3"])
        if hasOtherSettings {
            await run(4, [Webhook(url: url, secrets: ["another"])])
            #expect(receiver.received == ["r-4"])
        } else {
            await run(4, [Webhook(url: second)])
            await run(5, [same])
            #expect(receiver.received == ["r-5"])
        }
        await receiver.stop()
        await other.stop()
        directory.remove()
    }

    @Test("a webhook that refuses connections does not stop deliveries to another webhook")
    func isolation() async throws {
        let receiver = Receiver()
        let url = try await receiver.start()
        let log = EventLog()
        let delivery = EventDelivery(
            [Webhook(url: "http://127.0.0.1:9/"), Webhook(url: url)], of: log, roomID: "r", directory: nil
        ) { _, _ in }
        delivery.begin(new: 0)
        Self.tell(log, 1...50)
        try await Self.until { receiver.received.count == 50 }
        log.close()
        await delivery.finish(within: .milliseconds(200))
        await receiver.stop()
    }
}
