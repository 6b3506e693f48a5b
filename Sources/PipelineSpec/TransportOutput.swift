/// The renditions as MPEG-TS segments in addition to the HLS output, for devices without support for fragmented MP4.
/// Each segment contains video and audio, has the same boundaries as the HLS output's, and needs no second encoder.
package struct TransportOutput: Sendable, Hashable {
    /// Id of the output: `[A-Za-z0-9_.-]{1,64}`. Default `ts`. The viewers' listener serves the output's playlists
    /// below `<outputId>/`.
    package var outputID = "ts"
    /// Directory of playlists and segments, relative to the working directory.
    package var path: String
    /// File name of the multivariant playlist. Default `index.m3u8`.
    package var multivariantPlaylist = "index.m3u8"

    static let rule = ObjectRule(
        "the renditions as MPEG-TS segments for old devices, made from the hls output's segments",
        TransportOutput(path: ""),
        [
            Field("type", always: "hls", isRequired: false, "the kind of output"),
            Field("segmentFormat", always: "ts", isRequired: true, "MPEG transport stream segments"),
            Field(
                "outputId", \.outputID, .id,
                "the output's id: 1 to 64 letters, digits, _ . or -; the viewers' listener serves it below <outputId>/"),
            Field(required: "path", \.path, .path, "directory, relative to the working directory"),
            Field(
                "multivariantPlaylist", \.multivariantPlaylist, HLSOutput.playlistName,
                "file name of the multivariant playlist"),
        ])
}

extension Pipeline {
    /// The MPEG-TS outputs in file order.
    package var transports: [TransportOutput] {
        self.outputs.compactMap { output in if case .transport(let output) = output { output } else { nil } }
    }
}

extension PipelineRules {
    func checkTransport(_ path: String, _ log: inout SpecLog) {
        guard self.pipeline.hls == nil else { return }
        log.mistake(
            path, "MPEG-TS segments are made from those of an hls output, and there is none",
            fix: "add { \"type\": \"hls\", \"path\": … }")
    }
}
