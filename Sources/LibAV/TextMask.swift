import CLibAV
package import MediaTypes

/// Coverage of each sample by a shape, 0…255, row by row.
package struct TextMask: Sendable {
    package let width: Int
    package let height: Int
    package var coverage: [UInt8]

    /// Creates a mask in which no sample is covered.
    package init(width: Int, height: Int) {
        self.width = max(1, width)
        self.height = max(1, height)
        self.coverage = [UInt8](repeating: 0, count: self.width * self.height)
    }

    /// Number of columns from the left edge up to and including the last one with a visible sample (coverage of 16 or
    /// more); 0 if there is none.
    package var inkWidth: Int {
        var end = 0
        for row in 0..<self.height {
            var column = self.width
            while column > end, self.coverage[row * self.width + column - 1] < 16 { column -= 1 }
            end = max(end, column)
        }
        return end
    }

    /// Adds another mask, `x` columns further to the right: each sample keeps the larger coverage. Parts outside are
    /// cut off.
    package mutating func add(_ other: TextMask, x: Int) {
        for row in 0..<min(self.height, other.height) {
            for column in 0..<other.width where x + column >= 0 && x + column < self.width {
                let sample = row * self.width + x + column
                self.coverage[sample] = max(self.coverage[sample], other.coverage[row * other.width + column])
            }
        }
    }

    /// Draws one line of `text` with libavfilter's `drawtext`, literally: no character is special, and control
    /// characters are left out. Text beyond the width is cut off. Drawing takes milliseconds, so it must not be done
    /// on the program thread.
    ///
    /// - Parameters:
    ///   - font: Path of a font file; of a collection, the first face is used.
    ///   - size: Font size (em) in samples, limited to 1…1000.
    ///   - width: Width of the mask, 2…8192; rounded up to even, like `height`.
    ///   - left: Column where the text begins.
    ///   - baseline: Row of the baseline.
    /// - Throws: ``MediaError/Code/unavailable`` if there is no `drawtext` or the font cannot be read,
    ///   ``MediaError/Code/rejected`` if drawing fails, ``MediaError/Code/outOfMemory``.
    package static func draw(
        _ text: String, font: String, size: Int, width: Int, height: Int, left: Int, baseline: Int
    ) throws(MediaError) -> TextMask {
        let (width, height) = ((max(2, min(8192, width)) + 1) & ~1, (max(2, min(8192, height)) + 1) & ~1)
        var mask = TextMask(width: width, height: height)
        // drawtext ignores these characters, or treats them as line ends.
        let line = String(String.UnicodeScalarView(text.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7f }))
        if line.allSatisfy(\.isWhitespace) { return mask }
        guard self.isFont(font) else {
            throw MediaError(
                .unavailable, "\(font) is not a readable font file", at: "text",
                fix: "give the path of a TrueType or OpenType file")
        }
        let input = try PictureCanvas.open(width: width, height: height, fill: .black).finish()
        let drawing = try TextDrawing.open(format: input.format)
        let output = try drawing.draw(
            input,
            options: [
                ("fontfile", font), ("text", line), ("expansion", "none"), ("fontcolor", "white"),
                ("fontsize", "\(max(1, min(1000, size)))"), ("x", "\(left)"),
                // `y` is the top of the tallest glyph in this text, `ascent` its height above the baseline.
                ("y", "\(baseline)-ascent"),
            ])
        _ = unsafe output.withPlane(0) { samples, stride in
            guard stride >= width, samples.count >= stride * (height - 1) + width else { return }
            for row in 0..<height {
                for column in 0..<width {
                    // In the canvas's range, black is 16 and white 235.
                    let level = unsafe (Int(samples[row * stride + column]) - 16) * 255 / 219
                    mask.coverage[row * width + column] = UInt8(clamping: level)
                }
            }
        }
        return mask
    }

    /// Whether the file begins like a font file. Without this check, `drawtext` would silently use some font of the
    /// system for a file that it cannot read.
    ///
    /// Spec: OpenType 1.9, "Organization of an OpenType font": `sfntVersion` and `ttcTag`.
    private static func isFont(_ path: String) -> Bool {
        guard let file = unsafe fopen(path, "rb") else { return false }
        defer { unsafe fclose(file) }
        var tag: UInt32 = 0
        guard unsafe fread(&tag, 4, 1, file) == 1 else { return false }
        let known: [UInt32] = [0x0001_0000, 0x4f54_544f, 0x7474_6366, 0x7472_7565, 0x774f_4646]
        return known.contains(UInt32(bigEndian: tag))
    }
}

