import LibAV
package import MediaTypes

/// The one font file all texts are drawn with. `drawtext` looks for a missing glyph in no second font, so it must have
/// every script itself.
package struct SceneFont: Sendable, Hashable {
    package let path: String
    /// Whether it has Korean and Chinese glyphs.
    package let hasCJK: Bool

    /// Where systems keep a font with Latin, Korean and Chinese, then where they keep any font.
    package static let usualPaths = [
        "/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc",
        "/usr/share/fonts/noto-cjk/NotoSansCJK-Regular.ttc",
        "/usr/share/fonts/google-noto-cjk/NotoSansCJK-Regular.ttc",
        "/usr/share/fonts/google-noto-sans-cjk-fonts/NotoSansCJK-Regular.ttc",
        "/usr/share/fonts/truetype/noto/NotoSansCJK-Regular.ttc",
        "/usr/share/fonts/noto/NotoSansCJK-Regular.ttc",
        "/usr/share/fonts/opentype/noto/NotoSansCJKsc-Regular.otf",
        "/usr/share/fonts/truetype/droid/DroidSansFallbackFull.ttf",
        "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
        "/usr/share/fonts/dejavu/DejaVuSans.ttf",
        "/usr/share/fonts/TTF/DejaVuSans.ttf",
        "/usr/share/fonts/truetype/liberation/LiberationSans-Regular.ttf",
        "/usr/share/fonts/liberation-sans/LiberationSans-Regular.ttf",
        "/System/Library/Fonts/AppleSDGothicNeo.ttc",
    ]

    /// The remedy where Korean or Chinese would be shown as boxes.
    package static let remedy = "install a font that has Latin, Korean and Chinese, such as Debian's fonts-noto-cjk"

    /// The first of the paths that can be drawn with; `nil` when the machine has none of them.
    ///
    /// - Parameter explicit: A font the operator names; when it cannot be drawn with, that is an error and not a reason
    ///   to take another.
    /// - Throws: ``MediaError/Code/unavailable`` for a bad explicit path.
    package static func find(
        explicit: String? = nil, among paths: [String] = Self.usualPaths
    ) throws(MediaError) -> SceneFont? {
        if let explicit {
            guard let font = self.open(explicit) else {
                throw MediaError(
                    .unavailable, "the font \(explicit) cannot be read", at: "font",
                    fix: "give the path of a TrueType or OpenType file")
            }
            return font
        }
        for path in paths { if let font = self.open(path) { return font } }
        return nil
    }

    /// Draws one glyph of each script to see what the file has: a glyph that looks like the one of a character no
    /// font has is the box for "missing".
    private static func open(_ path: String) -> SceneFont? {
        func ink(_ text: String) -> [UInt8]? {
            let mask = try? TextMask.draw(text, font: path, size: 24, width: 48, height: 40, left: 4, baseline: 28)
            return mask?.coverage
        }
        guard let latin = ink("A"), latin.contains(where: { $0 > 0 }) else { return nil }
        let missing = ink("\u{10FFFD}")
        let hasCJK = ["한", "中", "国"].allSatisfy { sample in
            guard let glyph = ink(sample) else { return false }
            return glyph != missing && glyph.contains { $0 > 0 }
        }
        return SceneFont(path: path, hasCJK: hasCJK)
    }

    /// What of `text` cannot be shown; `nil` when all of it can.
    ///
    /// - Parameter font: `nil`: the built-in alphabet, which has ASCII alone.
    package static func complaint(about text: String, font: SceneFont?) -> MediaError? {
        let needsMore = text.unicodeScalars.contains { $0.value > 0x7e }
        let needsCJK = text.unicodeScalars.contains { self.isCJK($0.value) }
        if font == nil, needsMore {
            return MediaError(
                .unavailable, "there is no font on this machine, and the built-in alphabet has ASCII alone",
                at: "text", fix: self.remedy)
        }
        if let font, !font.hasCJK, needsCJK {
            return MediaError(
                .unavailable, "the font \(font.path) has no Korean or Chinese", at: "text", fix: self.remedy)
        }
        return nil
    }

    /// Hangul, kana, ideographs and their full-width forms.
    private static func isCJK(_ scalar: UInt32) -> Bool {
        switch scalar {
        case 0x1100...0x11ff, 0x2e80...0x9fff, 0xa960...0xa97f, 0xac00...0xd7ff, 0xf900...0xfaff, 0xff00...0xffef,
            0x20000...0x3134f:
            true
        default: false
        }
    }
}
