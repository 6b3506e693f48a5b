import MediaKernels
package import MediaTypes

/// A gain that moves in a straight line from one value to another, at exact sample positions.
package struct GainRamp: Sendable, Equatable {
    private var from: Float
    private var to: Float
    private var start: Int64
    private var length: Int64

    package init(_ gain: Float) {
        self.from = gain
        self.to = gain
        self.start = 0
        self.length = 0
    }

    /// Where the gain is going, or is.
    package var target: Float { self.to }

    package func value(at position: Int64) -> Float {
        guard position < self.start &+ self.length else { return self.to }
        guard position > self.start else { return self.from }
        return self.from + (self.to - self.from) * Float(position &- self.start) / Float(self.length)
    }

    /// From `position` on, moves to `gain` within `length` pairs.
    package mutating func move(to gain: Float, at position: Int64, over length: Int64) {
        guard gain != self.to else { return }
        self.from = self.value(at: position)
        self.to = gain
        self.start = position
        self.length = max(1, length)
    }

    /// The positions inside `range` at which the line bends, in order.
    func bends(in range: Range<Int64>) -> [Int64] {
        [self.start, self.start &+ self.length].filter { $0 > range.lowerBound && $0 < range.upperBound }
    }
}

/// The program's sound: every source on air times its gain, summed, limited, in blocks of one AAC frame.
///
/// Used by the program thread only. Positions are pairs since the room's `origin`.
package struct Mixer: Sendable {
    /// Pairs in a block.
    package static let blockPairs: Int64 = 1024

    private var gains: [SourceID: GainRamp] = [:]
    private var limiter = Limiter()
    private let rampPairs: Int64
    /// The next block's first pair, a multiple of ``blockPairs``.
    package private(set) var position: Int64
    private var scratch = [Float](repeating: 0, count: Int(blockPairs) * 2)

    /// - Parameters:
    ///   - start: Position of the program's first tick.
    ///   - rampPairs: How long a change of volume takes.
    package init(start: Int64, rampPairs: Int64) {
        self.rampPairs = max(1, rampPairs)
        self.position = TimeMath.scale(start, by: 1, over: Self.blockPairs, rounding: .up) &* Self.blockPairs
        self.prime = Int64(Limiter.latencyPairs)
    }

    /// Pairs the limiter still has to be fed before its output is at ``position``.
    private var prime: Int64

    /// How far sources must have sound for the block that ends at `end`: the limiter looks ahead.
    package static func wantedUntil(blockEnd end: Int64) -> Int64 { end &+ Int64(Limiter.latencyPairs) }

    /// Sets the gain a source moves to, from `position` on (or from where the mixing has come, when that is later).
    package mutating func setGain(_ gain: Float, of source: SourceID, at position: Int64) {
        let from = max(position, self.position &+ Int64(Limiter.latencyPairs) &- self.prime)
        self.gains[source, default: GainRamp(0)].move(to: gain, at: from, over: self.rampPairs)
    }

    /// Mixes the next block and moves on.
    ///
    /// - Parameter read: Copies a source's sound of a range into the array and says how many pairs there were.
    /// - Returns: ``blockPairs`` pairs of interleaved stereo for ``position`` as it was before the call.
    package mutating func nextBlock(_ read: (SourceID, Range<Int64>, inout [Float]) -> Int) -> [Float] {
        if self.prime > 0 {
            // Once, at the start: the limiter's look-ahead is filled with the first 256 pairs.
            var head = [Float](repeating: 0, count: Int(self.prime) * 2)
            self.mix(self.position..<self.position &+ self.prime, into: &head, read)
            self.limiter.process(&head)
            self.prime = 0
        }
        let from = self.position &+ Int64(Limiter.latencyPairs)
        var block = [Float](repeating: 0, count: Int(Self.blockPairs) * 2)
        self.mix(from..<from &+ Self.blockPairs, into: &block, read)
        self.limiter.process(&block)
        self.position &+= Self.blockPairs
        return block
    }

    private mutating func mix(
        _ range: Range<Int64>, into target: inout [Float], _ read: (SourceID, Range<Int64>, inout [Float]) -> Int
    ) {
        for index in target.indices { target[index] = 0 }
        // A fixed order: float addition is not associative, and the same room must make the same bytes.
        for (source, ramp) in self.gains.sorted(by: { $0.key.description < $1.key.description }) {
            if ramp.target == 0, ramp.value(at: range.lowerBound) == 0 { continue }
            if self.scratch.count != target.count { self.scratch = [Float](repeating: 0, count: target.count) }
            guard read(source, range, &self.scratch) > 0 else { continue }
            var edges = [range.lowerBound] + ramp.bends(in: range) + [range.upperBound]
            edges.sort()
            for (from, to) in zip(edges, edges.dropFirst()) where to > from {
                let pairs = Int(from &- range.lowerBound)..<Int(to &- range.lowerBound)
                SoundMix.add(
                    self.scratch, onto: &target, pairs: pairs, from: ramp.value(at: from), to: ramp.value(at: to))
            }
        }
    }
}
