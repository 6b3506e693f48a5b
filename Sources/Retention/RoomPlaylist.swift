import HLS

/// What a playlist says about its room.
enum RoomPlaylist: Sendable, Hashable {
    /// A multivariant playlist that a worker wrote, with the id of its room.
    case multivariant(room: String)
    /// - Parameter hasEnded: It has `EXT-X-ENDLIST`: nothing is added to it any more.
    case media(hasEnded: Bool)

    /// - Returns: `nil` for another text, and for a multivariant playlist of another program.
    init?(_ bytes: [UInt8]) {
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        guard lines.first == "#EXTM3U" else { return nil }
        if lines.contains(where: { $0.hasPrefix("#EXT-X-TARGETDURATION:") }) {
            self = .media(hasEnded: lines.contains("#EXT-X-ENDLIST"))
            return
        }
        let start = "#EXT-X-SESSION-DATA:DATA-ID=\"\(MultivariantPlaylist.contentData)\",VALUE=\""
        guard let line = lines.first(where: { $0.hasPrefix(start) }), line.hasSuffix("\"") else { return nil }
        self = .multivariant(room: String(line.dropFirst(start.count).dropLast()))
    }
}
