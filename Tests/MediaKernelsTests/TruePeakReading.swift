#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The true peak of audio by sixteen-fold oversampling with a long sinc in double precision, independent of the
/// limiter.
enum TruePeakReading {
    private static let factor = 16
    private static let reach = 32

    private static let weights: [[Double]] = (0..<factor).map { point in
        (-reach + 1...reach).map { tap in
            let x = Double(tap) - Double(point) / Double(factor)
            let inside = 1 - (x / Double(reach)) * (x / Double(reach))
            // A Hann window, since the long reach makes its slope steep enough.
            let window = inside > 0 ? 0.5 + 0.5 * cos(.pi * x / Double(reach)) : 0
            return x == 0 ? 1 : sin(.pi * x) / (.pi * x) * window
        }
    }

    /// The true peak of interleaved stereo, in decibels of full scale (dBTP).
    static func decibels(_ samples: [Float]) -> Double {
        var peak = 0.0
        let pairs = samples.count / 2
        for channel in 0..<2 {
            let audio = (0..<pairs).map { Double(samples[2 * $0 + channel]) }
            for place in Self.reach..<max(Self.reach, pairs - Self.reach) {
                // Only near a possible peak.
                guard max(abs(audio[place]), abs(audio[place + 1])) > 0.4 else { continue }
                for weights in Self.weights {
                    var value = 0.0
                    for tap in 0..<weights.count { value += weights[tap] * audio[place - Self.reach + 1 + tap] }
                    peak = max(peak, abs(value))
                }
            }
        }
        return 20 * log10(max(peak, 1e-9))
    }
}
