/// Decides which event to send to a webhook next, and when. A pure value: it takes responses and times, and returns
/// what to do.
///
/// Events are sent one at a time, in order. A failed attempt is repeated, with increasing delays, until the event is
/// accepted or dropped from the log. A response with status 410 ends the delivery. The queue stores only the number of
/// the last event; the events are in ``EventLog``.
package struct WebhookQueue: Sendable, Hashable {
    /// Result of a delivery attempt.
    package enum Outcome: Sendable, Hashable {
        /// The status of the response, and its `Retry-After` in seconds.
        case status(Int, retryAfter: Int? = nil)
        /// No connection or no response within the timeout, for this reason.
        case failed(String)
    }

    /// A change of the delivery state, to be reported as an event.
    package enum Notice: Sendable, Hashable {
        /// An attempt has failed, for this reason; reported for the first of consecutive failures only.
        case failing(String)
        /// The receiver accepts events again, after this number of failures.
        case restored(failures: Int)
        /// The receiver answered 410 and gets no more events.
        case disabled
        /// Number of events that were dropped from the log before they could be sent, those of other types included.
        case lost(Int64)
        /// The webhook was removed; `undelivered` is the number of events that it would still have received, plus those of
        /// any type that had been dropped from the log before they could be sent.
        case removed(undelivered: Int64)
    }

    /// Delay after the first failure, in nanoseconds; it doubles with each further failure. Every delay is varied at
    /// random by up to 25 %.
    private static let firstWait: Int64 = 500_000_000
    /// Maximum delay before the variation, in nanoseconds. `Retry-After` may ask for up to an hour.
    private static let longestWait: Int64 = 30_000_000_000

    /// Event types to send, such as `source.live` or `source.*`; empty: all. A change does not affect events that were
    /// skipped before.
    package var types: [String]
    /// Number of the last event that was accepted or skipped.
    package private(set) var delivered: Int64
    /// Number of consecutive failed attempts.
    package private(set) var failures = 0
    package private(set) var isDisabled = false
    /// Monotonic time of the next attempt, in nanoseconds.
    package private(set) var due: Int64 = 0

    package init(types: [String], delivered: Int64) {
        self.types = types
        self.delivered = delivered
    }

    /// Returns the event to send next; `nil` if the page has none of the wanted types, or the receiver has answered 410.
    /// Events of other types are skipped.
    package mutating func next(in page: EventLog.Page) -> EventRecord? {
        guard !self.isDisabled else { return nil }
        for event in page.events where event.sequence > self.delivered {
            if self.wants(event.type) { return event }
            self.delivered = event.sequence
        }
        return nil
    }

    /// Records that events were dropped from the log before they could be sent; see ``EventLog/Page/skipped``.
    package mutating func missed(_ count: Int64) -> Notice? {
        guard count > 0, !self.isDisabled else { return nil }
        self.delivered += count
        return .lost(count)
    }

    /// Skips the events of a page up to the event with number `last`.
    ///
    /// - Returns: Number of these events that would have been sent.
    package mutating func drop(_ page: EventLog.Page, upTo last: Int64) -> Int64 {
        let left = page.events.filter { $0.sequence > self.delivered && $0.sequence <= last }
        self.delivered = max(self.delivered, min(page.next, last))
        return Int64(left.count { self.wants($0.type) })
    }

    /// Records the result of an attempt and schedules the next one.
    ///
    /// - Parameters:
    ///   - now: Monotonic time in nanoseconds.
    ///   - jitter: 0…999, random for each call, so that workers do not all retry at the same moment after an outage of
    ///     the receiver.
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
