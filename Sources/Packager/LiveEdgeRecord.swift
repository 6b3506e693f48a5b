import MediaTypes

/// The parts that viewers of the live edge may request, as stored for the next worker (`edge.json`). It is written with
/// every part unless the store is too slow, so that the next worker lists the same parts under the same names and
/// continues with the part of the preload hint. Spec: rfc8216bis §6.2.2 (a part stays available for three target
/// durations), §4.4.5.3 (a hinted part must follow).
struct LiveEdgeRecord: Sendable, Hashable {
    /// A listed part. Its bytes are a range of its segment's file or, if the state file does not have the segment, an
    /// object of its own.
    struct Row: Sendable, Hashable {
        var mediaSequence: Int64
        /// Index of the part in its segment.
        var index: Int
        var name: String
        /// Ticks of the track's timescale since the room's origin.
        var start: Int64
        var duration: Int64
        var byteCount: Int
        var independent: Bool
        /// Whether the part's segment begins with a discontinuity.
        var discontinuity: Bool
    }

    /// A complete segment that the state file does not have yet. The playlist lists it as complete now or with its next
    /// part. The next worker keeps its number and name, whether or not it has the bytes.
    struct CompleteSegment: Sendable, Hashable {
        var mediaSequence: Int64
        /// Incarnation (run number) of the worker in the segment's file name.
        var incarnation: Int64
        /// Ticks of the track's timescale since the room's origin.
        var start: Int64
        var duration: Int64
        var discontinuity: Bool
        var gap: Bool
        /// URI of the segment's initialization segment.
        var map: String
    }

    struct Track: Sendable, Hashable {
        var name: String
        /// URI of the initialization segment that the newest rows use.
        var map: String
        /// Complete segments with consecutive numbers, oldest first; ``rows`` contains their parts.
        var whole: [CompleteSegment] = []
        /// The listed parts, oldest first.
        var rows: [Row]
        /// URI in the preload hint: the part after the last row.
        var hint: String
    }

    /// Name of the record file in the output directory.
    static let name = "edge.json"
    /// Maximum number of rows per track; a file with more is treated as damaged.
    private static let mostRows = 4_096
    /// Maximum number of complete segments per track: half an hour of two-second segments during which the state file
    /// cannot be written.
    static let mostWhole = 1_024

    var tracks: [Track]
    /// The state file has the segments below this media sequence number.
    var recorded: Int64

    /// Names of the part files that belong to this record.
    var names: Set<String> {
        var names: Set<String> = []
        names.reserveCapacity(self.tracks.reduce(0) { $0 + $1.rows.count })
        for track in self.tracks {
            for row in track.rows where row.mediaSequence >= self.recorded { names.insert(row.name) }
        }
        return names
    }

    /// Per track, the media sequence number below which viewers may know the segments' URIs.
    var promised: [Int64] {
        self.tracks.map { track in max(self.recorded, track.whole.last.map { $0.mediaSequence + 1 } ?? 0) }
    }

    /// The content of the record file.
    // Format of rows, as in the state file: [media sequence, index, name, start, duration, bytes, flags: 1
    // discontinuity, 4 independent]. Format of whole segments: [media sequence, incarnation, start, duration, flags: 1
    // discontinuity, 2 gap, initialization segment].
    var json: String {
        "{\n\"version\": 1,\n\"recorded\": \(self.recorded),\n\"tracks\": ["
            + self.tracks.map { track in
                "\n{\"name\": \"\(track.name)\", \"map\": \"\(track.map)\", \"hint\": \"\(track.hint)\", \"whole\": ["
                    + track.whole.map { whole in
                        let flags = (whole.discontinuity ? 1 : 0) + (whole.gap ? 2 : 0)
                        return
                            "\n[\(whole.mediaSequence),\(whole.incarnation),\(whole.start),\(whole.duration),\(flags),"
                            + "\"\(whole.map)\"]"
                    }.joined(separator: ",") + "], \"rows\": ["
                    + track.rows.map { row in
                        let flags = (row.discontinuity ? 1 : 0) + (row.independent ? 4 : 0)
                        return "\n[\(row.mediaSequence),\(row.index),\"\(row.name)\",\(row.start),\(row.duration),"
                            + "\(row.byteCount),\(flags)]"
                    }.joined(separator: ",") + "]}"
            }.joined(separator: ",") + "\n]\n}\n"
    }
}

