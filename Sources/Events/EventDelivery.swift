import AsyncHTTPClient
package import Egress
import MediaTypes
import NIOCore
import NIOHTTP1
import NIOSSL
import Stages
import Synchronization

/// Sends the room's events to its webhooks, each in a task of its own: one that is slow, wrong or away holds up nobody else,
/// and no media. Webhooks may come, go and change.
package final class EventDelivery: Sendable {
    /// What came of the delivery to one webhook, for the room's own events.
    package typealias Notify = @Sendable (_ webhook: Webhook, _ notice: WebhookQueue.Notice) -> Void
    /// Sends an event to a webhook, and returns the receiver's answer.
    package typealias Post = @Sendable (_ event: EventRecord, _ webhook: Webhook) async -> WebhookQueue.Outcome

    private struct Service {
        let number: Int
        let receiver: WebhookReceiver
    }

    private struct State {
        /// In the order they are named.
        var services: [Service] = []
        /// Those that send, and those that are about to stop.
        var tasks: [Int: Task<Void, Never>] = [:]
        var lastNumber = 0
        var isFinishing = false
    }

    private let initial: [Webhook]
    private let roomID: String
    private let log: EventLog
    private let book: DeliveryBook
    private let client: HTTPClient
    private let egress: EgressGate?
    private let notify: Notify
    private let substitute: Post?
    private let state = Mutex(State())
    private let clock = SystemClock()

    /// - Parameters:
    ///   - directory: Where it is kept what has been delivered; `nil`: nowhere.
    ///   - egress: Judges the addresses of webhooks that the pipeline file does not name; `nil`: any address.
    ///   - substitute: Takes the place of HTTP requests, in tests.
    ///   - notify: Called from any thread.
    package init(
        _ webhooks: [Webhook], of log: EventLog, roomID: String, directory: String?, egress: EgressGate? = nil,
        substitute: Post? = nil, notify: @escaping Notify
    ) {
        self.egress = egress
        self.substitute = substitute
        self.initial = webhooks
        self.roomID = roomID
        self.log = log
        self.book = DeliveryBook(directory: directory)
        self.notify = notify
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 4
        configuration.timeout.connect = .seconds(3)
        var tls = TLSConfiguration.makeClientConfiguration()
        // A receiver that reads nothing says no farewell either, and the client waits for it when it is shut down.
        tls.shutdownTimeout = .seconds(1)
        configuration.tlsConfiguration = tls
        self.client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// Begins to send. A webhook that has been sent events by an earlier worker gets what came behind them.
    ///
    /// - Parameter new: The last event of the workers before: a webhook nobody has sent anything yet gets what comes behind it.
    package func begin(new: Int64) {
        self.state.withLock { state in
            for webhook in self.initial {
                // Where the journal is lost and the book is not, numbers have begun anew.
                let delivered = min(self.book.delivered(to: webhook.id) ?? new, new)
                state.services.append(self.serve(WebhookReceiver(webhook), from: delivered, once: new, &state))
            }
        }
    }

    /// From here on these are the webhooks, told from one another by their URLs. One that stays goes on where it is, by its new
    /// settings from the next attempt on; one that is new begins with the next event; what one that goes has not taken yet it does
    /// not get, which ``Notify`` is told. After ``finish(within:)`` nothing happens.
    package func replace(_ webhooks: [Webhook]) {
        let refusing = self.state.withLock { state -> [Webhook] in
            guard !state.isFinishing else { return [] }
            let last = self.log.last
            var before = state.services
            state.services = []
            for webhook in webhooks {
                guard let index = before.firstIndex(where: { $0.receiver.id == webhook.id }) else {
                    self.book.set(last, for: webhook.id)
                    state.services.append(self.serve(WebhookReceiver(webhook), from: last, once: last, &state))
                    continue
                }
                let service = before.remove(at: index)
                let isAnew = service.receiver.change(to: webhook)
                if isAnew { self.book.set(last, for: webhook.id) }
                state.services.append(
                    isAnew ? self.serve(service.receiver, from: last, once: last, &state) : service)
            }
            for service in before {
                let id = service.receiver.id
                service.receiver.leave(at: last)
                if !webhooks.contains(where: { $0.id == id }) { self.book.forget(id) }
                state.tasks[service.number]?.cancel()
            }
            return before.filter { state.tasks[$0.number] == nil }.map(\.receiver.webhook)
        }
        // Nothing that these still waited for is left out.
        for webhook in refusing { self.notify(webhook, .removed(undelivered: 0)) }
    }

    /// How attempts came out, for each webhook there is now, by what may be shown of its URL.
    package var tallies: [(url: String, tally: WebhookTally)] {
        self.state.withLock { $0.services.map { ($0.receiver.webhook.shownURL, $0.receiver.tally) } }
    }

    /// Once the log is closed: gives every webhook some time to take what it has not, then stops. What is left is the next
    /// worker's, or can be asked for.
    package func finish(within time: Duration) async {
        let tasks = self.state.withLock { state in
            state.isFinishing = true
            return Array(state.tasks.values)
        }
        let deadline = Task {
            try? await Task.sleep(for: time)
            for task in tasks { task.cancel() }
        }
        for task in tasks { await task.value }
        deadline.cancel()
        self.book.flush()
        try? await self.client.shutdown()
    }

    private func serve(
        _ receiver: WebhookReceiver, from delivered: Int64, once told: Int64, _ state: inout State
    ) -> Service {
        state.lastNumber += 1
        let number = state.lastNumber
        // Taken out by itself, once the lock that is held here is free.
        state.tasks[number] = Task {
            await self.send(to: receiver, number, from: delivered, once: told)
            _ = self.state.withLock { $0.tasks.removeValue(forKey: number) }
        }
        return Service(number: number, receiver: receiver)
    }

    private func send(to receiver: WebhookReceiver, _ number: Int, from delivered: Int64, once told: Int64) async {
        var queue = WebhookQueue(types: receiver.webhook.types, delivered: delivered)
        await self.send(to: receiver, &queue, once: told)
        let last = self.state.withLock { state in
            let last = receiver.lastEvent
            // In one step: whoever lets it go from here on tells what is to be told.
            if last == nil { state.tasks.removeValue(forKey: number) }
            return last
        }
        guard let last else { return }
        var left: Int64 = 0
        while queue.delivered < last {
            let page = self.log.page(after: queue.delivered)
            _ = queue.missed(page.missed)
            left += page.missed + queue.drop(page, upTo: last)
            if page.events.isEmpty { break }
        }
        self.notify(receiver.webhook, .removed(undelivered: left))
    }

    /// - Parameter told: Begins behind this event, with what is left of those before it: a worker's first event is its own.
    private func send(to receiver: WebhookReceiver, _ queue: inout WebhookQueue, once told: Int64) async {
        let (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let observer = self.log.observe(after: queue.delivered) { signal.yield() }
        defer { self.log.forget(observer) }
        var waiting = signals.makeAsyncIterator()
        while self.log.last <= told, !self.log.page(after: told, limit: 1).isClosed, !Task.isCancelled {
            _ = await waiting.next()
        }
        while !Task.isCancelled, !queue.isDisabled {
            queue.types = receiver.webhook.types
            let page = self.log.page(after: queue.delivered, limit: 64)
            if let notice = queue.missed(page.missed) { self.notify(receiver.webhook, notice) }
            let event = queue.next(in: page)
            self.note(queue, of: receiver)
            guard let event else {
                if page.events.isEmpty {
                    if page.isClosed { return }
                    _ = await waiting.next()
                }
                continue
            }
            let wait = queue.due - self.clock.now()
            if wait > 0 {
                try? await Task.sleep(for: .nanoseconds(wait))
                if Task.isCancelled { return }
            }
            let webhook = receiver.webhook
            let outcome = await self.post(event, to: webhook)
            // The end of the worker is no failure of its receiver.
            if Task.isCancelled, case .failed = outcome { return }
            receiver.count(outcome)
            let notice = queue.attempted(event, outcome, now: self.clock.now(), jitter: Int64.random(in: 0..<1000))
            if queue.isDisabled, !receiver.refuse(webhook) {
                queue = WebhookQueue(types: webhook.types, delivered: queue.delivered)
                continue
            }
            self.note(queue, of: receiver)
            if let notice { self.notify(webhook, notice) }
        }
    }

    private func note(_ queue: WebhookQueue, of receiver: WebhookReceiver) {
        receiver.unlessGone { self.book.set(queue.delivered, for: receiver.id) }
    }

    private func post(_ event: EventRecord, to webhook: Webhook) async -> WebhookQueue.Outcome {
        if let substitute = self.substitute { return await substitute(event, webhook) }
        let sent = CloudEvent(event, roomID: self.roomID)
        let timestamp = SystemClock.wallClock() / 1_000_000_000
        var fields = HTTPHeaders([
            ("content-type", CloudEvent.contentType), ("user-agent", TandemVersion.userAgent), ("webhook-id", sent.id),
            ("webhook-timestamp", "\(timestamp)"),
        ])
        if let signature = webhook.signature.field(id: sent.id, timestamp: timestamp, body: sent.body) {
            fields.add(name: "webhook-signature", value: signature)
        }
        if let gate = self.egress, !gate.policy.webhooks.contains(webhook.url) {
            do {
                let answer = try await JudgedPost.send(
                    to: webhook.url, fields: fields, body: sent.body, gate: gate, timeout: webhook.timeout)
                return Self.outcome(answer.status.code, answer.headers, now: timestamp)
            } catch {
                return .failed("\(error)")
            }
        }
        var request = HTTPClientRequest(url: webhook.url)
        request.method = .POST
        request.headers = fields
        request.body = .bytes(ByteBuffer(bytes: sent.body))
        do {
            let response = try await self.client.execute(request, timeout: .nanoseconds(webhook.timeout))
            // Read, so that the connection can be used again; what it says matters to nobody. The timeout of `execute` ends
            // with the head of the answer.
            let body = response.body
            _ = await Deadline.run(within: webhook.timeout) { try? await body.collect(upTo: 64 << 10) }
            return Self.outcome(response.status.code, response.headers, now: timestamp)
        } catch let error as HTTPClientError {
            // Its description names the case, and no part of the URL.
            return .failed(error.shortDescription)
        } catch {
            return .failed(ConnectionFailure.text(error) ?? "no connection: \(type(of: error))")
        }
    }

    private static func outcome(_ status: UInt, _ fields: HTTPHeaders, now: Int64) -> WebhookQueue.Outcome {
        let date = fields.first(name: "date").flatMap { RetryAfter.date($0) }
        let retryAfter = fields.first(name: "retry-after").flatMap { RetryAfter.seconds($0, now: date ?? now) }
        return .status(Int(status), retryAfter: retryAfter)
    }
}
