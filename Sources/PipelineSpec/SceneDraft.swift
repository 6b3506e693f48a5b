import MediaTypes

/// A scene while its JSON object is being parsed; the arrangement of panes is built after all keys are read.
struct SceneDraft: Sendable {
    var scene = Scene("", .panes([]))
    var layout = Layout.solo
    var uids: [String] = []
    var panes: [Pane] = []

    static let rule = ObjectRule(
        "a layout with its decorations and audio volumes", SceneDraft(),
        [
            Field(
                required: "sceneId", \.scene.sceneID, .id,
                "the scene's id: 1 to 64 letters, digits, _ . or -"),
            Field(
                "revision", \.scene.revision, .integer(0...9_007_199_254_740_991),
                "version number of this scene; the control API refuses an older one"),
            Field(
                "layout", \.layout, .choice,
                "solo: one user on the whole canvas; sideBySide, topBottom: two halves; pip: the second in a corner of the first; grid: up to 16 in equal cells; hostAndGuests: one large, up to 8 beside it; auto: depends on the number of live users; all except auto need uids",
                derived: true),
            Field(
                "uids", \.uids, .list(of: .uid, 1...16, standIn: ""),
                "the users whose main streams the layout shows, in this order",
                derived: true),
            Field(
                "panes", \.panes, .list(of: .object(Pane.rule), 1...64, standIn: Pane.rule.prototype),
                "the rectangles, instead of layout and uids", derived: true),
            Field(
                optional: "canvas", \.scene.canvas, .object(Scene.CanvasSize.rule),
                "the canvas's size while the scene is on air; needs canvas.policy perScene"),
            Field(
                optional: "backgroundColor", \.scene.backgroundColor, .color,
                "color behind and around the panes; default the canvas's"),
            Field(
                optional: "bgImages", \.scene.bgImages,
                .list(of: .object(StillImage.background), 0...6, standIn: StillImage.standIn),
                "images behind the panes; default the canvas's"),
            Field(
                "images", \.scene.images,
                .list(of: .object(StillImage.overlay), 0...16, standIn: StillImage.standIn), "images on the canvas"),
            Field(
                "texts", \.scene.texts, .list(of: .object(TextLabel.rule), 0...32, standIn: TextLabel("")),
                "lines of text on the canvas"),
            Field(
                "scoreBars", \.scene.scoreBars, .list(of: .object(ScoreBar.rule), 0...4, standIn: ScoreBar("", .whole)),
                "bars that show the ratio of two scores"),
            Field(
                "countdowns", \.scene.countdowns, .list(of: .object(Countdown.rule), 0...4, standIn: Countdown("")),
                "countdown timers"),
            Field(
                "audioOverrides", \.scene.audioOverrides,
                .list(
                    of: .object(Scene.AudioOverride.rule), 0...64, standIn: Scene.AudioOverride(uid: "", volume: 0)),
                "volumes of users while the scene is on air"),
            Field(
                optional: "speakingRing", \.scene.speakingRing, .object(SpeakingRing.rule),
                "draws a ring around the pane of each source that speaks; needs audio.speaking"),
            Field(
                "transition", \.scene.transition, .object(Transition.rule, finish: Transition.checked),
                "the transition with which the scene goes on air"),
        ],
        keywords: [JSONMember("oneOf", .array([needs(["layout"]), needs(["panes"])]))])

    private static func needs(_ keys: [JSONNode]) -> JSONNode {
        .object([JSONMember("required", .array(keys))])
    }

    static func finished(_ draft: SceneDraft, _ path: String, _ log: inout SpecLog) -> Scene {
        var scene = draft.scene
        let (layout, uids, panes) = (
            SpecPath.join(path, "layout"), SpecPath.join(path, "uids"), SpecPath.join(path, "panes")
        )
        let choice = "write either \"layout\" with \"uids\", or \"panes\""
        if log.isWritten(panes) {
            if log.isWritten(layout) { log.mistake(layout, "cannot be combined with panes", fix: choice) }
            if log.isWritten(uids) { log.mistake(uids, "cannot be combined with panes", fix: choice) }
            scene.arrangement = .panes(draft.panes)
            return scene
        }
        switch (log.isWritten(layout), log.isWritten(uids)) {
        case (false, false): log.mistake(panes, "is missing, and there is no layout either", fix: choice)
        case (true, false) where draft.layout == .auto || !log.isValid(layout): break
        case (true, false): log.mistake(uids, "is missing", fix: "add \"uids\": the users the layout shows")
        case (false, true):
            log.mistake(
                layout, "is missing", fix: "add \"layout\": \(SpecText.choice(Layout.allCases.map(\.rawValue)))")
        case (true, true): Self.check(draft, layout, uids, &log)
        }
        scene.arrangement = .layout(draft.layout, uids: draft.uids)
        return scene
    }

    private static func check(_ draft: SceneDraft, _ layout: String, _ uids: String, _ log: inout SpecLog) {
        var seen: Set<String> = []
        for (index, uid) in draft.uids.enumerated() where !uid.isEmpty && !seen.insert(uid).inserted {
            log.mistake("\(uids)[\(index)]", "\(SpecText.quoted(uid)) is listed twice", fix: "name each user once")
        }
        let count = draft.layout.userCount
        guard log.isValid(layout, uids), !count.contains(draft.uids.count) else { return }
        let needed =
            count.lowerBound == count.upperBound ? "\(count.lowerBound)" : "\(count.lowerBound) to \(count.upperBound)"
        log.mistake(
            uids,
            "\(draft.layout.rawValue) takes \(needed) \(count.upperBound == 1 ? "user" : "users"), "
                + "but \(draft.uids.count) \(draft.uids.count == 1 ? "is" : "are") given",
            fix:
                "name \(needed), or use "
                + "\(draft.uids.count == 1 ? "solo" : draft.uids.count == 2 ? "sideBySide" : "grid")"
        )
    }
}

extension Scene.AudioOverride {
    static let rule = ObjectRule(
        "a user's volume in this scene", Scene.AudioOverride(uid: "", volume: 100),
        [
            Field(required: "uid", \.uid, .uid, "the user"),
            Field(required: "volume", \.volume, .integer(0...200), "gain in percent"),
        ])
}

extension Scene.CanvasSize {
    static let rule = ObjectRule(
        "the canvas's size while a scene is on air", Scene.CanvasSize(width: 0, height: 0),
        [
            Field(required: "width", \.width, .evened(64...1920), "width in pixels; odd is lowered to even"),
            Field(required: "height", \.height, .evened(64...1920), "height in pixels; odd is lowered to even"),
        ])
}
