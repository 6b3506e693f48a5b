import MediaKernels

/// ``Limiter`` without optimizations: arrays in, arrays out, one value after another. Shared with benchmarks/.
package struct PlainLimiter {
    private static let taps = 16
    private static let points: [[Float]] = [0.25, 0.5, 0.75].map { weights(at: $0) }

    private let ceiling: Float
    private var gain: Float = 1
    private var sustained: Float = 0
    private var waiting: [Float] = Array(repeating: 0, count: Limiter.latencyPairs * 2)
    private var allowed: [Float] = Array(repeating: 1, count: Limiter.lookaheadBlocks)
    private var history: [Float] = Array(repeating: 0, count: (taps - 1) * 2)

    package init(ceiling: Float = 0.841_395) { self.ceiling = ceiling }

    package mutating func processed(_ samples: [Float]) -> [Float] {
        var output: [Float] = []
        let size = Limiter.blockPairs * 2
        for start in stride(from: 0, to: samples.count - size + 1, by: size) {
            let block = Array(samples[start..<start + size])
            let peak = self.peak(of: block)
            let limit = peak > self.ceiling ? self.ceiling / peak : 1
            self.allowed[self.allowed.count - 1] = min(self.allowed[self.allowed.count - 1], limit)
            self.allowed.append(limit)
            let next = self.next()
            for index in 0..<size {
                let place = Float(index / 2)
                output.append(self.waiting[index] * (self.gain + (next - self.gain) / Float(size / 2) * place))
            }
            self.waiting = Array(self.waiting[size...]) + block
            self.allowed.removeFirst()
            self.gain = next
            self.sustained += (1 - next - self.sustained) * 0.003_3
        }
        return output
    }

    private func next() -> Float {
        // The oldest block is leaving; the gain of each other block must be reached by its turn.
        let down = self.allowed.enumerated().dropFirst().filter { $0.element < self.gain }
            .map { self.gain + ($0.element - self.gain) / Float($0.offset) }.min()
        if let down { return down }
        let rate: Float = self.gain < 1 - self.sustained ? 0.015 : 0.001_5
        return min(self.allowed.min() ?? 1, self.gain + (1 - self.gain) * rate + 1e-6)
    }

    private mutating func peak(of block: [Float]) -> Float {
        var peak = block.reduce(Float(0)) { max($0, abs($1)) }
        let window = self.history + block
        for first in 0..<block.count {
            for weights in Self.points {
                var value: Float = 0
                for (tap, weight) in weights.enumerated() { value += window[first + 2 * tap] * weight }
                peak = max(peak, abs(value))
            }
        }
        self.history = Array(window.suffix(self.history.count))
        return peak
    }

    private static func weights(at fraction: Double) -> [Float] {
        let half = Double(self.taps) / 2
        // sin(π/4), sin(π/2), sin(3π/4).
        let sine = fraction == 0.5 ? 1 : 0.5.squareRoot()
        let raw = (0..<self.taps).map { tap -> Double in
            let distance = Double(tap + 1) - half - fraction
            let inside = max(0, 1 - (distance / half) * (distance / half))
            let sign: Double = (tap + 1 - self.taps / 2) & 1 == 0 ? -1 : 1
            return sign * sine / (.pi * distance) * self.bessel(4.5 * inside.squareRoot()) / self.bessel(4.5)
        }
        let sum = raw.reduce(0, +)
        return raw.map { Float($0 / sum) }
    }

    private static func bessel(_ x: Double) -> Double {
        var (term, sum) = (1.0, 1.0)
        for index in 1...50 {
            term *= x * x / 4 / Double(index * index)
            sum += term
        }
        return sum
    }
}
