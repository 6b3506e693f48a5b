package import MediaTypes
import Synchronization

/// Aligns sources that send wall-clock time, so that what happened at the same moment is shown at the same moment:
/// computes how much later each source must be shown.
///
/// No source is shown earlier than without alignment. The largest set of sources that can all wait for the slowest one
/// of the set is aligned. A source outside this set (its latency is too high, or its clock is wrong) stays as it is and
/// delays no other source.
///
/// All times in nanoseconds.
package struct WallAlignment: Sendable {
    /// A source that has not reported for this long is not waited for.
    static let patience: Int64 = 3_000_000_000

    private struct Member: Sendable {
        var delay: Int64
        var held: Int64
        var reach: Int64
        var time: Int64

        /// The largest delay at which the source can be shown.
        var end: Int64 {
            let (end, isBeyond) = self.delay.addingReportingOverflow(self.reach)
            return isBeyond ? .max : end
        }
    }

    private var members: [SourceID: Member] = [:]

    package init() {}

    /// Records the state of a source.
    ///
    /// - Parameters:
    ///   - delay: Time from an event to its display without alignment, plus a constant that is the same for all
    ///     sources.
    ///   - held: How much later than `delay` the source is currently shown, until gliding has corrected it. Other
    ///     sources that wait for this one must wait for what viewers actually see.
    ///   - reach: How much later than `delay` the source may be shown at most.
    ///   - time: Current program time.
    package mutating func note(_ source: SourceID, delay: Int64, held: Int64 = 0, reach: Int64, at time: Int64) {
        self.members[source] = Member(delay: delay, held: held, reach: max(0, reach), time: time)
    }

    /// Removes a source that has disconnected or no longer sends wall-clock time.
    package mutating func remove(_ source: SourceID) { self.members[source] = nil }

    /// Returns how much later a source must be shown, in nanoseconds; 0 for the source that all others wait for; `nil`
    /// if the source is not one of the aligned ones, or there are none.
    ///
    /// - Complexity: O(*n* log *n*) in the number of sources with wall-clock time.
    package func extra(of source: SourceID, at time: Int64) -> Int64? {
        guard let own = self.members[source] else { return nil }
        var present = self.members.values.filter { time &- $0.time <= Self.patience }
        // If several have the same delay, the one that is held longest comes first, since viewers see it last.
        present.sort { ($0.delay, $1.held) < ($1.delay, $0.held) }
        let ends = present.map(\.end).sorted()
        var best: (count: Int, delay: Int64, held: Int64)?
        var (begun, over) = (0, 0)
        for latest in present {
            // Count the sources that can wait for `latest`: their range has begun and has not ended. No range ends
            // before it begins.
            while begun < present.count, present[begun].delay <= latest.delay { begun += 1 }
            while over < ends.count, ends[over] < latest.delay { over += 1 }
            // If two sets have the same size, take the one that is shown earlier, which came first.
            if let best, begun - over <= best.count { continue }
            best = (begun - over, latest.delay, latest.held)
        }
        guard let best, best.count >= 2, own.delay <= best.delay, best.delay <= own.end else { return nil }
        return own.delay == best.delay ? 0 : best.delay &+ best.held &- own.delay
    }
}

/// The alignment of a room's sources, shared by their threads.
package final class WallAligner: Sendable {
    private let alignment = Mutex(WallAlignment())

    package init() {}

    /// Records the state of a source and returns how much later it must be shown; see ``WallAlignment``.
    func note(_ source: SourceID, delay: Int64, held: Int64, reach: Int64, at time: Int64) -> Int64? {
        self.alignment.withLock {
            $0.note(source, delay: delay, held: held, reach: reach, at: time)
            return $0.extra(of: source, at: time)
        }
    }

    /// Removes a source that has disconnected.
    package func remove(_ source: SourceID) { self.alignment.withLock { $0.remove(source) } }
}
