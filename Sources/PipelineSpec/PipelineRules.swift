import MediaTypes

/// The rules that look at more than one part of a pipeline.
///
/// A rule is silent where a value it looks at is a mistake already.
struct PipelineRules {
    let pipeline: Pipeline

    init(_ pipeline: Pipeline) {
        self.pipeline = pipeline
    }

    func check(_ log: inout SpecLog) {
        self.checkSources(&log)
        self.checkRelays(&log)
        self.checkClock(&log)
        self.checkScenes(&log)
        self.checkLosses(&log)
        self.checkPK(&log)
        self.checkRenditions(&log)
        self.checkOutputs(&log)
    }

    // MARK: Sources

    private func checkSources(_ log: inout SpecLog) {
        var ids: [SourceID: Int] = [:]
        var keys: [Secret: Int] = [:]
        for (index, source) in self.pipeline.sources.enumerated() {
            let path = "sources[\(index)]"
            if log.isSound("\(path).uid", "\(path).streamType") {
                if let first = ids[source.id] {
                    log.mistake(
                        "\(path).uid",
                        "\(SpecText.quoted(source.id.uid)) with streamType \(source.id.streamType.rawValue) is "
                            + "sources[\(first)] already",
                        fix: "use another uid, or \"streamType\": \"sub\" for a second stream of that user")
                } else {
                    ids[source.id] = index
                }
            }
            if case .rtmp(let key) = source.input, log.isSound("\(path).type", "\(path).\(key.word)") {
                if let first = keys[key] {
                    log.mistake(
                        "\(path).\(key.word)", "is the same as that of sources[\(first)]",
                        fix: "give each source a stream key of its own")
                } else {
                    keys[key] = index
                }
            }
        }
        let most = self.pipeline.limits.maxSources
        if log.isSound("sources", "limits.maxSources"), self.pipeline.sources.count > most {
            log.mistake(
                "sources", "has \(self.pipeline.sources.count) elements, and limits.maxSources is \(most)",
                fix: "remove some, or raise limits.maxSources")
        }
    }

    private func checkClock(_ log: inout SpecLog) {
        guard self.pipeline.clock == .offline, log.isSound("clock") else { return }
        for (index, source) in self.pipeline.sources.enumerated() where log.isSound("sources[\(index)].type") {
            switch source.input {
            case .rtmp, .pull:
                log.mistake(
                    "sources[\(index)]", "is an rtmp source, and the clock is offline",
                    fix: "use \"type\": \"file\" with a path, or \"clock\": \"live\"")
            case .file(_, true) where self.pipeline.durationMs == nil && !log.isWritten("durationSeconds"):
                log.mistake(
                    "sources[\(index)].loop", "the room would never end: its file loops, and no duration is set",
                    fix: "add \"durationSeconds\", or remove loop")
            case .file: break
            }
        }
    }

    // MARK: Scenes

    private func checkScenes(_ log: inout SpecLog) {
        var ids: [String: Int] = [:]
        for (index, scene) in self.pipeline.scenes.enumerated() {
            let path = "scenes[\(index)]"
            if log.isSound("\(path).sceneId") {
                if let first = ids[scene.sceneID] {
                    log.mistake(
                        "\(path).sceneId", "\(SpecText.quoted(scene.sceneID)) is scenes[\(first)] already",
                        fix: "use another id")
                } else {
                    ids[scene.sceneID] = index
                }
            }
            switch scene.arrangement {
            case .layout(_, let uids):
                for (position, uid) in uids.enumerated() {
                    self.checkSource(SourceID(uid), "\(path).uids[\(position)]", "\(path).uids[\(position)]", &log)
                }
            case .panes(let panes):
                self.checkPanes(panes, "\(path).panes", &log)
            }
            self.checkOverrides(scene, "\(path).audioOverrides", &log)
        }
        let first = self.pipeline.program.scene
        if log.isWritten("program.scene"), log.isSound("program.scene", "scenes"), ids[first] == nil {
            log.mistake(
                "program.scene", "there is no scene \(SpecText.quoted(first))",
                fix: self.advice(first, among: ids.keys.sorted()))
        }
    }

