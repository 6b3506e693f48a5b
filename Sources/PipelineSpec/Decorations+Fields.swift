import MediaTypes

extension StillImage {
    static let background = Self.rule("an image behind everything", zOrder: 0, isRequired: false)
    static let overlay = Self.rule("an image on the canvas", zOrder: 50, isRequired: true)
    static let watermark = Self.rule("an image on every scene", zOrder: 100, isRequired: true)

    /// Takes the place of one that cannot be read.
    static let standIn = StillImage(path: "", .whole, zOrder: 0)

    private static func rule(_ meaning: String, zOrder: Int, isRequired: Bool) -> ObjectRule<StillImage> {
        ObjectRule(
            meaning, StillImage(path: "", .whole, zOrder: zOrder),
            [
                Field(
                    required: "path", \.path, .imagePath,
                    "PNG or JPEG of at most 2 MB, relative to the working directory; no URL")
            ] + Area.fields(\.area.x, \.area.y, \.area.width, \.area.height, isRequired: isRequired) + [
                Field("zOrder", \.zOrder, .integer(0...100), "higher lies on top; of equals the later one"),
                Field("alpha", \.alpha, .fraction, "opacity from 0 to 1, times the image's own"),
            ])
    }
}

extension TextLabel {
    static let rule = ObjectRule(
        "a line of text on the canvas", TextLabel(""),
        [
            Field(
                required: "textId", \.textID, .name(64, marks: "_.-"),
                "how the control API calls it: 1 to 64 letters, digits, _ . or -"),
            Field("text", \.text, .title, "up to 256 characters, any script; empty shows nothing"),
            Field("x", \.x, .length(0...1920), "where it begins, has its middle or ends, by align"),
            Field("y", \.y, .length(0...1920), "its top edge"),
            Field("size", \.size, .integer(8...400), "height of the letters in pixels"),
            Field("color", \.color, .color, "of the letters"),
            Field(optional: "background", \.background, .color, "color of a box behind it; default none"),
            Field("backgroundAlpha", \.backgroundAlpha, .fraction, "opacity of the box from 0 to 1"),
            Field("align", \.align, .choice, "whether x is its left end, its middle or its right end"),
            Field("zOrder", \.zOrder, .integer(0...100), "higher lies on top; of equals the later one"),
            Field(
                optional: "maxWidth", \.maxWidth, .length(16...1920),
                "what is longer ends in an ellipsis; default the room on the canvas"),
        ])
}

extension ScoreBar {
    static let rule = ObjectRule(
        "two scores as the shares of a bar", ScoreBar("", .whole),
        [
            Field(
                required: "scoreId", \.scoreID, .name(64, marks: "_.-"),
                "how the control API calls it: 1 to 64 letters, digits, _ . or -")
        ] + Area.fields(\.area.x, \.area.y, \.area.width, \.area.height, isRequired: true) + [
            Field("left", \.left, .integer(0...1_000_000_000), "points on the left; 0 to 0 is half and half"),
            Field("right", \.right, .integer(0...1_000_000_000), "points on the right"),
            Field("leftColor", \.leftColor, .color, "of the left share"),
            Field("rightColor", \.rightColor, .color, "of the right share"),
            Field("zOrder", \.zOrder, .integer(0...100), "higher lies on top; of equals the later one"),
        ])
}

extension Countdown {
    static let rule = ObjectRule(
        "a clock that runs down", Countdown(""),
        [
            Field(
                required: "countdownId", \.countdownID, .name(64, marks: "_.-"),
                "how the control API calls it: 1 to 64 letters, digits, _ . or -"),
            Field(
                "of", \.clock, .choice,
                "scene: begins whenever its scene goes on air; pk: time left of the running phase of the PK"),
            Field(
                "seconds", \.seconds, .integer(0...86_400),
                "what a countdown of the scene begins with when its scene goes on air"),
            Field("x", \.x, .length(0...1920), "where it begins, has its middle or ends, by align"),
            Field("y", \.y, .length(0...1920), "its top edge"),
            Field("size", \.size, .integer(8...400), "height of the digits in pixels"),
            Field("color", \.color, .color, "of the digits"),
            Field("align", \.align, .choice, "whether x is its left end, its middle or its right end"),
            Field("zOrder", \.zOrder, .integer(0...100), "higher lies on top; of equals the later one"),
        ])
}

extension Transition {
    static let rule = ObjectRule(
        "how a scene comes on air", Transition(),
        [
            Field("type", \.kind, .choice, "at once, one picture into the other, or one pushed out by the other"),
            Field("durationMs", \.durationMs, .integer(100...5000), "milliseconds of a crossfade or slide"),
            Field("direction", \.direction, .choice, "where a slide pushes the old picture"),
        ])

    static func checked(_ transition: Transition, _ path: String, _ log: inout SpecLog) -> Transition {
        guard log.isSound(SpecPath.join(path, "type")) else { return transition }
        let duration = SpecPath.join(path, "durationMs")
        let direction = SpecPath.join(path, "direction")
        if transition.kind == .cut, log.isWritten(duration) {
            log.mistake(
                duration, "a cut takes no time", fix: "remove it, or write \"type\": \"crossfade\" or \"slide\"")
        }
        if transition.kind != .slide, log.isWritten(direction) {
            log.mistake(direction, "belongs to slides", fix: "remove it, or write \"type\": \"slide\"")
        }
        return transition
    }
}
