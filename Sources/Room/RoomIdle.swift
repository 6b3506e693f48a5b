import MediaTypes
import PipelineSpec

/// Decides when a room without publishers ends. A pure value that is polled with whether a publisher is connected.
///
/// States: new (never a publisher) → busy (a publisher is connected) ⇄ left (no publisher any more). From new and from
/// left → over; the reason is returned once. Times are monotonic, in nanoseconds.
package struct RoomIdle: Sendable, Equatable {
    /// The time limits of the pipeline in nanoseconds; nil means no limit. They may change from one call to the next.
    package struct Rules: Sendable, Equatable {
        /// How long a new room waits for its first publisher, in nanoseconds; nil: without limit.
        package var firstSource: Int64?
        /// How long a room that has had a publisher continues without one, in nanoseconds; nil: without limit.
        package var idle: Int64?

        package init(firstSource: Int64? = nil, idle: Int64? = nil) {
            self.firstSource = firstSource
            self.idle = idle
        }
    }

    /// Why the room ends.
    package enum End: Sendable, Equatable {
        /// No publisher connected to the new room within this time, in nanoseconds.
        case nobodyCame(Int64)
        /// No publisher has been connected for this time, in nanoseconds.
        case everybodyLeft(Int64)
    }

    private var hasHadSource: Bool
    /// Since when there has been no publisher; nil if there is one, or if that is not known yet.
    package private(set) var since: Int64?
    private var isOver = false

    /// - Parameters:
    ///   - hasHadSource: Whether there was a publisher while an earlier worker served the room.
    ///   - since: Since when that worker had no publisher; nil if it had one.
    package init(hasHadSource: Bool, since: Int64? = nil) {
        self.hasHadSource = hasHadSource
        self.since = since
    }

    /// Polls the state.
    ///
    /// - Parameter isAnybodyThere: Whether a publisher is connected or a file source is being read, background sources not counted.
    /// - Returns: Why the room ends, once; otherwise nil.
    package mutating func noted(isAnybodyThere: Bool, _ rules: Rules, now: Int64) -> End? {
        guard !isAnybodyThere else {
            (self.hasHadSource, self.since) = (true, nil)
            return nil
        }
        let since = self.since ?? now
        self.since = since
        guard !self.isOver, let limit = self.hasHadSource ? rules.idle : rules.firstSource, now &- since >= limit else {
            return nil
        }
        self.isOver = true
        return self.hasHadSource ? .everybodyLeft(limit) : .nobodyCame(limit)
    }
}

extension RoomIdle.Rules {
    init(_ idle: Pipeline.Idle) {
        func limit(_ seconds: Int) -> Int64? { seconds > 0 ? Int64(seconds) * TimeMath.nanoseconds : nil }
        self.init(firstSource: limit(idle.waitForFirstSourceSeconds), idle: limit(idle.maxIdleSeconds))
    }
}
