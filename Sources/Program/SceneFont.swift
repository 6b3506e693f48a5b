import LibAV
package import MediaTypes
import Threading

/// A font file for drawing text. `drawtext` does not look up missing glyphs in a second font, so ``SceneFonts`` splits
/// texts into runs of one font each.
package struct SceneFont: Sendable {
    package let path: String
    /// Whether the font has real glyphs for "A", "0" and ":", not its "missing glyph" box, and so probably for all of
    /// ASCII. Some fallback fonts for other scripts have none.
    package let hasLatin: Bool
    private let tables: FontTables

    /// Opens a font file and draws "A", "0" and ":" to compare them with the glyph of a character that no font has.
    ///
    /// - Throws: ``MediaError/Code/unavailable`` if the file cannot be read, is not a font, has no outlines, or cannot
    ///   be used to draw text.
    package static func open(_ path: String) throws(MediaError) -> SceneFont {
        func failure(_ what: String, fix: String = "give the path of a TrueType or OpenType file") -> MediaError {
            MediaError(.unavailable, "the font \(path) \(what)", at: "font", fix: fix)
        }
        var unreadable: FileReading.Failure?
        let tables = FontTables { offset, count in
            do throws(FileReading.Failure) {
                return try FileReading.part(of: path, at: offset, count: count)
            } catch {
                unreadable = error
                return nil
            }
        }
        if let unreadable {
            throw failure(unreadable.text, fix: "check the path; a relative path is relative to the working directory")
        }
        guard let tables else { throw failure("is not a TrueType or OpenType file with a Unicode character map") }
        guard tables.hasOutlines else {
            throw failure(
                "has bitmaps of one size instead of outlines, as color emoji fonts have",
                fix: "use a font with outlines; for emoji, one such as Debian's fonts-symbola")
        }
        func coverage(_ text: String) -> [UInt8]? {
            let mask = try? TextMask.draw(text, font: path, size: 24, width: 48, height: 40, left: 4, baseline: 28)
            return mask?.coverage
        }
        guard let missing = coverage("\u{10FFFD}") else { throw failure("cannot be used to draw text") }
        let samples: [Unicode.Scalar] = ["A", "0", ":"]
        let hasLatin = samples.allSatisfy { sample in
            guard tables.glyph(for: sample) != 0, let glyph = coverage(String(sample)) else { return false }
            return Self.differ(glyph, missing)
        }
        return SceneFont(path: path, hasLatin: hasLatin, tables: tables)
    }

    /// Whether a glyph has ink and differs from the "missing glyph" shape. Small differences do not count, because
    /// FreeType may place the edges of the same outline slightly differently for two glyphs.
    private static func differ(_ glyph: [UInt8], _ missing: [UInt8]) -> Bool {
        let difference = zip(glyph, missing).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
        let ink = missing.reduce(0) { $0 + Int($1) }
        return glyph.contains { $0 > 0 } && difference > ink / 4
    }

    /// Whether the font has a glyph for the character.
    package func has(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.value > 0x20, scalar.value < 0x7f, !self.hasLatin { return false }
        return self.tables.glyph(for: scalar) != 0
    }

    /// Width of a text in samples, without kerning.
    func advance(of text: String, size: Int) -> Int {
        text.unicodeScalars.reduce(0) { $0 + self.tables.advance(of: $1, size: size) }
    }
}
