/// A summary of the state file of an HLS output, for tools that inspect the directories of several rooms.
package struct OutputSummary: Sendable, Hashable {
    /// Name of the state file. Every directory that contains this file is the directory of an HLS output.
    package static let stateFile = StateFile.name
    /// Largest size of a state file in bytes; a larger one is damaged.
    package static let mostBytes = StateFile.mostBytes

    /// Run number of the room's last worker, counted from 1.
    package let incarnation: Int64
    /// Whether the room has ended, so that no worker continues it.
    package let hasEnded: Bool
    /// File name of the multivariant playlist.
    package let multivariantName: String
    /// Names of the tracks and subtitle renditions that the state file lists. The names of a track's files begin with its name; see
    /// ``TrackFiles``.
    package let trackNames: [String]

    /// Reads the summary from a whole state file.
    ///
    /// - Returns: `nil` for a damaged file.
    package init?(json bytes: [UInt8]) {
        guard let state = try? StateFile(json: bytes, path: StateFile.name), TrackNames.isValid(state.multivariantName)
        else { return nil }
        self.incarnation = state.incarnation
        self.hasEnded = state.ended
        self.multivariantName = state.multivariantName
        self.trackNames = state.tracks.map(\.name) + state.subtitles.map(\.name) + state.formerSubtitles.map(\.name)
    }
}
