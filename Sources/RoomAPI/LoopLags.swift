import MediaTypes

/// How far the loops of a live room are behind its clock, and whether they hang. A value without clocks or threads.
///
/// A loop hangs if the room's clock advances and the loop does not. A lack of media stops neither, so it never counts.
/// A loop that is behind but advances is alive: after the whole machine was suspended, the missed ticks are made up,
/// which takes as long as the encoders need.
package struct LoopLags: Sendable, Hashable {
    /// The lag of one loop.
    package struct Loop: Sendable, Hashable {
        /// How far the loop is behind the room's clock, in nanoseconds.
        package var behind: Int64
        /// Time since the loop was last seen to advance, in nanoseconds.
        package var still: Int64

        package init(behind: Int64, still: Int64) {
            self.behind = behind
            self.still = still
        }

        fileprivate func hangs(beyond limit: Int64) -> Bool { self.behind >= limit && self.still >= limit }
    }

    /// How far the tick loop may be behind without progress, in nanoseconds.
    package static let tickLimit = 3 * TimeMath.nanoseconds
    /// How far the slowest encoder may be behind without progress, in nanoseconds.
    package static let encoderLimit = 10 * TimeMath.nanoseconds

    /// Time beyond the pipeline's limit that the end of a room may take before its worker counts as hanging, in
    /// nanoseconds. Deployment manifests allow for it too.
    package static let endMargin = 10 * TimeMath.nanoseconds

    /// The lag of the tick loop; nil if the program does not run.
    package var tick: Loop?
    /// The lag of the slowest encoder; nil if the program does not run or has no video to encode.
    package var encoder: Loop?
    /// Time since the worker should have ended, with the margin, in nanoseconds. Negative if there is time left; nil if
    /// the worker is not stopping.
    package var overdue: Int64?

    package init(tick: Loop? = nil, encoder: Loop? = nil, overdue: Int64? = nil) {
        self.tick = tick
        self.encoder = encoder
        self.overdue = overdue
    }

    /// Whether no loop hangs, and a stopping room is not overdue.
    package var isAlive: Bool {
        self.tick?.hangs(beyond: Self.tickLimit) != true && self.encoder?.hangs(beyond: Self.encoderLimit) != true
            && (self.overdue ?? -1) < 0
    }

    /// How far a program that shows `tick` is behind its clock, in nanoseconds. It is 0 until the next tick is due.
    package static func behind(showing tick: Int64, fps: Int, now: Int64) -> Int64 {
        max(0, now &- TimeMath.scale(tick &+ 1, by: TimeMath.nanoseconds, over: Int64(max(1, fps))))
    }

    /// The state of each loop as text, for the health reply.
    package var checks: [String: String] {
        if let overdue = self.overdue {
            let seconds = overdue.magnitude / UInt64(TimeMath.nanoseconds)
            return ["end": overdue < 0 ? "\(seconds) s left" : "\(seconds) s overdue"]
        }
        var checks = ["tick": self.tick.map(Self.text) ?? "waiting for the first source"]
        if let encoder = self.encoder { checks["encoders"] = Self.text(encoder) }
        return checks
    }

    private static func text(_ loop: Loop) -> String {
        let behind = "\(loop.behind / 1_000_000) ms behind the clock"
        let seconds = loop.still / TimeMath.nanoseconds
        return seconds > 0 ? "\(behind), no progress for \(seconds) s" : behind
    }
}

/// Remembers since when a loop has been at its current position, as far as it was polled. A value without clocks or
/// threads.
package struct LoopProgress: Sendable {
    private var last: (position: Int64, since: Int64)?

    package init() {}

    /// Records the position of the loop. `now` is monotonic, in nanoseconds.
    ///
    /// - Returns: Nanoseconds since the loop was first seen at this position.
    package mutating func standstill(at position: Int64, now: Int64) -> Int64 {
        guard let last, last.position == position else {
            self.last = (position, now)
            return 0
        }
        return max(0, now &- last.since)
    }
}
