package import LibAV
package import MediaTypes

/// A moving test video with a machine-readable frame counter, a clock, and a flash with a beep every second except the
/// first.
///
/// The counter and the clock are centered horizontally, so that the crop of a side-by-side scene does not remove them.
package struct TestPattern: Sendable {
    package let name: String
    package let width: Int
    package let height: Int
    package let fps: Int
    package let sampleRate: Int
    /// Frequency of the beep in hertz, 800…1,500, derived from ``name``: the same name always has the same beep.
    package let beepHertz: Int

    /// Duration of flash and beep, in milliseconds.
    package static let flashMs = 100

    /// Creates a pattern that shows `name`.
    ///
    /// - Parameters:
    ///   - width: Width in pixels; rounded down to an even number, and raised to 160.
    ///   - height: Height in pixels; rounded and raised in the same way.
    package init(name: String, width: Int = 1280, height: Int = 720, fps: Int = 30, sampleRate: Int = 48_000) {
        self.name = name
        self.width = max(160, width & ~1)
        self.height = max(160, height & ~1)
        self.fps = max(1, fps)
        self.sampleRate = sampleRate
        // A sum instead of a randomized hash: the same name must look and sound the same in every run.
        self.seed = name.utf8.reduce(0) { ($0 &* 31 &+ Int($1)) & 0xffff }
        self.beepHertz = 800 + self.seed % 8 * 100
    }

    private let seed: Int

    // MARK: Video

    /// Draws frame `index`.
    ///
    /// - Parameter clock: Milliseconds since the Unix epoch, drawn as `HH:MM:SS.mmm` (UTC) and as ``PatternClock``.
    /// - Throws: ``MediaError/Code/outOfMemory``.
    package func picture(_ index: Int64, clock: Int64) throws(MediaError) -> Picture {
        let palette = self.palette
        var canvas = try PictureCanvas.open(width: self.width, height: self.height, fill: palette.dark)
        self.drawMotion(index, palette, &canvas)
        let unit = self.unit
        let center = self.width / 2 & ~1
        canvas.drawCentered(
            self.name, centerX: center, centerY: self.height * 16 / 100, maxWidth: self.width * 45 / 100,
            maxScale: max(2, unit / 3), .white)
        canvas.drawCentered(
            Self.clockText(clock), centerX: center, centerY: self.height * 30 / 100, maxWidth: self.width * 40 / 100,
            maxScale: max(2, unit / 6), palette.light)
        let side = self.height / 6 & ~1
        canvas.fill(
            x: center - side / 2 & ~1, y: self.height / 2 - side / 2 & ~1, width: side, height: side,
            self.isFlash(index) ? .white : .black)
        canvas.drawCentered(
            "\(index)", centerX: center, centerY: self.height * 68 / 100, maxWidth: self.width * 40 / 100,
            maxScale: max(2, unit / 5), .white)
        for (bit, isSet) in PatternCode.bits(of: index).enumerated() {
            let block = PatternCode.block(bit, width: self.width, height: self.height)
            canvas.fill(x: block.x, y: block.y, width: block.side, height: block.side, isSet ? .white : .black)
        }
        for (bit, isSet) in PatternClock.bits(of: clock).enumerated() {
            let block = PatternClock.block(bit, width: self.width, height: self.height)
            canvas.fill(x: block.x, y: block.y, width: block.side, height: block.side, isSet ? .white : .black)
        }
        return canvas.finish(pts: index)
    }

    private var unit: Int { max(8, min(self.width, self.height) / 24 & ~1) }

    private var palette: (dark: CanvasColor, mid: CanvasColor, light: CanvasColor) {
        let hues: [(UInt8, UInt8, UInt8)] = [
            (38, 70, 120), (120, 48, 66), (34, 100, 84), (104, 70, 130), (128, 84, 34), (44, 96, 120),
        ]
        let hue = hues[self.seed % hues.count]
        return (
            CanvasColor(red: hue.0, green: hue.1, blue: hue.2),
            CanvasColor(red: hue.0 + 36, green: hue.1 + 36, blue: hue.2 + 36),
            CanvasColor(red: 226, green: 230, blue: 240)
        )
    }

    private func drawMotion(
        _ index: Int64, _ palette: (dark: CanvasColor, mid: CanvasColor, light: CanvasColor),
        _ canvas: inout PictureCanvas
    ) {
        // Moving columns: motion everywhere, as in a camera image.
        let stripe = self.width / 8 & ~1
        let shift = Int(truncatingIfNeeded: index &* Int64(max(2, self.width / 320))) % (stripe * 2)
        var x = shift - stripe * 2
        while x < self.width {
            canvas.fill(x: x & ~1, y: 0, width: stripe, height: self.height, palette.mid)
            x += stripe * 2
        }
        // A square that moves along the lower edge, one crossing in four seconds.
        let period = Int64(self.fps * 8)
        let phase = Int(((index % period) + period) % period)
        let half = self.fps * 4
        let travel = self.width - self.unit * 2
        let position = travel * (phase < half ? phase : 2 * half - phase) / max(1, half)
        canvas.fill(
            x: position & ~1, y: self.height - self.unit * 3 & ~1, width: self.unit * 2, height: self.unit * 2,
            palette.light)
    }

    /// Returns whether frame `index` shows the flash. The first second has neither flash nor beep, because the audio
    /// encoder's priming cuts the first audio short.
    private func isFlash(_ index: Int64) -> Bool {
        guard index >= Int64(self.fps) else { return false }
        let second = ((index % Int64(self.fps)) + Int64(self.fps)) % Int64(self.fps)
        return second * 1000 < Int64(Self.flashMs * self.fps)
    }

    static func clockText(_ ms: Int64) -> String {
        (((ms % 86_400_000) + 86_400_000) % 86_400_000).clockText
    }

    // MARK: Audio

    /// Interleaved stereo samples for `count` pairs from `position`: a beep at every whole second except the first,
    /// silence between.
    package func audio(from position: Int64, count: Int) -> [Float] {
        var samples = [Float](repeating: 0, count: count * 2)
        let rate = Int64(self.sampleRate)
        let length = rate * Int64(Self.flashMs) / 1000
        // The phase follows from the position within the second, so that every beep begins at zero.
        for pair in 0..<count {
            let inSecond = (position &+ Int64(pair)) % rate
            guard position &+ Int64(pair) >= rate, inSecond < length else { continue }
            let value = Sine.value(of: inSecond &* Int64(self.beepHertz), over: rate) * 0.5
            samples[2 * pair] = value
            samples[2 * pair + 1] = value
        }
        return samples
    }
}

/// Computes the sine of fractions of a turn, with an error below 0.0002, without a math library.
enum Sine {
    /// Returns sin(2π · `numerator` / `denominator`), by the Taylor polynomial of degree seven on a quarter turn.
    static func value(of numerator: Int64, over denominator: Int64) -> Float {
        let turn = Double(((numerator % denominator) + denominator) % denominator) / Double(denominator)
        let half = turn < 0.5 ? turn : turn - 0.5
        let quarter = half < 0.25 ? half : 0.5 - half
        let x = quarter * 2 * Double.pi
        let square = x * x
        let sine = x * (1 - square / 6 * (1 - square / 20 * (1 - square / 42)))
        return Float(turn < 0.5 ? sine : -sine)
    }
}
