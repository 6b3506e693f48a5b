import LibAV

/// Measures the offset between a source's audio and video on the program, using the flash and the beep that test
/// streams contain once per second. Costs almost nothing if the stream contains neither.
package struct LipSyncProbe: Sendable {
    /// Thresholds: luma in the middle of the frame up to which there is no flash (`dark`) and from which there is one
    /// (`bright`), and sample level from which there is a beep (`loud`).
    private static let dark: UInt8 = 110
    private static let bright: UInt8 = 200
    private static let loud: Float = 0.05
    /// Quiet sample pairs that must precede a beep (0.2 s at 48 kHz).
    private static let quietPairs: Int64 = 9_600
    /// A flash and a beep farther apart than this, in nanoseconds, do not belong together.
    private static let pairWithin: Int64 = 400_000_000

    private var isLit = true
    private var flashes: [Int64] = []
    private var beeps: [Int64] = []
    private var lastLoud: Int64 = .min / 2
    /// Audio time minus video time, in nanoseconds, one value per flash and beep that belong together, in order; at
    /// most the last 600. Positive if the audio is later than the video. Correct at 48 kHz.
    package private(set) var offsets: [Int64] = []

    package init() {}

    mutating func seen(_ picture: Picture, at time: Int64) {
        let level = Self.centerLevel(picture)
        if level >= Self.bright, !self.isLit {
            self.flashes.append(time)
            self.match()
        }
        if level >= Self.bright { self.isLit = true } else if level <= Self.dark { self.isLit = false }
    }

    /// Ignores the frames that follow because they are not visible: they may be decoded late, which says nothing about
    /// what viewers see.
    mutating func lookAway() {
        self.isLit = true
        self.flashes.removeAll(keepingCapacity: true)
    }

    mutating func heard(_ samples: [Float], at position: Int64) {
        for index in stride(from: 0, to: samples.count - 1, by: 2) where abs(samples[index]) >= Self.loud {
            let pair = position &+ Int64(index / 2)
            if pair &- self.lastLoud > Self.quietPairs {
                self.beeps.append(pair &* 1_000_000 / 48)
                self.match()
            }
            self.lastLoud = pair
        }
    }

    private mutating func match() {
        while let flash = self.flashes.first, let beep = self.beeps.first {
            let offset = beep &- flash
            if abs(offset) <= Self.pairWithin {
                self.flashes.removeFirst()
                self.beeps.removeFirst()
                self.offsets.append(offset)
                if self.offsets.count > 600 { self.offsets.removeFirst() }
            } else if offset > 0 {
                self.flashes.removeFirst()
            } else {
                self.beeps.removeFirst()
            }
        }
        if self.flashes.count > 8 { self.flashes.removeFirst() }
        if self.beeps.count > 8 { self.beeps.removeFirst() }
    }

    /// Mean luma of a small square in the middle of the frame, where the test stream's flash is.
    private static func centerLevel(_ picture: Picture) -> UInt8 {
        picture.withPlane(0) { plane, stride in
            let (x, y) = (picture.format.width / 2, picture.format.height / 2)
            var sum = 0, count = 0
            for row in max(0, y - 4)..<min(picture.format.height, y + 4) {
                for column in max(0, x - 4)..<min(picture.format.width, x + 4) where row * stride + column < plane.count
                {
                    sum += Int(plane[row * stride + column])
                    count += 1
                }
            }
            return UInt8(clamping: count == 0 ? 0 : sum / count)
        } ?? 0
    }
}
