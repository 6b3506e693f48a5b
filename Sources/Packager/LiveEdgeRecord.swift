import MediaTypes

/// The parts that viewers of the live edge may request. It is stored with every part, so that the next worker lists the
/// same parts under the same names and continues with the hinted one. Spec: rfc8216bis §6.2.2 (a part stays available
/// for three target durations), §4.4.5.3 (a hinted part must follow).
struct LiveEdgeRecord: Sendable, Hashable {
    /// A part. Its bytes are a range of its segment's file, or an object of its own if the state file does not have the
    /// segment.
    struct Row: Sendable, Hashable {
        var mediaSequence: Int64
        /// Index in its segment.
        var index: Int
        var name: String
        /// Ticks of the track's timescale since the room's origin.
        var start: Int64
        var duration: Int64
        var byteCount: Int
        var independent: Bool
        /// Whether its segment begins with a discontinuity.
        var discontinuity: Bool
    }

    /// A segment that the state file does not have and that the playlist lists as complete, or will with its next part.
    /// Number and name stay, whether or not the next worker has its bytes.
    struct Whole: Sendable, Hashable {
        var mediaSequence: Int64
        /// The incarnation in its file name.
        var incarnation: Int64
        /// Ticks of the track's timescale since the room's origin.
        var start: Int64
        var duration: Int64
        var discontinuity: Bool
        var gap: Bool
        /// Name of its initialization segment.
        var map: String
    }

    struct Track: Sendable, Hashable {
        var name: String
        /// Name of the initialization segment of the last rows.
        var map: String
        /// With consecutive numbers, in order; the rows list their parts.
        var whole: [Whole] = []
        /// In order.
        var rows: [Row]
        /// Name of the part after the last row.
        var hint: String
    }

    /// The file's name.
    static let name = "edge.json"
    /// Most rows per track: a file with more is damaged.
    private static let mostRows = 4_096
    /// Most complete segments per track: half an hour in which the state file cannot be written.
    static let mostWhole = 1_024

    var tracks: [Track]
    /// The state file has the segments below this number.
    var recorded: Int64

    /// Names of the part objects that belong to the record.
    var names: Set<String> {
        var names: Set<String> = []
        names.reserveCapacity(self.tracks.reduce(0) { $0 + $1.rows.count })
        for track in self.tracks {
            for row in track.rows where row.mediaSequence >= self.recorded { names.insert(row.name) }
        }
        return names
    }

    /// For each track: viewers may know the names of the segments below this number.
    var promised: [Int64] {
        self.tracks.map { track in max(self.recorded, track.whole.last.map { $0.mediaSequence + 1 } ?? 0) }
    }

    /// The file's content.
    // Rows as in the state file: [media sequence, index, name, start, duration, bytes, flags: 1 discontinuity, 4 independent].
    // Whole segments: [media sequence, incarnation, start, duration, flags: 1 discontinuity, 2 gap, initialization segment].
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
    /// - Returns: `nil` if the file is damaged: only the parts it named are lost then.
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
            let segments = whole.compactMap { $0.array.flatMap(Whole.init(row:)) }
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

extension LiveEdgeRecord.Whole {
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
