import MediaTypes

/// The room and the files that the manifest of a finished recording session names (``FinishedRecording/json``), for tools
/// that search directories for recordings.
package struct RecordingManifest: Sendable, Hashable {
    /// Largest size of a manifest in bytes that is read: a day of segments of two seconds in eight renditions.
    package static let mostBytes = 64 << 20

    package let roomID: String
    /// Names of the files that were made or kept, without the manifest itself.
    package let fileNames: Set<String>

    /// - Returns: `nil` for a damaged or too long text, and for one with an invalid file name; see
    ///   ``RecordedNames/isValid(_:)``.
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
