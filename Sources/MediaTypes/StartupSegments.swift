/// The short segments at the beginning of a live room, so that its first playlist can list three segments early.
///
/// Chromium's own HLS player fails (`DEMUXER_ERROR_COULD_NOT_PARSE`) if exactly two segments are listed when it joins;
/// it plays with three. With full segments, the first viewer would have to wait for three of them, so the first ones
/// are shorter. They end where a segment of the grid begins; from there on, segments follow the grid.
package struct StartupSegments: Sendable, Hashable {
    /// Number of segments in the first published playlist.
    package static let listed = 3
    /// Maximum duration in seconds of three full segments for which the first playlist waits, because viewers cannot
    /// join before it exists.
    private static let longestWait = 10

    /// Number of frames of each short segment.
    package let frames: Int64
    /// Number of the first frame after the short segments, a multiple of the full segment length.
    package let end: Int64
    /// Number of frames from one IDR frame to the next until ``end``.
    private let gop: Int64

    /// Chooses the shortest length of at least half a second that fits GOPs, full segments and renditions.
    ///
    /// - Parameters:
    ///   - fps: Frames per second of the canvas, at least 1.
    ///   - gopFrames: Frames from one IDR frame to the next, at least 1.
    ///   - segmentFrames: Frames of a full segment, a multiple of `gopFrames`.
    ///   - steps: For each rendition, the number of canvas frames per frame of the rendition.
    /// - Returns: If only the full segment length fits, three full segments are used. `nil` if these would be longer
    ///   than ``longestWait`` together, or if no length fits: the first playlist then lists one segment.
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

    /// Numbers of the first frames of all short segments but the first, followed by ``end``.
    package var cuts: [Int64] { Array(stride(from: self.frames, through: self.end, by: Int64.Stride(self.frames))) }

    /// Returns the GOP of a frame.
    ///
    /// - Returns: The GOP's number, which increases with each IDR frame and is below the numbers of the GOPs after
    ///   ``end``, and the first frame of the GOP; `nil` from ``end`` on, and for a frame below zero.
    package func gop(ofFrame frame: Int64) -> (number: Int64, first: Int64)? {
        guard frame >= 0, frame < self.end else { return nil }
        return (frame / self.gop - self.end / self.gop, frame / self.gop * self.gop)
    }
}
