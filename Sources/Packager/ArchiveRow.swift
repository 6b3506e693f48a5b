import HLS
import MediaTypes

/// A line of the archive's journal: something that the live playlists no longer list and that a later worker needs.
///
/// Each line is a JSON array whose first element tells what it is: `"s"` a segment, `"f"` a file that is to be deleted,
/// `"d"` a date range.
enum ArchiveRow: Sendable, Hashable {
    /// A segment that left a track's live playlist. The index of the initialization segment in the entry is not used.
    case segment(track: String, map: String, StateFile.Entry)
    /// A file that no playlist lists and that is not deleted yet.
    case retired(RetiredSegment)
    /// A date range that left the live playlists.
    case range(StateFile.Range)

    /// The text of the line, without a line feed.
    var json: String {
        switch self {
        case .segment(let track, let map, let entry): return "[\"s\",\"\(track)\",\"\(map)\",\(entry.json)]"
        case .retired(let segment):
            return "[\"f\",\"\(segment.uri)\",\"\(segment.map.uri)\",\(segment.deleteAt),\(segment.gap),"
                + "\(segment.byteCount)]"
        case .range(let range): return "[\"d\",\(range.json)]"
        }
    }

    /// Reads a line; `nil` if it is damaged.
    init?(json node: JSONNode) {
        guard let fields = node.array, let kind = fields.first?.string else { return nil }
        switch kind {
        case "s":
            guard fields.count == 4, let track = fields[1].string, TrackNames.isValid(track),
                let map = fields[2].string, TrackNames.isValid(map),
                let entry = fields[3].array.flatMap({ StateFile.Entry(row: $0) })
            else { return nil }
            self = .segment(track: track, map: map, entry)
        case "f":
            guard fields.count == 6, let uri = fields[1].string, TrackNames.isValid(uri),
                let map = fields[2].string, TrackNames.isValid(map), let deleteAt = fields[3].integer,
                let gap = fields[4].boolean, let byteCount = fields[5].integer, byteCount >= 0
            else { return nil }
            self = .retired(
                RetiredSegment(
                    uri: uri, map: InitializationSegment(uri: map), deleteAt: deleteAt, gap: gap,
                    byteCount: Int(clamping: byteCount)))
        case "d":
            guard fields.count == 2, let range = fields[1].array.flatMap({ StateFile.Range(row: $0) }) else {
                return nil
            }
            self = .range(range)
        default: return nil
        }
    }

    /// Reads a journal. Lines that are damaged are left out: the last one may be incomplete, because its writer was
    /// killed.
    static func read(_ bytes: [UInt8]) -> [ArchiveRow] {
        bytes.split(separator: UInt8(ascii: "\n")).compactMap { line in
            JSONParser.parse(Array(line)).faultless.flatMap { ArchiveRow(json: $0) }
        }
    }

    /// The text of a journal.
    static func journal(_ rows: [ArchiveRow]) -> [UInt8] {
        var bytes: [UInt8] = []
        for row in rows {
            bytes += Array(row.json.utf8)
            bytes.append(UInt8(ascii: "\n"))
        }
        return bytes
    }
}
