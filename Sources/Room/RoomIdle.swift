import MediaTypes
import PipelineSpec

/// Decides when a room without publishers ends: a value that is called with whether there is a publisher.
///
/// States: new (never a publisher) → busy (a publisher is there) ⇄ left (no publisher any more); from new and from left
/// → over, which is returned once. Times are nanoseconds of one clock, never falling.
package struct RoomIdle: Sendable, Equatable {
    /// The limits of the pipeline, in nanoseconds; `nil`: no limit. They may change from one call to the next.
    package struct Rules: Sendable, Equatable {
        /// How long a new room waits.
        package var firstSource: Int64?
        /// How long a room that has had a publisher continues without one.
        package var idle: Int64?

        package init(firstSource: Int64? = nil, idle: Int64? = nil) {
            self.firstSource = firstSource
            self.idle = idle
        }
    }

    /// Why the room ends.
    package enum End: Sendable, Equatable {
        /// No publisher came for this time, in nanoseconds.
        case nobodyCame(Int64)
        /// No publisher has been there for this time, in nanoseconds.
        case everybodyLeft(Int64)
    }

    private var hasHadSource: Bool
    /// Since when there has been no publisher; `nil`: there is one, or ``noted(isAnybodyThere:_:now:)`` was not called
    /// yet.
    package private(set) var since: Int64?
    private var isOver = false

    /// - Parameters:
    ///   - hasHadSource: Whether there was a publisher under an earlier worker.
    ///   - since: Since when there had been none under that worker.
    package init(hasHadSource: Bool, since: Int64? = nil) {
        self.hasHadSource = hasHadSource
        self.since = since
    }

    /// - Parameter isAnybodyThere: Whether a publisher is connected, or a file is being read.
    /// - Returns: Why the room ends; once.
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