/// A graph with only `drawtext`, whose options are set individually, so that no part of a text is parsed as syntax.
@safe
private final class TextDrawing {
    private let graph: UnsafeMutablePointer<AVFilterGraph>
    private let format: PictureFormat

    static func open(format: PictureFormat) throws(MediaError) -> TextDrawing {
        guard let graph = unsafe avfilter_graph_alloc() else {
            throw MediaError(
                .outOfMemory, "there is no memory for a filter graph", at: "text", fix: "give the room more memory")
        }
        unsafe graph.pointee.nb_threads = 1
        return unsafe TextDrawing(owning: graph, format)
    }

    private init(owning graph: UnsafeMutablePointer<AVFilterGraph>, _ format: PictureFormat) {
        unsafe self.graph = graph
        self.format = format
    }

    deinit {
        var graph: UnsafeMutablePointer<AVFilterGraph>? = unsafe self.graph
        unsafe avfilter_graph_free(&graph)
    }

    private func make(
        _ name: String, _ options: [(String, String)]
    ) throws(MediaError) -> UnsafeMutablePointer<AVFilterContext> {
        guard let filter = unsafe avfilter_get_by_name(name),
            let context = unsafe avfilter_graph_alloc_filter(self.graph, filter, name)
        else {
            throw MediaError(
                .unavailable, "libavfilter has no \(name)", at: "text", fix: "install an FFmpeg built with libfreetype")
        }
        var status: Int32 = 0
        for (key, value) in options where status >= 0 {
            status = unsafe av_opt_set(context, key, value, CLIBAV_SEARCH_CHILDREN)
        }
        if status >= 0 { status = unsafe avfilter_init_str(context, nil) }
        guard status >= 0 else {
            throw .libav(
                .unavailable, "the text cannot be drawn by \(name)", status, at: "text",
                fix: "check that the font file can be read")
        }
        return unsafe context
    }

    func draw(_ picture: Picture, options: [(String, String)]) throws(MediaError) -> Picture {
        let source = try unsafe self.make(
            "buffer",
            [
                ("width", "\(self.format.width)"), ("height", "\(self.format.height)"),
                ("pix_fmt", self.format.pixelFormatName), ("time_base", "1/30"), ("pixel_aspect", "1/1"),
            ])
        let text = try unsafe self.make("drawtext", options)
        let sink = try unsafe self.make("buffersink", [])
        var status = unsafe avfilter_link(source, 0, text, 0)
        if status >= 0 { status = unsafe avfilter_link(text, 0, sink, 0) }
        if status >= 0 { status = unsafe avfilter_graph_config(self.graph, nil) }
        let frame = try unsafe picture.makeReference()
        var spare: UnsafeMutablePointer<AVFrame>? = unsafe frame
        defer { unsafe av_frame_free(&spare) }
        unsafe frame.pointee.pts = 0
        if status >= 0 { status = unsafe av_buffersrc_add_frame_flags(source, frame, 0) }
        guard status >= 0, let drawn = unsafe av_frame_alloc() else {
            throw .libav(.rejected, "the text cannot be drawn", status, at: "text", fix: "check the font file")
        }
        status = unsafe av_buffersink_get_frame(sink, drawn)
        guard status >= 0 else {
            var unused: UnsafeMutablePointer<AVFrame>? = unsafe drawn
            unsafe av_frame_free(&unused)
            throw .libav(.rejected, "the text was not drawn", status, at: "text", fix: "check the font file")
        }
        return unsafe Picture(owning: drawn)
    }
}
