import MediaTypes

/// How far the loops of a live room are behind its clock, and whether each of them is alive: a value, without clocks or threads.
///
/// A loop that hangs says nothing; what shows it is that the room's clock goes on and the loop's last step does not. Media that
/// is missing moves neither, so it never counts. One that is behind and gets on is alive: behind a standstill of the whole
/// machine the ticks that were missed are made up, which takes as long as the encoders take.
package struct LoopLags: Sendable, Hashable {
    /// One loop.
    package struct Loop: Sendable, Hashable {
        /// Nanoseconds behind the room's clock.
        package var behind: Int64
        /// Nanoseconds since it was seen to get on.
        package var still: Int64

        package init(behind: Int64, still: Int64) {
            self.behind = behind
            self.still = still
        }

        fileprivate func hangs(beyond limit: Int64) -> Bool { self.behind >= limit && self.still >= limit }
    }

    /// How far the tick loop may be behind without progress, in nanoseconds.
    package static let tickLimit = 3 * TimeMath.nanoseconds
    /// How far the slowest encoder may be behind without progress, in nanoseconds. Three seconds of canvases wait before the encoders and half
    /// a second before each.
    package static let encoderLimit = 10 * TimeMath.nanoseconds

    /// Nanoseconds the end of a room may take beyond what the pipeline gives it, before its worker counts as one that hangs: what
    /// manifests leave for it, too.
    package static let endMargin = 10 * TimeMath.nanoseconds

    /// The tick loop; `nil`: the program does not run.
    package var tick: Loop?
    /// The encoder that is furthest behind; `nil`: the program does not run, or has no pictures to encode.
    package var encoder: Loop?
    /// Nanoseconds since the end, or the hand-over, was to be done, margin included; negative: there is time left. `nil`: the worker
    /// is not stopping.
    package var overdue: Int64?

    package init(tick: Loop? = nil, encoder: Loop? = nil, overdue: Int64? = nil) {
        self.tick = tick
        self.encoder = encoder
        self.overdue = overdue
    }

    /// Whether every loop advances, and the end comes when it must.
    package var isAlive: Bool {
        self.tick?.hangs(beyond: Self.tickLimit) != true && self.encoder?.hangs(beyond: Self.encoderLimit) != true
            && (self.overdue ?? -1) < 0
    }

    /// How far a program that shows `tick` is behind its clock, in nanoseconds: until the next tick is due it is not.
    package static func behind(showing tick: Int64, fps: Int, now: Int64) -> Int64 {
        max(0, now &- TimeMath.scale(tick &+ 1, by: TimeMath.nanoseconds, over: Int64(max(1, fps))))
    }

    /// What is known of each loop, in words.
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
        return seconds > 0 ? "\(behind), at a standstill for \(seconds) s" : behind
    }
}

/// Since when a loop is where it is, as far as anybody has looked: a value, without clocks or threads.
package struct LoopProgress: Sendable {
    private var last: (position: Int64, since: Int64)?

    package init() {}

    /// The loop is at `position`; `now` is monotonic, in nanoseconds.
    ///
    /// - Returns: Nanoseconds since it was first seen there.
    package mutating func standstill(at position: Int64, now: Int64) -> Int64 {
        guard let last, last.position == position else {
            self.last = (position, now)
            return 0
        }
        return max(0, now &- last.since)
    }
}
