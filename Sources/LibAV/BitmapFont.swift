/// A 5×7 dot-matrix alphabet, so that cards and test images can show text without a font file on the machine.
///
/// Each glyph is five columns, left to right; bit 0 is the top dot. It covers space to `Z` and `_`; lowercase letters
/// are drawn as capitals, other characters as a hollow box.
enum BitmapFont {
    static let columns = 5
    static let rows = 7

    static func glyph(_ character: Character) -> [UInt8] {
        guard let code = character.uppercased().unicodeScalars.first?.value else { return self.box }
        if code == 0x5f { return [0x40, 0x40, 0x40, 0x40, 0x40] }
        guard code >= 0x20, code <= 0x5a else { return self.box }
        let start = Int(code - 0x20) * self.columns
        return Array(self.table[start..<start + self.columns])
    }

    private static let box: [UInt8] = [0x7f, 0x41, 0x41, 0x41, 0x7f]

    private static let table: [UInt8] = [
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x5f, 0x00, 0x00, 0x00, 0x07, 0x00, 0x07, 0x00,  // space ! "
        0x14, 0x7f, 0x14, 0x7f, 0x14, 0x24, 0x2a, 0x7f, 0x2a, 0x12, 0x23, 0x13, 0x08, 0x64, 0x62,  // # $ %
        0x36, 0x49, 0x55, 0x22, 0x50, 0x00, 0x05, 0x03, 0x00, 0x00, 0x00, 0x1c, 0x22, 0x41, 0x00,  // & ' (
        0x00, 0x41, 0x22, 0x1c, 0x00, 0x08, 0x2a, 0x1c, 0x2a, 0x08, 0x08, 0x08, 0x3e, 0x08, 0x08,  // ) * +
        0x00, 0x50, 0x30, 0x00, 0x00, 0x08, 0x08, 0x08, 0x08, 0x08, 0x00, 0x60, 0x60, 0x00, 0x00,  // , - .
        0x20, 0x10, 0x08, 0x04, 0x02, 0x3e, 0x51, 0x49, 0x45, 0x3e, 0x00, 0x42, 0x7f, 0x40, 0x00,  // / 0 1
        0x42, 0x61, 0x51, 0x49, 0x46, 0x21, 0x41, 0x45, 0x4b, 0x31, 0x18, 0x14, 0x12, 0x7f, 0x10,  // 2 3 4
        0x27, 0x45, 0x45, 0x45, 0x39, 0x3c, 0x4a, 0x49, 0x49, 0x30, 0x01, 0x71, 0x09, 0x05, 0x03,  // 5 6 7
        0x36, 0x49, 0x49, 0x49, 0x36, 0x06, 0x49, 0x49, 0x29, 0x1e, 0x00, 0x36, 0x36, 0x00, 0x00,  // 8 9 :
        0x00, 0x56, 0x36, 0x00, 0x00, 0x08, 0x14, 0x22, 0x41, 0x00, 0x14, 0x14, 0x14, 0x14, 0x14,  // ; < =
        0x00, 0x41, 0x22, 0x14, 0x08, 0x02, 0x01, 0x51, 0x09, 0x06, 0x32, 0x49, 0x79, 0x41, 0x3e,  // > ? @
        0x7e, 0x11, 0x11, 0x11, 0x7e, 0x7f, 0x49, 0x49, 0x49, 0x36, 0x3e, 0x41, 0x41, 0x41, 0x22,  // A B C
        0x7f, 0x41, 0x41, 0x22, 0x1c, 0x7f, 0x49, 0x49, 0x49, 0x41, 0x7f, 0x09, 0x09, 0x01, 0x01,  // D E F
        0x3e, 0x41, 0x41, 0x51, 0x32, 0x7f, 0x08, 0x08, 0x08, 0x7f, 0x00, 0x41, 0x7f, 0x41, 0x00,  // G H I
        0x20, 0x40, 0x41, 0x3f, 0x01, 0x7f, 0x08, 0x14, 0x22, 0x41, 0x7f, 0x40, 0x40, 0x40, 0x40,  // J K L
        0x7f, 0x02, 0x04, 0x02, 0x7f, 0x7f, 0x04, 0x08, 0x10, 0x7f, 0x3e, 0x41, 0x41, 0x41, 0x3e,  // M N O
        0x7f, 0x09, 0x09, 0x09, 0x06, 0x3e, 0x41, 0x51, 0x21, 0x5e, 0x7f, 0x09, 0x19, 0x29, 0x46,  // P Q R
        0x46, 0x49, 0x49, 0x49, 0x31, 0x01, 0x01, 0x7f, 0x01, 0x01, 0x3f, 0x40, 0x40, 0x40, 0x3f,  // S T U
        0x1f, 0x20, 0x40, 0x20, 0x1f, 0x7f, 0x20, 0x18, 0x20, 0x7f, 0x63, 0x14, 0x08, 0x14, 0x63,  // V W X
        0x03, 0x04, 0x78, 0x04, 0x03, 0x61, 0x51, 0x49, 0x45, 0x43,  // Y Z
    ]
}

