import MediaTypes

/// Rules that involve a scene and the pipeline it belongs to.
///
/// A rule reports nothing if one of the values that it compares already has a mistake.
struct SceneRules {
    let pipeline: Pipeline
    let checks: SpecChecks

    /// Checks a scene against all rules.
    ///
    /// - Parameter path: Path of the scene in the document; empty if the document is the scene itself.
    func check(_ scene: Scene, _ path: String, _ log: inout SpecLog) {
        func join(_ key: String) -> String { SpecPath.join(path, key) }
        switch scene.arrangement {
        case .layout(_, let uids):
            for (position, uid) in uids.enumerated() {
                let place = "\(join("uids"))[\(position)]"
                self.checkSource(SourceID(uid), place, place, &log)
            }
        case .panes(let panes): self.checkPanes(panes, scene, join("panes"), &log)
        }
        self.checkCanvas(scene, join("canvas"), &log)
        self.checkImages(scene.bgImages ?? [], scene, join("bgImages"), &log)
        self.checkImages(scene.images, scene, join("images"), &log)
        self.checkOverlays(scene, path, &log)
        self.checkOverrides(scene, join("audioOverrides"), &log)
        if scene.speakingRing != nil, !self.pipeline.audio.speaking, log.isValid(join("speakingRing"), "audio.speaking")
        {
            log.mistake(
                join("speakingRing"), "audio.speaking is off, so the room does not detect who speaks",
                fix: "add \"speaking\": true to audio, or remove the ring")
        }
    }

    // MARK: Panes

    private func checkPanes(_ panes: [Pane], _ scene: Scene, _ path: String, _ log: inout SpecLog) {
        var seen: [SourceID: Int] = [:]
        for (index, pane) in panes.enumerated() {
            let place = "\(path)[\(index)]"
            self.checkSource(pane.source, "\(place).uid", "\(place).streamType", &log)
            if log.isValid("\(place).uid", "\(place).streamType") {
                if let first = seen[pane.source] {
                    log.mistake(
                        "\(place).uid", "\(pane.source) already has pane [\(first)]",
                        fix: "show each source once in a scene")
                } else {
                    seen[pane.source] = index
                }
            }
            let rect = self.checkArea(pane.area, "the pane", scene, place, &log)
            if let rect, log.isValid("\(place).border"), min(rect.width, rect.height) < pane.border.width * 2 + 2 {
                log.mistake(
                    "\(place).border.width", "leaves no space inside a pane of \(rect.width)x\(rect.height)",
                    fix: "write at most \(max(0, min(rect.width, rect.height) / 2 - 1))")
            }
        }
    }

    /// Checks that a rectangle is inside the scene's canvas.
    ///
    /// - Returns: The rectangle in pixels if it is inside the canvas, otherwise `nil`.
    @discardableResult
    func checkArea(_ area: Area, _ name: String, _ scene: Scene, _ place: String, _ log: inout SpecLog) -> PixelRect? {
        let (width, height) = scene.size(on: self.pipeline.canvas)
        let rect = area.pixels(width: width, height: height)
        var isInside = true
        for (edge, size, start, length, limit) in [
            ("x", "width", rect.x, rect.width, width), ("y", "height", rect.y, rect.height, height),
        ] {
            guard log.isValid("\(place).\(edge)", "\(place).\(size)", "canvas.\(size)") else {
                isInside = false
                continue
            }
            if start + length > limit {
                isInside = false
                let fix =
                    start + 2 <= limit
                    ? "lower \(size) to \(limit - start), or \(edge)"
                    : "lower \(edge) below \(limit), the canvas's \(size)"
                log.mistake(
                    start + 2 <= limit ? "\(place).\(size)" : "\(place).\(edge)",
                    "\(name) ends at \(edge) = \(start + length), outside the canvas of \(width)x\(height)", fix: fix)
            } else if length < 2 {
                isInside = false
                log.mistake(
                    "\(place).\(size)", "\(name) has no pixels on a canvas of \(width)x\(height)",
                    fix: "write at least 2 pixels")
            }
        }
        return isInside ? rect : nil
    }

    /// Checks that the pipeline has a source with this id.
    ///
    /// - Parameter typePath: Path of the stream type; for layouts, the path of the uid itself.
    private func checkSource(_ id: SourceID, _ path: String, _ typePath: String, _ log: inout SpecLog) {
        // The missing source may be one that could not be parsed.
        guard log.isValid(path, typePath, "sources"), self.areSourcesValid(log), self.pipeline.source(id) == nil else {
            return
        }
        let others = self.pipeline.sources.filter { $0.id.uid == id.uid }.map(\.id.streamType.rawValue)
        if others.isEmpty {
            var uids: [String] = []
            for source in self.pipeline.sources where !uids.contains(source.id.uid) { uids.append(source.id.uid) }
            log.mistake(
                path, "there is no source with uid \(SpecText.quoted(id.uid))",
                fix: PipelineRules.advice(id.uid, among: uids))
        } else {
            log.mistake(
                log.isWritten(typePath) ? typePath : path,
                "uid \(SpecText.quoted(id.uid)) has no \(id.streamType.rawValue) stream, only "
                    + "\(others.joined(separator: ", "))",
                fix: "add that source, or use a pane with \"streamType\": \"\(others[0])\"")
        }
    }

