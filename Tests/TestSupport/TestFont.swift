import Foundation

/// A generated TrueType font, so that tests can draw texts on a machine without fonts. Every character but the space is a
/// filled rectangle, and the first 100 characters have different sizes.
///
/// Spec: OpenType 1.9: `cmap` formats 4 and 12, `glyf`, `head`, `hhea`, `hmtx`, `loca`, `maxp`.
package struct TestFont {
    /// Units per em.
    package static let unitsPerEm = 1_000
    /// How far the pen moves after each character, in ``unitsPerEm``.
    package static let advance = 600

    /// Characters that have a glyph, in the order of their glyphs. From the 101st on, sizes repeat.
    package var characters: [Unicode.Scalar]
    /// Characters in the map whose glyph looks like the missing glyph.
    package var boxes: [Unicode.Scalar] = []
    /// `cmap` with all of Unicode (format 12), or its first 65,536 characters (format 4).
    package var isWide = true
    /// False: the font has no table of outlines, like a font of color bitmaps.
    package var hasOutlines = true

    package init(_ characters: String, boxes: String = "") {
        self.characters = Array(Set(characters.unicodeScalars)).sorted()
        self.boxes = Array(boxes.unicodeScalars)
    }

    /// The printable ASCII characters.
    package static let latin = String(String.UnicodeScalarView((0x20...0x7e).compactMap { Unicode.Scalar($0) }))

    /// The content of the font file.
    package var bytes: [UInt8] {
        var glyphs: [[UInt8]] = [Self.box(width: 480, height: 720)]
        var map: [(scalar: Unicode.Scalar, glyph: Int)] = []
        for (index, scalar) in self.characters.enumerated() {
            map.append((scalar, glyphs.count))
            glyphs.append(
                scalar == " " ? [] : Self.box(width: 100 + 40 * (index % 10), height: 100 + 60 * (index / 10 % 10)))
        }
        for scalar in self.boxes {
            map.append((scalar, glyphs.count))
            glyphs.append(glyphs[0])
        }
        map.sort { $0.scalar < $1.scalar }
        var offsets: [Int] = [0]
        for glyph in glyphs { offsets.append((offsets.last ?? 0) + glyph.count) }
        let count = glyphs.count
        var tables: [(String, [UInt8])] = [
            ("cmap", self.isWide ? Self.groups(map) : Self.segments(map)),
            (
                "head",
                Self.u32(0x0001_0000, 0, 0, 0x5f0f_3cf5) + Self.u16(3, Self.unitsPerEm)
                    + [UInt8](repeating: 0, count: 16)
                    + Self.u16(0, 0, Self.advance, 1_000, 0, 8, 2, 1, 0)
            ),
            (
                "hhea",
                Self.u32(0x0001_0000) + Self.u16(800, 0x10000 - 200, 0, Self.advance, 0, 0, Self.advance)
                    + Self.u16(1, 0, 0, 0, 0, 0, 0, 0, count)
            ),
            ("hmtx", (0..<count).flatMap { _ in Self.u16(Self.advance, 50) }),
            ("maxp", Self.u32(0x0001_0000) + Self.u16(count, 4, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0)),
        ]
        if self.hasOutlines {
            tables.append(("glyf", glyphs.flatMap { $0 }))
            tables.append(("loca", offsets.flatMap { Self.u32($0) }))
        }
        tables.sort { $0.0 < $1.0 }
        var file = Self.u32(0x0001_0000) + Self.u16(tables.count, 16, 0, 0)
        var offset = 12 + 16 * tables.count
        for (name, table) in tables {
            file += Array(name.utf8) + Self.u32(0, offset, table.count)
            offset += (table.count + 3) & ~3
        }
        for (_, table) in tables { file += table + [UInt8](repeating: 0, count: -table.count & 3) }
        return file
    }

    /// Writes the font into a directory, which is created if necessary, with a name derived from its content.
    ///
    /// - Returns: The file's path.
    package func write(to directory: String) throws -> String {
        let bytes = self.bytes
        // FNV-1a.
        let hash = bytes.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x0100_0000_01b3 }
        let path = "\(directory)/\(String(hash, radix: 16)).ttf"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        if !FileManager.default.fileExists(atPath: path) {
            try Data(bytes).write(to: URL(fileURLWithPath: path), options: .atomic)
        }
        return path
    }

    /// One contour of four points on the baseline, 50 units from the pen.
    private static func box(width: Int, height: Int) -> [UInt8] {
        self.u16(1, 50, 0, 50 + width, height, 3, 0) + [1, 1, 1, 1]
            + self.u16(50, 0, width, 0, 0, height, 0, 0x10000 - height)
    }

    private static func groups(_ map: [(scalar: Unicode.Scalar, glyph: Int)]) -> [UInt8] {
        let groups = map.flatMap { self.u32(Int($0.scalar.value), Int($0.scalar.value), $0.glyph) }
        return self.u16(0, 1, 3, 10) + self.u32(12) + self.u16(12, 0) + self.u32(16 + groups.count, 0, map.count)
            + groups
    }

    private static func segments(_ map: [(scalar: Unicode.Scalar, glyph: Int)]) -> [UInt8] {
        let map = map.filter { $0.scalar.value < 0xffff }
        let codes = map.map { Int($0.scalar.value) } + [0xffff]
        let differences = map.map { ($0.glyph - Int($0.scalar.value)) & 0xffff } + [1]
        let count = codes.count
        var table = self.u16(4, 16 + 8 * count, 0, 2 * count, 0, 0, 0)
        table += codes.flatMap { self.u16($0) } + self.u16(0) + codes.flatMap { self.u16($0) }
        table += differences.flatMap { self.u16($0) } + codes.flatMap { _ in self.u16(0) }
        return self.u16(0, 1, 3, 1) + self.u32(12) + table
    }

    private static func u16(_ values: Int...) -> [UInt8] {
        values.flatMap { [UInt8(truncatingIfNeeded: $0 >> 8), UInt8(truncatingIfNeeded: $0)] }
    }

    private static func u32(_ values: Int...) -> [UInt8] {
        values.flatMap { self.u16($0 >> 16, $0) }
    }
}
