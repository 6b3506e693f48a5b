extension PipelineRules {
    /// Warns about settings that the FFmpeg libraries of this process do not support. These are warnings, not mistakes,
    /// because the file may be valid on the machine where the room will run.
    func checkLibraries(_ log: inout SpecLog) {
        if !self.pipeline.isAudioOnly { self.warn(about: .encoder, at: "outputs", &log) }
        for (index, rendition) in self.pipeline.renditions.enumerated()
        where !rendition.isAudioOnly && rendition.video.encoder.isHardware {
            self.warn(about: .hardwareEncoder(rendition.video.encoder), at: "renditions[\(index)].video.encoder", &log)
        }
        for (index, output) in self.pipeline.outputs.enumerated() {
            if case .webRTC = output { self.warn(about: .opusEncoder, at: "outputs[\(index)]", &log) }
        }
        for (index, codec) in self.pipeline.ingest.codecs.enumerated() {
            let isAdded = self.pipeline.ingest.webRTC != nil && !log.isWritten("ingest.codecs")
            let path = isAdded ? "ingest.webrtc" : "ingest.codecs[\(index)]"
            self.warn(about: .decoder(codec), at: path, &log)
        }
        if self.pipeline.ingest.srt != nil { self.warn(about: .srt, at: "ingest.srt", &log) }
        for (index, source) in self.pipeline.sources.enumerated() {
            for (place, codec) in source.decode.codecs.enumerated() {
                self.warn(about: .decoder(codec), at: "sources[\(index)].decode.codecs[\(place)]", &log)
            }
            if source.audio.noiseSuppression == .model {
                self.warn(about: .noiseModels, at: "sources[\(index)].audio.noiseSuppression", &log)
            }
            if case .srtPull = source.input { self.warn(about: .srt, at: "sources[\(index)].type", &log) }
        }
    }

    private func warn(about part: SpecChecks.LibraryPart, at path: String, _ log: inout SpecLog) {
        guard log.isValid(path), let problem = self.checks.library(part) else { return }
        log.warning(path, problem.what, fix: problem.fix)
    }
}
