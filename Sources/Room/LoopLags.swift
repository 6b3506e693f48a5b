import MediaTypes

/// How far the loops of a live room are behind its clock, and whether each of them is alive: a value, without clocks or threads.
///
/// A loop that hangs says nothing; what shows it is that the room's clock goes on and the loop's last step does not. Media that
/// is missing moves neither, so it never counts.
package struct LoopLags: Sendable, Hashable {
    /// Nanoseconds the tick loop may be behind: beyond two seconds it gives ticks up and is at the clock again.
    package static let tickLimit = 3 * TimeMath.nanoseconds
    /// Nanoseconds the slowest encoder may be behind. Three seconds of canvases wait before the encoders and half a second
    /// before each, and what comes on top is left out: one that still works, even with pictures held, never gets this far behind.
    package static let encoderLimit = 10 * TimeMath.nanoseconds

    /// Nanoseconds the end of a room may take beyond what the pipeline gives it, before its worker counts as one that hangs: what
    /// manifests leave for it, too.
    package static let endMargin = 10 * TimeMath.nanoseconds

    /// Of the tick loop, in nanoseconds; `nil`: the program does not run.
    package var tick: Int64?
    /// Of the encoder that is furthest behind, in nanoseconds; `nil`: the program does not run, or has no pictures to encode.
    package var encoder: Int64?
    /// Nanoseconds since the end, or the hand-over, was to be done, margin included; negative: there is time left. `nil`: the worker
    /// is not stopping.
    package var overdue: Int64?

    package init(tick: Int64? = nil, encoder: Int64? = nil, overdue: Int64? = nil) {
        self.tick = tick
        self.encoder = encoder
        self.overdue = overdue
    }

    /// Whether every loop advances, and the end comes when it must.
    package var isAlive: Bool {
        (self.tick ?? 0) < Self.tickLimit && (self.encoder ?? 0) < Self.encoderLimit && (self.overdue ?? -1) < 0
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

    private static func text(_ lag: Int64) -> String { "\(lag / 1_000_000) ms behind the clock" }
}
