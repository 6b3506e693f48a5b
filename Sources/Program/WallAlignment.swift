package import MediaTypes
import Synchronization

/// Which sources know the world's time, and how much later each must be shown so that what happened at one moment is seen
/// at one moment.
///
/// Nobody is shown earlier than by itself. The largest set of sources that can wait for its latest one is aligned; who is
/// beyond the others' reach (its way is too long, or its clock is wrong) stays as it is, and delays nobody.
///
/// Nanoseconds throughout.
package struct WallAlignment: Sendable {
    /// Who has said nothing for this long is not waited for.
    static let patience: Int64 = 3_000_000_000

    private struct Member: Sendable {
        var delay: Int64
        var held: Int64
        var reach: Int64
        var time: Int64

        /// The latest delay it can wait for; `reach` is not negative.
        var end: Int64 {
            let (end, isBeyond) = self.delay.addingReportingOverflow(self.reach)
            return isBeyond ? .max : end
        }
    }

    private var members: [SourceID: Member] = [:]

    package init() {}

    /// Takes note of a source.
    ///
    /// - Parameters:
    ///   - delay: How long after it happened something of it would be shown by itself; up to a constant that is the same for
    ///     all sources.
    ///   - held: How much later than that it is shown at present, until it has glided back: whoever waits for it waits for
    ///     what viewers see.
    ///   - reach: How much later it may be shown at most.
    ///   - time: Program time now.
    package mutating func note(_ source: SourceID, delay: Int64, held: Int64 = 0, reach: Int64, at time: Int64) {
        self.members[source] = Member(delay: delay, held: held, reach: max(0, reach), time: time)
    }

    /// The source is gone, or does not know the time any more.
    package mutating func remove(_ source: SourceID) { self.members[source] = nil }

    /// How much later a source must be shown, 0 for the one that is waited for; `nil` when there is nobody it could be
    /// aligned with.
    ///
    /// - Complexity: O(*n* log *n*) in the sources that know the time.
    package func extra(of source: SourceID, at time: Int64) -> Int64? {
        guard let own = self.members[source] else { return nil }
        var present = self.members.values.filter { time &- $0.time <= Self.patience }
        // Of those with one delay the one that is held longest first: what viewers see of it is waited for.
        present.sort { ($0.delay, $1.held) < ($1.delay, $0.held) }
        let ends = present.map(\.end).sorted()
        var best: (count: Int, delay: Int64, held: Int64)?
        var (begun, over) = (0, 0)
        for latest in present {
            // Who can wait for it: whose reach has begun there and is not over. None ends before it begins.
            while begun < present.count, present[begun].delay <= latest.delay { begun += 1 }
            while over < ends.count, ends[over] < latest.delay { over += 1 }
            // Of two sets of the same size the one that is shown earlier, which came first.
            if let best, begun - over <= best.count { continue }
            best = (begun - over, latest.delay, latest.held)
        }
        guard let best, best.count >= 2, own.delay <= best.delay, best.delay <= own.end else { return nil }
        return own.delay == best.delay ? 0 : best.delay &+ best.held &- own.delay
    }
}

/// The alignment of a room's sources, which their threads share.
package final class WallAligner: Sendable {
    private let alignment = Mutex(WallAlignment())

    package init() {}

    /// Takes note of a source and says how much later it must be shown; see ``WallAlignment``.
    func note(_ source: SourceID, delay: Int64, held: Int64, reach: Int64, at time: Int64) -> Int64? {
        self.alignment.withLock {
            $0.note(source, delay: delay, held: held, reach: reach, at: time)
            return $0.extra(of: source, at: time)
        }
    }

    /// The source is gone.
    package func remove(_ source: SourceID) { self.alignment.withLock { $0.remove(source) } }
}
