import MediaTypes

/// Output that records the room: it keeps the segments that the HLS output lists while it is active, and writes the
/// recording's files when a command stops the recording or the room ends.
package struct RecordOutput: Sendable, Hashable {
    /// Id of the output: `[A-Za-z0-9_.-]{1,64}`. Default `record`.
    package var outputID = "record"
    /// Directory of the recording, relative to the working directory; must differ from that of the HLS output.
    package var path: String
    /// Names of renditions to write as MP4 files; empty: only the first rendition.
    package var renditions: [String] = []
    /// Whether the segments of all renditions are kept, with VOD playlists; otherwise only the MP4 files and a manifest
    /// are kept.
    package var vodPlaylist = true
    /// Whether the output records from the start of the room; otherwise it waits for a command. A successor worker
    /// keeps the state that the last command has set.
    package var active = true

    static let rule = ObjectRule(
        "a recording of the room; its MP4 files, playlists and manifest are written when it is stopped or the room ends",
        RecordOutput(path: ""),
        [
            Field("type", always: "record", isRequired: true, "the kind of output"),
            .outputID(\.outputID),
            Field(
                required: "path", \.path, .path,
                "directory, relative to the working directory; must differ from the hls output's"),
            Field(
                "renditions", \.renditions, .list(of: .name(32, marks: "_.-"), 0...16, standIn: ""),
                "names of renditions to write as MP4 files; default the first rendition"),
            Field(
                "vodPlaylist", \.vodPlaylist, .boolean,
                "whether the segments of all renditions are kept, with VOD playlists that list all of them"),
            Field(
                "active", \.active, .boolean,
                "whether it records from the start of the room; false: recording starts with POST /v1/outputs/ID:start"),
        ])
}

extension Pipeline {
    /// The record output; `nil` if there is none.
    package var record: RecordOutput? {
        for case .record(let output) in self.outputs { return output }
        return nil
    }

    /// The renditions that the record output writes as MP4 files, each with its first audio rendition; the first
    /// rendition if there is no record output.
    package var recordedRenditions: [Rendition] {
        guard let names = self.record?.renditions, !names.isEmpty else { return Array(self.renditions.prefix(1)) }
        return names.compactMap { name in self.renditions.first { $0.name == name } }
    }
}

extension PipelineRules {
    func check(_ output: RecordOutput, _ path: String, _ log: inout SpecLog) {
        if self.pipeline.hls == nil {
            log.mistake(path, "there is no hls output to record", fix: "add one: { \"path\": \"out\" }")
        }
        guard log.isValid("\(path).renditions") else { return }
        for (index, name) in output.renditions.enumerated() {
            let place = "\(path).renditions[\(index)]"
            if !self.pipeline.renditions.contains(where: { $0.name == name }) {
                log.mistake(
                    place, "there is no rendition \(SpecText.quoted(name))",
                    fix: "write \(SpecText.choice(self.pipeline.renditions.map(\.name), quoted: true))")
            } else if output.renditions.prefix(index).contains(name) {
                log.mistake(place, "\(SpecText.quoted(name)) is listed twice", fix: "remove one of the two")
            }
        }
    }
}
