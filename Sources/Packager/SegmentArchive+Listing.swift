import HLS
import MediaTypes

/// The archive's rows as segments of playlists and as files.
extension SegmentArchive {
    /// The listed segments of a track from a media sequence number on, oldest first.
    ///
    /// - Parameters:
    ///   - origin: Time zero of the room: nanoseconds since the Unix epoch.
    ///   - keys: Encryption keys; `nil` if segments are not encrypted.
    func segments(ofTrack index: Int, from number: Int64 = 0, origin: Int64, keys: SegmentKeys?) -> [Segment] {
        let track = self.tracks[index]
        guard let first = track.rows.first?.mediaSequence else { return [] }
        let place = Int(clamping: max(0, max(number, self.head) &- first))
        guard place < track.rows.count else { return [] }
        return (place..<track.rows.count).map { place in
            let row = track.rows[place]
            return row.segment(
                track.names, timescale: track.timescale, origin: origin, map: self.map(of: row, track: index),
                keys: keys)
        }
    }

    /// Segments of a track whose files are kept although they are not listed. Track 0 also gets the files outside the
    /// rows.
    ///
    /// - Parameter isWhole: If true, only segments that no playlist lists; otherwise all that the live playlist does not
    ///   list.
    func retired(ofTrack index: Int, isWhole: Bool) -> [RetiredSegment] {
        let track = self.tracks[index]
        var retired: [RetiredSegment] = []
        for place in 0..<track.rows.count where !isWhole || track.rows[place].mediaSequence < self.head {
            let row = track.rows[place]
            retired.append(
                RetiredSegment(
                    uri: track.names.segment(row.mediaSequence, incarnation: row.incarnation),
                    map: self.map(of: row, track: index), deleteAt: self.deleteTime(row, index), gap: row.gap,
                    byteCount: row.byteCount))
        }
        return index == 0 ? retired + self.others.values.sorted { $0.deleteAt < $1.deleteAt } : retired
    }

    /// Names of the files of all listed rows, newest first, the tracks in turns.
    var listedFiles: [String] {
        let last = self.tracks.compactMap { $0.rows.last?.mediaSequence }.max() ?? -1
        var names: [String] = []
        for number in stride(from: last, through: self.head, by: -1) {
            for track in self.tracks {
                guard let place = track.rows.index(of: number), !track.rows[place].gap else { continue }
                names.append(track.names.segment(number, incarnation: track.rows[place].incarnation))
            }
        }
        return names
    }

    /// Looks up the file of a segment that the archive has.
    ///
    /// - Returns: The kind of its track, and its size in bytes before encryption; `nil` for gaps and unknown names.
    func file(named name: String) -> (kind: TrackKind, byteCount: Int)? {
        let end = ".m4s"
        guard name.hasSuffix(end) else { return nil }
        for track in self.tracks where name.hasPrefix("\(track.names.track)-") {
            let numbers = name.dropFirst(track.names.track.utf8.count + 1).dropLast(end.count).split(separator: "-")
            guard numbers.count == 2, let number = Int64(numbers[1]), let place = track.rows.index(of: number),
                !track.rows[place].gap,
                track.names.segment(number, incarnation: track.rows[place].incarnation) == name
            else { continue }
            return (track.kind, track.rows[place].byteCount)
        }
        guard let other = self.others[name], !other.gap else { return nil }
        let kind = self.tracks.first { name.hasPrefix("\($0.names.track)-") }?.kind
        return (kind ?? .video, other.byteCount)
    }
}

extension StateFile.Entry {
    /// Makes the entry of a listed segment.
    init(_ segment: Segment, incarnation: Int64, map: Int) {
        self.init(
            mediaSequence: segment.mediaSequence, incarnation: incarnation, start: segment.start,
            duration: segment.duration.ticks, byteCount: segment.byteCount, map: map,
            discontinuity: segment.discontinuity, gap: segment.gap, independent: segment.independent,
            keyFrames: segment.keyFrames.map { frame in
                KeyFrame(start: frame.start &- segment.start, offset: frame.offset, byteCount: frame.byteCount)
            })
    }

    /// Makes the playlist entry.
    func segment(
        _ names: TrackNames, timescale: Int32, origin: Int64, map: InitializationSegment, keys: SegmentKeys?
    ) -> Segment {
        Segment(
            mediaSequence: self.mediaSequence, uri: names.segment(self.mediaSequence, incarnation: self.incarnation),
            start: self.start, duration: MediaDuration(ticks: self.duration, timescale: timescale),
            programDate: origin &+ TimeMath.rescale(self.start, from: Int64(timescale), to: TimeMath.nanoseconds),
            map: map, discontinuity: self.discontinuity,
            key: keys?.segmentKey(of: self.mediaSequence, track: names.track),
            gap: self.gap, byteCount: self.byteCount, independent: self.independent,
            keyFrames: self.keyFrames.map { frame in
                KeyFrame(start: frame.start &+ self.start, offset: frame.offset, byteCount: frame.byteCount)
            })
    }
}
