/// Peak of a signal between its samples, by four-fold oversampling.
///
/// Spec: ITU-R BS.1770-4 Annex 2. The interpolator has 16 taps instead of 12, which keeps its response flat up to 20
/// kHz. Peaks between the four points are missed: at most 0.5 dB, for a tone of 20 kHz.
enum TruePeak {
    /// Number of samples from which each point is computed.
    static let taps = 16
    /// Maximum ratio of an interpolated point to the largest sample.
    static let bound: Float = {
        [0.25, 0.5].map { place in
            Float(KaiserSinc.weights(taps: taps, beta: beta, at: place).reduce(0) { $0 + abs($1) })
        }.max() ?? 2
    }()

    private static let beta = 4.5

    /// For each tap: the weights for the points ¼, ½ and ¾ of a sample interval after a sample, and a zero.
    private static let table: [Float] = {
        let places = [0.25, 0.5, 0.75].map { KaiserSinc.weights(taps: taps, beta: beta, at: $0) }
        var table: [Float] = []
        for tap in 0..<taps { table += places.map { Float($0[tap]) } + [0] }
        return table
    }()

    /// Returns the largest magnitude of the interpolated points between the samples. Does not allocate.
    ///
    /// - Parameters:
    ///   - window: Interleaved stereo, ``taps`` − 1 pairs more than `pairs`.
    ///   - pairs: Number of pairs after which points are computed, a multiple of 4; the first of them is pair number
    ///     `taps / 2 - 1` of the window.
    static func between(_ window: UnsafePointer<Float>, pairs: Int) -> Float {
        unsafe self.table.withUnsafeBufferPointer { table in
            guard let weights = table.baseAddress else { return 0 }
            let (rows, samples) = unsafe (UnsafeRawPointer(weights), UnsafeRawPointer(window))
            var (high, low) = (SIMD8<Float>(), SIMD8<Float>())
            var first = 0
            // `first + 4 <= pairs`: the last read is of pair first + 3 + taps − 1, which the window has.
            while first &+ 4 <= pairs {
                var (quarter, half, threeQuarters) = (SIMD8<Float>(), SIMD8<Float>(), SIMD8<Float>())
                var tap = 0
                while tap < self.taps {
                    let row = unsafe rows.loadUnaligned(fromByteOffset: tap &* 16, as: SIMD4<Float>.self)
                    let lanes = unsafe samples.loadUnaligned(
                        fromByteOffset: (first &+ tap) &* 8, as: SIMD8<Float>.self)
                    quarter += lanes * row[0]
                    half += lanes * row[1]
                    threeQuarters += lanes * row[2]
                    tap &+= 1
                }
                high.replace(with: quarter, where: quarter .> high)
                low.replace(with: quarter, where: quarter .< low)
                high.replace(with: half, where: half .> high)
                low.replace(with: half, where: half .< low)
                high.replace(with: threeQuarters, where: threeQuarters .> high)
                low.replace(with: threeQuarters, where: threeQuarters .< low)
                first &+= 4
            }
            return max(high.max(), -low.min())
        }
    }
}
