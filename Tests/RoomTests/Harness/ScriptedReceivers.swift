import Dispatch
import Events
import Synchronization

/// Webhook receivers without a connection: each accepts the events sent to its URL, or refuses them.
final class ScriptedReceivers: Sendable {
    private struct State {
        /// Accepted events in order, by URL.
        var taken: [String: [EventRecord]] = [:]
        var refusing: Set<String> = []
    }

    private let state = Mutex(State())
    private let news = DispatchSemaphore(value: 0)

    /// Answers a request.
    func receive(_ event: EventRecord, _ webhook: Webhook) -> WebhookQueue.Outcome {
        let isTaken = self.state.withLock { state in
            guard !state.refusing.contains(webhook.url) else { return false }
            state.taken[webhook.url, default: []].append(event)
            return true
        }
        self.news.signal()
        return .status(isTaken ? 204 : 503)
    }

    /// Sets whether the receiver refuses events from now on.
    func set(_ url: String, refuses: Bool) {
        self.state.withLock { state in
            if refuses { state.refusing.insert(url) } else { state.refusing.remove(url) }
        }
    }

    /// The events that a receiver has accepted, in order.
    func taken(by url: String) -> [EventRecord] { self.state.withLock { $0.taken[url] ?? [] } }

    /// Waits in real time until a receiver has accepted an event of a type: deliveries do not wait on the room's clock.
    func wait(for type: String, by url: String) async throws {
        try await offPool {
            let limit = DispatchTime.now() + TestClock.patience
            while !self.taken(by: url).contains(where: { $0.type == type }) {
                _ = self.news.wait(timeout: .now() + .milliseconds(5))
                guard .now() > limit else { continue }
                throw TestClock.Timeout(description: "\(url) has not taken \(type): \(self.taken(by: url).map(\.type))")
            }
        }
    }
}
