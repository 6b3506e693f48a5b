/// A look-ahead true-peak limiter for interleaved stereo.
///
/// Works on blocks of ``blockPairs`` pairs. A block is output ``lookaheadBlocks`` blocks after it was input, multiplied
/// by a gain that is already low enough for every block in between, so no peak passes and no sample is clipped. The
/// attack is spread over the look-ahead. The release has two speeds: after a single peak, half of the reduction is
/// released in 60 ms; the average reduction over the last 0.4 s is released ten times slower, so that background noise
/// does not swell between two words. While nothing exceeds the ceiling, the output is the delayed input, bit for bit.
///
/// Invariant: the gain at both ends of a block, and so anywhere between them, is at most `ceiling / peak`, where the
/// peak includes the interpolated points between the block and its neighbors.
@safe
public struct Limiter: Sendable {
    /// Pairs per gain ramp: 1.33 ms at 48 kHz.
    public static let blockPairs = 64
    /// Delay in blocks: 256 pairs, 5.33 ms at 48 kHz.
    public static let lookaheadBlocks = 4
    /// Delay between input and output, in pairs.
    public static let latencyPairs = blockPairs * lookaheadBlocks

    private static let blockFloats = blockPairs * 2
    /// Floats before a block that are needed to interpolate its first points.
    private static let historyFloats = (TruePeak.taps - 1) * 2

    private let ceiling: Float
    /// Fraction of the reduction that is released per block: half in about 60 ms, and in about 0.6 s.
    private let quickRelease: Float = 0.015
    private let slowRelease: Float = 0.0015
    /// Coefficient per block for averaging the gain reduction over about 0.4 s.
    private let averaging: Float = 0.003_3

    private var gain: Float = 1
    /// Average gain reduction over the last 0.4 s, 0…1.
    private var sustained: Float = 0
    /// The delayed samples as a ring of blocks, and the index of the oldest block.
    private var delay: [Float]
    private var oldest = 0
    /// The maximum gain of each delayed block, oldest first.
    private var allowed: [Float]
    /// The last samples of the previous block, followed by the current block.
    private var window: [Float]
    /// Sample peak of the previous block.
    private var lastPeak: Float = 0

    /// Creates a limiter whose look-ahead contains silence.
    ///
    /// - Parameter ceiling: Maximum output magnitude, including peaks between samples as measured with four-fold
    ///   oversampling; limited to 0.1…1. The default is −1.5 dBTP: peaks that four-fold oversampling misses
    ///   (``TruePeak``) still stay below −1 dBTP.
    public init(ceiling: Float = 0.841_395) {
        self.ceiling = min(1, max(0.1, ceiling))
        self.delay = [Float](repeating: 0, count: Self.latencyPairs * 2)
        self.allowed = [Float](repeating: 1, count: Self.lookaheadBlocks)
        self.window = [Float](repeating: 0, count: Self.historyFloats + Self.blockFloats)
    }

    /// The gain at the end of the last output block, 0…1.
    public var currentGain: Float { self.gain }

    /// Replaces `samples` by the samples that were input ``latencyPairs`` pairs earlier, limited. Does not allocate.
    ///
    /// - Parameter samples: Interleaved stereo of finite numbers
    ///   (``AudioMix/sanitize(_:)-(UnsafeMutableBufferPointer<Float>)``); a whole number of blocks (2 × ``blockPairs``
    ///   floats each). A remainder that does not fill a block is left unchanged.
    public mutating func process(_ samples: UnsafeMutableBufferPointer<Float>) {
        guard let base = samples.baseAddress else { return }
        var start = 0
        while start + Self.blockFloats <= samples.count {
            let limit = unsafe self.limit(of: base + start)
            let (from, to) = self.nextGain(limit)
            unsafe self.exchange(base + start, from: from, to: to)
            start += Self.blockFloats
        }
    }

