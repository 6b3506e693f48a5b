import MediaTypes

/// A key frame of a segment: a movie fragment of its own in it, which shows the picture behind the initialization segment
/// alone.
///
/// Spec: rfc8216bis §4.4.3.6 (`EXT-X-I-FRAMES-ONLY`).
package struct KeyFrame: Sendable, Hashable {
    /// Ticks of the track's timescale since the room's origin.
    package let start: Int64
    /// Where its `moof` begins in the segment, in bytes.
    package let offset: Int
    /// Bytes of `moof` and `mdat`; 0 where the segment is not there, or is another one.
    package let byteCount: Int

    package init(start: Int64, offset: Int, byteCount: Int) {
        self.start = start
        self.offset = max(0, offset)
        self.byteCount = max(0, byteCount)
    }

    /// The same picture, not to be had.
    package var absent: KeyFrame { KeyFrame(start: self.start, offset: 0, byteCount: 0) }

    /// The key frames of a segment that is made of parts.
    package static func all(in parts: [FinishedPart]) -> [KeyFrame] {
        var frames: [KeyFrame] = []
        var offset = 0
        for part in parts {
            if let range = part.keyFrame {
                frames.append(
                    KeyFrame(start: part.start, offset: offset &+ range.lowerBound, byteCount: range.count))
            }
            offset &+= part.memory.count
        }
        return frames
    }
}

extension FinishedSegment {
    /// Of pictures whose segmenter isolates them; in order.
    package var keyFrames: [KeyFrame] { KeyFrame.all(in: self.parts) }
}

extension Segment {
    /// Entries it has in the I-frame playlist. One at least, so that the numbers of both lists go on together; the same for
    /// as long as it is listed, whatever becomes of its bytes.
    package var iFrameCount: Int { max(1, self.keyFrames.count) }

    /// The same segment with other key frames.
    package func with(keyFrames: [KeyFrame]) -> Segment {
        Segment(
            mediaSequence: self.mediaSequence, uri: self.uri, start: self.start, duration: self.duration,
            programDate: self.programDate, map: self.map, discontinuity: self.discontinuity, key: self.key,
            gap: self.gap, parts: self.parts, byteCount: self.byteCount, independent: self.independent,
            publishedAt: self.publishedAt, keyFrames: keyFrames, byteRange: self.byteRange)
    }

    /// Its key frames as entries of the I-frame playlist: each lasts until the next one, or until the segment's end, where
    /// the next segment begins with one. Of an encrypted segment they have its key, and ranges count its clear bytes: players
    /// widen them to whole blocks and the one before (rfc8216bis §6.3.6).
    ///
    /// - Parameter first: The number of the first entry.
    func iFrames(numberedFrom first: Int64) -> [Segment] {
        let end = self.start &+ self.duration.ticks
        return (0..<self.iFrameCount).map { index in
            let frame = self.keyFrames.indices.contains(index) ? self.keyFrames[index] : nil
            let next = self.keyFrames.indices.contains(index + 1) ? self.keyFrames[index + 1].start : end
            let start = index == 0 ? self.start : frame?.start ?? self.start
            let timescale = Int64(self.duration.timescale)
            let range = frame.map { $0.offset..<($0.offset &+ $0.byteCount) } ?? 0..<0
            let isGap = self.gap || range.isEmpty
            return Segment(
                mediaSequence: first &+ Int64(index), uri: self.uri, start: start,
                duration: MediaDuration(ticks: max(1, next &- start), timescale: self.duration.timescale),
                programDate: self.programDate
                    &+ TimeMath.rescale(start &- self.start, from: timescale, to: TimeMath.nanoseconds),
                map: self.map, discontinuity: self.discontinuity && index == 0, key: self.key, gap: isGap,
                byteCount: range.count, publishedAt: self.publishedAt, byteRange: isGap ? nil : range)
        }
    }
}
