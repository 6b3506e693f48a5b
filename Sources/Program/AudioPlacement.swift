import MediaKernels

/// Places a live source's decoded audio without gaps on the program's sample grid, and stretches it by parts per
/// million so that it stays at its timestamps.
///
/// Timestamps have millisecond resolution and jitter. Positions come from counting samples; the timestamps only steer:
/// the smoothed difference between the wanted and the actual position of a block determines how much the next block is
/// stretched. The position jumps (a seam) only at the first block, after ``reset()``, if the error is large enough to
/// affect lip sync, and if the block is more than 5 ms off after the source's timestamps were mapped anew.
///
/// Positions are in sample pairs (1/48,000 s at the usual rate).
package struct AudioPlacement: Sendable {
    /// If a single block's position is off by more than this many pairs (60 ms), it is placed anew, with a seam.
    private let gap: Int64
    /// If ``gapBlocks`` consecutive blocks are off by more than this many pairs (25 ms), the last is placed anew.
    private let step: Int64
    private static let gapBlocks = 3
    /// If the smoothed error exceeds this many pairs (10 ms), the block is placed anew: lip sync errors are visible
    /// from 20 ms.
    private let limit: Int64
    /// If the source's timestamps were mapped anew and the block is off by more than this many pairs (5 ms), it is
    /// placed anew.
    private let seam: Int64
    /// The error is smoothed over 2⁶ blocks: 1.4 s of AAC, in which the jitter of millisecond timestamps averages out.
    private static let smoothing: Int64 = 64
    /// Unit of the smoothed error: 1/256 pair.
    private static let fraction: Int64 = 256
    /// Time over which the stretch corrects an error, in pairs: four seconds, long enough not to overshoot in spite
    /// of the smoothing.
    private let pull: Int64
    private let limitPPB: Int64

    private var resampler = DriftResampler()
    private var stretched: [Float] = []
    private var next: Int64?
    private var error: Int64 = 0
    private var off = 0

    /// Creates a placement for one audio track.
    ///
    /// - Parameters:
    ///   - sampleRate: Sample rate of the program, in hertz.
    ///   - limitPPB: Maximum stretch in either direction, in parts per billion.
    package init(sampleRate: Int, limitPPB: Int64) {
        let rate = Int64(sampleRate)
        self.gap = rate * 60 / 1000
        self.step = rate * 25 / 1000
        self.limit = rate * 10 / 1000
        self.seam = rate * 5 / 1000
        self.pull = rate * 4
        self.limitPPB = limitPPB
    }

    /// Current stretch in parts per billion; positive makes the audio longer.
    package private(set) var ratio = 0

    /// Resets the placement: the next block is placed by its timestamp alone and does not continue the previous one.
    package mutating func reset() {
        self.next = nil
        self.resampler.reset()
    }

    /// Places one block.
    ///
    /// - Parameters:
    ///   - samples: Interleaved stereo as decoded.
    ///   - position: Position of its first pair according to its timestamp.
    ///   - isRemapped: Whether the source's timestamps were mapped to program time anew since the last block.
    ///   - body: Receives the samples, the position of the first, and whether there is a seam before them.
    package mutating func place(
        _ samples: [Float], at position: Int64, isRemapped: Bool, _ body: ([Float], Int64, Bool) -> Void
    ) {
        let wanted = position &- Int64(DriftResampler.latencyPairs)
        var hasSeam = true
        if let next = self.next {
            let off = wanted &- next
            self.error &+= (min(self.gap, max(0 &- self.gap, off)) &* Self.fraction &- self.error) / Self.smoothing
            self.off = off.magnitude > UInt64(self.step) ? self.off + 1 : 0
            hasSeam =
                off.magnitude > UInt64(self.gap) || self.off >= Self.gapBlocks
                || self.error.magnitude > UInt64(self.limit * Self.fraction)
                || (isRemapped && off.magnitude > UInt64(self.seam))
        }
        if hasSeam {
            self.next = wanted
            self.error = 0
            self.off = 0
        }
        let ppb = self.error &* 1_000_000_000 / (self.pull &* Self.fraction)
        self.ratio = Int(max(0 &- self.limitPPB, min(self.limitPPB, ppb)))
        self.resampler.process(samples, into: &self.stretched, partsPerBillion: self.ratio)
        let at = self.next ?? wanted
        self.next = at &+ Int64(self.stretched.count / 2)
        body(self.stretched, at, hasSeam)
    }
}
