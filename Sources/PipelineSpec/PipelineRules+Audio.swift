import MediaTypes

/// Rules about audio renditions, and about the rates and latency of renditions.
extension PipelineRules {
    func checkAudioRenditions(_ log: inout SpecLog) {
        var names: [String: String] = [:]
        for (index, audio) in self.pipeline.audioRenditions.enumerated() {
            let path = "audioRenditions[\(index)]"
            log.checkUnique(audio.name, "\(path).name", of: path, &names, fix: "use another name")
        }
        for (index, rendition) in self.pipeline.renditions.enumerated() {
            let path = "renditions[\(index)]"
            if !rendition.isAudioOnly, log.isValid("\(path).name"), names[rendition.name] != nil {
                // Both name a media playlist.
                log.mistake(
                    "\(path).name", "\(SpecText.quoted(rendition.name)) is the name of an audio rendition",
                    fix: "use another name")
            }
            guard log.isWritten("\(path).audio"), log.isValid("\(path).audio", "audioRenditions") else { continue }
            for (place, name) in rendition.audio.enumerated() {
                if names[name] == nil {
                    log.mistake(
                        "\(path).audio", "there is no audio rendition \(SpecText.quoted(name))",
                        fix: Self.advice(name, among: names.keys.sorted()))
                } else if rendition.audio.firstIndex(of: name) != place {
                    log.mistake(
                        "\(path).audio", "\(SpecText.quoted(name)) is listed twice", fix: "remove one of the two")
                }
            }
        }
        if log.isWritten("renditions"), log.isValid("renditions"), self.pipeline.isAudioOnly {
            self.checkVoiceRoom(&log)
        }
    }

    /// Checks a room without video: nothing may need a frame, and no variant may appear twice.
    private func checkVoiceRoom(_ log: inout SpecLog) {
        let fix = "remove it, or add a rendition with a width and a height"
        for (index, output) in self.pipeline.outputs.enumerated() where log.isValid("outputs[\(index)].type") {
            switch output {
            case .raw, .image:
                log.mistake("outputs[\(index)]", "needs video, but no rendition has video", fix: fix)
            default: break
            }
        }
        if self.pipeline.sei != nil, log.isValid("sei") {
            log.mistake("sei", "needs video, but no rendition has video", fix: fix)
        }
        for (index, scene) in self.pipeline.scenes.enumerated() where scene.speakingRing != nil {
            let path = "scenes[\(index)].speakingRing"
            if log.isValid(path) { log.mistake(path, "needs video, but no rendition has video", fix: fix) }
        }
        var used: [String: Int] = [:]
        for (index, rendition) in self.pipeline.renditions.enumerated() where log.isValid("renditions[\(index)].audio")
        {
            for name in rendition.audio {
                guard let first = used[name] else {
                    used[name] = index
                    continue
                }
                guard first != index else { continue }
                log.mistake(
                    "renditions[\(index)].audio",
                    "\(SpecText.quoted(name)) is already a variant of renditions[\(first)]",
                    fix: "name another audio rendition, or remove this rendition")
            }
        }
    }

    /// Checks `fps` of a rendition: the canvas's rate, or half of it if parts and GOPs then have a whole number of
    /// frames.
    func checkRate(of rendition: Rendition, _ path: String, _ log: inout SpecLog) {
        let canvas = self.pipeline.canvas
        guard !rendition.isAudioOnly, log.isWritten("\(path).fps"), log.isValid("\(path).fps", "canvas.fps"),
            rendition.fps != canvas.fps
        else { return }
        guard rendition.fps * 2 == canvas.fps else {
            let half = canvas.fps.isMultiple(of: 2) ? " or \(canvas.fps / 2)" : ""
            log.mistake(
                "\(path).fps", "\(rendition.fps) is neither the canvas's \(canvas.fps) nor half of it",
                fix: "write \(canvas.fps)\(half), or remove the key")
            return
        }
        guard let hls = self.pipeline.hls, !hls.partFrames.isMultiple(of: 2) || !hls.gopFrames.isMultiple(of: 2) else {
            return
        }
        let isPart = !hls.partFrames.isMultiple(of: 2)
        log.mistake(
            "\(path).fps",
            "at half the canvas's rate, \(isPart ? "a part of \(hls.partFrames)" : "a GOP of \(hls.gopFrames)") frames is not a whole number of frames of the rendition",
            fix: "make \(isPart ? "partFrames" : "gopFrames") of the hls output even, or write \(canvas.fps)")
    }

    /// Checks that passthrough is only used for renditions with the canvas's frame rate.
    func checkPassthrough(of rendition: Rendition, _ path: String, _ log: inout SpecLog) {
        let canvas = self.pipeline.canvas
        guard !rendition.isAudioOnly, rendition.video.passthrough == .auto,
            log.isValid("\(path).video.passthrough", "\(path).fps", "canvas")
        else { return }
        if rendition.fps != canvas.fps {
            log.mistake(
                "\(path).video.passthrough", "the rendition has half the canvas's rate",
                fix: "write off, or leave fps out")
        }
    }

    /// Checks the lookahead limit of low-latency presets.
    func checkLatency(of rendition: Rendition, _ path: String, _ log: inout SpecLog) {
        let most = VideoEncoding.lowLatencyLimit
        guard !rendition.isAudioOnly, rendition.video.preset.isLowLatency,
            log.isValid("\(path).video.preset", "\(path).video.lookaheadFrames", "\(path).video.threads")
        else { return }
        if rendition.video.lookaheadFrames > most {
            log.mistake(
                "\(path).video.lookaheadFrames",
                "the preset \(rendition.video.preset.rawValue) allows a lookahead of at most \(most) frames, not \(rendition.video.lookaheadFrames)",
                fix:
                    "write at most \(most), remove it for the default of \(rendition.video.preset.defaultLookahead), or use another preset"
            )
        }
    }

    /// Checks that parts are long enough for the audio: a part has a whole number of AAC frames, so that one part can
    /// have one frame more than another.
    ///
    /// Spec: RFC 8216bis §4.4.4.9: a part is at least 85 % of the part target.
    func checkParts(_ output: HLSOutput, _ path: String, _ log: inout SpecLog) {
        guard output.lowLatency else { return }
        let (fps, rate) = (self.pipeline.canvas.fps, self.pipeline.audio.sampleRate)
        func fits(_ frames: Int) -> Bool {
            let samples = frames * rate
            let longest = (samples + fps * 1024 - 1) / (fps * 1024)
            let shortest = max(1, samples / (fps * 1024))
            // In units of samples times fps. The part target is the longer of video and audio.
            let target = max(samples, longest * 1024 * fps)
            return shortest * 1024 * fps * 100 >= target * 85 && samples * 100 >= target * 85
        }
        guard !fits(output.partFrames) else { return }
        let better = (output.partFrames...600).first { fits($0) && (fps > 1 || $0 > 0) } ?? output.partFrames
        log.mistake(
            "\(path).partFrames",
            "\(output.partFrames) frames per part are so few that the lengths of audio parts differ by more than 15 %",
            fix: "write at least \(better), or \"lowLatency\": false")
    }
}
