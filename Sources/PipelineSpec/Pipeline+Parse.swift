import MediaTypes

extension Pipeline {
    /// Reads a pipeline file, applies the overrides to it, fills in the defaults and checks every rule.
    ///
    /// Reports all mistakes in one pass; only a JSON syntax error ends the parsing at its location. Never traps on any
    /// input.
    ///
    /// - Parameters:
    ///   - bytes: The file, at most 4 MiB of UTF-8.
    ///   - overrides: Command-line overrides in the order given; a later override wins.
    ///   - checks: Checks that depend on this machine.
    package static func parse(
        _ bytes: [UInt8], overrides: [SpecOverride] = [], checks: SpecChecks = .none
    ) -> SpecReport {
        let document = JSONParser.parse(bytes)
        var log = SpecLog()
        document.mistakes.forEach { log.add($0) }
        guard var root = document.root else { return self.report(nil, log) }
        for override in overrides {
            if let mistake = override.apply(to: &root) { log.add(mistake) }
        }
        log.note("", at: root.position)
        guard var pipeline = Self.rule.read(root, "", &log) else { return self.report(nil, log) }
        pipeline.fillIn(log)
        PipelineRules(pipeline, checks: checks).check(&log)
        return self.report(pipeline, log)
    }

    /// Parses a pipeline file given as text.
    package static func parse(
        _ text: String, overrides: [SpecOverride] = [], checks: SpecChecks = .none
    ) -> SpecReport {
        self.parse(Array(text.utf8), overrides: overrides, checks: checks)
    }

    private static func report(_ pipeline: Pipeline?, _ log: SpecLog) -> SpecReport {
        let mistakes = self.inOrder(log.mistakes)
        let warnings = self.inOrder(log.warnings)
        if let pipeline, mistakes.isEmpty { return SpecReport(result: .success(pipeline), warnings: warnings) }
        return SpecReport(result: .failure(SpecReport.Refusal(mistakes: mistakes)), warnings: warnings)
    }

    /// Sorts mistakes by their location in the file, flags last; mistakes at the same location keep their order.
    static func inOrder(_ mistakes: [SpecDiagnostic]) -> [SpecDiagnostic] {
        mistakes.enumerated().sorted { first, second in
            let keys = [first, second].map {
                ($0.element.flag == nil ? 0 : 1, $0.element.line, $0.element.column, $0.offset)
            }
            return keys[0] < keys[1]
        }.map(\.element)
    }

    private mutating func fillInAudio(_ log: SpecLog) {
        for index in self.audioRenditions.indices where !log.isWritten("audioRenditions[\(index)].bitrate") {
            self.audioRenditions[index].bitrate = self.audio.bitrate
        }
        for index in self.renditions.indices where !log.isWritten("renditions[\(index)].audio") {
            self.renditions[index].audio = self.audioRenditions.map(\.name)
        }
    }

    /// Fills in the defaults that depend on other values.
    private mutating func fillIn(_ log: SpecLog) {
        if !log.isWritten("program.scene") { self.program.scene = self.scenes.first?.sceneID ?? "" }
        if !log.isWritten("pk.endScene") { self.pk?.endScene = self.program.scene }
        if !log.isWritten("renditions") { self.renditions = Rendition.defaultLadder(for: self.canvas) }
        self.fillInAudio(log)
        let preset = self.hls?.preset ?? VideoEncoding.Preset.veryfast
        for index in self.renditions.indices {
            let path = "renditions[\(index)]"
            if !log.isWritten("\(path).fps") { self.renditions[index].fps = self.canvas.fps }
            if !log.isWritten("\(path).video.preset") {
                self.renditions[index].video.preset =
                    self.isForWebRTC(self.renditions[index]) ? WebRTCOutput.preset : preset
            }
            self.renditions[index].video.fillIn(
                isBFramesWritten: log.isWritten("\(path).video.bFrames"),
                isLookaheadWritten: log.isWritten("\(path).video.lookaheadFrames"))
        }
        for (index, output) in self.outputs.enumerated() {
            guard case .hls(var hls) = output else { continue }
            let path = "outputs[\(index)]"
            let hasGop = log.isWritten("\(path).gopFrames")
            if !log.isWritten("\(path).partFrames") {
                hls.partFrames = HLSOutput.defaultPartFrames(
                    fps: self.canvas.fps, gopFrames: hasGop ? hls.gopFrames : nil)
            }
            if !hasGop { hls.gopFrames = HLSOutput.defaultGopFrames(fps: self.canvas.fps, partFrames: hls.partFrames) }
            if self.clock == .offline {
                if !log.isWritten("\(path).playlistType") { hls.playlistType = .event }
                if !log.isWritten("\(path).lowLatency") { hls.lowLatency = false }
                if !log.isWritten("\(path).http.listen") { hls.http.listen = nil }
            }
            if !log.isWritten("\(path).iFramePlaylists") {
                hls.iFramePlaylists = hls.playlistType == .event && hls.encryption == nil
            }
            self.outputs[index] = .hls(hls)
        }
    }
}
