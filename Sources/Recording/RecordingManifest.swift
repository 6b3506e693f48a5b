import MediaTypes

/// What the manifest of a finished recording session, ``FinishedRecording/json``, says to tools that look at any directory.
package struct RecordingManifest: Sendable, Hashable {
    /// Largest size of a manifest in bytes that is read: a day of segments of two seconds in eight renditions.
    package static let mostBytes = 64 << 20

    package let roomID: String
    /// Names of the files that were made or kept, without the manifest itself.
    package let fileNames: Set<String>

    /// - Returns: `nil` for a damaged text, and for one that names a file outside the recording's directory.
    package init?(json bytes: [UInt8]) {
        guard let root = JSONParser.parse(bytes, limit: Self.mostBytes).faultless,
            let room = root[key: "roomId"]?.string,
            let rows = root[key: "files"]?.array
        else { return nil }
        let names = rows.compactMap { $0[key: "name"]?.string }
        guard names.count == rows.count, names.allSatisfy(RecordedNames.isValid) else { return nil }
        self.roomID = room
        self.fileNames = Set(names)
    }
}
