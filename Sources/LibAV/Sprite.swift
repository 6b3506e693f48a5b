/// A small image with transparency under construction: texts, bars, borders, masks. Straight alpha, canvas colors.
///
/// Drawn at full resolution in plain arrays, off the program thread; ``picture()`` converts it to `yuva420p`.
package struct Sprite: Sendable {
    /// Size in samples, even, 2…8192.
    package let width: Int
    package let height: Int
    var luma: [UInt8]
    var cb: [UInt8]
    var cr: [UInt8]
    var alpha: [UInt8]

    /// Creates a transparent sprite. Sizes are clamped to 2…8192 and rounded up to even numbers.
    package init(width: Int, height: Int) {
        self.width = (max(2, min(8192, width)) + 1) & ~1
        self.height = (max(2, min(8192, height)) + 1) & ~1
        let count = self.width * self.height
        self.luma = [UInt8](repeating: 16, count: count)
        self.cb = [UInt8](repeating: 128, count: count)
        self.cr = [UInt8](repeating: 128, count: count)
        self.alpha = [UInt8](repeating: 0, count: count)
    }

    /// The format of every sprite of this size.
    package var format: PictureFormat { .sprite(width: self.width, height: self.height) }

    /// Returns the alpha of a sample, 0…255; 0 outside the sprite.
    package func alpha(x: Int, y: Int) -> UInt8 {
        guard x >= 0, y >= 0, x < self.width, y < self.height else { return 0 }
        return self.alpha[y * self.width + x]
    }

    /// Fills a rectangle, replacing what is there; parts outside the sprite are cut off.
    ///
    /// - Parameter alpha: Opacity, 0…255.
    package mutating func fill(x: Int, y: Int, width: Int, height: Int, _ color: CanvasColor, alpha: UInt8 = 255) {
        let left = max(0, min(x, self.width)), right = max(left, min(x &+ width, self.width))
        for row in max(0, min(y, self.height))..<max(0, max(y, min(y &+ height, self.height))) where row < self.height {
            for index in row * self.width + left..<row * self.width + right { self.set(index, color, alpha) }
        }
    }

    private mutating func set(_ index: Int, _ color: CanvasColor, _ alpha: UInt8) {
        self.luma[index] = color.y
        self.cb[index] = color.cb
        self.cr[index] = color.cr
        self.alpha[index] = alpha
    }

    /// Draws `color` over the existing content, with the coverage of `mask`; parts outside the sprite are cut off.
    package mutating func draw(_ mask: TextMask, x: Int, y: Int, _ color: CanvasColor) {
        for row in 0..<mask.height where y + row >= 0 && y + row < self.height {
            for column in 0..<mask.width where x + column >= 0 && x + column < self.width {
                let over = Int(mask.coverage[row * mask.width + column])
                if over > 0 { self.lay(color, over, at: (y + row) * self.width + x + column) }
            }
        }
    }

    private mutating func lay(_ color: CanvasColor, _ over: Int, at index: Int) {
        // Porter-Duff "over" with straight alpha, in 255ths.
        let below = Int(self.alpha[index]) * (255 - over) / 255
        let sum = over + below
        func mixed(_ above: UInt8, _ old: UInt8) -> UInt8 {
            UInt8(clamping: (Int(above) * over + Int(old) * below + sum / 2) / sum)
        }
        self.luma[index] = mixed(color.y, self.luma[index])
        self.cb[index] = mixed(color.cb, self.cb[index])
        self.cr[index] = mixed(color.cr, self.cr[index])
        self.alpha[index] = UInt8(clamping: sum)
    }

    /// Returns the mask of a rectangle with rounded, antialiased corners in a sprite of the given size.
    ///
    /// - Parameters:
    ///   - inset: Samples between the sprite's edge and the rectangle's.
    ///   - radius: Radius of the corners, in samples.
    /// - Returns: The coverage, in the size of the sprite.
    package static func roundedMask(width: Int, height: Int, inset: Int, radius: Int) -> TextMask {
        let (width, height) = ((max(2, min(8192, width)) + 1) & ~1, (max(2, min(8192, height)) + 1) & ~1)
        var mask = TextMask(width: width, height: height)
        let radius = max(0, min(radius, min(width, height) / 2 - inset))
        for row in 0..<height {
            for column in 0..<width {
                // Distance from the center of the nearest corner's arc, in sixteenths of a sample.
                let x = min(column, width - 1 - column) - inset
                let y = min(row, height - 1 - row) - inset
                guard x >= 0, y >= 0 else { continue }
                guard x < radius, y < radius else {
                    mask.coverage[row * width + column] = 255
                    continue
                }
                let dx = (radius - x) * 16 - 8, dy = (radius - y) * 16 - 8
                let distance = Self.squareRoot(dx * dx + dy * dy)
                mask.coverage[row * width + column] = UInt8(clamping: (radius * 16 - distance + 8) * 255 / 16)
            }
        }
        return mask
    }

    /// Returns the integer square root, rounded down.
    private static func squareRoot(_ value: Int) -> Int {
        guard value > 0 else { return 0 }
        var root = value, next = (value + 1) / 2
        while next < root {
            root = next
            next = (root + value / root) / 2
        }
        return root
    }
}
