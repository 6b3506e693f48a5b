/// Loops over audio samples: 32-bit float, interleaved stereo: left, right, left, right …
public enum AudioMix {
    /// Adds `source` onto `target`, multiplied by a gain that changes linearly from `start` (at the first pair) to
    /// `end` (reached just after the last pair). Does not allocate.
    ///
    /// - Parameters:
    ///   - source: Interleaved stereo; as many floats as `target`. Only pairs that exist in both are mixed.
    ///   - start: Gain at the first pair, a factor of at least 0, like `end`.
    public static func add(
        _ source: UnsafeBufferPointer<Float>, onto target: UnsafeMutableBufferPointer<Float>, from start: Float,
        to end: Float
    ) {
        let count = min(source.count, target.count) & ~1
        guard count > 0, let input = source.baseAddress, let output = target.baseAddress else { return }
        let pairs = count / 2
        let step = (end - start) / Float(pairs)
        let lanes = unsafe UnsafeRawPointer(input)
        let sums = UnsafeMutableRawPointer(output)
        let ramp = SIMD8<Float>(0, 0, 1, 1, 2, 2, 3, 3) * step
        var index = 0
        // Four pairs at a time; `index + 8 <= count` keeps both reads and the write inside the buffers.
        while index + 8 <= count {
            let gain = ramp + (start + step * Float(index / 2))
            let offset = index * MemoryLayout<Float>.stride
            let samples = unsafe lanes.loadUnaligned(fromByteOffset: offset, as: SIMD8<Float>.self)
            let sum = unsafe sums.loadUnaligned(fromByteOffset: offset, as: SIMD8<Float>.self)
            unsafe sums.storeBytes(of: sum + samples * gain, toByteOffset: offset, as: SIMD8<Float>.self)
            index += 8
        }
        while index < count {
            let gain = start + step * Float(index / 2)
            unsafe output[index] += input[index] * gain
            unsafe output[index + 1] += input[index + 1] * gain
            index += 2
        }
    }

    /// Adds the given pairs of one array onto those of another, like ``add(_:onto:from:to:)``; pairs that do not exist
    /// in both arrays are skipped.
    public static func add(
        _ source: [Float], onto target: inout [Float], pairs: Range<Int>, from start: Float, to end: Float
    ) {
        let inside = pairs.clamped(to: 0..<min(source.count, target.count) / 2)
        let floats = inside.lowerBound * 2..<inside.upperBound * 2
        guard !floats.isEmpty else { return }
        unsafe source.withUnsafeBufferPointer { source in
            unsafe target.withUnsafeMutableBufferPointer { target in
                // `floats` was clamped to both arrays above.
                unsafe self.add(
                    UnsafeBufferPointer(rebasing: source[floats]),
                    onto: UnsafeMutableBufferPointer(rebasing: target[floats]), from: start, to: end)
            }
        }
    }

    /// Adjusts the beginning of `samples` (interleaved stereo) so that it continues from the pair `last`: the step
    /// between them fades out over `pairs` pairs instead of being audible as a click.
    public static func join(_ samples: inout [Float], after last: SIMD2<Float>, pairs: Int) {
        let pairs = min(pairs, samples.count / 2)
        guard pairs > 0 else { return }
        let step = last - SIMD2(samples[0], samples[1])
        for pair in 0..<pairs {
            let rest = step * (1 - Float(pair + 1) / Float(pairs + 1))
            samples[2 * pair] += rest[0]
            samples[2 * pair + 1] += rest[1]
        }
    }

    /// Sets every sample to silence.
    public static func clear(_ samples: inout [Float]) {
        unsafe samples.withUnsafeMutableBufferPointer { unsafe $0.update(repeating: 0) }
    }

    /// Returns the largest magnitude in `samples`, of both channels; 0 if there are none. NaN is ignored.
    public static func peak(_ samples: UnsafeBufferPointer<Float>) -> Float {
        guard let base = samples.baseAddress else { return 0 }
        let raw = unsafe UnsafeRawPointer(base)
        // Separate maximum and minimum: a comparison with NaN is false, so NaN never replaces a number.
        var (high, low) = (SIMD16<Float>(), SIMD16<Float>())
        var index = 0
        // `index + 16 <= count` keeps the read inside the buffer.
        while index &+ 16 <= samples.count {
            let lanes = unsafe raw.loadUnaligned(
                fromByteOffset: index &* MemoryLayout<Float>.stride, as: SIMD16<Float>.self)
            high.replace(with: lanes, where: lanes .> high)
            low.replace(with: lanes, where: lanes .< low)
            index &+= 16
        }
        var best = max(high.max(), -low.min())
        while index < samples.count {
            let magnitude = unsafe abs(base[index])
            if magnitude > best { best = magnitude }
            index &+= 1
        }
        return best
    }

    /// Magnitude to which ``sanitize(_:)-(UnsafeMutableBufferPointer<Float>)`` limits samples: 18 dB above full scale,
    /// far more than any encoder overshoots.
    public static let largest: Float = 8

    /// Limits every float to ±``largest``; NaN becomes silence. Samples within the limit are not changed.
    ///
    /// A hostile stream can decode to anything, and a single NaN in a recursive filter would silence the room
    /// permanently.
    public static func sanitize(_ samples: UnsafeMutableBufferPointer<Float>) {
        guard let base = samples.baseAddress else { return }
        let raw = UnsafeMutableRawPointer(base)
        var index = 0
        // `index + 8 <= count` keeps the read and the write inside the buffer.
        while index &+ 8 <= samples.count {
            let offset = index &* MemoryLayout<Float>.stride
            var lanes = unsafe raw.loadUnaligned(fromByteOffset: offset, as: SIMD8<Float>.self)
            lanes.replace(with: 0, where: lanes .!= lanes)
            lanes.replace(with: self.largest, where: lanes .> self.largest)
            lanes.replace(with: -self.largest, where: lanes .< -self.largest)
            unsafe raw.storeBytes(of: lanes, toByteOffset: offset, as: SIMD8<Float>.self)
            index &+= 8
        }
        while index < samples.count {
            let sample = unsafe base[index]
            unsafe base[index] = sample.isNaN ? 0 : max(-self.largest, min(self.largest, sample))
            index &+= 1
        }
    }

    /// Limits every float of an array to ±``largest``; NaN becomes silence.
    public static func sanitize(_ samples: inout [Float]) {
        unsafe samples.withUnsafeMutableBufferPointer { unsafe self.sanitize($0) }
    }
}
