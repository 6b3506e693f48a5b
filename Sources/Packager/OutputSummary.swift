/// A summary of the state file of an HLS output, for tools that inspect the directories of several rooms.
package struct OutputSummary: Sendable, Hashable {
    /// Name of the state file. Every directory that contains this file is the directory of an HLS output.
    package static let stateFile = StateFile.name

    /// Number of bytes at the beginning of the state file that ``init(head:)`` needs.
    package static let headSize = 512

    /// Run number of the room's last worker, counted from 1.
    package let incarnation: Int64
    /// Whether the room has ended, so that no worker continues it.
    package let hasEnded: Bool
    package let multivariantName: String

    /// Reads the summary from the beginning of a state file.
    ///
    /// - Returns: `nil` if the file is formatted in another way than workers write it; ``init(json:)`` can still read
    ///   the whole file.
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

    /// Reads the summary from a whole state file.
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
