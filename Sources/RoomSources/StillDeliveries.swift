package import MediaTypes

/// Decides which stills are sent to a moderation webhook, and when. A pure value.
///
/// At most one still of each source is being sent and one waits; a newer one replaces the one that waits. A still is sent
/// once and not again after a failure. While the receiver fails, one still of all sources is sent at a time, at increasing
/// intervals.
package struct StillDeliveries<Still: Sendable>: Sendable {
    /// A change of the receiver's state, to be reported as an event.
    package enum Notice: Sendable, Hashable {
        case failing(String)
        case restored(failures: Int)
    }

    /// Counters since the start of the worker.
    package struct Counts: Sendable, Hashable {
        package var delivered: Int64 = 0
        package var failed: Int64 = 0
        /// Stills that were replaced by a newer one before they were sent.
        package var replaced: Int64 = 0
    }

    /// Time from the first failure to the next attempt, in nanoseconds; it doubles with each further failure. Each is varied
    /// at random by up to 25 %.
    static var firstWait: Int64 { 500_000_000 }
    /// Longest time between two attempts before the variation, in nanoseconds.
    static var longestWait: Int64 { 30_000_000_000 }

    private var waiting: [SourceID: Still] = [:]
    /// The sources with a waiting still, the longest waiting first.
    private var order: [SourceID] = []
    private var sending: Set<SourceID> = []
    package private(set) var counts = Counts()
    package private(set) var failures = 0
    /// When the first of the consecutive failures happened, on the monotonic clock; nil if there are none.
    package private(set) var failingSince: Int64?
    /// Why the last failed delivery failed; empty before the first failure.
    package private(set) var reason = ""
    private var due: Int64 = .min

    package init() {}

    /// Adds a still. It replaces one of the same source that waits.
    package mutating func add(_ still: Still, of source: SourceID) {
        if self.waiting.updateValue(still, forKey: source) != nil {
            self.counts.replaced += 1
        } else {
            self.order.append(source)
        }
    }

    /// Takes a still that is to be sent now; nil if there is none. ``finished(_:failure:now:jitter:)`` must follow.
    package mutating func next(now: Int64) -> (source: SourceID, still: Still)? {
        if self.failures > 0, now < self.due || !self.sending.isEmpty { return nil }
        guard let index = self.order.firstIndex(where: { !self.sending.contains($0) }) else { return nil }
        let source = self.order.remove(at: index)
        guard let still = self.waiting.removeValue(forKey: source) else { return nil }
        self.sending.insert(source)
        return (source, still)
    }

    /// Records the result of sending a still.
    ///
    /// - Parameters:
    ///   - failure: Why it failed; nil if it was delivered.
    ///   - jitter: 0…999, random for each call.
    package mutating func finished(_ source: SourceID, failure: String?, now: Int64, jitter: Int64) -> Notice? {
        self.sending.remove(source)
        guard let failure else {
            self.counts.delivered += 1
            self.failingSince = nil
            defer { self.failures = 0 }
            return self.failures > 0 ? .restored(failures: self.failures) : nil
        }
        self.counts.failed += 1
        self.reason = failure
        let wait = min(Self.longestWait, Self.firstWait << Int64(min(self.failures, 10)))
        self.failures += 1
        self.due = now &+ wait / 1000 * (750 + jitter / 2)
        if self.failingSince == nil { self.failingSince = now }
        return self.failures == 1 ? .failing(failure) : nil
    }

    /// Discards the waiting still of a source.
    package mutating func discard(_ source: SourceID) {
        self.waiting[source] = nil
        self.order.removeAll { $0 == source }
    }
}

/// Decides when stills of the published sources are due. A pure value.
package struct StillSchedule: Sendable {
    /// Time until a still is tried again that could not be made, for example before the first key frame, or would have
    /// been the same as the one before, in nanoseconds.
    package static let retry: Int64 = 250_000_000

    private var due: [SourceID: Int64] = [:]

    package init() {}

    /// The sources of which a still is due. The first still of a source that was not published at the last call is due at
    /// once.
    ///
    /// - Parameters:
    ///   - published: All published sources; the others are forgotten.
    ///   - interval: Nanoseconds between two stills of a source.
    package mutating func next(_ published: [SourceID], interval: Int64, now: Int64) -> [SourceID] {
        let known = self.due
        self.due = [:]
        var sources: [SourceID] = []
        for source in published {
            // A shorter interval applies at once.
            let time = min(known[source] ?? now, now &+ interval)
            guard time <= now else {
                self.due[source] = time
                continue
            }
            sources.append(source)
            // A late call does not delay the next still, unless it is a whole interval late.
            self.due[source] = time &+ interval > now ? time &+ interval : now &+ interval
        }
        return sources
    }

    /// Records that there was no new still of a source, so that one is due again after ``retry``.
    package mutating func failed(_ source: SourceID, now: Int64) {
        guard let time = self.due[source] else { return }
        self.due[source] = min(time, now &+ Self.retry)
    }
}
