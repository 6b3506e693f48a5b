import Synchronization

/// A webhook from when it is named until it is no more, whatever its settings are meanwhile.
///
/// States: *served* → *refusing* (it answered 410; another version of it is served again) → *gone*; served → gone.
final class WebhookReceiver: Sendable {
    private struct State {
        var webhook: Webhook
        var isRefusing = false
        var lastEvent: Int64?
        var tally = WebhookTally()
    }

    /// Of its URL, which stays.
    let id: String
    private let state: Mutex<State>

    init(_ webhook: Webhook) {
        self.id = webhook.id
        self.state = Mutex(State(webhook: webhook))
    }

    /// As it is to be served now.
    var webhook: Webhook { self.state.withLock { $0.webhook } }

    /// The last event there was when it went; `nil`: it has not gone.
    var lastEvent: Int64? { self.state.withLock { $0.lastEvent } }

    var tally: WebhookTally { self.state.withLock { $0.tally } }

    /// An attempt has come out so.
    func count(_ outcome: WebhookQueue.Outcome) { self.state.withLock { $0.tally.count(outcome) } }

    /// - Returns: Whether it is to be served anew: it wanted no more, and is another one now.
    func change(to webhook: Webhook) -> Bool {
        self.state.withLock { state in
            guard state.webhook != webhook else { return false }
            state.webhook = webhook
            defer { state.isRefusing = false }
            return state.isRefusing
        }
    }

    /// It wants no more of what it was sent as that webhook.
    ///
    /// - Returns: False: it is another one by now, and is to be served as such.
    func refuse(_ webhook: Webhook) -> Bool {
        self.state.withLock { state in
            guard state.webhook == webhook else { return false }
            state.isRefusing = true
            return true
        }
    }

    func leave(at event: Int64) { self.state.withLock { $0.lastEvent = event } }

    /// Does something with it unless it has gone.
    func unlessGone(_ body: () -> Void) {
        self.state.withLock { if $0.lastEvent == nil { body() } }
    }
}
