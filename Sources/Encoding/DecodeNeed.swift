package import MediaTypes

/// Decides at every tick whether all frames of the sources on air have to be decoded, or only their key frames. A value
/// without threads or clocks.
///
/// All frames are decoded if something shows the canvas: a rendition that is encoded, a raw output, a still. They are also
/// decoded as soon as passthrough may end, so that the encoders then continue with the source's current frame.
package struct DecodeNeed: Sendable {
    /// What the room does at a tick.
    package struct Facts: Sendable {
        /// The source whose packets are passed through at this tick and the next ones; `nil` if there is none.
        package var passed: SourceID?
        /// Whether a rendition is encoded from the canvas, or is about to be. Also true while a source is passed through
        /// whose passthrough may end at the next tick; then ``passed`` is `nil`.
        package var isEncoded: Bool
        /// Whether an output takes every canvas.
        package var isRecorded: Bool
        /// Whether a still of the current canvas is requested.
        package var isStillWanted: Bool
        /// Whether the canvas shows the current frames of its sources.
        package var isFresh: Bool

        package init(passed: SourceID?, isEncoded: Bool, isRecorded: Bool, isStillWanted: Bool, isFresh: Bool) {
            self.passed = passed
            self.isEncoded = isEncoded
            self.isRecorded = isRecorded
            self.isStillWanted = isStillWanted
            self.isFresh = isFresh
        }
    }

    /// What is decoded from the next tick on.
    package struct Decision: Sendable, Hashable {
        /// The sources on air of which only key frames are decoded from the next tick on.
        package var keyFramesOnly: KeyFrameSources
        /// Whether stills may be made of this tick's canvas. `false` while it shows an earlier frame because only key frames
        /// are decoded, or because the frames since the last key frame are still being decoded.
        package var isCanvasCurrent: Bool
    }

    /// Longest time for which the frames since the last key frame may be decoded, in ticks; see ``Decision/isCanvasCurrent``.
    /// A source that has stopped sending never has a current frame.
    private let patience: Int64
    /// The tick at which all frames became necessary again, until the canvas is current.
    private var returning: Int64?
    private var wasReduced = false

    /// - Parameter fps: Ticks per second.
    package init(fps: Int) { self.patience = Int64((max(1, fps) + 4) / 5) }

    /// Returns what is decoded from the next tick on. Must be called once for every tick, in order.
    package mutating func step(_ tick: Int64, _ facts: Facts) -> Decision {
        if !facts.isEncoded, !facts.isRecorded, !facts.isStillWanted {
            self.wasReduced = true
            return Decision(keyFramesOnly: facts.passed.map { .one($0) } ?? .all, isCanvasCurrent: false)
        }
        if self.wasReduced { self.returning = tick }
        self.wasReduced = false
        if let returning = self.returning, facts.isFresh || tick - returning >= self.patience { self.returning = nil }
        return Decision(keyFramesOnly: .none, isCanvasCurrent: self.returning == nil)
    }
}