extension PictureCanvas {
    /// Width of `text` in samples when drawn at `scale`.
    package static func width(of text: String, scale: Int) -> Int {
        max(0, text.count * (BitmapFont.columns + 1) - 1) * scale
    }

    /// Height of a line in samples when drawn at `scale`.
    package static func lineHeight(scale: Int) -> Int { BitmapFont.rows * scale }

    /// Draws `text` with its top left dot at (`x`, `y`); each dot is a square of `scale` samples (even sizes keep the
    /// color exact in 4:2:0). Parts outside the canvas are cut off.
    package mutating func draw(_ text: String, x: Int, y: Int, scale: Int, _ color: CanvasColor) {
        for (place, character) in text.enumerated() {
            let left = x + place * (BitmapFont.columns + 1) * scale
            for (column, dots) in BitmapFont.glyph(character).enumerated() {
                for row in 0..<BitmapFont.rows where dots >> row & 1 == 1 {
                    self.fill(x: left + column * scale, y: y + row * scale, width: scale, height: scale, color)
                }
            }
        }
    }

    /// Draws `text` centered on (`centerX`, `centerY`), as large as `maxWidth` allows, with dots of 2 to `maxScale`
    /// samples, an even number. A text that is too long for dots of 2 samples is wider than `maxWidth`.
    package mutating func drawCentered(
        _ text: String, centerX: Int, centerY: Int, maxWidth: Int, maxScale: Int, _ color: CanvasColor
    ) {
        let dots = max(1, Self.width(of: text, scale: 1))
        let scale = max(2, min(maxScale, maxWidth / dots) & ~1)
        self.draw(
            text, x: (centerX - Self.width(of: text, scale: scale) / 2) & ~1,
            y: (centerY - Self.lineHeight(scale: scale) / 2) & ~1, scale: scale, color)
    }
}

extension TextMask {
    /// Draws one line of `text` in the dot-matrix alphabet, for machines without a font. A character without a glyph is
    /// shown as a hollow box.
    ///
    /// - Parameters:
    ///   - scale: Samples per dot.
    ///   - left: Column where the text begins.
    ///   - top: Row of the highest dots.
    package static func bitmap(
        _ text: String, scale: Int, width: Int, height: Int, left: Int, top: Int
    ) -> TextMask {
        var mask = TextMask(width: width, height: height)
        let scale = max(1, scale)
        for (place, character) in text.enumerated() {
            let start = left + place * (BitmapFont.columns + 1) * scale
            if start >= mask.width { break }
            for (column, dots) in BitmapFont.glyph(character).enumerated() {
                for row in 0..<BitmapFont.rows where dots >> row & 1 == 1 {
                    mask.cover(x: start + column * scale, y: top + row * scale, side: scale)
                }
            }
        }
        return mask
    }

    /// Width of a text in the dot-matrix alphabet, in samples, with the gap after its last character.
    package static func bitmapAdvance(of text: String, scale: Int) -> Int {
        text.count * (BitmapFont.columns + 1) * max(1, scale)
    }

    private mutating func cover(x: Int, y: Int, side: Int) {
        for row in max(0, y)..<max(0, y + side) where row < self.height {
            for column in max(0, x)..<max(0, x + side) where column < self.width {
                self.coverage[row * self.width + column] = 255
            }
        }
    }
}
