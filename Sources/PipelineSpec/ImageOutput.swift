import MediaTypes

/// A still of the program, anew every few seconds.
package struct ImageOutput: Sendable, Hashable {
    /// `[A-Za-z0-9_.-]{1,64}`. Default `image`.
    package var outputID = "image"
    /// A `.jpg` file, relative to the working directory; its name is what viewers and stores know it by.
    package var path: String
    /// 1…3,600. Default 10.
    package var intervalSeconds = 10
    /// Pixels (16…1,920), as ``height``; `nil`: in proportion to the other, or so that neither is above 640.
    package var width: Int?
    package var height: Int?
    /// Each source's newest picture, too, beside it: `name-uid.jpg`, and `name-uid-sub.jpg`. Default false.
    package var sources = false
    /// Pictures of the whole program for players' seek bars; `nil`: none.
    package var sprites: Sprites?

    /// Small stills side by side in sheets beside the still, `name-1-0.jpg` and so on, and `name.vtt`, a WebVTT file that says
    /// which rectangle shows which time.
    package struct Sprites: Sendable, Hashable {
        /// Stills side by side (1…10). Default 5.
        package var columns = 5
        /// Stills below one another (1…10). Default 5.
        package var rows = 5
        /// From one still to the next (1…600). Default 10.
        package var intervalSeconds = 10
        /// Pixels of a still (32…400), its height in proportion. Default 160.
        package var width = 160

        /// Pixels of a sheet's side that every decoder takes.
        static let longestSide = 4_096

        package init() {}

        static let rule = ObjectRule(
            "pictures for players' seek bars, in sheets with a WebVTT file", Sprites(),
            [
                Field("columns", \.columns, .integer(1...10), "stills side by side in a sheet"),
                Field("rows", \.rows, .integer(1...10), "rows of stills in a sheet"),
                Field("intervalSeconds", \.intervalSeconds, .integer(1...600), "seconds from one still to the next"),
                Field("width", \.width, .integer(32...400), "pixels of a still; its height is in proportion"),
            ])
    }

    package init(path: String) { self.path = path }

    /// The longer side where neither is named.
    private static let usualSide = 640

    /// The size for a picture, in even pixels.
    package func size(of width: Int, _ height: Int) -> (width: Int, height: Int) {
        Self.size(of: width, height, width: self.width, height: self.height)
    }

    package static func size(
        of width: Int, _ height: Int, width wantedWidth: Int?, height wantedHeight: Int? = nil
    ) -> (width: Int, height: Int) {
        let (width, height) = (max(1, width), max(1, height))
        func even(_ value: Int) -> Int { max(16, (value + 1) / 2 * 2) }
        switch (wantedWidth, wantedHeight) {
        case (let wide?, let high?): return (even(wide), even(high))
        case (let wide?, nil): return (even(wide), even(wide * height / width))
        case (nil, let high?): return (even(high * width / height), even(high))
        case (nil, nil):
            let longer = max(width, height)
            guard longer > Self.usualSide else { return (even(width), even(height)) }
            return (even(width * Self.usualSide / longer), even(height * Self.usualSide / longer))
        }
    }

    static let rule = ObjectRule(
        "a still of the program as a JPEG file, anew every few seconds", ImageOutput(path: ""),
        [
            Field("type", always: "image", isRequired: true, "the kind of output"),
            Field(
                "outputId", \.outputID, .name(64, marks: "_.-"), "the output's id: 1 to 64 letters, digits, _ . or -"),
            Field(
                required: "path", \.path,
                .text("a path whose file is named with letters, digits, _ . - and ends in .jpg", pattern: "\\.jpg$") {
                    text in
                    let name = text.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
                    return text.utf8.count <= 4096 && !text.utf8.contains(0) && (5...64).contains(name.utf8.count)
                        && name.hasSuffix(".jpg") && name.first != "."
                        && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "_.-".contains($0)) }
                },
                "a .jpg file, relative to the working directory; viewers and other stores get it by its last name"),
            Field("intervalSeconds", \.intervalSeconds, .integer(1...3_600), "seconds from one picture to the next"),
            Field(
                optional: "width", \.width, .integer(16...1_920),
                "pixels; without it in proportion to the height, or neither side above 640"),
            Field(optional: "height", \.height, .integer(16...1_920), "pixels; without it in proportion to the width"),
            Field(
                "sources", \.sources, .boolean,
                "whether each source's newest picture is written, too, beside it as name-uid.jpg; not for viewers"),
            Field(
                optional: "sprites", \.sprites, .object(Sprites.rule),
                "stills of the whole program in sheets beside it, with name.vtt for players' seek bars"),
        ])
}

extension Pipeline {
    /// The image outputs in file order.
    package var images: [ImageOutput] {
        self.outputs.compactMap { output in if case .image(let image) = output { image } else { nil } }
    }
}

extension PipelineRules {
    func check(_ output: ImageOutput, _ path: String, _ log: inout SpecLog) {
        if let sprites = output.sprites, log.isSound("\(path).sprites", "canvas.width", "canvas.height") {
            let canvas = self.pipeline.canvas
            let height = ImageOutput.size(of: canvas.width, canvas.height, width: sprites.width).height
            if height * sprites.rows > ImageOutput.Sprites.longestSide {
                log.mistake(
                    "\(path).sprites.rows",
                    "\(sprites.rows) rows of \(height) pixels make a sheet higher than \(ImageOutput.Sprites.longestSide)",
                    fix: "write at most \(max(1, ImageOutput.Sprites.longestSide / height)), or a smaller width")
            }
        }
        guard self.pipeline.clock == .offline else { return }
        log.mistake(
            "\(path).type", "an offline room has no time of day to make pictures at", fix: "remove this output")
    }
}
