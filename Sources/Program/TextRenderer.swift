package import LibAV
package import MediaTypes

/// Draws texts into sprites, with line breaks, alignment, ellipsis and background box. Drawing takes milliseconds, so
/// it must not be done on the program thread.
package struct TextRenderer: Sendable {
    /// A text laid out in lines.
    package struct Layout: Sendable {
        struct Line: Sendable {
            var mask: TextMask
            var width: Int
        }

        var lines: [Line]
        var width: Int
        var height: Int
    }

    /// Space between the text and the edge of its background box: at each side, and at the top and the bottom.
    package struct Padding: Sendable, Hashable {
        var side: Int
        var top: Int
    }

    /// Maximum number of lines of a text, if the canvas is high enough for them; further lines are not drawn.
    static let lineLimit = 24
    /// Columns left free in a mask for glyphs that extend to the left of their origin.
    private static let bearing = 8

    package let fonts: SceneFonts
    private let canvas: Canvas

    package init(fonts: SceneFonts, canvas: Canvas) {
        self.fonts = fonts
        self.canvas = canvas
    }

    /// A renderer for texts on another canvas.
    func on(_ canvas: Canvas) -> TextRenderer { TextRenderer(fonts: self.fonts, canvas: canvas) }

    static func lineHeight(_ size: Int) -> Int { (size * 5 / 4 + 1) & ~1 }

    static func padding(_ text: SceneText) -> Padding {
        text.background == nil ? Padding(side: 2, top: 0) : Padding(side: max(2, text.size / 3 & ~1), top: 2)
    }

    /// Returns the maximum width of a line of the text, in samples.
    private func limit(_ text: SceneText) -> Int {
        let room =
            switch text.align {
            case .left: self.canvas.width - text.x
            case .right: text.x
            case .center: 2 * min(text.x, self.canvas.width - text.x)
            }
        let edge = room > 0 ? room : self.canvas.width
        return max(8, min(text.maxWidth ?? edge, edge, 4096))
    }

    /// Splits a text into lines and draws them. A line that is too wide ends in an ellipsis.
    ///
    /// - Throws: ``MediaError`` from libavfilter.
    package func layout(_ text: SceneText) throws(MediaError) -> Layout {
        let limit = self.limit(text)
        let size = max(4, min(400, text.size))
        let height = Self.lineHeight(size)
        let rows = max(1, min(Self.lineLimit, self.canvas.height / height))
        var lines: [Layout.Line] = []
        // A hostile text may consist of line breaks; lines beyond the canvas are not processed.
        for line in text.text.split(maxSplits: rows, omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            .prefix(rows)
        {
            lines.append(try self.fit(line, size, limit))
        }
        return Layout(lines: lines, width: lines.map(\.width).max() ?? 0, height: lines.count * height)
    }

    /// Draws a line, or as much of its beginning as fits into `limit` samples, with an ellipsis.
    private func fit(_ line: Substring, _ size: Int, _ limit: Int) throws(MediaError) -> Layout.Line {
        // Bound the work: letters are at least an eighth of an em wide, except those of zero width. Count scalars, not
        // characters: one character can consist of ten thousand combining marks.
        let most = limit * 8 / size + 8
        let scalars = Array(line.unicodeScalars.prefix(most + 1))
        func text(_ count: Int) -> String { String(String.UnicodeScalarView(scalars.prefix(count))) }
        var pieces: [Piece.Key: Piece] = [:]
        if scalars.count <= most {
            let whole = try self.line(text(scalars.count), size, limit, &pieces)
            if whole.width <= limit { return whole }
        }
        var (fits, tooMany) = (0, min(scalars.count, most))
        var best = try self.line(self.ellipsis, size, limit, &pieces)
        while tooMany - fits > 1 {
            let middle = (fits + tooMany) / 2
            let trial = try self.line(text(middle) + self.ellipsis, size, limit, &pieces)
            if trial.width <= limit {
                fits = middle
                best = trial
            } else {
                tooMany = middle
            }
        }
        return best
    }

    private var ellipsis: String { self.fonts.fonts.contains { $0.has("…") } ? "…" : "..." }

    /// A drawn run of a line. When a line is shortened to fit, all runs but the last are reused.
    private struct Piece {
        struct Key: Hashable {
            var path: String?
            var text: String
        }

        var mask: TextMask
        /// Columns from the origin of this run to the origin of the next.
        var advance: Int
    }

    /// Draws a line, run by run.
    ///
    /// - Parameter pieces: Runs that are already drawn in this font size; newly drawn runs are added.
    private func line(
        _ text: String, _ size: Int, _ limit: Int, _ pieces: inout [Piece.Key: Piece]
    ) throws(MediaError) -> Layout.Line {
        // One em more than the limit, so that a line that is too long can be distinguished from one that just fits.
        let width = limit + size + 2 * Self.bearing
        let runs = self.fonts.runs(of: text)
        var mask = TextMask(width: (width + 1) & ~1, height: Self.lineHeight(size))
        if runs.count == 1 {
            mask = try self.mask(runs[0], size, width)
        } else {
            var left = 0
            for run in runs where left < limit + size {
                let key = Piece.Key(path: run.font?.path, text: run.text)
                let piece = if let known = pieces[key] { known } else { try self.piece(run, size, width) }
                pieces[key] = piece
                mask.add(piece.mask, x: left)
                left += piece.advance
            }
        }
        return Layout.Line(mask: mask, width: max(0, mask.inkWidth - Self.bearing))
    }

    private func piece(_ run: SceneFonts.Run, _ size: Int, _ width: Int) throws(MediaError) -> Piece {
        let advance =
            run.font.map { $0.advance(of: run.text, size: size) }
            ?? TextMask.bitmapAdvance(of: run.text, scale: Self.dots(size))
        let mask = try self.mask(run, size, min(width, advance + size + 2 * Self.bearing))
        return Piece(mask: mask, advance: max(advance, mask.inkWidth - Self.bearing))
    }

    private func mask(_ run: SceneFonts.Run, _ size: Int, _ width: Int) throws(MediaError) -> TextMask {
        let height = Self.lineHeight(size)
        if let font = run.font {
            return try TextMask.draw(
                run.text, font: font.path, size: size, width: width, height: height, left: Self.bearing,
                baseline: size * 19 / 20)
        }
        let scale = Self.dots(size)
        return .bitmap(
            run.text, scale: scale, width: width, height: height, left: Self.bearing, top: (height - 7 * scale) / 2)
    }

    /// Size of a dot of the built-in alphabet, in samples.
    private static func dots(_ size: Int) -> Int { max(1, size / 9) }

    /// Returns the size of a box in samples, both numbers even, with space for the text and for usual changes of the
    /// text. A box of another size requires a new filter graph.
    package func boxSize(_ text: SceneText, _ layout: Layout) -> (width: Int, height: Int) {
        let padding = Self.padding(text)
        let limit = self.limit(text) + 2 * padding.side
        let wanted = text.maxWidth == nil ? (layout.width + 2 * padding.side + 127) & ~63 : limit
        return ((max(8, min(wanted, limit)) + 1) & ~1, max(Self.lineHeight(text.size), layout.height) + 2 * padding.top)
    }

    /// Returns the top left corner of the text's box on the canvas, for a box of the given width; both values are even.
    package static func origin(_ text: SceneText, boxWidth: Int) -> (x: Int, y: Int) {
        let padding = self.padding(text)
        let x =
            switch text.align {
            case .left: text.x - padding.side
            case .center: text.x - boxWidth / 2
            case .right: text.x - boxWidth + padding.side
            }
        return (x & ~1, (text.y - padding.top) & ~1)
    }

    /// Draws the text into a box of this size; `nil` if it does not fit.
    package static func sprite(_ text: SceneText, _ layout: Layout, width: Int, height: Int) -> Sprite? {
        let padding = self.padding(text)
        guard layout.width + 2 * padding.side <= width, layout.height + 2 * padding.top <= height else { return nil }
        var sprite = Sprite(width: width, height: height)
        func left(_ lineWidth: Int) -> Int {
            switch text.align {
            case .left: padding.side
            case .center: (width - lineWidth) / 2
            case .right: width - padding.side - lineWidth
            }
        }
        if let background = text.background, layout.width > 0 {
            sprite.fill(
                x: left(layout.width) - padding.side, y: 0, width: layout.width + 2 * padding.side,
                height: layout.height + 2 * padding.top, background,
                alpha: UInt8(clamping: max(0, min(100, text.backgroundAlphaPercent)) * 255 / 100))
        }
        for (row, line) in layout.lines.enumerated() where line.width > 0 {
            sprite.draw(
                line.mask, x: left(line.width) - self.bearing, y: padding.top + row * line.mask.height, text.color)
        }
        return sprite
    }
}
