/// The ladder as MPEG-2 transport streams beside the HLS output, for devices that know no fragmented MP4: the same segments,
/// pictures and sound of a rendition in one, without a second encoder.
package struct TransportOutput: Sendable, Hashable {
    /// `[A-Za-z0-9_.-]{1,64}`. Default `ts`. At the viewers' listener its playlists are below `<outputId>/`.
    package var outputID = "ts"
    /// Directory, relative to the working directory.
    package var path: String
    /// File name of the multivariant playlist. Default `index.m3u8`.
    package var multivariantPlaylist = "index.m3u8"

    package init(path: String) { self.path = path }

    static let rule = ObjectRule(
        "the ladder as transport streams for old devices, made of the hls output's segments", TransportOutput(path: ""),
        [
            Field("type", always: "hls", isRequired: false, "the kind of output"),
            Field("segmentFormat", always: "ts", isRequired: true, "MPEG-2 transport streams"),
            Field(
                "outputId", \.outputID, .name(64, marks: "_.-"),
                "the output's id: 1 to 64 letters, digits, _ . or -; viewers find it below <outputId>/"),
            Field(required: "path", \.path, .path, "directory, relative to the working directory"),
            Field(
                "multivariantPlaylist", \.multivariantPlaylist, HLSOutput.playlistName,
                "file name of the multivariant playlist"),
        ])
}

extension Pipeline {
    /// In file order.
    package var transports: [TransportOutput] {
        self.outputs.compactMap { output in if case .transport(let output) = output { output } else { nil } }
    }
}

extension PipelineRules {
    func checkTransport(_ path: String, _ log: inout SpecLog) {
        guard self.pipeline.hls == nil else { return }
        log.mistake(
            path, "transport streams are made of an hls output's segments, and there is none",
            fix: "add { \"type\": \"hls\", \"path\": … }")
    }
}
