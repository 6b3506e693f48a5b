/// The short segments that a live room begins with, so that its first playlist can list three segments early.
///
/// Chromium's own HLS player fails (`DEMUXER_ERROR_COULD_NOT_PARSE`) if exactly two segments are listed when it joins; it plays
/// with three. Whole segments would make the first viewer wait for three of them, so the first ones are cut short. They end
/// where a segment of the grid begins; from there on the room is cut on the grid.
package struct OpeningSegments: Sendable, Hashable {
    /// Segments that a playlist lists when it is shown for the first time.
    package static let listed = 3
    /// Seconds of whole segments that viewers wait for at most. Without a playlist nobody can join at all.
    private static let longestWait = 10

    /// Frames of each.
    package let frames: Int64
    /// First frame behind them, a multiple of the grid's segment length.
    package let end: Int64
    /// Frames from one IDR frame to the next until ``end``.
    private let gop: Int64

    /// - Parameters:
    ///   - fps: Frames per second of the canvas, at least 1.
    ///   - gopFrames: Frames from one IDR frame to the next, at least 1.
    ///   - segmentFrames: Frames of a whole segment, a multiple of `gopFrames`.
    ///   - steps: For each rendition, frames of the canvas from one of its frames to the next.
    /// - Returns: If no shorter length of at least half a second fits GOPs, segments and renditions, then the three segments are whole
    ///   ones; `nil` if those last longer than ``longestWait``: the first playlist lists one segment then.
    package init?(fps: Int, gopFrames: Int, segmentFrames: Int, steps: [Int]) {
        guard fps > 0, gopFrames > 0, segmentFrames > 0 else { return nil }
        let shortest = min(max(1, (fps + 1) / 2), segmentFrames)
        let found = (shortest...segmentFrames).first { frames in
            segmentFrames.isMultiple(of: frames)
                && (gopFrames.isMultiple(of: frames) || frames.isMultiple(of: gopFrames))
                && steps.allSatisfy { frames.isMultiple(of: max(1, $0)) }
        }
        guard let found, found < segmentFrames || Self.listed * found <= Self.longestWait * fps else { return nil }
        let segments = (Self.listed * found + segmentFrames - 1) / segmentFrames
        self.frames = Int64(found)
        self.end = Int64(segments * segmentFrames)
        self.gop = Int64(min(found, gopFrames))
    }

    /// First frames of the segments after the first one, ``end`` included.
    package var cuts: [Int64] { Array(stride(from: self.frames, through: self.end, by: Int64.Stride(self.frames))) }

    /// The GOP of a frame.
    ///
    /// - Returns: A number that rises with each IDR frame and is below those of the grid's GOPs, and the first frame of the GOP;
    ///   `nil` from ``end`` on, and for a frame below zero.
    package func gop(ofFrame frame: Int64) -> (number: Int64, first: Int64)? {
        guard frame >= 0, frame < self.end else { return nil }
        return (frame / self.gop - self.end / self.gop, frame / self.gop * self.gop)
    }
}
