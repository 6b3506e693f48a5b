/// Mixes two frames sample by sample: 8-bit planes, with rows of `stride` bytes of which `width` are samples.
public enum FrameBlend {
    /// One plane of a frame, for reading.
    @safe
    public struct Plane {
        let samples: UnsafeBufferPointer<UInt8>
        let stride: Int

        public init(_ samples: UnsafeBufferPointer<UInt8>, stride: Int) {
            unsafe self.samples = samples
            self.stride = stride
        }
    }

    /// Crossfade: each sample becomes `(first · (256 − weight) + second · weight + 128) / 256`, rounded down. Does not
    /// allocate. Rows that are not completely inside all three buffers are not changed.
    ///
    /// - Parameters:
    ///   - weight: 0 (only `first`) … 256 (only `second`); values outside are clamped.
    ///   - target: Receives the result; must not overlap `first` or `second`. Bytes after `width` in each row are not
    ///     changed.
    public static func mix(
        _ first: Plane, _ second: Plane, weight: Int, into target: UnsafeMutableBufferPointer<UInt8>, stride: Int,
        width: Int, height: Int
    ) {
        let rows = unsafe min(
            height, self.rows(first.samples.count, first.stride, width),
            self.rows(second.samples.count, second.stride, width), self.rows(target.count, stride, width))
        guard rows > 0, let left = unsafe first.samples.baseAddress, let right = unsafe second.samples.baseAddress,
            let output = target.baseAddress
        else { return }
        let share = UInt16(clamping: max(0, min(256, weight)))
        for row in 0..<rows {
            // `rows` was counted so that `width` bytes from each of these starts lie inside its buffer.
            unsafe self.mixRow(
                left + row &* first.stride, right + row &* second.stride, share, output + row &* stride, width)
        }
    }

    /// Returns the number of whole rows of `width` samples in a buffer of `count` bytes.
    static func rows(_ count: Int, _ stride: Int, _ width: Int) -> Int {
        guard width > 0, stride >= width, count >= width else { return 0 }
        return (count - width) / stride + 1
    }

    /// Mixes one row. All three pointers must have `width` bytes.
    private static func mixRow(
        _ first: UnsafePointer<UInt8>, _ second: UnsafePointer<UInt8>, _ share: UInt16,
        _ target: UnsafeMutablePointer<UInt8>, _ width: Int
    ) {
        // 255 · 256 + 128 fits in 16 bits, so sixteen samples fit in one vector of 16-bit lanes.
        let rest = 256 &- share
        let (left, right) = unsafe (UnsafeRawPointer(first), UnsafeRawPointer(second))
        let output = UnsafeMutableRawPointer(target)
        var index = 0
        while index &+ 16 <= width {
            let a = unsafe left.loadUnaligned(fromByteOffset: index, as: SIMD16<UInt8>.self)
            let b = unsafe right.loadUnaligned(fromByteOffset: index, as: SIMD16<UInt8>.self)
            let sum =
                SIMD16<UInt16>(truncatingIfNeeded: a) &* rest &+ SIMD16<UInt16>(truncatingIfNeeded: b) &* share &+ 128
            unsafe output.storeBytes(
                of: SIMD16<UInt8>(truncatingIfNeeded: sum &>> 8), toByteOffset: index, as: SIMD16<UInt8>.self)
            index &+= 16
        }
        while index < width {
            let sum = unsafe UInt16(first[index]) &* rest &+ UInt16(second[index]) &* share &+ 128
            unsafe target[index] = UInt8(truncatingIfNeeded: sum &>> 8)
            index &+= 1
        }
    }
}
