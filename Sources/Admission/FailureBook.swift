package import PipelineSpec
import RTMP

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
    /// Places that are remembered one by one; what comes from others then counts for all of them together.
    static let maximumPlaces = 1024

    private var places: [Place?: RateBudget] = [:]

    package init() {}

    package var count: Int { self.places.count }

    /// A wrong key came from `address`, in nanoseconds of a monotonic clock.
    package mutating func failed(at address: IPAddress?, now: Int64) -> Answer {
        var place = address.map { Place($0) }
        if self.places[place] == nil {
            if self.places.count >= Self.maximumPlaces {
                self.places = self.places.filter { !$0.value.isFull(at: now) }
            }
            if self.places.count >= Self.maximumPlaces { place = nil }
        }
        return self.places[place, default: RateBudget(Self.rate, now: now)].take(now: now) ? .explain : .drop
    }
}
