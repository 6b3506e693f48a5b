import MediaTypes

extension Pane {
    static let rule = ObjectRule(
        "the rectangle of one source", Pane(SourceID(""), x: 0, y: 0, width: 2, height: 2),
        [
            Field(required: "uid", \.source.uid, .uid, "the user whose video and audio it carries"),
            Field("streamType", \.source.streamType, .choice, "which of the user's streams"),
        ] + Area.fields(isRequired: true).map { $0.within(\.area) } + [
            .zOrder(\.zOrder),
            Field(
                "adaption", \.adaption, .choice,
                "how video with another aspect ratio is scaled: fitted in, cropped to fill, or stretched"),
            Field("crop", \.crop, .object(Crop.rule, finish: Crop.checked), "the part of its video that is shown"),
            Field("border", \.border, .object(Border.rule), "a border inside its edges"),
            Field("cornerRadius", \.cornerRadius, .integer(0...960), "corner radius in pixels; 0: square corners"),
            Field("videoPush", \.videoPush, .boolean, "whether its video is shown"),
            Field("audioPush", \.audioPush, .boolean, "whether its audio is heard"),
            Field(
                optional: "volume", \.volume, .integer(0...200),
                "gain of its audio in percent; default the source's volume"),
        ])
}

extension Area {
    private static let wording = "in pixels (an odd number is lowered to even), or in percent of the canvas"

    /// The keys `x`, `y`, `width` and `height` of every object that has a rectangle.
    ///
    /// - Parameter isRequired: Whether `width` and `height` are required.
    static func fields(isRequired: Bool) -> [Field<Area>] {
        func size(_ key: String, _ side: WritableKeyPath<Area, Length> & Sendable) -> Field<Area> {
            isRequired
                ? Field(required: key, side, .length(2...1920), "\(key) \(self.wording)")
                : Field(key, side, .length(2...1920), "\(key) \(self.wording)")
        }
        return [
            Field("x", \.x, .length(0...1920), "left edge \(self.wording)"),
            Field("y", \.y, .length(0...1920), "top edge \(self.wording)"),
            size("width", \.width), size("height", \.height),
        ]
    }
}

extension Pane.Crop {
    static let rule = ObjectRule(
        "the part of a source's video that is shown", Pane.Crop(),
        [
            Field("x", \.area.x, .share, "left edge in percent of the video's width"),
            Field("y", \.area.y, .share, "top edge in percent of the video's height"),
            Field("width", \.area.width, .share, "width in percent of the video's width"),
            Field("height", \.area.height, .share, "height in percent of the video's height"),
        ])

    static func checked(_ crop: Pane.Crop, _ path: String, _ log: inout SpecLog) -> Pane.Crop {
        var crop = crop
        for (edge, size, start, length) in [
            ("x", "width", crop.area.x, \Area.width), ("y", "height", crop.area.y, \Area.height),
        ] {
            guard case .share(let from) = start, case .share(let share) = crop.area[keyPath: length],
                log.isValid("\(path).\(edge)", "\(path).\(size)")
            else { continue }
            if !log.isWritten("\(path).\(size)"), share > Length.whole - from {
                // Without a size, the rest of the video is shown.
                crop.area[keyPath: length] = .share(Length.whole - from)
            }
            guard case .share(let kept) = crop.area[keyPath: length] else { continue }
            if from + kept > Length.whole {
                log.mistake(
                    "\(path).\(size)", "the part ends at \(Length.share(from + kept)) of the video",
                    fix: "lower it to \"\(Length.share(Length.whole - from))\"")
            } else if kept < 10_000 {
                log.mistake("\(path).\(size)", "less than 1% of the video is left", fix: "leave at least \"1%\"")
            }
        }
        return crop
    }
}

extension Pane.Border {
    static let rule = ObjectRule(
        "a border inside a pane's edges", Pane.Border(),
        [
            Field(
                "width", \.width, .integer(0...64),
                "width in pixels; an odd width is drawn one pixel wider; 0: no border"),
            Field("color", \.color, .color, "color of the border"),
        ])
}