    /// Limits the samples of an array like ``process(_:)-(UnsafeMutableBufferPointer<Float>)``.
    public mutating func process(_ samples: inout [Float]) {
        unsafe samples.withUnsafeMutableBufferPointer { unsafe self.process($0) }
    }

    /// Returns the maximum gain at which neither the block nor the end of the previous block exceeds the ceiling.
    private mutating func limit(of block: UnsafePointer<Float>) -> Float {
        var peak = unsafe AudioMix.peak(UnsafeBufferPointer(start: block, count: Self.blockFloats))
        let (ceiling, lastPeak) = (self.ceiling, self.lastPeak)
        self.lastPeak = peak
        unsafe self.window.withUnsafeMutableBufferPointer { window in
            guard let base = window.baseAddress else { return }
            // The window has space for the history and one block.
            unsafe (base + Self.historyFloats).update(from: block, count: Self.blockFloats)
            // Quiet audio cannot exceed the ceiling between its samples.
            if max(peak, lastPeak) * TruePeak.bound > ceiling {
                peak = max(peak, unsafe TruePeak.between(base, pairs: Self.blockPairs))
            }
            unsafe base.update(from: base + Self.blockFloats, count: Self.historyFloats)
        }
        return peak > ceiling ? ceiling / peak : 1
    }

    /// Returns the gain at both ends of the block that is output now, given that the new block allows at most `limit`.
    private mutating func nextGain(_ limit: Float) -> (from: Float, to: Float) {
        let start = self.gain
        // The interpolated points at the end of the previous block were computed together with the new block.
        let newest = self.allowed.count - 1
        self.allowed[newest] = min(self.allowed[newest], limit)
        // Block number i is the (i + 1)th to be output; its gain must be reached one block earlier, at the end of
        // number i − 1. The oldest block is output now with its gain already reached; the new block is the last.
        var (end, lowest) = (start, min(limit, self.allowed[0]))
        for index in 1...self.allowed.count {
            let other = index < self.allowed.count ? self.allowed[index] : limit
            lowest = min(lowest, other)
            if other < start { end = min(end, start + (other - start) / Float(index)) }
        }
        if end >= start {
            let rate = start < 1 - self.sustained ? self.quickRelease : self.slowRelease
            end = min(lowest, start + (1 - start) * rate + 1e-6)
        }
        self.gain = end
        self.sustained += (1 - end - self.sustained) * self.averaging
        for index in 1..<self.allowed.count { self.allowed[index - 1] = self.allowed[index] }
        self.allowed[newest] = limit
        return (start, end)
    }

    /// Stores `block` and replaces it by the oldest block, multiplied by the gain.
    private mutating func exchange(_ block: UnsafeMutablePointer<Float>, from start: Float, to end: Float) {
        let step = (end - start) / Float(Self.blockPairs)
        let slot = self.oldest
        self.oldest = (slot + 1) % Self.lookaheadBlocks
        unsafe self.delay.withUnsafeMutableBufferPointer { delay in
            guard let base = delay.baseAddress else { return }
            // `slot` is below lookaheadBlocks, so a whole block is inside the buffer.
            let old = unsafe UnsafeMutableRawPointer(base + slot * Self.blockFloats)
            let new = UnsafeMutableRawPointer(block)
            let ramp = SIMD8<Float>(0, 0, 1, 1, 2, 2, 3, 3) * step
            var index = 0
            while index < Self.blockFloats {
                let offset = index &* MemoryLayout<Float>.stride
                let gain = ramp + (start + step * Float(index / 2))
                let leaving = unsafe old.loadUnaligned(fromByteOffset: offset, as: SIMD8<Float>.self) * gain
                let coming = unsafe new.loadUnaligned(fromByteOffset: offset, as: SIMD8<Float>.self)
                unsafe old.storeBytes(of: coming, toByteOffset: offset, as: SIMD8<Float>.self)
                unsafe new.storeBytes(of: leaving, toByteOffset: offset, as: SIMD8<Float>.self)
                index &+= 8
            }
        }
    }
}
