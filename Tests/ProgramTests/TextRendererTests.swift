import LibAV
import MediaTypes
import Program
import TestSupport
import Testing

@Suite("Texts: any characters, any length, with and without a font")
struct TextRendererTests {
    private static let canvas = Canvas(width: 1280, height: 720, fps: 30)

    static let hostile: [String] = [
        "", " ", "\n\n\n", "100 %", "%{pts}", "%{localtime\\:%Y}", "it's \"quoted\"", "back\\slash\\", "a:b=c;d,e[f]",
        "'; drawbox=[out]", "nul\u{0}inside", "tab\tand\u{7}bell\u{1b}[0m", "\r\n\r", "🎉👩‍👩‍👧‍👦🇰🇷", "\u{202e}rtl\u{202c}",
        "e" + String(repeating: "\u{301}", count: 10_000), String(repeating: "장", count: 10_240 / 3),
        String(repeating: "x", count: 10_240), String(repeating: "\n", count: 10_240), "\u{10FFFD}\u{FFFE}\u{200B}",
        String(repeating: "y ", count: 500) + "\n" + String(repeating: "%", count: 900),
        String(repeating: "A한🎉", count: 300),
    ]

    private func text(_ words: String, size: Int = 32, align: TextAlign = .left, maxWidth: Int? = 300) -> SceneText {
        SceneText(id: "t", text: words, x: 400, y: 40, size: size, color: .white, align: align, maxWidth: maxWidth)
    }

    @Test(
        "an unusual text (control characters, emoji, 10 KB) is drawn into a box of bounded size within five seconds of CPU",
        arguments: Self.hostile.indices, [true, false])
    func survives(index: Int, withFont: Bool) throws {
        let renderer = TextRenderer(fonts: withFont ? try TestFonts.scripts() : .builtIn, canvas: Self.canvas)
        let text = self.text(Self.hostile[index])
        let taken = try ThreadTime.measure {
            let layout = try renderer.layout(text)
            let box = renderer.boxSize(text, layout)
            let sprite = try #require(TextRenderer.sprite(text, layout, width: box.width, height: box.height))
            #expect(sprite.width <= 306)
            #expect(sprite.height <= 720)
        }
        #expect(taken < 5_000_000_000, "text \(index) took \(taken) ns of a processor")
    }

    @Test(
        "the box of a short text is narrower than 200 samples; a text over its maximum width fills it and ends in an ellipsis"
    )
    func ellipsis() throws {
        let renderer = TextRenderer(fonts: try TestFonts.latin(), canvas: Self.canvas)
        /// The columns of the text's box that have ink, each with its highest row that has ink.
        func columns(_ words: String) throws -> [(x: Int, top: Int)] {
            let text = self.text(words)
            let layout = try renderer.layout(text)
            let box = renderer.boxSize(text, layout)
            let sprite = try #require(TextRenderer.sprite(text, layout, width: box.width, height: box.height))
            return (0..<sprite.width).compactMap { x in
                (0..<sprite.height).first { sprite.alpha(x: x, y: $0) > 128 }.map { (x: x, top: $0) }
            }
        }
        let short = self.text("short", maxWidth: nil)
        #expect(renderer.boxSize(short, try renderer.layout(short)).width < 200)
        let ellipsis = try columns("…")
        // Columns at the edge of a glyph may be blurred.
        try #require(ellipsis.count > 4)
        let top = ellipsis[ellipsis.count / 2].top
        let letters = try columns("long")
        #expect(!letters.isEmpty && letters.allSatisfy { $0.top != top }, "the test font's ellipsis has another height")
        let cut = try columns(String(repeating: "long ", count: 40))
        #expect((270...302).contains(cut.last?.x ?? 0))
        #expect(cut.dropLast().suffix(ellipsis.count - 3).allSatisfy { $0.top == top })
        #expect(cut.count { $0.top == top } <= ellipsis.count + 2, "one ellipsis")
    }

    @Test("left, center and right alignment place the text at x", arguments: [TextAlign.left, .center, .right])
    func aligns(align: TextAlign) throws {
        let renderer = TextRenderer(fonts: .builtIn, canvas: Self.canvas)
        let text = self.text("HHHH", align: align)
        let layout = try renderer.layout(text)
        let box = renderer.boxSize(text, layout)
        let sprite = try #require(TextRenderer.sprite(text, layout, width: box.width, height: box.height))
        let origin = TextRenderer.origin(text, boxWidth: box.width)
        let columns = (0..<sprite.width).filter { x in (0..<sprite.height).contains { sprite.alpha(x: x, y: $0) > 128 }
        }
        let (first, last) = (origin.x + (columns.first ?? 0), origin.x + (columns.last ?? 0))
        switch align {
        case .left: #expect(abs(first - 400) <= 2)
        case .center: #expect(abs((first + last) / 2 - 400) <= 2)
        case .right: #expect(abs(last - 400) <= 3)
        }
    }
}
