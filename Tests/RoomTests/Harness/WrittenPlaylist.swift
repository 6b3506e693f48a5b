import HLS

/// A media playlist that a room has written to its directory.
struct WrittenPlaylist {
    struct Segment {
        var uri: String
        /// In seconds.
        var duration: Double
        /// Nanoseconds since the Unix epoch.
        var date: Int64?
        var isDiscontinuity: Bool
        /// URI of the initialization segment.
        var map: String?
    }

    let text: String
    private(set) var segments: [Segment] = []

    var isEnded: Bool { self.text.hasSuffix("#EXT-X-ENDLIST\n") }
    /// Total duration of its segments, in seconds.
    var duration: Double { self.segments.reduce(0) { $0 + $1.duration } }
    /// The `EXT-X-MAP` tags, in their order.
    var maps: [String] {
        self.text.split(separator: "\n").filter { $0.hasPrefix("#EXT-X-MAP:") }.map(String.init)
    }

    init(_ text: String) {
        self.text = text
        var next = Segment(uri: "", duration: 0, date: nil, isDiscontinuity: false, map: nil)
        for line in text.split(separator: "\n") {
            func value(_ tag: String) -> Substring? { line.hasPrefix(tag) ? line.dropFirst(tag.count) : nil }
            if let length = value("#EXTINF:") {
                next.duration = Double(length.prefix { $0 != "," }) ?? 0
            } else if let date = value("#EXT-X-PROGRAM-DATE-TIME:") {
                next.date = ProgramDate.parse(String(date))
            } else if line == "#EXT-X-DISCONTINUITY" {
                next.isDiscontinuity = true
            } else if let map = value("#EXT-X-MAP:URI=\"") {
                next.map = String(map.prefix { $0 != "\"" })
            } else if !line.hasPrefix("#") {
                next.uri = String(line)
                self.segments.append(next)
                next = Segment(uri: "", duration: 0, date: nil, isDiscontinuity: false, map: next.map)
            }
        }
    }
}

extension RoomDirectory {
    /// A media playlist of the room.
    func playlist(_ name: String) throws -> WrittenPlaylist { WrittenPlaylist(try self.text(of: name)) }

    /// The media playlists of all renditions and of the audio, with their file names, without I-frame playlists.
    func playlists() throws -> [(name: String, playlist: WrittenPlaylist)] {
        try self.names().filter { $0.hasSuffix(".m3u8") && $0 != "index.m3u8" && !$0.hasSuffix("-iframes.m3u8") }
            .map { ($0, try self.playlist($0)) }
    }
}
