import MediaTypes

/// Rules about renditions that are encoded only while somebody watches them.
extension PipelineRules {
    /// Checks that a rendition with `"when": "watched"` has a playlist whose requests the worker sees, and that no
    /// output needs all of its media.
    func checkWatched(_ log: inout SpecLog) {
        for (index, rendition) in self.pipeline.renditions.enumerated() where rendition.when == .watched {
            let path = "renditions[\(index)].when"
            guard log.isValid(path, "renditions[\(index)].name", "outputs") else { continue }
            guard let problem = self.problem(ofWatched: rendition) else { continue }
            log.mistake(path, problem.what, fix: problem.fix)
        }
    }

    private func problem(ofWatched rendition: Rendition) -> (what: String, fix: String)? {
        let always = "write \"always\""
        if rendition.isAudioOnly {
            return ("the rendition has no video, and audio is encoded for all renditions", "remove it")
        }
        guard self.pipeline.clock == .live else { return ("an offline job has no viewers", always) }
        guard let hls = self.pipeline.hls, hls.lowLatency, hls.http.listen != nil else {
            return (
                "the worker sees requests only with an hls output that has lowLatency and http.listen",
                "set both, or \(always)"
            )
        }
        if hls.playlistType == .event || hls.hasWholeWindowPlaylists {
            return (
                hls.playlistType == .event
                    ? "an event playlist lists all segments since the start"
                    : "DVR playlists list all segments of a long window",
                "use \"playlistType\": \"live\" with windowSeconds of at most \(HLSOutput.longestLiveWindow), or \(always)"
            )
        }
        if hls.iFramePlaylists {
            return ("I-frame playlists need all renditions", "set iFramePlaylists to false, or \(always)")
        }
        if hls.http.flv {
            return ("http.flv serves every rendition without a playlist", "set http.flv to false, or \(always)")
        }
        if self.pipeline.canvas.policy == .perScene {
            return ("renditions with canvas.policy \"perScene\" change their size together", always)
        }
        if rendition.video.passthrough == .auto {
            return (
                "passthrough needs the rendition, whether or not somebody watches it",
                "set its passthrough to off, or \(always)"
            )
        }
        if let output = self.needing(rendition) {
            return (
                "the output \(SpecText.quoted(output.outputID)) needs this rendition, whether or not somebody watches it",
                always
            )
        }
        return nil
    }

    /// The first output that needs all media of a rendition; `nil` if there is none.
    private func needing(_ rendition: Rendition) -> Output? {
        self.pipeline.outputs.first { output in
            switch output {
            case .hls, .raw, .image: false
            case .transport, .http, .s3: true
            case .record(let record):
                record.vodPlaylist || self.pipeline.recordedRenditions.contains { $0.name == rendition.name }
            case .rtmp(let push): (push.rendition ?? self.pipeline.renditions.first?.name) == rendition.name
            case .webRTC: self.pipeline.webRTCRenditions.contains { $0.name == rendition.name }
            }
        }
    }
}

extension Pipeline {
    /// Indices in ``videoRenditions`` of the renditions that are encoded only while somebody watches them.
    package var watchedRenditions: [Int] {
        self.videoRenditions.indices.filter { self.videoRenditions[$0].when == .watched }
    }
}