extension LiveEdgeRecord {
    /// Reads a record file.
    ///
    /// - Returns: `nil` if the file is damaged.
    init?(json bytes: [UInt8]) {
        guard let root = JSONParser.parse(bytes, limit: StateFile.mostBytes).faultless,
            root[key: "version"]?.integer == 1,
            let recorded = root[key: "recorded"]?.integer, (0...StateFile.largestNumber).contains(recorded),
            let list = root[key: "tracks"]?.array
        else { return nil }
        var tracks: [Track] = []
        for object in list {
            guard let name = object[key: "name"]?.string, TrackNames.isValid(name),
                let map = object[key: "map"]?.string, TrackNames.isValid(map),
                let hint = object[key: "hint"]?.string, TrackNames.isValid(hint),
                let rows = object[key: "rows"]?.array, rows.count <= Self.mostRows
            else { return nil }
            let read = rows.compactMap { $0.array.flatMap(Row.init(row:)) }
            // Files of older versions do not have this member.
            let whole = object[key: "whole"] == nil ? [] : object[key: "whole"]?.array ?? [JSONNode(.null)]
            let segments = whole.compactMap { $0.array.flatMap(CompleteSegment.init(row:)) }
            guard read.count == rows.count, segments.count == whole.count, segments.count <= Self.mostWhole else {
                return nil
            }
            tracks.append(Track(name: name, map: map, whole: segments, rows: read, hint: hint))
        }
        self.init(tracks: tracks, recorded: recorded)
    }
}

extension LiveEdgeRecord {
    fileprivate static let lastTick: Int64 = 1 << 53
}

extension LiveEdgeRecord.Row {
    fileprivate init?(row: [JSONNode]) {
        guard row.count == 7, let mediaSequence = row[0].integer, (0...StateFile.largestNumber).contains(mediaSequence),
            let index = row[1].integer, (0...4_096).contains(index), let name = row[2].string,
            TrackNames.isValid(name), let start = row[3].integer, (0...LiveEdgeRecord.lastTick).contains(start),
            let duration = row[4].integer, (1...LiveEdgeRecord.lastTick).contains(duration),
            let byteCount = row[5].integer,
            (1...Int64(Int32.max)).contains(byteCount), let flags = row[6].integer, (0...7).contains(flags)
        else { return nil }
        self.init(
            mediaSequence: mediaSequence, index: Int(index), name: name, start: start, duration: duration,
            byteCount: Int(byteCount), independent: flags & 4 != 0, discontinuity: flags & 1 != 0)
    }
}

extension LiveEdgeRecord.CompleteSegment {
    fileprivate init?(row: [JSONNode]) {
        guard row.count == 6, let mediaSequence = row[0].integer, (0...StateFile.largestNumber).contains(mediaSequence),
            let incarnation = row[1].integer, (1...StateFile.largestNumber).contains(incarnation),
            let start = row[2].integer, (0...LiveEdgeRecord.lastTick).contains(start), let duration = row[3].integer,
            (1...LiveEdgeRecord.lastTick).contains(duration), let flags = row[4].integer, (0...3).contains(flags),
            let map = row[5].string, TrackNames.isValid(map)
        else { return nil }
        self.init(
            mediaSequence: mediaSequence, incarnation: incarnation, start: start, duration: duration,
            discontinuity: flags & 1 != 0, gap: flags & 2 != 0, map: map)
    }
}
