import MediaTypes

/// Rules that involve more than one part of a pipeline.
///
/// A rule reports nothing if one of the values that it compares already has a mistake.
struct PipelineRules {
    let pipeline: Pipeline
    let checks: SpecChecks

    init(_ pipeline: Pipeline, checks: SpecChecks) {
        self.pipeline = pipeline
        self.checks = checks
    }

    func check(_ log: inout SpecLog) {
        self.checkSources(&log)
        self.checkRelays(&log)
        self.checkClock(&log)
        self.checkOffline(&log)
        self.checkScenes(&log)
        self.checkLosses(&log)
        self.checkPK(&log)
        self.checkDucking(&log)
        self.checkAudioRenditions(&log)
        self.checkRenditions(&log)
        self.checkWatched(&log)
        self.checkOutputs(&log)
        self.checkListeners(&log)
        self.checkModeration(&log)
        self.checkCaptions(&log)
        self.checkSubtitles(&log)
        self.checkOverlays(&log)
        self.checkLibraries(&log)
    }

    // MARK: Sources

    private func checkSources(_ log: inout SpecLog) {
        var ids: [SourceID: Int] = [:]
        var keys: [Secret: Int] = [:]
        for (index, source) in self.pipeline.sources.enumerated() {
            let path = "sources[\(index)]"
            if log.isValid("\(path).uid", "\(path).streamType") {
                if let first = ids[source.id] {
                    log.mistake(
                        "\(path).uid",
                        "\(SpecText.quoted(source.id.uid)) with streamType \(source.id.streamType.rawValue) is "
                            + "already used by sources[\(first)]",
                        fix: "use another uid, or \"streamType\": \"sub\" for a second stream of that user")
                } else {
                    ids[source.id] = index
                }
            }
            if case .rtmp(let secrets) = source.input, log.isValid("\(path).type") {
                self.checkKeys(secrets, of: index, &keys, &log)
            }
            if case .file(let file, _) = source.input, log.isValid("\(path).type", "\(path).path"), !file.isEmpty,
                let problem = self.checks.media(file)
            {
                log.mistake("\(path).path", problem.what, fix: problem.fix)
            }
            if source.audio.noiseSuppression == .model, log.isValid("\(path).audio.noiseModel"),
                let model = source.audio.noiseModel, let problem = self.checks.noiseModel(model)
            {
                log.mistake("\(path).audio.noiseModel", problem.what, fix: problem.fix)
            }
        }
        let most = self.pipeline.limits.maxSources
        if log.isValid("sources", "limits.maxSources"), self.pipeline.sources.count > most {
            log.mistake(
                "sources", "has \(self.pipeline.sources.count) elements, and limits.maxSources is \(most)",
                fix: "remove some, or raise limits.maxSources")
        }
    }

    private func checkKeys(_ secrets: [Secret], of index: Int, _ keys: inout [Secret: Int], _ log: inout SpecLog) {
        let path = "sources[\(index)]"
        let words = ["streamKey", "streamKeys", "streamKeyEnv", "streamKeyFile"]
        guard let word = words.first(where: { log.isWritten("\(path).\($0)") }), !secrets.isEmpty else {
            if words.allSatisfy({ log.isValid("\(path).\($0)") }) { self.checkKeyless(path, &log) }
            return
        }
        for (place, secret) in secrets.enumerated() {
            let place = word == "streamKeys" ? "\(path).\(word)[\(place)]" : "\(path).\(word)"
            guard log.isValid(place) else { continue }
            if let first = keys[secret] {
                log.mistake(
                    place,
                    first == index ? "is listed twice" : "is the same as that of sources[\(first)]",
                    fix: first == index ? "remove one of the two" : "give each source a stream key of its own")
            } else {
                keys[secret] = index
            }
        }
    }

