extension PipelineRules {
    /// Checks the settings that depend on the encoder of a rendition.
    func checkEncoder(of rendition: Rendition, _ path: String, _ log: inout SpecLog) {
        let (video, path) = (rendition.video, "\(path).video")
        guard !rendition.isAudioOnly, log.isValid("\(path).encoder") else { return }
        let name = video.encoder.rawValue
        guard video.encoder.isHardware else {
            if video.encoderFallback, log.isValid("\(path).encoderFallback") {
                log.mistake(
                    "\(path).encoderFallback", "there is nothing to fall back from: the encoder is \(name)",
                    fix: "remove it, or name a hardware encoder")
            }
            return
        }
        if video.passthrough == .auto, log.isValid("\(path).passthrough") {
            log.mistake(
                "\(path).passthrough",
                "the rendition has the encoder \(name), and only libx264 combines with passthrough",
                fix: "write off, or the encoder libx264")
        }
        if video.bFrames > 0, log.isValid("\(path).bFrames") {
            log.mistake(
                "\(path).bFrames", "\(name) is used without B-frames, so that libx264 can continue at any frame",
                fix: "write 0, or remove it")
        }
        if video.threads > 1, log.isValid("\(path).threads") {
            log.mistake("\(path).threads", "\(name) has no threads to set", fix: "remove it")
        }
        log.warning(
            "\(path).encoder", "\(name) is untested on hardware; libx264 continues if it fails while the room runs",
            fix: "try it in a test room first, and watch the alarm encoder.fallback")
    }
}