    private func checkPanes(_ panes: [Pane], _ path: String, _ log: inout SpecLog) {
        var seen: [SourceID: Int] = [:]
        let canvas = self.pipeline.canvas
        for (index, pane) in panes.enumerated() {
            let place = "\(path)[\(index)]"
            self.checkSource(pane.source, "\(place).uid", "\(place).streamType", &log)
            if log.isSound("\(place).uid", "\(place).streamType") {
                if let first = seen[pane.source] {
                    log.mistake(
                        "\(place).uid", "\(pane.source) has the pane [\(first)] already",
                        fix: "show each source once in a scene")
                } else {
                    seen[pane.source] = index
                }
            }
            for (edge, size, start, length, limit) in [
                ("x", "width", pane.x, pane.width, canvas.width), ("y", "height", pane.y, pane.height, canvas.height),
            ] where log.isSound("\(place).\(edge)", "\(place).\(size)", "canvas.\(size)") && start + length > limit {
                let fix =
                    start + 2 <= limit
                    ? "lower \(size) to \(limit - start), or \(edge)"
                    : "lower \(edge) below \(limit), the canvas's \(size)"
                log.mistake(
                    start + 2 <= limit ? "\(place).\(size)" : "\(place).\(edge)",
                    "the pane ends at \(edge) = \(start + length), outside the canvas of "
                        + "\(canvas.width)x\(canvas.height)",
                    fix: fix)
            }
        }
    }

    /// - Parameter typePath: Where the stream type stands; for layouts the uid itself.
    private func checkSource(_ id: SourceID, _ path: String, _ typePath: String, _ log: inout SpecLog) {
        // An element that could not be read may be the very source that is looked for.
        guard log.isSound(path, typePath, "sources"), self.areSourcesSound(log), self.pipeline.source(id) == nil else {
            return
        }
        let others = self.pipeline.sources.filter { $0.id.uid == id.uid }.map(\.id.streamType.rawValue)
        if others.isEmpty {
            var uids: [String] = []
            for source in self.pipeline.sources where !uids.contains(source.id.uid) { uids.append(source.id.uid) }
            log.mistake(
                path, "there is no source with uid \(SpecText.quoted(id.uid))", fix: self.advice(id.uid, among: uids))
        } else {
            log.mistake(
                log.isWritten(typePath) ? typePath : path,
                "uid \(SpecText.quoted(id.uid)) has no \(id.streamType.rawValue) stream, only "
                    + "\(others.joined(separator: ", "))",
                fix: "add that source, or use a pane with \"streamType\": \"\(others[0])\"")
        }
    }

    private func areSourcesSound(_ log: SpecLog) -> Bool {
        self.pipeline.sources.indices.allSatisfy { log.isSound("sources[\($0)].uid", "sources[\($0)].streamType") }
    }

    private func checkOverrides(_ scene: Scene, _ path: String, _ log: inout SpecLog) {
        var seen: Set<String> = []
        for (index, override) in scene.audioOverrides.enumerated() where log.isSound("\(path)[\(index)].uid") {
            let place = "\(path)[\(index)].uid"
            if !seen.insert(override.uid).inserted {
                log.mistake(place, "\(SpecText.quoted(override.uid)) is there twice", fix: "give each user one volume")
            } else if log.isSound("sources"), self.areSourcesSound(log),
                !self.pipeline.sources.contains(where: { $0.id.uid == override.uid })
            {
                log.mistake(
                    place, "there is no source with uid \(SpecText.quoted(override.uid))",
                    fix: self.advice(override.uid, among: self.pipeline.sources.map(\.id.uid)))
            }
        }
    }

    func advice(_ word: String, among known: [String]) -> String {
        if let nearest = SpecText.nearest(to: word, among: known) { return "did you mean \(SpecText.quoted(nearest))?" }
        let shown = known.count > 8 ? Array(known.prefix(8)) + ["…"] : known
        return "use \(SpecText.choice(shown))"
    }
}

extension Secret {
    /// The key of the pipeline file that holds a stream key of this kind.
    fileprivate var word: String {
        switch self {
        case .inline: "streamKey"
        case .env: "streamKeyEnv"
        case .file: "streamKeyFile"
        }
    }
}
