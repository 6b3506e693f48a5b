import AsyncHTTPClient
import MediaTypes
import NIOCore
import NIOHTTP1
import Stages
import Synchronization

/// Sends the room's events to its webhooks, each in a task of its own: one that is slow, wrong or away holds up nobody else,
/// and no media.
package final class EventDelivery: Sendable {
    /// What came of the delivery to one webhook, for the room's own events.
    package typealias Notify = @Sendable (_ webhook: Webhook, _ notice: WebhookQueue.Notice) -> Void

    private let webhooks: [Webhook]
    private let roomID: String
    private let log: EventLog
    private let book: DeliveryBook
    private let client: HTTPClient
    private let notify: Notify
    private let tasks = Mutex<[Task<Void, Never>]>([])
    private let clock = SystemClock()

    /// - Parameters:
    ///   - directory: Where it is kept what has been delivered; `nil`: nowhere.
    ///   - notify: Called from any thread.
    package init(
        _ webhooks: [Webhook], of log: EventLog, roomID: String, directory: String?, notify: @escaping Notify
    ) {
        self.webhooks = webhooks
        self.roomID = roomID
        self.log = log
        self.book = DeliveryBook(directory: directory)
        self.notify = notify
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 4
        configuration.timeout.connect = .seconds(3)
        self.client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// Begins to send. A webhook that has been sent events by an earlier worker gets what came behind them.
    ///
    /// - Parameter new: The last event of the workers before: a webhook nobody has sent anything yet gets what comes behind it.
    package func begin(new: Int64) {
        self.tasks.withLock { tasks in
            tasks = self.webhooks.map { webhook in
                let delivered = self.book.delivered(to: webhook.id) ?? new
                return Task { await self.send(to: webhook, from: delivered, once: new) }
            }
        }
    }

    /// Once the log is closed: gives every webhook some time to take what it has not, then stops. What is left is the next
    /// worker's, or can be asked for.
    package func finish(within time: Duration) async {
        let tasks = self.tasks.withLock { $0 }
        let deadline = Task {
            try? await Task.sleep(for: time)
            for task in tasks { task.cancel() }
        }
        for task in tasks { await task.value }
        deadline.cancel()
        self.book.flush()
        try? await self.client.shutdown()
    }

    /// - Parameter told: Begins behind this event, with what is left of those before it: a worker's first event is its own.
    private func send(to webhook: Webhook, from delivered: Int64, once told: Int64) async {
        var queue = WebhookQueue(types: webhook.types, delivered: delivered)
        let (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let observer = self.log.observe(after: delivered) { signal.yield() }
        defer { self.log.forget(observer) }
        var waiting = signals.makeAsyncIterator()
        while self.log.last <= told, !self.log.page(after: told, limit: 1).isClosed, !Task.isCancelled {
            _ = await waiting.next()
        }
        while !Task.isCancelled, !queue.isDisabled {
            let page = self.log.page(after: queue.delivered, limit: 64)
            if let notice = queue.missed(page.missed) { self.notify(webhook, notice) }
            let event = queue.next(in: page)
            self.book.set(queue.delivered, for: webhook.id)
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
            let outcome = await self.post(event, to: webhook)
            // The end of the worker is no failure of its receiver.
            if Task.isCancelled, case .failed = outcome { return }
            let notice = queue.attempted(event, outcome, now: self.clock.now(), jitter: Int64.random(in: 0..<1000))
            self.book.set(queue.delivered, for: webhook.id)
            if let notice { self.notify(webhook, notice) }
        }
    }

    private func post(_ event: RoomEvent, to webhook: Webhook) async -> WebhookQueue.Outcome {
        let sent = CloudEvent(event, roomID: self.roomID)
        let timestamp = SystemClock.wallClock() / 1_000_000_000
        var request = HTTPClientRequest(url: webhook.url)
        request.method = .POST
        request.headers.add(name: "content-type", value: CloudEvent.contentType)
        request.headers.add(name: "user-agent", value: TandemVersion.userAgent)
        request.headers.add(name: "webhook-id", value: sent.id)
        request.headers.add(name: "webhook-timestamp", value: "\(timestamp)")
        if let signature = webhook.signature.field(id: sent.id, timestamp: timestamp, body: sent.body) {
            request.headers.add(name: "webhook-signature", value: signature)
        }
        request.body = .bytes(ByteBuffer(bytes: sent.body))
        do {
            let response = try await self.client.execute(request, timeout: .nanoseconds(webhook.timeout))
            // Read, so that the connection can be used again; what it says matters to nobody.
            _ = try? await response.body.collect(upTo: 64 << 10)
            let retryAfter = response.headers.first(name: "retry-after").flatMap { Int($0) }
            return .status(Int(response.status.code), retryAfter: retryAfter)
        } catch let error as HTTPClientError {
            // Its description names the case, and no part of the URL.
            return .failed(error.shortDescription)
        } catch {
            return .failed("\(type(of: error))")
        }
    }
}
