/// The tables of a TrueType or OpenType font that contain its character map and the widths of its glyphs.
///
/// A pure value over the file's bytes: the caller reads the file, nothing is drawn, and no input causes a trap. Of a
/// collection, the first face is used.
///
/// Spec: OpenType 1.9, chapters "Organization of an OpenType font", `cmap` (formats 4 and 12), `head`, `hhea`, `hmtx`.
package struct FontTables: Sendable {
    /// Maximum number of bytes that are read of `cmap` or `hmtx`.
    private static let tableLimit = 4 << 20
    /// Maximum number of entries that are read of a table directory or of a `cmap`.
    private static let entryLimit = 256

    /// Whether the font has scalable glyphs (`glyf`, `CFF `, `CFF2`). A font with only color bitmaps has one size, and
    /// FreeType cannot draw it at another.
    package let hasOutlines: Bool
    /// The subtable of `cmap` that maps Unicode characters to glyphs, beginning with its first byte.
    private let map: Bytes
    private let mapFormat: Int
    private let advances: Bytes
    /// Number of glyphs with an advance width of their own; all later glyphs have the width of the last of them.
    private let advanceCount: Int
    private let unitsPerEm: Int

    /// Reads the tables of a file.
    ///
    /// - Parameter read: Returns `count` bytes from `offset` on; fewer at the end of the file, and `nil` if it cannot
    ///   be read.
    /// - Returns: `nil` if the file is not a font, or has no supported Unicode map.
    package init?(read: (_ offset: Int, _ count: Int) -> [UInt8]?) {
        guard let start = read(0, 16).map({ Bytes($0) }), let tag = start.u32(0) else { return nil }
        let isCollection = tag == 0x7474_6366  // "ttcf"
        let base = isCollection ? Int(start.u32(12) ?? 0) : 0
        guard let header = read(base, 12).map({ Bytes($0) }), let version = header.u32(0), let count = header.u16(4),
            [0x0001_0000, 0x4f54_544f, 0x7472_7565].contains(version),  // 1.0, "OTTO", "true"
            let directory = read(base + 12, 16 * min(count, Self.entryLimit)).map({ Bytes($0) })
        else { return nil }
        func table(_ name: String) -> (offset: Int, count: Int)? {
            let wanted = name.utf8.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            for entry in 0..<min(count, Self.entryLimit) where directory.u32(16 * entry) == wanted {
                guard let offset = directory.u32(16 * entry + 8), let size = directory.u32(16 * entry + 12) else {
                    return nil
                }
                return (Int(offset), min(Int(size), Self.tableLimit))
            }
            return nil
        }
        func bytes(_ name: String, upTo limit: Int = Self.tableLimit) -> Bytes? {
            table(name).flatMap { read($0.offset, min($0.count, limit)) }.map { Bytes($0) }
        }
        guard let maps = bytes("cmap"), let (map, format) = Self.unicodeMap(maps) else { return nil }
        self.map = map
        self.mapFormat = format
        self.hasOutlines = table("glyf") != nil || table("CFF ") != nil || table("CFF2") != nil
        self.unitsPerEm = max(16, bytes("head", upTo: 54)?.u16(18) ?? 1_000)
        self.advanceCount = bytes("hhea", upTo: 36)?.u16(34) ?? 0
        self.advances = bytes("hmtx") ?? Bytes([])
    }

    /// Returns the most complete Unicode subtable and its format: format 12 (all of Unicode) is preferred to format 4
    /// (the first 65,536 characters). `nil` if there is neither.
    private static func unicodeMap(_ maps: Bytes) -> (Bytes, Int)? {
        var best: (offset: Int, format: Int)?
        for entry in 0..<min(maps.u16(2) ?? 0, self.entryLimit) {
            guard let platform = maps.u16(4 + 8 * entry), let encoding = maps.u16(6 + 8 * entry),
                let offset = maps.u32(8 + 8 * entry), let format = maps.u16(Int(offset)),
                platform == 0 || platform == 3 && (encoding == 1 || encoding == 10), format == 4 || format == 12
            else { continue }
            if format > best?.format ?? 0 { best = (Int(offset), format) }
        }
        return best.map { (maps.from($0.offset), $0.format) }
    }

    /// Returns the glyph number of a character; 0 if the font has none (glyph 0 is the "missing glyph" box).
    package func glyph(for scalar: Unicode.Scalar) -> Int {
        self.mapFormat == 12 ? self.glyphOfGroups(scalar.value) : self.glyphOfSegments(scalar.value)
    }

    /// Returns the advance width of a character in samples, rounded as FreeType does; `size` if the font has no widths.
    ///
    /// - Parameter size: Font size (em) in samples, at most 1,000.
    package func advance(of scalar: Unicode.Scalar, size: Int) -> Int {
        guard self.advanceCount > 0 else { return size }
        let glyph = min(self.glyph(for: scalar), self.advanceCount - 1)
        let units = self.advances.u16(4 * glyph) ?? self.unitsPerEm
        return (units * size + self.unitsPerEm / 2) / self.unitsPerEm
    }

    /// Looks up a glyph in a format 12 subtable: groups of consecutive characters with consecutive glyphs, in order.
    private func glyphOfGroups(_ value: UInt32) -> Int {
        let count = min(Int(self.map.u32(12) ?? 0), (self.map.count - 16) / 12)
        let found = Self.first(count) { group in (self.map.u32(16 + 12 * group + 4) ?? .max) >= value }
        guard let found, let start = self.map.u32(16 + 12 * found), start <= value,
            let glyph = self.map.u32(16 + 12 * found + 8)
        else { return 0 }
        return Int(glyph) + Int(value - start)
    }

    /// Looks up a glyph in a format 4 subtable: segments of 16-bit characters, whose glyphs are given by an offset or
    /// by a list.
    private func glyphOfSegments(_ value: UInt32) -> Int {
        guard value <= 0xffff, let doubled = self.map.u16(6) else { return 0 }
        let (code, count) = (Int(value), doubled / 2)
        let (ends, starts) = (14, 16 + 2 * count)
        guard let found = Self.first(count, where: { (self.map.u16(ends + 2 * $0) ?? .max) >= code }),
            let start = self.map.u16(starts + 2 * found), start <= code,
            let difference = self.map.u16(starts + 2 * count + 2 * found),
            let offset = self.map.u16(starts + 4 * count + 2 * found)
        else { return 0 }
        if offset == 0 { return (code + difference) & 0xffff }
        let place = starts + 4 * count + 2 * found + offset + 2 * (code - start)
        guard let glyph = self.map.u16(place), glyph != 0 else { return 0 }
        return (glyph + difference) & 0xffff
    }

    /// Returns the first number of `0..<count` that meets a condition, by binary search: the condition must hold for
    /// all later numbers too.
    private static func first(_ count: Int, where holds: (Int) -> Bool) -> Int? {
        var (low, high) = (0, max(0, count))
        while low < high {
            let middle = (low + high) / 2
            if holds(middle) { high = middle } else { low = middle + 1 }
        }
        return low < count ? low : nil
    }

    /// Reads big-endian numbers from a table; `nil` outside the table.
    private struct Bytes: Sendable {
        private let bytes: [UInt8]
        private let base: Int

        init(_ bytes: [UInt8], base: Int = 0) {
            self.bytes = bytes
            self.base = min(max(0, base), bytes.count)
        }

        var count: Int { self.bytes.count - self.base }

        func from(_ offset: Int) -> Bytes { Bytes(self.bytes, base: self.base + offset) }

        func u16(_ offset: Int) -> Int? {
            let place = self.base + offset
            guard offset >= 0, place + 2 <= self.bytes.count else { return nil }
            return Int(self.bytes[place]) << 8 | Int(self.bytes[place + 1])
        }

        func u32(_ offset: Int) -> UInt32? {
            guard let high = self.u16(offset), let low = self.u16(offset + 2) else { return nil }
            return UInt32(high) << 16 | UInt32(low)
        }
    }
}
