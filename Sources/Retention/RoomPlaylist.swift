import HLS
import Packager

/// A playlist of a room, reduced to what a retention run needs.
enum RoomPlaylist: Sendable, Hashable {
    /// A multivariant playlist that a worker wrote.
    ///
    /// - Parameters:
    ///   - room: The room's id.
    ///   - tracks: Names of the tracks whose playlists it lists.
    case multivariant(room: String, tracks: Set<String>)
    /// A media playlist.
    ///
    /// - Parameters:
    ///   - hasEnded: Whether the playlist has `EXT-X-ENDLIST`, so that no segment is added any more.
    ///   - type: The value of `EXT-X-PLAYLIST-TYPE`; `nil` if the playlist does not have the tag. A playlist with a
    ///     type lists everything from the beginning. Only recordings have `VOD`.
    case media(hasEnded: Bool, type: String?)

    /// Parses a playlist; `nil` if the text is not a playlist, or is a multivariant playlist of another program.
    init?(_ bytes: [UInt8]) {
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        guard lines.first == "#EXTM3U" else { return nil }
        if lines.contains(where: { $0.hasPrefix("#EXT-X-TARGETDURATION:") }) {
            let mark = "#EXT-X-PLAYLIST-TYPE:"
            self = .media(
                hasEnded: lines.contains("#EXT-X-ENDLIST"),
                type: lines.first { $0.hasPrefix(mark) }.map { String($0.dropFirst(mark.count)) })
            return
        }
        let start = "#EXT-X-SESSION-DATA:DATA-ID=\"\(MultivariantPlaylist.contentData)\",VALUE=\""
        guard let line = lines.first(where: { $0.hasPrefix(start) }), line.hasSuffix("\"") else { return nil }
        self = .multivariant(
            room: String(line.dropFirst(start.count).dropLast()), tracks: Set(lines.compactMap { Self.track($0) }))
    }

    /// The name of the track to whose playlist a line of a multivariant playlist refers; `nil` if it refers to none.
    private static func track(_ line: Substring) -> String? {
        guard line.hasPrefix("#") else { return TrackFiles.track(ofPlaylist: String(line)) }
        let mark = "URI=\""
        guard let start = line.firstRange(of: mark)?.upperBound else { return nil }
        let name = String(line[start...].prefix { $0 != "\"" })
        return TrackFiles.track(ofPlaylist: name, isIFrames: line.hasPrefix("#EXT-X-I-FRAME-STREAM-INF:"))
    }
}
