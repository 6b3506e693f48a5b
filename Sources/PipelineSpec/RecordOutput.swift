import MediaTypes

/// What the room leaves behind: everything its HLS output has listed, kept beyond the live playlists, and made into files when
/// the room is over.
package struct RecordOutput: Sendable, Hashable {
    /// `[A-Za-z0-9_.-]{1,64}`. Default `record`.
    package var outputID = "record"
    /// Directory, relative to the working directory; not the HLS output's.
    package var path: String
    /// Names of renditions that become an MP4 file each; empty: the first one.
    package var renditions: [String] = []
    /// Whether the segments of all renditions stay, with playlists of type VOD.
    package var vodPlaylist = true
    /// Whether it records from the room's beginning on, or waits for a command. What has been commanded holds for later workers too.
    package var active = true

    package init(path: String) { self.path = path }

    static let rule = ObjectRule(
        "what the room leaves behind: MP4 files, playlists and a manifest, made when it is over",
        RecordOutput(path: ""),
        [
            Field("type", always: "record", isRequired: true, "the kind of output"),
            Field(
                "outputId", \.outputID, .name(64, marks: "_.-"), "the output's id: 1 to 64 letters, digits, _ . or -"),
            Field(
                required: "path", \.path, .path, "directory, relative to the working directory; not the hls output's"),
            Field(
                "renditions", \.renditions, .list(of: .name(32, marks: "_.-"), 0...16, standIn: ""),
                "names of renditions that become an MP4 file each; none: the first one"),
            Field(
                "vodPlaylist", \.vodPlaylist, .boolean,
                "whether the segments of all renditions stay, with playlists that list them from the first to the last"),
            Field(
                "active", \.active, .boolean,
                "whether it records from the room's beginning on; false: from POST /v1/outputs/ID:start on"),
        ])
}

extension Pipeline {
    /// The record output, if there is one.
    package var record: RecordOutput? {
        for case .record(let output) in self.outputs { return output }
        return nil
    }

    /// What becomes a file, as pairs of a rendition and its first sound.
    package var recordedRenditions: [Rendition] {
        guard let names = self.record?.renditions, !names.isEmpty else { return Array(self.renditions.prefix(1)) }
        return names.compactMap { name in self.renditions.first { $0.name == name } }
    }
}

extension PipelineRules {
    func check(_ output: RecordOutput, _ path: String, _ log: inout SpecLog) {
        if self.pipeline.hls == nil {
            log.mistake(path, "there is no hls output to be recorded", fix: "add one: { \"path\": \"out\" }")
        }
        guard log.isSound("\(path).renditions") else { return }
        for (index, name) in output.renditions.enumerated() {
            let place = "\(path).renditions[\(index)]"
            if !self.pipeline.renditions.contains(where: { $0.name == name }) {
                log.mistake(
                    place, "there is no rendition \(SpecText.quoted(name))",
                    fix: "write \(SpecText.choice(self.pipeline.renditions.map(\.name), quoted: true))")
            } else if output.renditions.prefix(index).contains(name) {
                log.mistake(place, "\(SpecText.quoted(name)) is there already", fix: "remove one of the two")
            }
        }
    }
}
