import MediaTypes

/// Rules about lost sources, PK phases and ducking.
extension PipelineRules {
    func checkLosses(_ log: inout SpecLog) {
        for (index, source) in self.pipeline.sources.enumerated() {
            let path = "sources[\(index)].onLost"
            guard log.isValid("\(path).then", "\(path).fallbackScene") else { continue }
            switch (source.onLost.then, source.onLost.fallbackScene) {
            case (.fallbackScene, nil):
                log.mistake(
                    "\(path).fallbackScene", "is missing, although then is fallbackScene",
                    fix: "add \"fallbackScene\": the sceneId to put on air while the source is lost")
            case (.placeholder, .some), (.leavePane, .some):
                log.mistake(
                    "\(path).fallbackScene", "is never used, because then is \(source.onLost.then.rawValue)",
                    fix: "add \"then\": \"fallbackScene\", or remove fallbackScene")
            case (.fallbackScene, let scene?): self.checkSceneID(scene, "\(path).fallbackScene", &log)
            case (.placeholder, nil), (.leavePane, nil): break
            }
        }
    }

    func checkPK(_ log: inout SpecLog) {
        guard let pk = self.pipeline.pk, log.isValid("pk") else { return }
        self.checkSceneID(pk.scene, "pk.scene", &log)
        if let scene = pk.countdownScene { self.checkSceneID(scene, "pk.countdownScene", &log) }
        if let scene = pk.punishScene { self.checkSceneID(scene, "pk.punishScene", &log) }
        if log.isWritten("pk.endScene") { self.checkSceneID(pk.endScene, "pk.endScene", &log) }
        if log.isWritten("pk.countdownScene"), pk.countdownMs == 0, log.isValid("pk.countdownMs") {
            log.mistake(
                "pk.countdownScene", "is never used, because there is no countdown",
                fix: "add \"countdownMs\", or remove countdownScene")
        }
    }

    func checkDucking(_ log: inout SpecLog) {
        self.checkUsers(self.pipeline.audio.ducking?.uids ?? [], "audio.ducking.uids", &log)
        self.checkUsers(self.pipeline.audio.lowerMusic?.uids ?? [], "audio.lowerMusic.uids", &log)
        let music = Set(self.pipeline.sources.filter(\.background).map(\.id.uid))
        for (index, uid) in (self.pipeline.audio.ducking?.uids ?? []).enumerated()
        where music.contains(uid) && log.isValid("audio.ducking.uids", "sources") {
            log.warning(
                "audio.ducking.uids[\(index)]", "the source has \"background\", and its audio lowers all others",
                fix: "to lower music while others speak, use \"lowerMusic\" instead of \"ducking\"")
        }
    }

    /// Checks that the pipeline has sources of these users.
    private func checkUsers(_ uids: [String], _ path: String, _ log: inout SpecLog) {
        guard !uids.isEmpty, log.isValid(path, "sources") else { return }
        let known = Set(self.pipeline.sources.map(\.id.uid))
        for (index, uid) in uids.enumerated() where !known.contains(uid) && log.isValid("\(path)[\(index)]") {
            log.mistake(
                "\(path)[\(index)]", "there is no source with uid \(SpecText.quoted(uid))",
                fix: Self.advice(uid, among: known.sorted()))
        }
    }

    private func checkSceneID(_ id: String, _ path: String, _ log: inout SpecLog) {
        // The missing scene may be one that could not be parsed.
        guard log.isValid(path, "scenes"), self.pipeline.scene(id) == nil,
            self.pipeline.scenes.indices.allSatisfy({ log.isValid("scenes[\($0)].sceneId") })
        else { return }
        log.mistake(
            path, "unknown scene \(SpecText.quoted(id))",
            fix: Self.advice(id, among: self.pipeline.scenes.map(\.sceneID)))
    }
}
