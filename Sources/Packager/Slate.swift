import HLS
package import MediaTypes

/// What fills the slots of a time in which no worker was there. Coded once, stamped again for every slot.
package struct Slate: Sendable {
    /// Frames of the program after which the pictures begin anew, with an IDR picture: a divisor of the GOP, or whole
    /// segments.
    package let frames: Int
    /// For each track of the output: pictures in decoding order whose first is shown at 0; of sound one frame of silence.
    package let tracks: [[CodedPacket]]

    package init(frames: Int, tracks: [[CodedPacket]]) {
        self.frames = frames
        self.tracks = tracks
    }

    /// Frames of which every multiple can be the end of a fill and the beginning of live pictures; `nil` where the slate
    /// does not fit the grid or a track has none.
    func unit(_ grid: OutputGrid, trackCount: Int) -> Int? {
        guard self.frames > 0, self.tracks.count == trackCount, self.tracks.allSatisfy({ !$0.isEmpty }) else {
            return nil
        }
        if grid.gopFrames.isMultiple(of: self.frames) { return grid.gopFrames }
        return self.frames == grid.segmentFrames ? self.frames : nil
    }

    /// Stamps the slate for a track.
    ///
    /// - Parameter range: Frames of the program, at multiples of ``unit(_:trackCount:)``.
    /// - Returns: What the segmenter completes with it.
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
            let samples = segmenter.grid.soundFrames(range)
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
    /// The AAC frames of some pictures: from the first that starts with the pictures or later to the first that starts
    /// with those behind them. Sound is coded in frames counted from the room's origin, in every run.
    ///
    /// - Returns: In samples since the origin.
    func soundFrames(_ frames: Range<Int64>) -> Range<Int64> {
        func first(_ frame: Int64) -> Int64 {
            let length = Self.samplesPerAudioFrame
            return (self.ticks(ofFrame: frame, .audio) + length - 1) / length * length
        }
        return first(frames.lowerBound)..<first(frames.upperBound)
    }
}

/// What a successor has filled.
package struct SlateFill: Sendable, Hashable {
    /// Frames of the program.
    package let frames: Range<Int64>
    /// Number of the first segment with slate in it.
    package let mediaSequence: Int64
    /// Segments that are slate alone.
    package let wholeSegments: Int
    /// They continue the playlists without a discontinuity.
    package let isSeamless: Bool
}
