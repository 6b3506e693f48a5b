/// Weights for interpolating a sampled signal between two of its samples: sin(πx)/πx with a Kaiser window.
enum KaiserSinc {
    /// Returns the weights of `taps` samples for the position `fraction` (0…1) after sample number `taps / 2 - 1`. The
    /// sum of the weights is 1.
    ///
    /// - Parameter beta: Kaiser parameter: a larger value attenuates the stop band more, but the pass band ends
    ///   earlier. 4 gives 45 dB, 9.5 about 95 dB.
    static func weights(taps: Int, beta: Double, at fraction: Double) -> [Double] {
        let half = Double(taps) / 2
        let sine = self.sine(ofHalfTurns: fraction)
        let raw = (0..<taps).map { tap -> Double in
            let place = tap - (taps / 2 - 1)
            let distance = Double(place) - fraction
            guard distance != 0 else { return 1 }
            let inside = 1 - (distance / half) * (distance / half)
            guard inside > 0 else { return 0 }
            // sin(π(k − f)) is sin(πf) with the sign of (−1)ᵏ⁺¹.
            let sign: Double = place & 1 == 0 ? -1 : 1
            return sign * sine / (.pi * distance) * self.bessel(beta * inside.squareRoot()) / self.bessel(beta)
        }
        let sum = raw.reduce(0, +)
        return raw.map { $0 / sum }
    }

    /// Returns sin(πx) for x in 0…1.
    private static func sine(ofHalfTurns x: Double) -> Double {
        let angle = .pi * min(x, 1 - x)
        var (term, sum) = (angle, angle)
        for index in 1...12 {
            term *= -angle * angle / Double(2 * index * (2 * index + 1))
            sum += term
        }
        return sum
    }

    /// Returns the modified Bessel function I₀ of x, for x up to about 15.
    private static func bessel(_ x: Double) -> Double {
        var (term, sum) = (1.0, 1.0)
        for index in 1...50 {
            term *= x * x / 4 / Double(index * index)
            sum += term
        }
        return sum
    }
}
