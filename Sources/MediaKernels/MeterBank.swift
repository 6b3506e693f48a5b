/// Peak and loudness meters of several audio signals, updated block by block.
///
/// Loudness is ITU-R BS.1770-4: mean square after the K-weighting of Annex 1, both channels with weight 1. Momentary
/// loudness is over 0.4 s and short-term over 3 s, in whole blocks. The coefficients of the weighting are for 48 kHz.
@safe
public struct MeterBank: Sendable {
    /// Pairs per block: an AAC frame, 21.3 ms at 48 kHz.
    public static let blockPairs = 1024
    /// Number of blocks in the window for momentary loudness: 405 ms at 48 kHz.
    public static let momentaryBlocks = 19
    /// Number of blocks in the window for short-term loudness: 3.008 s at 48 kHz.
    public static let shortTermBlocks = 141

    /// Filter state and results of one signal. Lanes 0 and 1 are the first filter for left and right. Lanes 2 and 3 are
    /// the second filter, which processes the first filter's output of the previous sample, so that both filters run in
    /// parallel instead of one after the other.
    private struct Meter {
        var output = SIMD4<Float>()
        var first = SIMD4<Float>()
        var second = SIMD4<Float>()
        var peak: Float = 0
    }

    private var meters: [Meter]
    /// Mean squares of the last blocks, ``shortTermBlocks`` for each signal, as a ring.
    private var energies: [Float]
    private var cursors: [Int]

    /// Creates meters for silent signals.
    ///
    /// - Parameter count: Number of signals.
    public init(count: Int) {
        self.meters = Array(repeating: Meter(), count: max(0, count))
        self.energies = Array(repeating: 0, count: max(0, count) * Self.shortTermBlocks)
        self.cursors = Array(repeating: 0, count: max(0, count))
    }

    /// Number of signals.
    public var count: Int { self.meters.count }

    /// Inserts a meter at `index` (0…count), initially silent.
    public mutating func insert(at index: Int) {
        let index = max(0, min(index, self.meters.count))
        self.meters.insert(Meter(), at: index)
        self.cursors.insert(0, at: index)
        self.energies.insert(
            contentsOf: repeatElement(0, count: Self.shortTermBlocks), at: index * Self.shortTermBlocks)
    }

    /// Removes the meter at `index`; the indices of later meters decrease by 1. Does nothing if there is no such meter.
    public mutating func remove(at index: Int) {
        guard self.meters.indices.contains(index) else { return }
        self.meters.remove(at: index)
        self.cursors.remove(at: index)
        let start = index * Self.shortTermBlocks
        self.energies.removeSubrange(start..<start + Self.shortTermBlocks)
    }

    /// Measures the first ``blockPairs`` pairs of `audio` with meter `index`; a shorter block counts as silence after
    /// its end. Does nothing if there is no such meter. Does not allocate.
    public mutating func measure(_ index: Int, _ audio: [Float]) {
        self.measure(index, audio, nil, audio)
    }

    /// Measures a block of two signals of the same length at once, in hardly more time than one signal takes; only the
    /// first if `other` is `nil`. Does not allocate.
    public mutating func measure(_ index: Int, _ audio: [Float], _ other: Int?, _ otherAudio: [Float]) {
        guard self.meters.indices.contains(index) else { return }
        let second = other.flatMap { self.meters.indices.contains($0) && $0 != index ? $0 : nil }
        let pairs = min(Self.blockPairs, audio.count / 2, otherAudio.count / 2)
        var (a, b) = (self.meters[index], second.map { self.meters[$0] } ?? Meter())
        var squares: (Float, Float) = (0, 0)
        unsafe audio.withUnsafeBufferPointer { audio in
            unsafe otherAudio.withUnsafeBufferPointer { otherAudio in
                guard let first = audio.baseAddress, let second = otherAudio.baseAddress else { return }
                // `pairs` is limited to both lengths.
                squares = unsafe Self.weigh(first, second, pairs: pairs, &a, &b)
                a.peak = max(a.peak, unsafe AudioMix.peak(UnsafeBufferPointer(start: first, count: pairs * 2)))
                b.peak = max(b.peak, unsafe AudioMix.peak(UnsafeBufferPointer(start: second, count: pairs * 2)))
            }
        }
        self.keep(a, squares.0, at: index)
        if let second { self.keep(b, squares.1, at: second) }
    }

