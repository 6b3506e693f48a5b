package import PipelineSpec

/// How often wrong keys come from where. Pure.
///
/// A person who has mistyped a key is told so, a second later; whoever tries keys by the hundred is not worth an answer, a
/// line in the log, or a place among those who wait. A right key is let in at once in any case: behind one address there may
/// be many people.
package struct FailureBook: Sendable {
    package enum Answer: Sendable, Hashable {
        /// Tell them, after a while.
        case explain
        /// Close the connection without a word.
        case drop
    }

    /// Wrong keys of one place that are answered at once and in the long run.
    private static let rate = (perSecond: Int64(1), burst: Int64(10))

    private var places = PlaceBudget(Self.rate)

    package init() {}

    package var count: Int { self.places.count }

    /// A wrong key came from `address`, in nanoseconds of a monotonic clock.
    package mutating func failed(at address: IPAddress?, now: Int64) -> Answer {
        self.places.take(at: address, now: now) ? .explain : .drop
    }
}
