import MediaKernels

/// ``DriftResampler`` without optimizations: computes a windowed sinc for every pair, in double precision.
struct PlainDriftResampler {
    private static let taps = DriftResampler.latencyPairs * 2
    private static let beta = 9.5

    private var heard: [Float] = Array(repeating: 0, count: (taps - 1) * 2)
    /// Position of the next pair after the beginning of `heard`.
    private var place = 0.0

    mutating func processed(_ samples: [Float], partsPerBillion: Int) -> [Float] {
        self.heard += samples
        var output: [Float] = []
        let step = 1e9 / Double(1_000_000_000 + partsPerBillion)
        while Int(self.place) + Self.taps <= self.heard.count / 2 {
            let first = Int(self.place)
            let weights = Self.weights(at: self.place - Double(first))
            for channel in 0..<2 {
                output.append(
                    Float(
                        (0..<Self.taps).reduce(0.0) {
                            $0 + weights[$1] * Double(self.heard[2 * (first + $1) + channel])
                        })
                )
            }
            self.place += step
        }
        let spent = self.heard.count / 2 - (Self.taps - 1)
        self.heard.removeFirst(2 * spent)
        self.place -= Double(spent)
        return output
    }

    private static func weights(at fraction: Double) -> [Double] {
        let half = Double(self.taps) / 2
        let sine = self.sine(.pi * min(fraction, 1 - fraction))
        let raw = (0..<self.taps).map { tap -> Double in
            let distance = Double(tap + 1) - half - fraction
            guard abs(distance) > 1e-12 else { return 1 }
            let inside = max(0, 1 - (distance / half) * (distance / half))
            let sign: Double = (tap + 1 - self.taps / 2) & 1 == 0 ? -1 : 1
            return sign * sine / (.pi * distance) * self.bessel(self.beta * inside.squareRoot())
                / self.bessel(self.beta)
        }
        let sum = raw.reduce(0, +)
        return raw.map { $0 / sum }
    }

    private static func sine(_ angle: Double) -> Double {
        var (term, sum) = (angle, angle)
        for index in 1...12 {
            term *= -angle * angle / Double(2 * index * (2 * index + 1))
            sum += term
        }
        return sum
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