    private func areSourcesValid(_ log: SpecLog) -> Bool {
        self.pipeline.sources.indices.allSatisfy { log.isValid("sources[\($0)].uid", "sources[\($0)].streamType") }
    }

    private func checkOverrides(_ scene: Scene, _ path: String, _ log: inout SpecLog) {
        var seen: Set<String> = []
        for (index, override) in scene.audioOverrides.enumerated() where log.isValid("\(path)[\(index)].uid") {
            let place = "\(path)[\(index)].uid"
            if !seen.insert(override.uid).inserted {
                log.mistake(place, "\(SpecText.quoted(override.uid)) is listed twice", fix: "give each user one volume")
            } else if log.isValid("sources"), self.areSourcesValid(log),
                !self.pipeline.sources.contains(where: { $0.id.uid == override.uid })
            {
                log.mistake(
                    place, "there is no source with uid \(SpecText.quoted(override.uid))",
                    fix: PipelineRules.advice(override.uid, among: self.pipeline.sources.map(\.id.uid)))
            }
        }
    }

    // MARK: Canvas and decorations

    private func checkCanvas(_ scene: Scene, _ path: String, _ log: inout SpecLog) {
        guard let size = scene.canvas, log.isValid(path, "canvas.policy") else { return }
        let room = self.pipeline.canvas
        if room.policy == .fixed {
            log.mistake(
                path, "the canvas has one size for all scenes",
                fix: "remove it, or write \"policy\": \"perScene\" in the pipeline's canvas")
        } else if size.width > room.width || size.height > room.height {
            // The multivariant playlist declares the largest size and level before the first segment.
            log.mistake(
                path, "\(size.width)x\(size.height) is larger than the room's \(room.width)x\(room.height)",
                fix: "make the room's canvas as large as its largest scene")
        }
    }

    /// Checks that the images fit on the canvas and can be used.
    ///
    /// - Parameter scene: The scene whose canvas the images must fit into.
    func checkImages(_ images: [StillImage], _ scene: Scene, _ path: String, _ log: inout SpecLog) {
        for (index, image) in images.enumerated() {
            let place = "\(path)[\(index)]"
            self.checkArea(image.area, "the image", scene, place, &log)
            if let problem = self.checks.problem(ofImage: image.path, at: "\(place).path", log) {
                log.mistake("\(place).path", problem.what, fix: problem.fix)
            }
        }
    }

    private func checkOverlays(_ scene: Scene, _ path: String, _ log: inout SpecLog) {
        let texts = SpecPath.join(path, "texts")
        let bars = SpecPath.join(path, "scoreBars")
        let clocks = SpecPath.join(path, "countdowns")
        self.checkIDs(scene.texts.map(\.textID), "textId", texts, &log)
        self.checkIDs(scene.scoreBars.map(\.scoreID), "scoreId", bars, &log)
        self.checkIDs(scene.countdowns.map(\.countdownID), "countdownId", clocks, &log)
        for (index, bar) in scene.scoreBars.enumerated() {
            self.checkArea(bar.area, "the bar", scene, "\(bars)[\(index)]", &log)
        }
        for (index, text) in scene.texts.enumerated() {
            let place = "\(texts)[\(index)]"
            self.checkCorner(text.x, text.y, scene, place, &log)
            let fonts = self.pipeline.canvas.fonts
            if let problem = self.checks.problem(ofText: text.text, fonts, at: "\(place).text", log) {
                log.warning("\(place).text", problem.what, fix: problem.fix)
            }
        }
        for (index, clock) in scene.countdowns.enumerated() {
            let place = "\(clocks)[\(index)]"
            self.checkCorner(clock.x, clock.y, scene, place, &log)
            guard clock.clock == .pk, log.isValid("\(place).of"), log.isWritten("\(place).seconds") else { continue }
            log.mistake(
                "\(place).seconds",
                "cannot be combined with \"of\": \"pk\", where the duration comes from the phases of the PK",
                fix: "remove it")
        }
    }

    private func checkIDs(_ ids: [String], _ key: String, _ path: String, _ log: inout SpecLog) {
        var seen: [String: String] = [:]
        for (index, id) in ids.enumerated() where !id.isEmpty {
            let element = "\(path)[\(index)]"
            log.checkUnique(id, "\(element).\(key)", of: element, &seen, fix: "use another id")
        }
    }

    /// Checks that the position of a text is on the canvas. The text's size depends on the font and is not checked.
    private func checkCorner(_ x: Length, _ y: Length, _ scene: Scene, _ place: String, _ log: inout SpecLog) {
        let (width, height) = scene.size(on: self.pipeline.canvas)
        for (edge, length, limit) in [("x", x, width), ("y", y, height)]
        where log.isValid("\(place).\(edge)") && length.pixels(of: limit) > limit {
            log.mistake(
                "\(place).\(edge)", "\(length) is outside the canvas of \(width)x\(height)",
                fix: "write at most \(limit)")
        }
    }
}
