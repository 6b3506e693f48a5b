/// A look-ahead peak limiter for interleaved stereo.
///
/// Works on blocks of ``blockPairs`` pairs. A block leaves ``lookaheadBlocks`` blocks after it came, multiplied by a gain
/// that is already low enough for every block in between, so no peak passes and no sample is clipped. Loud passages come
/// back slowly. While nothing exceeds the ceiling the output is the input, bit for bit, later.
///
/// Invariant (1): the gain at both ends of a block is at most `ceiling / peak` of that block: the gain at its start was
/// chosen with this block already in view. A ramp between two such gains is too.
@safe
public struct Limiter: Sendable {
    /// Pairs that share one gain ramp: 1.33 ms at 48 kHz.
    public static let blockPairs = 64
    /// Blocks of delay: 256 pairs, 5.33 ms at 48 kHz.
    public static let lookaheadBlocks = 4
    /// Pairs of delay between input and output.
    public static let latencyPairs = blockPairs * lookaheadBlocks

    private let ceiling: Float
    /// How much of the way back to full gain one block goes: half in about 60 ms.
    private let release: Float = 0.015
    private var gain: Float = 1
    /// The delayed samples and the gain each delayed block may have at most, oldest first.
    private var delay: [Float]
    private var allowed: [Float]

    /// - Parameter ceiling: Largest magnitude that leaves, 0.1…1. The default is −1 dBFS: room for what an AAC decoder
    ///   overshoots.
    public init(ceiling: Float = 0.891_25) {
        self.ceiling = min(1, max(0.1, ceiling))
        self.delay = [Float](repeating: 0, count: Self.latencyPairs * 2)
        self.allowed = [Float](repeating: 1, count: Self.lookaheadBlocks)
    }

    /// Replaces `samples` by the samples that came ``latencyPairs`` pairs earlier, limited. No allocation.
    ///
    /// - Parameter samples: Interleaved stereo; a whole number of blocks (2 × ``blockPairs`` floats each). A rest that
    ///   does not fill a block is left untouched.
    public mutating func process(_ samples: UnsafeMutableBufferPointer<Float>) {
        let floats = Self.blockPairs * 2
        var start = 0
        while start + floats <= samples.count {
            let block = unsafe UnsafeMutableBufferPointer(rebasing: samples[start..<start + floats])
            unsafe self.processBlock(block)
            start += floats
        }
    }

    /// ``process(_:)-(UnsafeMutableBufferPointer<Float>)`` on an array.
    public mutating func process(_ samples: inout [Float]) {
        unsafe samples.withUnsafeMutableBufferPointer { unsafe self.process($0) }
    }

    private mutating func processBlock(_ block: UnsafeMutableBufferPointer<Float>) {
        let floats = Self.blockPairs * 2
        let peak = unsafe SoundMix.peak(UnsafeBufferPointer(block))
        let limit = peak > self.ceiling ? self.ceiling / peak : 1
        // The block that leaves now is the oldest; its own limit is in `allowed[0]` and the gain keeps to it already.
        var target = limit
        for index in self.allowed.indices { target = min(target, self.allowed[index]) }
        let start = self.gain
        let end = target < start ? target : min(target, start + (1 - start) * self.release + 1e-6)
        self.gain = end
        for index in 1..<self.allowed.count { self.allowed[index - 1] = self.allowed[index] }
        self.allowed[self.allowed.count - 1] = limit
        let step = (end - start) / Float(Self.blockPairs)
        unsafe self.delay.withUnsafeMutableBufferPointer { delay in
            // `delay` holds lookaheadBlocks × floats, so the first `floats` exist and the shift stays inside.
            for index in 0..<floats {
                let leaving = unsafe delay[index] * (start + step * Float(index >> 1))
                unsafe delay[index] = block[index]
                unsafe block[index] = leaving
            }
            guard let base = delay.baseAddress else { return }
            unsafe Self.rotate(base, count: delay.count, by: floats)
        }
    }

    /// Moves the first `shift` floats behind the others. `shift` < `count` ≤ 8 blocks.
    private static func rotate(_ base: UnsafeMutablePointer<Float>, count: Int, by shift: Int) {
        unsafe withUnsafeTemporaryAllocation(of: Float.self, capacity: shift) { saved in
            guard let hold = saved.baseAddress else { return }
            unsafe hold.initialize(from: base, count: shift)
            unsafe base.update(from: base + shift, count: count - shift)
            unsafe (base + (count - shift)).update(from: hold, count: shift)
        }
    }
}
