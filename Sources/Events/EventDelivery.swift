import AsyncHTTPClient
package import Egress
import MediaTypes
import NIOCore
import NIOHTTP1
import Threading
import Synchronization

/// Sends the room's events to its webhooks. Each webhook has a task of its own, so that a slow, faulty or unreachable
/// webhook delays neither the others nor the media. Webhooks may be added, removed and changed.
package final class EventDelivery: Sendable {
    /// Reports a change of a webhook's delivery, for the room's own events.
    package typealias Notify = @Sendable (_ webhook: Webhook, _ notice: WebhookQueue.Notice) -> Void
    /// Sends an event to a webhook, and returns the receiver's answer.
    package typealias Post = @Sendable (_ event: EventRecord, _ webhook: Webhook) async -> WebhookQueue.Outcome

    private struct Service {
        let number: Int
        let receiver: WebhookReceiver
    }

    private struct State {
        /// The current webhooks, in the configured order.
        var services: [Service] = []
        /// Tasks that are sending or about to stop, by number.
        var tasks: [Int: Task<Void, Never>] = [:]
        var lastNumber = 0
        var isFinishing = false
    }

    private let initial: [Webhook]
    private let roomID: String
    private let log: EventLog
    private let deliveryLog: DeliveryLog
    private let client: HTTPClient
    private let egress: EgressGate?
    private let notify: Notify
    private let substitute: Post?
    private let state = Mutex(State())
    private let clock = SystemClock()

    /// Makes the delivery to a set of webhooks; ``begin(new:)`` starts it.
    ///
    /// - Parameters:
    ///   - directory: Directory in which the delivery state is stored; `nil`: it is not stored.
    ///   - egress: Policy for the addresses of webhooks that are not in the pipeline file; `nil`: any address is
    ///     allowed.
    ///   - substitute: Called instead of HTTP requests, in tests.
    ///   - notify: Called with each change of a webhook's delivery, from any thread.
    package init(
        _ webhooks: [Webhook], of log: EventLog, roomID: String, directory: String?, egress: EgressGate? = nil,
        substitute: Post? = nil, notify: @escaping Notify
    ) {
        self.egress = egress
        self.substitute = substitute
        self.initial = webhooks
        self.roomID = roomID
        self.log = log
        self.deliveryLog = DeliveryLog(directory: directory)
        self.notify = notify
        self.client = .forWebhooks()
    }

    /// Starts sending. A webhook that received events from an earlier worker continues after the last one; one that has
    /// answered 410 gets none unless its settings have changed.
    ///
    /// - Parameter new: Number of the last event of earlier workers: a webhook without deliveries so far gets the
    ///   events after it.
    package func begin(new: Int64) {
        self.state.withLock { state in
            self.deliveryLog.keepRefusals(of: self.initial)
            for webhook in self.initial {
                if self.deliveryLog.isRefused(by: webhook) {
                    state.lastNumber += 1
                    let receiver = WebhookReceiver(webhook, isRefusing: true)
                    state.services.append(Service(number: state.lastNumber, receiver: receiver))
                    continue
                }
                // If the journal is lost but the delivery state is not, the numbers have started again.
                let delivered = min(self.deliveryLog.delivered(to: webhook.id) ?? new, new)
                state.services.append(self.serve(WebhookReceiver(webhook), from: delivered, once: new, &state))
            }
        }
    }

    /// Replaces the set of webhooks, which are identified by their URLs. A webhook that stays continues, with its new
    /// settings from the next attempt on; but if it has answered 410, it gets no events unless its settings change. A new
    /// webhook, or one that answered 410 to other settings, starts with the next event. A removed webhook does not get its
    /// remaining events, which ``Notify`` reports. Has no effect after ``finish(within:)``.
    package func replace(_ webhooks: [Webhook]) {
        let refusing = self.state.withLock { state -> [Webhook] in
            guard !state.isFinishing else { return [] }
            let last = self.log.last
            var before = state.services
            state.services = []
            for webhook in webhooks {
                guard let index = before.firstIndex(where: { $0.receiver.id == webhook.id }) else {
                    self.deliveryLog.set(last, for: webhook.id)
                    state.services.append(self.serve(WebhookReceiver(webhook), from: last, once: last, &state))
                    continue
                }
                let service = before.remove(at: index)
                let isAnew = service.receiver.change(to: webhook)
                if isAnew {
                    self.deliveryLog.accept(webhook.id)
                    self.deliveryLog.set(last, for: webhook.id)
                }
                state.services.append(
                    isAnew ? self.serve(service.receiver, from: last, once: last, &state) : service)
            }
            for service in before {
                let id = service.receiver.id
                service.receiver.leave(at: last)
                if !webhooks.contains(where: { $0.id == id }) { self.deliveryLog.forget(id) }
                state.tasks[service.number]?.cancel()
            }
            return before.filter { state.tasks[$0.number] == nil }.map(\.receiver.webhook)
        }
        // The tasks of these webhooks had already ended, without pending events.
        for webhook in refusing { self.notify(webhook, .removed(undelivered: 0)) }
    }

    /// Number of delivery attempts by result for each current webhook, with the public part of its URL.
    package var tallies: [(url: String, tally: WebhookCounters)] {
        self.state.withLock { $0.services.map { ($0.receiver.webhook.shownURL, $0.receiver.tally) } }
    }

    /// Number of events after the last one that each current webhook has received or that was skipped for it, with the
    /// public part of its URL; 0 for a webhook that answered 410, which gets no more events.
    package var backlogs: [(url: String, events: Int64)] {
        let (services, last) = (self.state.withLock(\.services), self.log.last)
        return services.map { service in
            let receiver = service.receiver
            let delivered = receiver.isRefusing ? nil : self.deliveryLog.delivered(to: receiver.id)
            return (receiver.webhook.shownURL, max(0, last - (delivered ?? last)))
        }
    }

    /// Gives every webhook some time to receive its remaining events, then stops. Call this after the log was closed.
    /// The next worker sends the rest, and clients can request it.
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
        self.deliveryLog.flush()
        try? await self.client.shutdown()
    }

    private func serve(
        _ receiver: WebhookReceiver, from delivered: Int64, once told: Int64, _ state: inout State
    ) -> Service {
        state.lastNumber += 1
        let number = state.lastNumber
        // The task can remove itself only after the caller has released the lock.
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
            // Both happen under one lock: after this, ``replace(_:)`` reports the removal itself.
            if last == nil { state.tasks.removeValue(forKey: number) }
            return last
        }
        guard let last else { return }
        var left: Int64 = 0
        while queue.delivered < last {
            let page = self.log.page(after: queue.delivered)
            _ = queue.missed(page.skipped)
            left += page.skipped + queue.drop(page, upTo: last)
            if page.events.isEmpty { break }
        }
        self.notify(receiver.webhook, .removed(undelivered: left))
    }

    /// Sends events to a webhook until it is removed or disabled, all events of a closed log are sent, or the time limit of
    /// ``finish(within:)`` is over.
    ///
    /// - Parameter told: The number of an event: sending starts only when a later event exists, so that a new worker
    ///   has emitted an event of its own.
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
            if let notice = queue.missed(page.skipped) { self.notify(receiver.webhook, notice) }
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
            // A cancellation by the end of the worker is not a failure of the receiver.
            if Task.isCancelled, case .failed = outcome { return }
            receiver.count(outcome)
            let notice = queue.attempted(event, outcome, now: self.clock.now(), jitter: Int64.random(in: 0..<1000))
            if queue.isDisabled, !receiver.refuse(webhook, { self.deliveryLog.refuse(webhook) }) {
                queue = WebhookQueue(types: webhook.types, delivered: queue.delivered)
                continue
            }
            self.note(queue, of: receiver)
            if let notice { self.notify(webhook, notice) }
        }
    }

    private func note(_ queue: WebhookQueue, of receiver: WebhookReceiver) {
        receiver.unlessGone { self.deliveryLog.set(queue.delivered, for: receiver.id) }
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
                let answer = try await CheckedPost.send(
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
        let began = self.clock.now()
        do {
            let response = try await self.client.execute(request, timeout: .nanoseconds(webhook.timeout))
            // Read the body so that the connection can be reused; its content is ignored. The timeout of `execute` ends
            // with the head of the response; the body gets the rest of the time.
            let body = response.body
            let rest = webhook.timeout &- (self.clock.now() &- began)
            _ = await Deadline.run(within: rest) { try? await body.collect(upTo: 64 << 10) }
            return Self.outcome(response.status.code, response.headers, now: timestamp)
        } catch let error as HTTPClientError {
            // Its description contains the case, and no part of the URL.
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
