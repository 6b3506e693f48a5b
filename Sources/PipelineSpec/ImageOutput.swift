import MediaTypes

/// A still image of the program, written again at intervals.
package struct ImageOutput: Sendable, Hashable {
    /// Id of the output: `[A-Za-z0-9_.-]{1,64}`. Default `image`.
    package var outputID = "image"
    /// Path of a `.jpg` file, relative to the working directory. Viewers and upload outputs use only the file name.
    package var path: String
    /// Seconds between two stills (1…3,600). Default 10.
    package var intervalSeconds = 10
    /// Width and height in pixels (16…1,920). If one of them is `nil`, it is in proportion to the other; if both are
    /// `nil`, the longer side is at most 640 pixels.
    package var width: Int?
    package var height: Int?
    /// Whether each source's latest frame is also written, in the same directory: `name-uid.jpg` and
    /// `name-uid-sub.jpg`. Default false.
    package var sources = false
    /// Thumbnails of the whole program for players' seek bars; `nil`: none.
    package var sprites: Sprites?

    /// Thumbnails in sprite sheets next to the still (`name-1-0.jpg` and so on), and `name.vtt`, a WebVTT file that
    /// maps times to rectangles of the sheets.
    package struct Sprites: Sendable, Hashable {
        /// Thumbnails per row (1…10). Default 5.
        package var columns = 5
        /// Rows per sheet (1…10). Default 5.
        package var rows = 5
        /// Seconds between two thumbnails (1…600). Default 10.
        package var intervalSeconds = 10
        /// Width of a thumbnail in pixels (32…400); its height is in proportion. Default 160.
        package var width = 160

        /// Maximum width and height of a sheet in pixels; every decoder supports it.
        static let longestSide = 4_096

        package init() {}

        static let rule = ObjectRule(
            "thumbnails for players' seek bars, in sprite sheets with a WebVTT file", Sprites(),
            [
                Field("columns", \.columns, .integer(1...10), "thumbnails per row of a sheet"),
                Field("rows", \.rows, .integer(1...10), "rows of thumbnails in a sheet"),
                Field("intervalSeconds", \.intervalSeconds, .integer(1...600), "seconds between two thumbnails"),
                Field(
                    "width", \.width, .integer(32...400), "width of a thumbnail in pixels; its height is in proportion"),
            ])
    }

    package init(path: String) { self.path = path }

    /// Maximum of the longer side in pixels if neither side is given.
    private static let usualSide = 640

    /// Returns the size of a still image made from a frame of `width` by `height` pixels; both sides are even.
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
        "a still image of the program as a JPEG file, written again at intervals", ImageOutput(path: ""),
        [
            Field("type", always: "image", isRequired: true, "the kind of output"),
            .outputID(\.outputID),
            Field(
                required: "path", \.path,
                .text("a path whose file name has only letters, digits, _ . - and ends in .jpg", pattern: "\\.jpg$") {
                    text in
                    let name = text.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
                    return text.utf8.count <= 4096 && !text.utf8.contains(0) && (5...64).contains(name.utf8.count)
                        && name.hasSuffix(".jpg") && name.first != "."
                        && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "_.-".contains($0)) }
                },
                "path of a .jpg file, relative to the working directory; viewers and stores find it under its file name"
            ),
            Field("intervalSeconds", \.intervalSeconds, .integer(1...3_600), "seconds between two stills"),
            Field(
                optional: "width", \.width, .integer(16...1_920),
                "width in pixels; default in proportion to the height; without both, the longer side is at most 640"),
            Field(
                optional: "height", \.height, .integer(16...1_920),
                "height in pixels; default in proportion to the width"),
            Field(
                "sources", \.sources, .boolean,
                "whether each source's latest frame is also written, in the same directory as name-uid.jpg; not served to viewers"
            ),
            Field(
                optional: "sprites", \.sprites, .object(Sprites.rule),
                "thumbnails of the whole program for players' seek bars: sprite sheets and name.vtt in the same directory"
            ),
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
        if let sprites = output.sprites, log.isValid("\(path).sprites", "canvas.width", "canvas.height") {
            let canvas = self.pipeline.canvas
            let height = ImageOutput.size(of: canvas.width, canvas.height, width: sprites.width).height
            if height * sprites.rows > ImageOutput.Sprites.longestSide {
                log.mistake(
                    "\(path).sprites.rows",
                    "\(sprites.rows) rows of \(height) pixels make a sheet higher than \(ImageOutput.Sprites.longestSide) pixels",
                    fix: "write at most \(max(1, ImageOutput.Sprites.longestSide / height)), or a smaller width")
            }
        }
        guard self.pipeline.clock == .offline else { return }
        log.mistake(
            "\(path).type", "an offline room does not run in real time and cannot write stills",
            fix: "remove this output")
    }
}
