import HLS
package import MediaTypes

/// The slate clip: encoded video and silence that fill a time in which no worker ran. It is encoded once and repeated
/// with new timestamps.
package struct Slate: Sendable {
    /// Length of the repeated video in frames; each repetition begins with an IDR frame. It must be a divisor of the
    /// GOP length, or a whole segment.
    package let frames: Int
    /// The coded clip for each track of the output. For video, frames in decoding order, the first one displayed at 0;
    /// for audio, one frame of silence.
    package let tracks: [[CodedPacket]]

    package init(frames: Int, tracks: [[CodedPacket]]) {
        self.frames = frames
        self.tracks = tracks
    }

    /// Number of frames of which a filled range must be a multiple, so that live media can begin at its end; `nil` if
    /// the slate does not fit the output's GOP or segment length, or a track has none.
    func unit(_ grid: OutputGrid, trackCount: Int) -> Int? {
        guard self.frames > 0, self.tracks.count == trackCount, self.tracks.allSatisfy({ !$0.isEmpty }) else {
            return nil
        }
        if grid.gopFrames.isMultiple(of: self.frames) { return grid.gopFrames }
        return self.frames == grid.segmentFrames ? self.frames : nil
    }

    /// Fills a range of a track with slate, repeated with new timestamps.
    ///
    /// - Parameter range: Frames counted from the room's origin; for video at multiples of ``frames``.
    /// - Returns: The parts and segments that the segmenter completes.
    func fill(_ range: Range<Int64>, track: Int, into segmenter: inout TrackSegmenter) -> [TrackSegmenter.Output] {
        guard self.tracks.indices.contains(track), let first = self.tracks[track].first else { return [] }
        var output: [TrackSegmenter.Output] = []
        switch first.kind {
        case .video:
            for start in stride(from: range.lowerBound, to: range.upperBound, by: self.frames) {
                let shift = TimeMath.rescale(start, from: Int64(segmenter.grid.fps), to: Int64(first.timescale))
                for var packet in self.tracks[track] {
                    packet.pts &+= shift
                    packet.dts &+= shift
                    output += segmenter.append(packet)
                }
            }
        case .audio:
            let samples = segmenter.grid.audioFrames(range)
            for position in stride(
                from: samples.lowerBound, to: samples.upperBound, by: Int(OutputGrid.samplesPerAudioFrame))
            {
                var packet = first
                packet.pts = position
                packet.dts = position
                output += segmenter.append(packet)
            }
        }
        return output
    }
}

extension OutputGrid {
    /// Returns the AAC frames that belong to a range of video frames: from the first one that starts at the range's
    /// start or later, up to the first one that starts at its end or later. AAC frames are counted from the room's
    /// origin, in every run.
    ///
    /// - Returns: A range in samples since the origin.
    func audioFrames(_ frames: Range<Int64>) -> Range<Int64> {
        func first(_ frame: Int64) -> Int64 {
            let length = Self.samplesPerAudioFrame
            return (self.ticks(ofFrame: frame, .audio) + length - 1) / length * length
        }
        return first(frames.lowerBound)..<first(frames.upperBound)
    }
}

/// The slate with which a worker has filled an outage.
package struct SlateFill: Sendable, Hashable {
    /// Filled frames, counted from the room's origin.
    package let frames: Range<Int64>
    /// Media sequence number of the first segment that contains slate.
    package let mediaSequence: Int64
    /// Number of complete segments that contain slate.
    package let wholeSegments: Int
    /// Whether the slate continues the playlists without a discontinuity.
    package let isSeamless: Bool
}
