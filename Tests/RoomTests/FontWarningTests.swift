import Foundation
import Program
import Room
import TestSupport
import Testing

@Suite("Warnings about characters without a font")
struct FontWarningTests {
    private static func fonts(_ fonts: TestFont...) throws -> SceneFonts {
        SceneFonts(
            try fonts.map { try SceneFont.open(try $0.write(to: NSTemporaryDirectory() + "tandem-test-fonts")) })
    }

    @Test(
        "the warning about missing fonts names characters that no font has, including emoji, and a package that has them"
    )
    func missing() throws {
        let latin = try Self.fonts(TestFont(TestFont.latin))
        #expect(RoomChecks.problem(ofText: "ANNA 1:0", latin) == nil)
        let emoji = try #require(RoomChecks.problem(ofText: "ANNA 🎉", latin))
        #expect(emoji.what.contains("🎉 (U+1F389)"), "\(emoji)")
        #expect(emoji.fix.contains("fonts-symbola") && emoji.fix.contains("canvas.fonts"), "\(emoji)")
        let korean = try #require(RoomChecks.problem(ofText: "안녕하세요 여러분 반갑습니다", latin))
        #expect(korean.what.contains("안 (U+C548)") && korean.what.contains(" more"), "\(korean)")
        #expect(korean.fix.contains("fonts-noto-cjk"))
    }

    @Test(
        "without a Latin font, the warning about Latin text says that built-in capitals are used and which package to install"
    )
    func builtIn() throws {
        for fonts in [SceneFonts.builtIn, try Self.fonts(TestFont("안녕"))] {
            let problem = try #require(RoomChecks.problem(ofText: "ANNA", fonts))
            #expect(problem.what.contains("built-in capitals") && problem.fix.contains("fonts-dejavu-core"))
        }
        #expect(try RoomChecks.problem(ofText: "안녕", Self.fonts(TestFont("안녕"))) == nil)
        let both = try Self.fonts(TestFont("안녕"), TestFont(TestFont.latin))
        #expect(RoomChecks.problem(ofText: "ANNA 안녕", both) == nil)
    }

    @Test("if FFmpeg cannot draw text, the warning about texts says so instead of naming fonts")
    func drawing() throws {
        let problem = RoomChecks.problem(ofText: "ANNA", try Self.fonts(TestFont(TestFont.latin)), canDraw: false)
        #expect(problem?.what.contains("no drawtext") == true && problem?.fix.contains("libfreetype") == true)
    }

    @Test("a font file that cannot be read is reported with the reason")
    func named() throws {
        #expect(RoomChecks.problem(ofFont: "/nowhere/font.ttf")?.what.contains("No such file") == true)
        let path = try TestFont("A").write(to: NSTemporaryDirectory() + "tandem-test-fonts")
        #expect(RoomChecks.problem(ofFont: path) == nil)
        #expect(try RoomChecks.fonts(named: [path]).fonts.first?.path == path)
    }
}
