import MediaTypes

extension StillImage {
    static let background = Self.rule("an image behind everything", zOrder: 0, isRequired: false)
    static let overlay = Self.rule("an image on the canvas", zOrder: 50, isRequired: true)
    static let watermark = Self.rule("an image on top of every scene", zOrder: 100, isRequired: true)

    /// Value that replaces an element of a list of images that cannot be parsed, so that parsing can continue.
    static let standIn = StillImage(path: "", .whole, zOrder: 0)

    private static func rule(_ meaning: String, zOrder: Int, isRequired: Bool) -> ObjectRule<StillImage> {
        ObjectRule(
            meaning, StillImage(path: "", .whole, zOrder: zOrder),
            [
                Field(
                    required: "path", \.path, .imagePath,
                    "path of a PNG or JPEG file of at most 2 MB, relative to the working directory; not a URL")
            ] + Area.fields(isRequired: isRequired).map { $0.within(\.area) } + [
                .zOrder(\.zOrder),
                Field(
                    "alpha", \.alpha, .fraction, "opacity from 0 to 1, multiplied with the image's own alpha channel"),
            ])
    }
}

extension TextLabel {
    static let rule = ObjectRule(
        "a line of text on the canvas", TextLabel(""),
        [
            Field(
                required: "textId", \.textID, .id,
                "its id in the control API: 1 to 64 letters, digits, _ . or -"),
            Field("text", \.text, .title, "up to 256 characters in any script; an empty text is not drawn"),
            Field("x", \.x, .length(0...1920), "position of its left end, middle or right end, depending on align"),
            Field("y", \.y, .length(0...1920), "position of its top edge"),
            Field("size", \.size, .integer(8...400), "font size in pixels"),
            Field("color", \.color, .color, "color of the text"),
            Field(optional: "background", \.background, .color, "color of a box behind the text; default none"),
            Field("backgroundAlpha", \.backgroundAlpha, .fraction, "opacity of the box from 0 to 1"),
            Field("align", \.align, .choice, "whether x is the position of its left end, its middle or its right end"),
            .zOrder(\.zOrder),
            Field(
                optional: "maxWidth", \.maxWidth, .length(16...1920),
                "maximum width; a longer text is cut and ends in an ellipsis; default the space that is left on the canvas"
            ),
        ])
}

extension ScoreBar {
    static let rule = ObjectRule(
        "a bar that shows the ratio of two scores", ScoreBar("", .whole),
        [
            Field(
                required: "scoreId", \.scoreID, .id,
                "its id in the control API: 1 to 64 letters, digits, _ . or -")
        ] + Area.fields(isRequired: true).map { $0.within(\.area) } + [
            Field(
                "left", \.left, .integer(0...1_000_000_000),
                "score of the left side; if both are 0, each gets half of the bar"),
            Field("right", \.right, .integer(0...1_000_000_000), "score of the right side"),
            Field("leftColor", \.leftColor, .color, "color of the left side"),
            Field("rightColor", \.rightColor, .color, "color of the right side"),
            .zOrder(\.zOrder),
        ])
}

extension Countdown {
    static let rule = ObjectRule(
        "a countdown timer, drawn as mm:ss", Countdown(""),
        [
            Field(
                required: "countdownId", \.countdownID, .id,
                "its id in the control API: 1 to 64 letters, digits, _ . or -"),
            Field(
                "of", \.clock, .choice,
                "scene: starts each time its scene goes on air; pk: shows the time left in the current phase of the PK"),
            Field(
                "seconds", \.seconds, .integer(0...86_400),
                "start value in seconds each time its scene goes on air; only for countdowns of the scene"),
            Field("x", \.x, .length(0...1920), "position of its left end, middle or right end, depending on align"),
            Field("y", \.y, .length(0...1920), "position of its top edge"),
            Field("size", \.size, .integer(8...400), "font size in pixels"),
            Field("color", \.color, .color, "color of the digits"),
            Field("align", \.align, .choice, "whether x is the position of its left end, its middle or its right end"),
            .zOrder(\.zOrder),
        ])
}

extension Transition {
    static let rule = ObjectRule(
        "the transition with which a scene goes on air", Transition(),
        [
            Field(
                "type", \.kind, .choice,
                "cut: at once; crossfade: the old scene blends into the new one; slide: the new scene pushes the old one out"
            ),
            Field("durationMs", \.durationMs, .integer(100...5000), "duration of a crossfade or slide in milliseconds"),
            Field("direction", \.direction, .choice, "direction in which a slide moves"),
        ])

    static func checked(_ transition: Transition, _ path: String, _ log: inout SpecLog) -> Transition {
        guard log.isValid(SpecPath.join(path, "type")) else { return transition }
        let duration = SpecPath.join(path, "durationMs")
        let direction = SpecPath.join(path, "direction")
        if transition.kind == .cut, log.isWritten(duration) {
            log.mistake(
                duration, "does not apply to a cut", fix: "remove it, or write \"type\": \"crossfade\" or \"slide\"")
        }
        if transition.kind != .slide, log.isWritten(direction) {
            log.mistake(direction, "applies only to slides", fix: "remove it, or write \"type\": \"slide\"")
        }
        return transition
    }
}
