import HLS
import Packager

/// Journal lines for the key frames of recorded segments, for the I-frame playlist of the recording. For each track
/// with key frames, one such line follows the segment's line. Without these lines the I-frame playlist has gaps.
extension RecordingJournal {
    /// Returns the journal line for a track's key frames: `keys`, media sequence number, track, and for each key frame
    /// its start, offset and size; `nil` if the track has no key frames.
    static func keysLine(_ track: ListedSegmentSet.Track, of segmentSet: ListedSegmentSet) -> String? {
        guard !track.segment.keyFrames.isEmpty else { return nil }
        let numbers = track.segment.keyFrames.flatMap { [$0.start, Int64($0.offset), Int64($0.byteCount)] }
        return (["keys", "\(segmentSet.mediaSequence)", track.name] + numbers.map { "\($0)" }).joined(separator: "\t")
            + "\n"
    }

    /// Reads the fields of a `keys` line.
    ///
    /// - Returns: `false` for an invalid line.
    mutating func takeKeys(_ fields: [String]) -> Bool {
        let numbers = fields.dropFirst(3).compactMap { Int64($0) }
        guard fields.count > 3, (fields.count - 3).isMultiple(of: 3), numbers.count == fields.count - 3,
            numbers.allSatisfy({ (0..<1 << 53).contains($0) }), let number = Int64(fields[1])
        else { return false }
        // The segment of a superseded worker is not in the list.
        guard let segmentSet = self.segmentSets.last, segmentSet.mediaSequence == number,
            let place = segmentSet.tracks.firstIndex(where: { $0.name == fields[2] })
        else { return true }
        var tracks = segmentSet.tracks
        let segment = tracks[place].segment
        let end = segment.start &+ segment.duration.ticks
        var frames: [KeyFrame] = []
        for first in stride(from: 0, to: numbers.count, by: 3) {
            let (start, offset, count) = (numbers[first], numbers[first + 1], numbers[first + 2])
            guard start >= frames.last.map({ $0.start + 1 }) ?? segment.start, start < end, offset <= Int32.max,
                count <= Int32.max
            else { return false }
            frames.append(KeyFrame(start: start, offset: Int(offset), byteCount: Int(count)))
        }
        tracks[place] = ListedSegmentSet.Track(
            name: tracks[place].name, kind: tracks[place].kind, segment: segment.with(keyFrames: frames))
        self.replaceLast(
            ListedSegmentSet(
                mediaSequence: segmentSet.mediaSequence, incarnation: segmentSet.incarnation,
                frames: segmentSet.frames, tracks: tracks))
        return true
    }
}
