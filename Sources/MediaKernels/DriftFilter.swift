/// The windowed sinc of ``DriftResampler``: interpolates a sampled signal between two of its samples.
///
/// ``taps`` samples around the position are weighted by sin(πx)/πx with a Kaiser window. A table contains the weights
/// for ``cells`` + 1 positions between two samples; weights in between are interpolated linearly. Both errors together
/// are below −90 dB for tones up to 16 kHz at 48 kHz.
enum DriftFilter {
    /// Number of samples from which each value is computed.
    static let taps = 24
    /// Number of table cells between two samples.
    static let cells = 256
    /// Kaiser parameter: a stop band of about 95 dB.
    private static let beta = 9.5

    /// For each cell and tap: the weight at the beginning of the cell, and its increase up to the end of the cell.
    private static let table: [Float] = {
        var rows = (0...cells).map { KaiserSinc.weights(taps: taps, beta: beta, at: Double($0) / Double(cells)) }
        // Exactly on a sample, the value is the sample.
        rows[0] = (0..<taps).map { $0 == taps / 2 - 1 ? 1 : 0 }
        rows[cells] = (0..<taps).map { $0 == taps / 2 ? 1 : 0 }
        var table: [Float] = []
        for (row, next) in zip(rows, rows.dropFirst()) {
            for (weight, later) in zip(row, next) { table += [Float(weight), Float(later - weight)] }
        }
        return table
    }()

    /// Writes `count` pairs, each interpolated `step / scale` pairs after the previous one. Does not allocate.
    ///
    /// - Parameters:
    ///   - input: Interleaved stereo. It must contain all windows: ``taps`` pairs from the beginning of each.
    ///   - place: Beginning of the first window, in units of 1/`scale` pair. Not negative.
    ///   - scale: Number of units per pair.
    ///   - step: Distance between the beginnings of two windows, in the same units; about as large as `scale`.
    ///   - output: Interleaved stereo, with space for `count` pairs.
    static func run(
        _ input: UnsafePointer<Float>, place: Int64, scale: Int64, step: Int64,
        into output: UnsafeMutablePointer<Float>,
        count: Int
    ) {
        unsafe self.table.withUnsafeBufferPointer { table in
            guard let rows = table.baseAddress else { return }
            let inverse = Double(self.cells) / Double(scale)
            let drift = step &- scale
            let perPair = Float(Double(drift) * inverse)
            var first = Int(place / scale)
            var rest = place % scale
            var done = 0
            while done < count {
                let last = rest &+ drift &* 3
                if count &- done >= 4, last >= 0, last < scale {
                    // Four windows at once; their positions differ so little that all of them are interpolated in the
                    // same table cell.
                    let middle = Double(rest &+ last) * 0.5 * inverse
                    // `middle` is below `cells`, but a product may round up to it.
                    let cell = min(self.cells &- 1, Int(middle))
                    let offset = Float(Double(rest) * inverse - Double(cell))
                    unsafe self.four(
                        UnsafeRawPointer(input + first &* 2), row: UnsafeRawPointer(rows + cell &* self.taps &* 2),
                        offset: offset, perPair: perPair, into: UnsafeMutableRawPointer(output + done &* 2))
                    done &+= 4
                    first &+= 4
                    rest = last &+ drift
                } else {
                    let exact = Double(rest) * inverse
                    let cell = min(self.cells &- 1, Int(exact))
                    unsafe self.one(
                        input + first &* 2, row: rows + cell &* self.taps &* 2, offset: Float(exact - Double(cell)),
                        into: output + done &* 2)
                    done &+= 1
                    first &+= 1
                    rest &+= drift
                }
                if rest < 0 {
                    rest &+= scale
                    first &-= 1
                } else if rest >= scale {
                    rest &-= scale
                    first &+= 1
                }
            }
        }
    }

    /// Computes four output pairs whose windows begin at successive pairs of `input`. Their weights are those of `row`,
    /// extrapolated to positions `offset`, `offset + perPair`, … table cells after it.
    @inline(__always)
    private static func four(
        _ input: UnsafeRawPointer, row: UnsafeRawPointer, offset: Float, perPair: Float,
        into output: UnsafeMutableRawPointer
    ) {
        // Two accumulators of each kind, because an addition waits for the previous one.
        var (evenBase, oddBase) = (SIMD8<Float>(), SIMD8<Float>())
        var (evenSlope, oddSlope) = (SIMD8<Float>(), SIMD8<Float>())
        var tap = 0
        while tap < self.taps {
            let pair = 2 &* MemoryLayout<Float>.stride
            let weights = unsafe row.loadUnaligned(fromByteOffset: tap &* pair, as: SIMD4<Float>.self)
            let even = unsafe input.loadUnaligned(fromByteOffset: tap &* pair, as: SIMD8<Float>.self)
            let odd = unsafe input.loadUnaligned(fromByteOffset: (tap &+ 1) &* pair, as: SIMD8<Float>.self)
            evenBase += even * weights[0]
            evenSlope += even * weights[1]
            oddBase += odd * weights[2]
            oddSlope += odd * weights[3]
            tap &+= 2
        }
        let offsets = SIMD8<Float>(0, 0, 1, 1, 2, 2, 3, 3) * perPair + offset
        let value = (evenBase + oddBase) + (evenSlope + oddSlope) * offsets
        unsafe output.storeBytes(of: value, as: SIMD8<Float>.self)
    }

    @inline(__always)
    private static func one(
        _ input: UnsafePointer<Float>, row: UnsafePointer<Float>, offset: Float,
        into output: UnsafeMutablePointer<Float>
    ) {
        var value = SIMD2<Float>()
        for tap in 0..<self.taps {
            let weight = unsafe row[2 &* tap] + row[2 &* tap &+ 1] * offset
            unsafe value += SIMD2(input[2 &* tap], input[2 &* tap &+ 1]) * weight
        }
        unsafe output[0] = value[0]
        unsafe output[1] = value[1]
    }
}
