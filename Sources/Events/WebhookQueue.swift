/// What is to be sent to one webhook, and when. Pure: answers and time in, what to do out.
///
/// One event at a time, in their order; what fails is tried again, later each time, until it is taken. Only an answer 410 ends
/// it. Nothing waits here but a number: the events themselves are the log's.
package struct WebhookQueue: Sendable, Hashable {
    /// What came of an attempt.
    package enum Outcome: Sendable, Hashable {
        /// The receiver's status, and how many seconds it asks for.
        case status(Int, retryAfter: Int? = nil)
        /// It was not reached, or gave no answer in time.
        case failed(String)
    }

    /// What is to be told of a webhook.
    package enum Notice: Sendable, Hashable {
        case failing(String)
        /// It takes events again, after so many failures.
        case restored(failures: Int)
        /// It wants no more of them.
        case disabled
        /// Events went before they could be sent.
        case lost(Int64)
        /// It is no receiver any more; so many events that it wanted it does not get.
        case removed(undelivered: Int64)
    }

    /// Wait after the first failure, in nanoseconds.
    private static let firstWait: Int64 = 500_000_000
    /// Longest wait, in nanoseconds.
    private static let longestWait: Int64 = 30_000_000_000

    /// Kinds that are sent, as `source.live` or `source.*`; empty: all. What was left out does not come again.
    package var types: [String]
    /// The last event that was taken, or is not wanted.
    package private(set) var delivered: Int64
    /// In a row.
    package private(set) var failures = 0
    package private(set) var isDisabled = false
    /// Monotonic time of the next attempt, in nanoseconds.
    package private(set) var due: Int64 = 0

    package init(types: [String], delivered: Int64) {
        self.types = types
        self.delivered = delivered
    }

    /// The event to send now; `nil`: none that is wanted is there. Skips those that are not wanted.
    package mutating func next(in page: EventLog.Page) -> EventRecord? {
        guard !self.isDisabled else { return nil }
        for event in page.events where event.sequence > self.delivered {
            if self.wants(event.type) { return event }
            self.delivered = event.sequence
        }
        return nil
    }

    /// Takes note of events that the log has given up.
    package mutating func missed(_ count: Int64) -> Notice? {
        guard count > 0, !self.isDisabled else { return nil }
        self.delivered += count
        return .lost(count)
    }

    /// Leaves out everything up to an event.
    ///
    /// - Returns: How much of the page it would have sent.
    package mutating func drop(_ page: EventLog.Page, upTo last: Int64) -> Int64 {
        let left = page.events.filter { $0.sequence > self.delivered && $0.sequence <= last }
        self.delivered = max(self.delivered, min(page.next, last))
        return Int64(left.count { self.wants($0.type) })
    }

    /// - Parameters:
    ///   - now: Monotonic, in nanoseconds.
    ///   - jitter: Of 0…999, chosen anew each time: workers whose receiver was away do not come back all at once.
    package mutating func attempted(_ event: EventRecord, _ outcome: Outcome, now: Int64, jitter: Int64) -> Notice? {
        let reason: String
        var asked: Int64 = 0
        switch outcome {
        case .status(200..<300, _):
            self.delivered = max(self.delivered, event.sequence)
            self.due = now
            defer { self.failures = 0 }
            return self.failures > 0 ? .restored(failures: self.failures) : nil
        case .status(410, _):
            self.isDisabled = true
            return .disabled
        case .status(let status, let retryAfter):
            reason = "status \(status)"
            if [429, 502, 503, 504].contains(status) {
                asked = Int64(min(max(0, retryAfter ?? 0), 3600)) * 1_000_000_000
            }
        case .failed(let why): reason = why
        }
        let wait = min(Self.longestWait, Self.firstWait << Int64(min(self.failures, 10)))
        self.failures += 1
        self.due = now + max(asked, wait / 1000 * (750 + jitter / 2))
        return self.failures == 1 ? .failing(reason) : nil
    }

    private func wants(_ type: String) -> Bool {
        self.types.isEmpty
            || self.types.contains { wanted in
                wanted == type || (wanted.hasSuffix(".*") && type.hasPrefix(wanted.dropLast()))
            }
    }
}
