/// Counters of a webhook's delivery attempts by result, since the worker started.
package struct WebhookCounters: Sendable, Hashable {
    /// Number of events that the receiver accepted with a status from 200 to 299.
    package private(set) var delivered: Int64 = 0
    /// Number of attempts that the receiver answered with another status.
    package private(set) var refused: Int64 = 0
    /// Number of attempts without a response.
    package private(set) var failed: Int64 = 0

    package init() {}

    package mutating func count(_ outcome: WebhookQueue.Outcome) {
        switch outcome {
        case .status(200..<300, _): self.delivered += 1
        case .status: self.refused += 1
        case .failed: self.failed += 1
        }
    }

    package mutating func add(_ other: WebhookCounters) {
        self.delivered += other.delivered
        self.refused += other.refused
        self.failed += other.failed
    }
}
