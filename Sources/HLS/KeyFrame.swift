import MediaTypes

/// A key frame of a segment that has a movie fragment of its own, so that a player needs only the initialization
/// segment to show the frame.
///
/// Spec: rfc8216bis §4.4.3.6 (`EXT-X-I-FRAMES-ONLY`).
package struct KeyFrame: Sendable, Hashable {
    /// Time of the key frame in ticks of the track's timescale since the room's origin.
    package let start: Int64
    /// Byte offset of the key frame's `moof` in the segment.
    package let offset: Int
    /// Number of bytes of `moof` and `mdat`; 0 if the segment's bytes are missing or were replaced.
    package let byteCount: Int

    package init(start: Int64, offset: Int, byteCount: Int) {
        self.start = start
        self.offset = max(0, offset)
        self.byteCount = max(0, byteCount)
    }

    /// The same key frame, marked as unavailable.
    package var absent: KeyFrame { KeyFrame(start: self.start, offset: 0, byteCount: 0) }

    /// Returns the key frames of a segment that consists of these parts.
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
    /// The key frames of the segment that have a fragment of their own, in order; empty unless the segmenter isolates
    /// key frames.
    package var keyFrames: [KeyFrame] { KeyFrame.all(in: self.parts) }
}

extension Segment {
    /// Number of entries that the segment has in the I-frame playlist: at least one, so that the sequence numbers of
    /// both playlists advance together. The number stays the same while the segment is listed, even if its bytes are
    /// lost.
    package var iFrameCount: Int { max(1, self.keyFrames.count) }

    /// Returns the same segment with other key frames.
    package func with(keyFrames: [KeyFrame]) -> Segment {
        Segment(
            mediaSequence: self.mediaSequence, uri: self.uri, start: self.start, duration: self.duration,
            programDate: self.programDate, map: self.map, discontinuity: self.discontinuity, key: self.key,
            gap: self.gap, parts: self.parts, byteCount: self.byteCount, independent: self.independent,
            publishedAt: self.publishedAt, keyFrames: keyFrames, byteRange: self.byteRange)
    }

    /// Returns the segment's key frames as entries of the I-frame playlist. Each entry lasts until the next one or
    /// until the end of the segment, since the next segment begins with a key frame. Entries of an encrypted segment
    /// have the segment's key. The byte ranges count unencrypted bytes: players extend them to whole blocks plus the
    /// block before (rfc8216bis §6.3.6).
    ///
    /// - Parameter first: Sequence number of the first entry in the I-frame playlist.
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
