import Foundation
import LibAV
import MediaTypes
import Program
import TestSupport
import Testing

@Suite("Fonts: each character is drawn with a font that has it")
struct SceneFontsTests {
    private static let canvas = Canvas(width: 1280, height: 720, fps: 30)

    private func runs(_ text: String, _ fonts: SceneFonts) -> [String] {
        fonts.runs(of: text).map { run in
            let index = run.font.flatMap { font in fonts.fonts.firstIndex { $0.path == font.path } }
            return "\(index.map { "\($0)" } ?? "-"):\(run.text)"
        }
    }

    /// A rendered text: the box it is drawn in, sample by sample.
    private func look(_ text: String, _ fonts: SceneFonts) throws -> [UInt8] {
        let renderer = TextRenderer(fonts: fonts, canvas: Self.canvas)
        let label = SceneText(id: "t", text: text, x: 0, y: 0, size: 40, color: .white, maxWidth: 100)
        let layout = try renderer.layout(label)
        let box = renderer.boxSize(label, layout)
        let sprite = try #require(TextRenderer.sprite(label, layout, width: box.width, height: box.height))
        return (0..<sprite.height).flatMap { y in (0..<sprite.width).map { sprite.alpha(x: $0, y: y) } }
    }

    @Test("with only a fallback font without Latin, letters and digits use the built-in alphabet, not boxes")
    func fallbackAlone() throws {
        let fonts = SceneFonts([try TestFonts.open(TestFont("안녕中 "))])
        #expect(!fonts.hasLatin)
        #expect(self.runs("PK 안녕 0:58", fonts) == ["-:PK ", "0:안녕 ", "-:0:58"])
        #expect(fonts.missing(in: "PK 안녕 0:58").isEmpty)
        var seen: Set<[UInt8]> = [try self.look("\u{10FFFD}", fonts)]
        for text in ["A", "B", "0", "1", ":", "안", "中"] {
            #expect(seen.insert(try self.look(text, fonts)).inserted, "\(text) looks like another, or is a box")
        }
    }

    @Test(
        "a font that draws a letter, digit or colon as its missing-glyph box counts as having no Latin",
        arguments: ["A", "0", ":"])
    func boxes(box: String) throws {
        let others = TestFont.latin.filter { !box.contains($0) }
        let font = try TestFonts.open(TestFont(others + "한", boxes: box))
        #expect(!font.hasLatin)
        #expect(font.has("한") && !font.has("A") && !font.has("B"))
        let latin = try TestFonts.open(TestFont(TestFont.latin))
        #expect(latin.hasLatin)
        #expect(self.runs("AB한", SceneFonts([font, latin])) == ["1:AB", "0:한"])
    }

    @Test("Latin, Korean, Chinese and emoji in one line each use the first font that has them")
    func scripts() throws {
        let fonts = try TestFonts.scripts()
        #expect(fonts.missing(in: "Aé 안녕 中国 あ 🎉👍").isEmpty)
        #expect(self.runs("Hi 안녕 中!🎉 ok", fonts) == ["0:Hi ", "1:안녕 中", "0:!", "2:🎉", "0: ok"])
        // The pen continues where the previous run ended: 600 units per character at 40 samples per em.
        let renderer = TextRenderer(fonts: fonts, canvas: Self.canvas)
        func width(_ text: String) throws -> Int {
            let label = SceneText(id: "t", text: text, x: 0, y: 0, size: 40, color: .white)
            return renderer.boxSize(label, try renderer.layout(label)).width
        }
        let plain = try width("AAAAAAAAAAAAAAAAAAAAAAAA")
        #expect(try width("AA안AAA中AAAA🎉AAAA안AAAAAAA") == plain)
    }

    @Test("characters without a font are listed once each; invisible characters are not")
    func missing() throws {
        let fonts = try TestFonts.latin()
        #expect(fonts.missing(in: "ok 안녕, 안녕 🎉\u{fe0f} a\u{200d}b\t\u{a0}x") == ["안", "녕", "🎉"])
        #expect(SceneFonts.builtIn.missing(in: "PK score 0:58 {é}") == ["{", "é", "}"])
        #expect(SceneFonts.builtIn.missing(in: "[a]_z^\\`@~") == ["[", "]", "^", "\\", "`", "~"])
        #expect(self.runs("a\u{200b}b\u{7}c", fonts) == ["0:abc"])
        #expect(self.runs("👍🏽", try TestFonts.scripts()) == ["2:👍"], "a skin tone is not a second emoji")
        #expect(self.runs("안녕", .builtIn) == ["-:안녕"])
        #expect(self.runs("", fonts).isEmpty)
    }

    @Test("a line is divided into at most 32 runs of different fonts")
    func bounded() throws {
        let fonts = try TestFonts.scripts()
        let runs = fonts.runs(of: String(repeating: "A안", count: 500))
        #expect(runs.count == 32)
        #expect(runs.reduce(0) { $0 + $1.text.unicodeScalars.count } == 1_000)
    }

    @Test("the operator's font is used first; an unusable one is an error with the reason")
    func named() throws {
        let brand = try TestFonts.path(TestFont("AB"))
        let latin = try TestFonts.path(TestFont(TestFont.latin))
        let fonts = try SceneFonts.find(named: [brand], among: [["/nowhere/a.ttf", latin, brand], ["/nowhere/b.ttf"]])
        #expect(fonts.fonts.map(\.path) == [brand, latin])
        #expect(try SceneFonts.find(among: [["/nowhere/a.ttf"]]).fonts.isEmpty)
        func refusal(_ path: String) -> String {
            do throws(MediaError) {
                _ = try SceneFonts.find(named: [path])
                return "none"
            } catch {
                return error.what
            }
        }
        #expect(refusal("/nowhere/font.ttf").contains("cannot be read: No such file"))
        #expect(refusal("/dev/zero").contains("is not a regular file"))
        #expect(refusal("/proc/self/status").contains("is not a TrueType or OpenType file"))
        var bitmaps = TestFont("🎉")
        bitmaps.hasOutlines = false
        #expect(refusal(try TestFonts.path(bitmaps)).contains("bitmaps of one size"))
    }

    @Test(
        "this machine's fonts have the characters of a score, and no two of the sample characters that they have look alike"
    )
    func machine() throws {
        let fonts = try SceneFonts.find()
        var seen: Set<[UInt8]> = [try self.look("\u{10FFFD}", fonts)]
        let samples = ["A", "0", ":", "é", "한", "글", "中", "国", "あ", "ア"]
        for text in samples where fonts.missing(in: text).isEmpty {
            #expect(seen.insert(try self.look(text, fonts)).inserted, "\(text) looks like another, or is a box")
        }
        #expect(fonts.missing(in: "PK SCORE 0:58").isEmpty)
    }

    @Test("the font installed by .ci/deps and the image has Latin, Korean, Chinese and Japanese")
    func installed() throws {
        // Debian's fonts-noto-cjk.
        let path = "/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc"
        guard FileManager.default.fileExists(atPath: path) else { try TestTool.skip("fonts-noto-cjk") }
        let font = try SceneFont.open(path)
        #expect(font.hasLatin && "한글中国あ".unicodeScalars.allSatisfy { font.has($0) })
    }
}
