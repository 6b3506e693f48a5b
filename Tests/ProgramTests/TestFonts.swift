import Foundation
import Program
import TestSupport

/// Generated fonts, which are drawn the same on every machine.
enum TestFonts {
    /// The path of a file with this font. It is kept, since a font is read whenever a text is drawn; the next run uses
    /// the same file.
    static func path(_ font: TestFont) throws -> String {
        try font.write(to: NSTemporaryDirectory() + "tandem-test-fonts")
    }

    static func open(_ font: TestFont) throws -> SceneFont { try SceneFont.open(try self.path(font)) }

    /// One font with the printable characters of ASCII and the ellipsis.
    static func latin() throws -> SceneFonts { SceneFonts([try self.open(TestFont(TestFont.latin + "…"))]) }

    /// One font each for Latin, for Korean and Chinese, and for emoji.
    static func scripts() throws -> SceneFonts {
        SceneFonts([
            try self.open(TestFont(TestFont.latin + "…é")), try self.open(TestFont("안녕한글中国あ ")),
            try self.open(TestFont("🎉👍")),
        ])
    }
}
