import Synchronization

/// A webhook from its addition until its removal, with its current settings.
///
/// States: *served* → *refusing* (the receiver answered 410, to this worker or to an earlier one; it is served again when its
/// settings change) → *gone*; served → gone.
final class WebhookReceiver: Sendable {
    private struct State {
        var webhook: Webhook
        var isRefusing: Bool
        var lastEvent: Int64?
        var tally = WebhookCounters()
    }

    /// Id of the webhook, derived from its URL, which does not change.
    let id: String
    private let state: Mutex<State>

    init(_ webhook: Webhook, isRefusing: Bool = false) {
        self.id = webhook.id
        self.state = Mutex(State(webhook: webhook, isRefusing: isRefusing))
    }

    /// The current settings of the webhook.
    var webhook: Webhook { self.state.withLock { $0.webhook } }

    /// Number of the last event at the time of the webhook's removal; `nil` if it is not removed.
    var lastEvent: Int64? { self.state.withLock { $0.lastEvent } }

    /// Whether the receiver answered 410 since the settings last changed.
    var isRefusing: Bool { self.state.withLock { $0.isRefusing } }

    var tally: WebhookCounters { self.state.withLock { $0.tally } }

    /// Counts the result of a delivery attempt.
    func count(_ outcome: WebhookQueue.Outcome) { self.state.withLock { $0.tally.count(outcome) } }

    /// Replaces the settings.
    ///
    /// - Returns: Whether sending must be started again, because the receiver had answered 410 and its settings have
    ///   changed.
    func change(to webhook: Webhook) -> Bool {
        self.state.withLock { state in
            guard state.webhook != webhook else { return false }
            state.webhook = webhook
            defer { state.isRefusing = false }
            return state.isRefusing
        }
    }

    /// Records that the receiver answered 410 to the given version of the webhook.
    ///
    /// - Parameter store: Stores that for later workers; not called if the webhook was removed meanwhile.
    /// - Returns: `false` if the settings have changed meanwhile, so that delivery must continue with the new ones.
    func refuse(_ webhook: Webhook, _ store: () -> Void) -> Bool {
        self.state.withLock { state in
            guard state.webhook == webhook else { return false }
            state.isRefusing = true
            if state.lastEvent == nil { store() }
            return true
        }
    }

    /// Marks the webhook as removed after the event with this number.
    func leave(at event: Int64) { self.state.withLock { $0.lastEvent = event } }

    /// Runs `body` unless the webhook was removed.
    func unlessGone(_ body: () -> Void) {
        self.state.withLock { if $0.lastEvent == nil { body() } }
    }
}
