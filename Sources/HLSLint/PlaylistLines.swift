/// Splits a playlist into lines and checks its text. Spec: rfc8216bis §4.1.
struct PlaylistLines: Sendable {
    /// Lines that are neither empty nor comments: tags, which begin with `#EXT`, and URIs.
    let lines: [String]
    let faults: [PlaylistFault]

    init(_ bytes: [UInt8]) {
        var faults: [PlaylistFault] = []
        var body = bytes[...]
        if body.starts(with: [0xEF, 0xBB, 0xBF]) {
            faults.append(PlaylistFault(.playlistEncoding, "it begins with a byte order mark"))
            body = body.dropFirst(3)
        }
        let text = String(decoding: body, as: UTF8.self)
        if !text.utf8.elementsEqual(body) { faults.append(PlaylistFault(.playlistEncoding, "it is not UTF-8")) }
        let isControl: (UInt8) -> Bool = { $0 < 0x20 && $0 != 0x0A && $0 != 0x0D || $0 == 0x7F }
        if let code = body.first(where: isControl) {
            faults.append(PlaylistFault(.playlistEncoding, "it has the control character \(code)"))
        }
        if let last = body.last, last != 0x0A {
            faults.append(
                PlaylistFault(.playlistTorn, "the last line is not terminated: the playlist may be truncated"))
        }
        var lines: [String] = []
        for line in body.split(separator: 0x0A, omittingEmptySubsequences: true) {
            let line = line.last == 0x0D ? line.dropLast() : line
            guard let first = line.first, let last = line.last else { continue }
            if first == 0x20 || last == 0x20 {
                faults.append(PlaylistFault(.playlistEncoding, "a line begins or ends with a space"))
            }
            lines.append(String(decoding: line, as: UTF8.self))
        }
        if lines.first != "#EXTM3U" {
            faults.append(PlaylistFault(.playlistHeader, "the first line is \"\((lines.first ?? "").prefix(40))\""))
        }
        self.lines = lines.filter { !$0.hasPrefix("#") || $0.hasPrefix("#EXT") }
        self.faults = faults
    }

    /// Whether the text is a multivariant playlist: it lists variants.
    var isMultivariant: Bool {
        self.lines.contains { $0.hasPrefix("#EXT-X-STREAM-INF:") || $0.hasPrefix("#EXT-X-I-FRAME-STREAM-INF:") }
    }

    /// Splits a tag line into name and value; `nil` for another line.
    static func tag(_ line: String) -> (name: Substring, value: Substring)? {
        guard line.hasPrefix("#EXT") else { return nil }
        guard let colon = line.firstIndex(of: ":") else { return (line.dropFirst(), "") }
        return (line[line.index(after: line.startIndex)..<colon], line[line.index(after: colon)...])
    }
}
