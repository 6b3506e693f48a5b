import MediaTypes
import TestSupport
import Testing

@Suite("Font tables: OpenType 1.9, cmap and hmtx")
struct FontTablesTests {
    private static func tables(_ bytes: [UInt8]) -> FontTables? {
        FontTables { offset, count in
            guard offset >= 0, count >= 0 else { return nil }
            return offset >= bytes.count ? [] : Array(bytes[offset..<min(bytes.count, offset + count)])
        }
    }

    @Test(
        "each character in the font's cmap has its glyph, and nine other characters have glyph 0; a glyph has its advance",
        arguments: [true, false])
    func mapping(isWide: Bool) throws {
        var font = TestFont("A0:é한中")
        font.isWide = isWide
        let tables = try #require(Self.tables(font.bytes))
        #expect(tables.hasOutlines)
        let glyphs = font.characters.map { tables.glyph(for: $0) }
        #expect(glyphs == Array(1...6))
        for other: Unicode.Scalar in ["@", "B", "/", "1", "글", "\u{ffff}", "\u{1f389}", "\u{10ffff}", "\u{0}"] {
            #expect(tables.glyph(for: other) == 0, "U+\(String(other.value, radix: 16))")
        }
        #expect(tables.advance(of: "A", size: 50) == 30)
        #expect(tables.advance(of: "\u{1f389}", size: 50) == 30)
    }

    @Test("an emoji has a glyph through cmap format 12, and none if the font has only format 4")
    func planes() throws {
        var font = TestFont("🎉")
        #expect(try #require(Self.tables(font.bytes)).glyph(for: "🎉") == 1)
        font.isWide = false
        #expect(try #require(Self.tables(font.bytes)).glyph(for: "🎉") == 0)
    }

    @Test("a font collection with one face is read like that face")
    func collection() throws {
        let font = TestFont("A").bytes
        // Offsets in a collection are relative to the file.
        var file: [UInt8] = Array("ttcf".utf8) + [0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 16] + font
        let count = Int(font[5])
        for table in 0..<count {
            let place = 16 + 12 + 16 * table + 8
            let offset = (0..<4).reduce(0) { $0 << 8 | Int(file[place + $1]) } + 16
            for byte in 0..<4 { file[place + byte] = UInt8(truncatingIfNeeded: offset >> (24 - 8 * byte)) }
        }
        #expect(try #require(Self.tables(file)).glyph(for: "A") == 1)
    }

    @Test("bytes that are no OpenType font are refused; a bitmap-only font is reported to have no outlines")
    func others() throws {
        #expect(Self.tables([]) == nil)
        #expect(Self.tables(Array("wOFF0123456789abcdef".utf8)) == nil)
        #expect(FontTables { _, _ in nil } == nil)
        var bitmaps = TestFont("A")
        bitmaps.hasOutlines = false
        #expect(try #require(Self.tables(bitmaps.bytes)).hasOutlines == false)
    }

    @Test("damaged and truncated fonts do not make the parser trap")
    func anyBytes() {
        var random = TestRandom(seed: 25)
        for isWide in [true, false] {
            var font = TestFont("A0:한")
            font.isWide = isWide
            let seed = font.bytes
            for _ in 0..<2_000 {
                var bytes = seed
                for _ in 0..<Int.random(in: 1...8, using: &random) {
                    let place = Int.random(in: 0..<bytes.count, using: &random)
                    bytes[place] = [0, 1, 0x7f, 0x80, 0xff].randomElement(using: &random) ?? 0
                }
                bytes.removeLast(Int.random(in: 0...1, using: &random) * Int.random(in: 0..<seed.count, using: &random))
                guard let tables = Self.tables(bytes) else { continue }
                for scalar: Unicode.Scalar in ["A", ":", "한", "🎉", "\u{10ffff}"] {
                    _ = tables.glyph(for: scalar)
                    _ = tables.advance(of: scalar, size: 400)
                }
            }
        }
    }
}
