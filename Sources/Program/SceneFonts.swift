package import MediaTypes

/// The fonts for drawing text, in the order in which they are searched for a glyph. If no font has a glyph, the
/// built-in alphabet is used, which has the capitals, the digits and most of the punctuation of ASCII.
package struct SceneFonts: Sendable {
    /// Characters of a line that are drawn with one font.
    package struct Run: Sendable {
        /// Font of the run; `nil`: the built-in alphabet.
        package var font: SceneFont?
        package var text: String
    }

    package let fonts: [SceneFont]

    package init(_ fonts: [SceneFont] = []) { self.fonts = fonts }

    /// No font files: only the built-in alphabet.
    package static let builtIn = SceneFonts()

    /// Usual locations of system fonts: of each group, the first file that can be used is taken. The first group has
    /// Latin, Korean, Chinese and Japanese in one file, the second Latin, the third Chinese and Japanese, the fourth
    /// Korean, the fifth emoji.
    package static let usualPaths: [[String]] = [
        [
            "/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc",
            "/usr/share/fonts/noto-cjk/NotoSansCJK-Regular.ttc",
            "/usr/share/fonts/google-noto-cjk/NotoSansCJK-Regular.ttc",
            "/usr/share/fonts/google-noto-sans-cjk-fonts/NotoSansCJK-Regular.ttc",
            "/usr/share/fonts/truetype/noto/NotoSansCJK-Regular.ttc",
            "/usr/share/fonts/noto/NotoSansCJK-Regular.ttc",
            "/usr/share/fonts/opentype/noto/NotoSansCJKsc-Regular.otf",
            "/System/Library/Fonts/AppleSDGothicNeo.ttc",
        ],
        [
            "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
            "/usr/share/fonts/dejavu/DejaVuSans.ttf",
            "/usr/share/fonts/dejavu-sans-fonts/DejaVuSans.ttf",
            "/usr/share/fonts/TTF/DejaVuSans.ttf",
            "/usr/share/fonts/truetype/noto/NotoSans-Regular.ttf",
            "/usr/share/fonts/noto/NotoSans-Regular.ttf",
            "/usr/share/fonts/truetype/liberation/LiberationSans-Regular.ttf",
            "/usr/share/fonts/liberation-sans/LiberationSans-Regular.ttf",
            "/usr/share/fonts/liberation/LiberationSans-Regular.ttf",
        ],
        [
            "/usr/share/fonts/truetype/droid/DroidSansFallbackFull.ttf",
            "/usr/share/fonts/droid/DroidSansFallbackFull.ttf",
            "/usr/share/fonts/google-droid-sans-fonts/DroidSansFallbackFull.ttf",
            "/usr/share/fonts/truetype/wqy/wqy-microhei.ttc",
        ],
        [
            "/usr/share/fonts/truetype/nanum/NanumGothic.ttf",
            "/usr/share/fonts/nanum/NanumGothic.ttf",
            "/usr/share/fonts/truetype/unfonts-core/UnDotum.ttf",
            "/usr/share/fonts/truetype/baekmuk/gulim.ttf",
        ],
        [
            "/usr/share/fonts/truetype/ancient-scripts/Symbola_hint.ttf",
            "/usr/share/fonts/gdouros-symbola/Symbola.ttf",
            "/usr/share/fonts/TTF/Symbola.ttf",
            "/usr/share/fonts/truetype/noto/NotoEmoji-Regular.ttf",
            "/usr/share/fonts/noto/NotoEmoji-Regular.ttf",
        ],
    ]

    /// Opens the operator's fonts, then the system's.
    ///
    /// - Parameters:
    ///   - named: Files named by the operator, searched first. If one cannot be used, that is an error; no other font
    ///     is tried instead.
    ///   - groups: Locations of system fonts, in the form of ``usualPaths``.
    /// - Throws: ``MediaError/Code/unavailable`` for a named file that cannot be used.
    package static func find(
        named: [String] = [], among groups: [[String]] = Self.usualPaths
    ) throws(MediaError) -> SceneFonts {
        var fonts: [SceneFont] = []
        for path in named { fonts.append(try SceneFont.open(path)) }
        for paths in groups {
            let font = paths.lazy.compactMap { path in try? SceneFont.open(path) }.first
            if let font { fonts.append(font) }
        }
        return SceneFonts(fonts)
    }

    /// Whether any font has the Latin letters. Otherwise they are drawn as capitals of the built-in alphabet.
    package var hasLatin: Bool { self.fonts.contains { $0.hasLatin } }

    /// Whether the built-in alphabet has the character.
    private static func isInAlphabet(_ scalar: Unicode.Scalar) -> Bool {
        (0x20...0x5a).contains(scalar.value) || scalar.value == 0x5f || (0x61...0x7a).contains(scalar.value)
    }

    /// Whether any font, or the built-in alphabet, has the character.
    package func has(_ scalar: Unicode.Scalar) -> Bool {
        Self.isInAlphabet(scalar) || self.fonts.contains { $0.has(scalar) }
    }

    /// The characters of a text that no font has, so that they are shown as boxes, each once, in order of appearance.
    package func missing(in text: String) -> [Unicode.Scalar] {
        var seen: Set<Unicode.Scalar> = []
        var last: Unicode.Scalar?
        return text.unicodeScalars.filter { scalar in
            defer { last = scalar }
            return !Self.isInvisible(scalar, after: last) && !scalar.properties.isWhitespace && !self.has(scalar)
                && seen.insert(scalar).inserted
        }
    }

    /// Whether a character has no shape of its own, so that it needs no box if the font lacks it. A skin tone after an
    /// emoji counts too: without ligatures it would be drawn as a second emoji.
    private static func isInvisible(_ scalar: Unicode.Scalar, after last: Unicode.Scalar?) -> Bool {
        let properties = scalar.properties
        return scalar.value < 0x20 || scalar.value == 0x7f || properties.isDefaultIgnorableCodePoint
            || properties.isEmojiModifier && last?.properties.isEmojiModifierBase == true
    }

    /// Maximum number of runs per line; the rest of the line is drawn with the font of the last run. Each run costs a
    /// filter graph.
    static let runLimit = 32

    /// Splits a line into runs of one font each, using the first font that has the character. White space and combining
    /// marks stay with the run they follow if its font has them. Characters without a shape of their own are left out
    /// if the font does not have them.
    package func runs(of line: String) -> [Run] {
        var runs: [(place: Int?, text: String.UnicodeScalarView)] = []
        var last: Unicode.Scalar?
        for written in line.unicodeScalars {
            let scalar = written.properties.isWhitespace && !self.has(written) ? " " : written
            defer { last = scalar }
            let current = runs.last?.place
            let isHere = current.map { self.fonts[$0].has(scalar) } ?? (!runs.isEmpty && Self.isInAlphabet(scalar))
            if Self.isInvisible(scalar, after: last), !isHere || scalar.properties.isEmojiModifier { continue }
            let stays =
                scalar.properties.isWhitespace || scalar.properties.canonicalCombiningClass != .notReordered
            if !runs.isEmpty, stays && isHere || runs.count >= Self.runLimit {
                runs[runs.count - 1].text.append(scalar)
                continue
            }
            var place = self.fonts.firstIndex { $0.has(scalar) }
            if place == nil, !Self.isInAlphabet(scalar) {
                // Shown as a box, in the current font.
                place = runs.isEmpty && !self.fonts.isEmpty ? 0 : current
            }
            if !runs.isEmpty, place == current {
                runs[runs.count - 1].text.append(scalar)
            } else {
                runs.append((place, String.UnicodeScalarView([scalar])))
            }
        }
        return runs.map { Run(font: $0.place.map { self.fonts[$0] }, text: String($0.text)) }
    }
}
