/// Packs the samples of small blocks of a plane without loss: a block whose samples differ little is stored as its least
/// sample and the differences from it in 1, 2 or 4 bits each.
///
/// A packed block is one byte with the number of bits of a difference (0, 1, 2, 4, or 8 for unpacked samples). Unless it
/// is 8, the least sample follows. Then come the differences: with `n` bytes of differences, byte `i` contains those of the
/// samples `i`, `n + i`, `2n + i` and so on, the first in the lowest bits.
enum BlockPacking {
    /// Largest size in bytes of a packed block of `count` samples.
    static func mostBytes(_ count: Int) -> Int { count &+ 1 }

    /// Packs a block.
    ///
    /// - Parameters:
    ///   - count: Number of samples, a multiple of 16.
    ///   - output: Receives at most ``mostBytes(_:)`` bytes; must not overlap `samples`.
    /// - Returns: The number of bytes written.
    static func pack(
        _ samples: UnsafePointer<UInt8>, _ count: Int, into output: UnsafeMutablePointer<UInt8>
    ) -> Int {
        let raw = unsafe UnsafeRawPointer(samples)
        var low = unsafe raw.loadUnaligned(as: SIMD16<UInt8>.self)
        var high = low
        var index = 16
        while index &+ 16 <= count {
            let next = unsafe raw.loadUnaligned(fromByteOffset: index, as: SIMD16<UInt8>.self)
            low.replace(with: next, where: next .< low)
            high.replace(with: next, where: next .> high)
            index &+= 16
        }
        let least = low.min()
        let bits = self.bits(for: high.max() &- least)
        unsafe output[0] = UInt8(truncatingIfNeeded: bits)
        guard bits < 8 else {
            unsafe (output + 1).update(from: samples, count: count)
            return 1 &+ count
        }
        unsafe output[1] = least
        guard bits > 0 else { return 2 }
        let size = count &* bits / 8
        let packed = unsafe output + 2
        unsafe packed.update(repeating: 0, count: size)
        var (from, shift) = (0, UInt8(0))
        while shift < 8 {
            for index in 0..<size {
                unsafe packed[index] |= (samples[from &+ index] &- least) &<< shift
            }
            from &+= size
            shift &+= UInt8(truncatingIfNeeded: bits)
        }
        return 2 &+ size
    }

    /// Returns the number of bits in which every number up to `range` fits: 0, 1, 2, 4 or 8.
    private static func bits(for range: UInt8) -> Int {
        switch range {
        case 0: 0
        case 1: 1
        case 2...3: 2
        case 4...15: 4
        default: 8
        }
    }

    /// Unpacks a block that ``pack(_:_:into:)`` wrote.
    ///
    /// - Parameters:
    ///   - count: The same number of samples.
    ///   - output: Receives `count` samples; must not overlap `input`.
    /// - Returns: The number of bytes that the packed block has.
    static func unpack(
        _ input: UnsafePointer<UInt8>, _ count: Int, into output: UnsafeMutablePointer<UInt8>
    ) -> Int {
        let bits = unsafe Int(input[0])
        guard bits < 8 else {
            unsafe output.update(from: input + 1, count: count)
            return 1 &+ count
        }
        let least = unsafe input[1]
        guard bits > 0 else {
            unsafe output.update(repeating: least, count: count)
            return 2
        }
        let size = count &* bits / 8
        let packed = unsafe UnsafeRawPointer(input + 2)
        let samples = UnsafeMutableRawPointer(output)
        let mask = UInt8(truncatingIfNeeded: (1 &<< bits) &- 1)
        var (to, shift) = (0, UInt8(0))
        while shift < 8 {
            var index = 0
            while index &+ 16 <= size {
                let bytes = unsafe packed.loadUnaligned(fromByteOffset: index, as: SIMD16<UInt8>.self)
                let differences = (bytes &>> SIMD16(repeating: shift)) & SIMD16(repeating: mask)
                unsafe samples.storeBytes(
                    of: differences &+ SIMD16(repeating: least), toByteOffset: to &+ index, as: SIMD16<UInt8>.self)
                index &+= 16
            }
            while index < size {
                let byte = unsafe packed.load(fromByteOffset: index, as: UInt8.self)
                unsafe output[to &+ index] = least &+ ((byte &>> shift) & mask)
                index &+= 1
            }
            to &+= size
            shift &+= UInt8(truncatingIfNeeded: bits)
        }
        return 2 &+ size
    }
}
