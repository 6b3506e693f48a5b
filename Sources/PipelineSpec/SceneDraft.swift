import MediaTypes

/// A scene as its object is read: its arrangement is put together once all keys are known.
struct SceneDraft: Sendable {
    var scene = Scene("", .panes([]))
    var layout = Layout.solo
    var uids: [String] = []
    var panes: [Pane] = []

    static let rule = ObjectRule(
        "a layout and its sound", SceneDraft(),
        [
            Field(
                required: "sceneId", \.scene.sceneID, .name(64, marks: "_.-"),
                "the scene's id: 1 to 64 letters, digits, _ . or -"),
            Field(
                "layout", \.layout, .choice,
                "solo: one on the whole canvas; sideBySide: two halves; grid: up to 16 in equal cells; needs uids",
                derived: true),
            Field(
                "uids", \.uids, .list(of: .uid, 1...16, standIn: ""),
                "the users whose main streams the layout shows, in order",
                derived: true),
            Field(
                "panes", \.panes, .list(of: .object(Pane.rule), 1...64, standIn: Pane.rule.prototype),
                "the rectangles, instead of layout and uids", derived: true),
            Field(optional: "backgroundColor", \.scene.backgroundColor, .color, "default the canvas's"),
            Field(
                "audioOverrides", \.scene.audioOverrides,
                .list(
                    of: .object(Scene.AudioOverride.rule), 0...64, standIn: Scene.AudioOverride(uid: "", volume: 0)),
                "volumes that hold while the scene is on air"),
        ],
        keywords: [JSONMember("oneOf", .array([needs(["layout", "uids"]), needs(["panes"])]))])

    private static func needs(_ keys: [JSONNode]) -> JSONNode {
        .object([JSONMember("required", .array(keys))])
    }

    static func finished(_ draft: SceneDraft, _ path: String, _ log: inout SpecLog) -> Scene {
        var scene = draft.scene
        let hasLayout = log.isWritten("\(path).layout")
        let hasUids = log.isWritten("\(path).uids")
        let hasPanes = log.isWritten("\(path).panes")
        let choice = "write either \"layout\" with \"uids\", or \"panes\""
        if hasPanes {
            if hasLayout { log.mistake("\(path).layout", "stands beside panes", fix: choice) }
            if hasUids { log.mistake("\(path).uids", "stands beside panes", fix: choice) }
            scene.arrangement = .panes(draft.panes)
            return scene
        }
        switch (hasLayout, hasUids) {
        case (false, false): log.mistake("\(path).panes", "is missing, and so is a layout", fix: choice)
        case (true, false): log.mistake("\(path).uids", "is missing", fix: "add \"uids\": the users the layout shows")
        case (false, true):
            log.mistake(
                "\(path).layout", "is missing",
                fix: "add \"layout\": \(SpecText.choice(Layout.allCases.map(\.rawValue)))")
        case (true, true): Self.check(draft, path, &log)
        }
        scene.arrangement = .layout(draft.layout, uids: draft.uids)
        return scene
    }

    private static func check(_ draft: SceneDraft, _ path: String, _ log: inout SpecLog) {
        var seen: Set<String> = []
        for (index, uid) in draft.uids.enumerated() where !uid.isEmpty && !seen.insert(uid).inserted {
            log.mistake("\(path).uids[\(index)]", "\(SpecText.quoted(uid)) is there twice", fix: "name each user once")
        }
        let count = draft.layout.userCount
        guard log.isSound("\(path).layout", "\(path).uids"), !count.contains(draft.uids.count) else { return }
        let needed =
            count.lowerBound == count.upperBound ? "\(count.lowerBound)" : "\(count.lowerBound) to \(count.upperBound)"
        log.mistake(
            "\(path).uids", "\(draft.layout.rawValue) takes \(needed), and here are \(draft.uids.count)",
            fix:
                "name \(needed), or use "
                + "\(draft.uids.count == 1 ? "solo" : draft.uids.count == 2 ? "sideBySide" : "grid")"
        )
    }
}

extension Pane {
    static let rule = ObjectRule(
        "the rectangle of one source", Pane(SourceID(""), x: 0, y: 0, width: 2, height: 2),
        [
            Field(required: "uid", \.source.uid, .uid, "whose picture and sound"),
            Field("streamType", \.source.streamType, .choice, "which of the user's streams"),
            Field("x", \.x, .evened(0...1920), "left edge in pixels; odd is lowered to even"),
            Field("y", \.y, .evened(0...1920), "top edge in pixels; odd is lowered to even"),
            Field(required: "width", \.width, .evened(2...1920), "width in pixels; odd is lowered to even"),
            Field(required: "height", \.height, .evened(2...1920), "height in pixels; odd is lowered to even"),
            Field("zOrder", \.zOrder, .integer(0...100), "higher lies on top; of equals the later one"),
            Field(
                "adaption", \.adaption, .choice,
                "a picture of another shape is fitted in, cropped to fill, or stretched"),
            Field("videoPush", \.videoPush, .boolean, "whether its picture is shown"),
            Field("audioPush", \.audioPush, .boolean, "whether its sound is heard"),
            Field(
                optional: "volume", \.volume, .integer(0...200), "gain of its sound in percent; default the source's"),
        ])
}

extension Scene.AudioOverride {
    static let rule = ObjectRule(
        "a user's volume in this scene", Scene.AudioOverride(uid: "", volume: 100),
        [
            Field(required: "uid", \.uid, .uid, "whose sound"),
            Field(required: "volume", \.volume, .integer(0...200), "gain in percent"),
        ])
}
