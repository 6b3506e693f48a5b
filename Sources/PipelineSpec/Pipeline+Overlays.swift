extension Pipeline {
    /// An animation with transparency, such as a gift, that a command plays over the program.
    package struct Overlay: Sendable, Equatable {
        /// Name of the overlay: `[A-Za-z0-9_.-]{1,64}`, unique in the room.
        package var name = ""
        /// Path of a WebM, APNG or MP4 file.
        package var path = ""
        /// Which half of each frame contains the transparency as gray levels; `nil`: the frames have an alpha plane.
        package var alpha: Side?
        /// Left edge of the rectangle of the canvas that the animation is fitted into, in pixels; even. Default 0.
        package var x = 0
        /// Top edge of that rectangle, in pixels; even. Default 0.
        package var y = 0
        /// Width of that rectangle in pixels; even. `nil`: up to the right edge of the canvas.
        package var width: Int?
        /// Height of that rectangle in pixels; even. `nil`: up to the bottom edge of the canvas.
        package var height: Int?
        /// Volume of its audio in percent (0…200). Default 100.
        package var volume = 100

        package init() {}

        /// A half of a frame.
        package enum Side: String, Sendable, CaseIterable {
            case left, right
        }
    }
}

extension Pipeline.Overlay {
    static let rule = ObjectRule(
        "an animation with transparency that a command plays over the program", Self(),
        [
            Field(required: "name", \.name, .id, "a name, unique in the room: POST /v1/overlays/NAME:play plays it"),
            Field(
                required: "path", \.path, .path,
                "a WebM file (VP8 or VP9) or an APNG file with transparency, or an MP4 file for which alpha is set"),
            Field(
                optional: "alpha", \.alpha, .choice,
                "the half of each frame that contains the transparency as gray levels, for files with colors and transparency side by side; default the frames' own transparency"
            ),
            Field("x", \.x, .evened(0...1918), "left edge in pixels of the rectangle that it is fitted into"),
            Field("y", \.y, .evened(0...1918), "top edge in pixels of the rectangle that it is fitted into"),
            Field(
                optional: "width", \.width, .evened(2...1920),
                "width of that rectangle in pixels; default up to the right edge of the canvas"),
            Field(
                optional: "height", \.height, .evened(2...1920),
                "height of that rectangle in pixels; default up to the bottom edge of the canvas"),
            Field("volume", \.volume, .integer(0...200), "volume of its sound in percent"),
        ])

    /// Largest number of overlays of a room.
    static let limit = 64
}

extension PipelineRules {
    /// Reports overlays that share a name, reach beyond the canvas, name a file that cannot be played, or can never be
    /// played.
    func checkOverlays(_ log: inout SpecLog) {
        guard !self.pipeline.overlays.isEmpty, log.isValid("overlays") else { return }
        if self.pipeline.clock == .offline, log.isValid("clock") {
            log.mistake("overlays", "have no effect, because the clock is offline", fix: "remove them")
            return
        }
        if self.pipeline.isAudioOnly, log.isValid("renditions") {
            log.mistake(
                "overlays", "have no effect, because no rendition has video",
                fix: "remove them, or add such a rendition")
            return
        }
        let canvas = self.pipeline.canvas
        var names: [String: String] = [:]
        for (index, overlay) in self.pipeline.overlays.enumerated() {
            let path = "overlays[\(index)]"
            log.checkUnique(overlay.name, "\(path).name", of: path, &names, fix: "use another name")
            if log.isValid("canvas", "\(path).x", "\(path).y", "\(path).width", "\(path).height"),
                overlay.x + (overlay.width ?? 2) > canvas.width || overlay.y + (overlay.height ?? 2) > canvas.height
            {
                log.mistake(
                    path, "reaches beyond the canvas of \(canvas.width)x\(canvas.height)",
                    fix: "choose x, y, width and height inside it, or remove them")
            }
            guard log.isValid("\(path).path", "\(path).alpha"), !overlay.path.isEmpty else { continue }
            switch self.checks.animation(overlay.path, overlay.alpha) {
            case .unusable(let problem)?: log.mistake("\(path).path", problem.what, fix: problem.fix)
            case .doubtful(let problem)?: log.warning("\(path).path", problem.what, fix: problem.fix)
            case nil: break
            }
        }
    }
}
