/// What the state file of an HLS output says about its room, for tools that look at directories of any room.
package struct OutputSummary: Sendable, Hashable {
    /// Name of the state file. A directory with it is the directory of an HLS output.
    package static let stateFile = StateFile.name

    /// Bytes of the state file that are enough for ``init(head:)``.
    package static let headSize = 512

    /// Number of the room's last worker, counted from 1.
    package let incarnation: Int64
    /// Whether the room has ended: no worker continues it.
    package let hasEnded: Bool
    package let multivariantName: String

    /// Reads the beginning of a state file, as workers write it.
    ///
    /// - Returns: `nil` for another form; then ``init(json:)`` reads the whole file.
    package init?(head bytes: [UInt8]) {
        let lines = String(decoding: bytes.prefix(Self.headSize), as: UTF8.self).split(separator: "\n")
        func value(_ key: String) -> Substring? {
            let start = "\"\(key)\": "
            guard let line = lines.prefix(6).first(where: { $0.hasPrefix(start) && $0.hasSuffix(",") }) else {
                return nil
            }
            return line.dropFirst(start.count).dropLast()
        }
        guard lines.count > 6, lines[0] == "{", value("version") == "1",
            let incarnation = value("incarnation").flatMap({ Int64($0) }), incarnation >= 1,
            let ended = value("ended").flatMap({ Bool(String($0)) }), let name = value("multivariant"),
            name.hasPrefix("\""), name.hasSuffix("\""), TrackNames.isValid(String(name.dropFirst().dropLast()))
        else { return nil }
        (self.incarnation, self.hasEnded) = (incarnation, ended)
        self.multivariantName = String(name.dropFirst().dropLast())
    }

    /// Reads a whole state file.
    ///
    /// - Returns: `nil` for a damaged file.
    package init?(json bytes: [UInt8]) {
        guard let state = try? StateFile(json: bytes, path: StateFile.name), TrackNames.isValid(state.multivariantName)
        else { return nil }
        (self.incarnation, self.hasEnded, self.multivariantName) = (
            state.incarnation, state.ended, state.multivariantName
        )
    }
}
