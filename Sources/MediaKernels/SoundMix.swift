/// The loops over samples. Sound is 32-bit float, interleaved stereo: left, right, left, right …
public enum SoundMix {
    /// Adds `source`, times a gain that runs linearly from `start` (at the first pair) towards `end` (reached just
    /// behind the last pair), onto `target`. No allocation.
    ///
    /// - Parameters:
    ///   - source: Interleaved stereo; as many floats as `target`. Only the pairs both have are mixed.
    ///   - start: Gain 0…2 at the first pair; `end` likewise.
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

    /// ``add(_:onto:from:to:)`` on the pairs of two arrays; pairs that either array does not have are left out.
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

    /// The largest magnitude in `samples`; 0 for none. NaN counts as nothing.
    public static func peak(_ samples: UnsafeBufferPointer<Float>) -> Float {
        // Integer order of the bit patterns without the sign is the order of magnitudes, and integer maximum is a
        // vector instruction where a float one with NaN rules is not. Signed, because the baseline of x86-64 compares no
        // other integers.
        let infinity: Int32 = 0x7f80_0000
        guard let base = samples.baseAddress else { return 0 }
        let raw = unsafe UnsafeRawPointer(base)
        var lanes = SIMD4<Int32>(repeating: 0)
        var index = 0
        // `index + 4 <= count` keeps the read inside the buffer.
        while index &+ 4 <= samples.count {
            let offset = index &* MemoryLayout<Float>.stride
            let bits = unsafe raw.loadUnaligned(fromByteOffset: offset, as: SIMD4<Int32>.self) & 0x7fff_ffff
            let numbers = bits.replacing(with: 0, where: bits .> infinity)
            lanes.replace(with: numbers, where: numbers .> lanes)
            index &+= 4
        }
        var best = lanes.max()
        while index < samples.count {
            let bits = unsafe Int32(bitPattern: base[index].bitPattern & 0x7fff_ffff)
            best = max(best, bits > infinity ? 0 : bits)
            index &+= 1
        }
        return Float(bitPattern: UInt32(bitPattern: best))
    }
}
