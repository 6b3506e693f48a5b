import MediaTypes

extension Pane {
    static let rule = ObjectRule(
        "the rectangle of one source", Pane(SourceID(""), x: 0, y: 0, width: 2, height: 2),
        [
            Field(required: "uid", \.source.uid, .uid, "whose picture and sound"),
            Field("streamType", \.source.streamType, .choice, "which of the user's streams"),
        ] + Area.fields(\.area.x, \.area.y, \.area.width, \.area.height, isRequired: true) + [
            Field("zOrder", \.zOrder, .integer(0...100), "higher lies on top; of equals the later one"),
            Field(
                "adaption", \.adaption, .choice,
                "a picture of another shape is fitted in, cropped to fill, or stretched"),
            Field("crop", \.crop, .object(Crop.rule, finish: Crop.checked), "what is shown of its picture"),
            Field("border", \.border, .object(Border.rule), "a frame inside its edges"),
            Field("cornerRadius", \.cornerRadius, .integer(0...960), "radius of its corners in pixels; 0: square"),
            Field("videoPush", \.videoPush, .boolean, "whether its picture is shown"),
            Field("audioPush", \.audioPush, .boolean, "whether its sound is heard"),
            Field(
                optional: "volume", \.volume, .integer(0...200), "gain of its sound in percent; default the source's"),
        ])
}

extension Area {
    private static let wording = "in pixels, odd is lowered to even, or per cent of the canvas"

    /// The keys `x`, `y`, `width` and `height` of whatever has a rectangle.
    ///
    /// - Parameter isRequired: Whether the size must be written.
    static func fields<Root>(
        _ x: WritableKeyPath<Root, Length> & Sendable, _ y: WritableKeyPath<Root, Length> & Sendable,
        _ width: WritableKeyPath<Root, Length> & Sendable, _ height: WritableKeyPath<Root, Length> & Sendable,
        isRequired: Bool
    ) -> [Field<Root>] {
        func size(_ key: String, _ side: WritableKeyPath<Root, Length> & Sendable) -> Field<Root> {
            isRequired
                ? Field(required: key, side, .length(2...1920), "\(key) \(self.wording)")
                : Field(key, side, .length(2...1920), "\(key) \(self.wording)")
        }
        return [
            Field("x", x, .length(0...1920), "left edge \(self.wording)"),
            Field("y", y, .length(0...1920), "top edge \(self.wording)"), size("width", width), size("height", height),
        ]
    }
}

extension Pane.Crop {
    static let rule = ObjectRule(
        "the part of a picture that is shown", Pane.Crop(),
        [
            Field("x", \.area.x, .share, "left edge in per cent of the picture's width"),
            Field("y", \.area.y, .share, "top edge in per cent of the picture's height"),
            Field("width", \.area.width, .share, "per cent of the picture's width"),
            Field("height", \.area.height, .share, "per cent of the picture's height"),
        ])

    static func checked(_ crop: Pane.Crop, _ path: String, _ log: inout SpecLog) -> Pane.Crop {
        var crop = crop
        for (edge, size, start, length) in [
            ("x", "width", crop.area.x, \Area.width), ("y", "height", crop.area.y, \Area.height),
        ] {
            guard case .share(let from) = start, case .share(let share) = crop.area[keyPath: length],
                log.isSound("\(path).\(edge)", "\(path).\(size)")
            else { continue }
            if !log.isWritten("\(path).\(size)"), share > Length.whole - from {
                // Without a size it is what remains.
                crop.area[keyPath: length] = .share(Length.whole - from)
            }
            guard case .share(let kept) = crop.area[keyPath: length] else { continue }
            if from + kept > Length.whole {
                log.mistake(
                    "\(path).\(size)", "the part ends at \(Length.share(from + kept)) of the picture",
                    fix: "lower it to \"\(Length.share(Length.whole - from))\"")
            } else if kept < 10_000 {
                log.mistake("\(path).\(size)", "less than 1% of the picture is left", fix: "leave at least \"1%\"")
            }
        }
        return crop
    }
}

extension Pane.Border {
    static let rule = ObjectRule(
        "a frame inside a pane's edges", Pane.Border(),
        [
            Field("width", \.width, .integer(0...64), "pixels; 0: none"),
            Field("color", \.color, .color, "its color"),
        ])
}
