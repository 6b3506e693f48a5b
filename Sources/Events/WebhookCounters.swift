/// Counters of delivery attempts by result, since the worker started.
package struct WebhookCounters: Sendable, Hashable {
    /// Events that were accepted: status 200 to 299.
    package private(set) var delivered: Int64 = 0
    /// Attempts answered with another status.
    package private(set) var refused: Int64 = 0
    /// Attempts without a response.
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
