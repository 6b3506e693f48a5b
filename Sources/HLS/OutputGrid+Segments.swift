package import MediaTypes

extension OutputGrid {
    /// Maximum media time in ticks, more than a thousand years at any timescale, so that sums cannot overflow.
    package static let lastTick: Int64 = 1 << 52

    /// Returns the number of the part that contains a media time, counted from the room's origin.
    ///
    /// - Parameter ticks: Media time in ticks of the track's timescale, 0…``lastTick``.
    package func part(at ticks: Int64, of kind: TrackKind) -> Int64 {
        let perPart = Int64(self.partFrames)
        switch kind {
        case .video: return TimeMath.scale(ticks, by: 1, over: perPart * Self.ticksPerFrame, rounding: .down)
        case .audio:
            return TimeMath.scale(ticks, by: Int64(self.fps), over: perPart * Int64(self.sampleRate), rounding: .down)
        }
    }

    /// Returns the first tick of a part. It is computed from the part's number, so that rounding errors do not add up.
    package func startOfPart(_ part: Int64, of kind: TrackKind) -> Int64 {
        self.ticks(ofFrame: part * Int64(self.partFrames), kind)
    }

    /// Returns the first tick of a track's timescale at or after a frame's start.
    package func ticks(ofFrame frame: Int64, _ kind: TrackKind) -> Int64 {
        switch kind {
        case .video: frame * Self.ticksPerFrame
        case .audio: TimeMath.scale(frame, by: Int64(self.sampleRate), over: Int64(self.fps), rounding: .up)
        }
    }

    /// Returns the index of the segment that contains a part.
    package func segmentIndex(ofPart part: Int64) -> Int64 {
        let perSegment = Int64(self.partsPerSegment)
        return part >= 0 ? part / perSegment : (part - perSegment + 1) / perSegment
    }

    /// Returns the first frame of a segment.
    package func firstFrame(ofSegment segmentIndex: Int64) -> Int64 { segmentIndex * Int64(self.segmentFrames) }

    /// Returns the frames of a segment.
    package func frames(ofSegment segmentIndex: Int64) -> Range<Int64> {
        self.firstFrame(ofSegment: segmentIndex)..<self.firstFrame(ofSegment: segmentIndex + 1)
    }

    /// Returns the index of the first segment that starts at or after a time, given in nanoseconds since the room's
    /// origin.
    package func firstSegmentIndex(atOrAfter nanoseconds: Int64) -> Int64 {
        let perSegment = Int64(self.segmentFrames) * TimeMath.nanoseconds
        return max(0, TimeMath.scale(nanoseconds, by: Int64(self.fps), over: perSegment, rounding: .up))
    }
}