    private func checkKeyless(_ path: String, _ log: inout SpecLog) {
        guard self.pipeline.ingest.auth == nil, self.pipeline.ingest.onPublish == nil,
            log.isValid("ingest.auth", "ingest.onPublish")
        else { return }
        log.mistake(
            "\(path).streamKey", "is missing",
            fix: "add \"streamKey\", \"streamKeyEnv\" or \"streamKeyFile\": what the publisher must present")
    }

    private func checkClock(_ log: inout SpecLog) {
        guard self.pipeline.clock == .offline, log.isValid("clock") else { return }
        if self.pipeline.program.delayMs > 0, log.isValid("program.delayMs") {
            log.mistake(
                "program.delayMs", "has no effect on files, and the clock is offline", fix: "remove it")
        }
        for (index, source) in self.pipeline.sources.enumerated() where log.isValid("sources[\(index)].type") {
            switch source.input {
            case .rtmp, .pull, .srtPull:
                log.mistake(
                    "sources[\(index)]", "is a live source, but the clock is offline",
                    fix: "use \"type\": \"file\" with a path, or \"clock\": \"live\"")
            case .file(_, true) where self.pipeline.durationMs == nil && !log.isWritten("durationSeconds"):
                log.mistake(
                    "sources[\(index)].loop", "the room would never end, because its file loops and no duration is set",
                    fix: "add \"durationSeconds\", or remove loop")
            case .file: break
            }
        }
    }

    // MARK: Scenes

    private func checkScenes(_ log: inout SpecLog) {
        let rules = SceneRules(pipeline: self.pipeline, checks: self.checks)
        self.checkCanvas(rules, &log)
        var ids: [String: String] = [:]
        for (index, scene) in self.pipeline.scenes.enumerated() {
            let path = "scenes[\(index)]"
            log.checkUnique(scene.sceneID, "\(path).sceneId", of: path, &ids, fix: "use another id")
            rules.check(scene, path, &log)
        }
        let first = self.pipeline.program.scene
        if log.isWritten("program.scene"), log.isValid("program.scene", "scenes"), ids[first] == nil {
            log.mistake(
                "program.scene", "unknown scene \(SpecText.quoted(first))",
                fix: Self.advice(first, among: ids.keys.sorted()))
        }
    }

    /// Checks the images, fonts and names that can appear in every scene.
    private func checkCanvas(_ rules: SceneRules, _ log: inout SpecLog) {
        // The images must fit on the smallest canvas.
        let smallest = self.pipeline.scenes.min { first, second in
            let (one, other) = (first.size(on: self.pipeline.canvas), second.size(on: self.pipeline.canvas))
            return one.width * one.height < other.width * other.height
        }
        let scene = smallest ?? Scene("", .panes([]))
        rules.checkImages(self.pipeline.watermarks, scene, "watermarks", &log)
        rules.checkImages(self.pipeline.canvas.bgImages, scene, "canvas.bgImages", &log)
        let fonts = self.pipeline.canvas.fonts
        for (index, path) in fonts.enumerated() {
            if let problem = self.checks.problem(ofFont: path, at: "canvas.fonts[\(index)]", log) {
                log.mistake("canvas.fonts[\(index)]", problem.what, fix: problem.fix)
            }
        }
        for (index, source) in self.pipeline.sources.enumerated() {
            // The name is drawn on the card that is shown while the source sends no video.
            let name = "sources[\(index)].name"
            if let text = source.name, let problem = self.checks.problem(ofText: text, fonts, at: name, log) {
                log.warning(name, problem.what, fix: problem.fix)
            }
            let place = "sources[\(index)].onLost.placeholderImage"
            guard let image = source.onLost.placeholderImage,
                let problem = self.checks.problem(ofImage: image, at: place, log)
            else { continue }
            log.mistake(place, problem.what, fix: problem.fix)
        }
    }

    static func advice(_ word: String, among known: [String]) -> String {
        if let nearest = SpecText.nearest(to: word, among: known) { return "did you mean \(SpecText.quoted(nearest))?" }
        let shown = known.count > 8 ? Array(known.prefix(8)) + ["…"] : known
        return "use \(SpecText.choice(shown))"
    }
}
