import MediaTypes

/// The last segments and parts that live-edge playlists have listed, stored for the next worker while the store did not
/// accept the ``LiveEdgeRecord`` in time.
///
/// The mark is written in place into an existing file of a fixed size, which works even if the disk is full or too slow
/// for new files. The next worker lists a segment as a gap if the mark names it and the record does not contain it.
struct LiveEdgeMark: Sendable, Hashable {
    struct Track: Sendable, Hashable {
        var name: String
        /// The track's playlist has listed the segments below this media sequence number as complete.
        var whole: Int64
        /// Number of listed parts of the incomplete segment, which has the number ``whole``.
        var parts: Int
    }

    /// Name of the mark file in the output directory.
    static let name = "edge.mark"
    /// Size of the mark file in bytes.
    private static let size = 4_096

    /// Incarnation (run number) of the worker that listed the segments; it is part of their file names.
    var incarnation: Int64
    var tracks: [Track]

    /// The file's content, padded with spaces; `nil` if the tracks do not fit.
    var bytes: [UInt8]? {
        let tracks = self.tracks.map { "[\"\($0.name)\",\($0.whole),\($0.parts)]" }.joined(separator: ",")
        var bytes = Array("{\"version\":1,\"incarnation\":\(self.incarnation),\"tracks\":[\(tracks)]}".utf8)
        guard bytes.count < Self.size else { return nil }
        bytes += [UInt8](repeating: UInt8(ascii: " "), count: Self.size - bytes.count - 1) + [UInt8(ascii: "\n")]
        return bytes
    }
}

extension LiveEdgeMark {
    /// Reads a mark file.
    ///
    /// - Returns: `nil` for a damaged file.
    init?(_ bytes: [UInt8]) {
        guard let root = JSONParser.parse(bytes).faultless, root[key: "version"]?.integer == 1,
            let incarnation = root[key: "incarnation"]?.integer, (1...StateFile.largestNumber).contains(incarnation),
            let list = root[key: "tracks"]?.array
        else { return nil }
        var tracks: [Track] = []
        for value in list {
            guard let row = value.array, row.count == 3, let name = row[0].string, TrackNames.isValid(name),
                let whole = row[1].integer, (0...StateFile.largestNumber).contains(whole), let parts = row[2].integer,
                (0...4_096).contains(parts)
            else { return nil }
            tracks.append(Track(name: name, whole: whole, parts: Int(parts)))
        }
        self.init(incarnation: incarnation, tracks: tracks)
    }
}