    /// Runs both filters over both signals and returns the sums of squares.
    private static func weigh(
        _ audio: UnsafePointer<Float>, _ other: UnsafePointer<Float>, pairs: Int, _ a: inout Meter, _ b: inout Meter
    ) -> (Float, Float) {
        // BS.1770-4 tables 1 and 2: the high shelf and the high-pass.
        let b0 = SIMD8<Float>(lowHalf: self.feed(1.535_124_9, 1), highHalf: self.feed(1.535_124_9, 1))
        let b1 = SIMD8<Float>(lowHalf: self.feed(-2.691_696_2, -2), highHalf: self.feed(-2.691_696_2, -2))
        let b2 = SIMD8<Float>(lowHalf: self.feed(1.198_392_8, 1), highHalf: self.feed(1.198_392_8, 1))
        let a1 = SIMD8<Float>(
            lowHalf: self.feed(-1.690_659_3, -1.990_047_5), highHalf: self.feed(-1.690_659_3, -1.990_047_5))
        let a2 = SIMD8<Float>(
            lowHalf: self.feed(0.732_480_8, 0.990_072_3), highHalf: self.feed(0.732_480_8, 0.990_072_3))
        var output = SIMD8(lowHalf: a.output, highHalf: b.output)
        var first = SIMD8(lowHalf: a.first, highHalf: b.first)
        var second = SIMD8(lowHalf: a.second, highHalf: b.second)
        var squares = SIMD8<Float>()
        for index in 0..<pairs {
            let place = index &* 2
            let input = unsafe SIMD8<Float>(
                audio[place], audio[place &+ 1], output[0], output[1],
                other[place], other[place &+ 1], output[4], output[5])
            output = input * b0 + first
            first = (input * b1 + second) - output * a1
            second = input * b2 - output * a2
            squares += output * output
        }
        self.store(output.lowHalf, first.lowHalf, second.lowHalf, in: &a)
        self.store(output.highHalf, first.highHalf, second.highHalf, in: &b)
        return (squares[2] + squares[3], squares[6] + squares[7])
    }

    private static func feed(_ shelf: Float, _ highPass: Float) -> SIMD4<Float> {
        SIMD4(shelf, shelf, highPass, highPass)
    }

    private static func store(
        _ output: SIMD4<Float>, _ first: SIMD4<Float>, _ second: SIMD4<Float>, in meter: inout Meter
    ) {
        // Decaying filter state in silence would become denormal numbers, which are a hundred times slower.
        func settled(_ value: SIMD4<Float>) -> SIMD4<Float> {
            value.replacing(with: 0, where: value .< 1e-15 .& value .> -1e-15)
        }
        meter.output = settled(output)
        meter.first = settled(first)
        meter.second = settled(second)
    }

    private mutating func keep(_ meter: Meter, _ squares: Float, at index: Int) {
        self.meters[index] = meter
        let cursor = self.cursors[index]
        self.energies[index * Self.shortTermBlocks + cursor] = squares / Float(Self.blockPairs)
        self.cursors[index] = (cursor + 1) % Self.shortTermBlocks
    }

    // MARK: Reading

    /// Returns the largest sample magnitude of a signal since the last call; 0 if there is no such meter.
    public mutating func takePeak(_ index: Int) -> Float {
        guard self.meters.indices.contains(index) else { return 0 }
        defer { self.meters[index].peak = 0 }
        return self.meters[index].peak
    }

    /// Returns the mean square after K-weighting over the last `blocks` blocks (1…``shortTermBlocks``), both channels
    /// added; 0 if there is no such meter. Loudness in LUFS is −0.691 + 10 log₁₀ of this value.
    public func power(_ index: Int, blocks: Int) -> Float {
        guard self.meters.indices.contains(index) else { return 0 }
        let blocks = max(1, min(Self.shortTermBlocks, blocks))
        var (sum, cursor): (Float, Int) = (0, self.cursors[index])
        for _ in 0..<blocks {
            cursor = cursor == 0 ? Self.shortTermBlocks - 1 : cursor - 1
            sum += self.energies[index * Self.shortTermBlocks + cursor]
        }
        return sum / Float(blocks)
    }
}
