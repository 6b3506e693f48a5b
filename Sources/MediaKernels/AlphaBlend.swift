/// Draws a frame with an alpha plane over another frame, sample by sample: 8-bit planes with straight (not
/// premultiplied) alpha. The results equal those of FFmpeg's `overlay` filter for `yuv420p` under `yuva420p`.
///
/// Each sample becomes `(below · (255 − a) + above · a) / 255`, rounded to nearest. Neither function allocates.
public enum AlphaBlend {
    /// Draws one plane that has an alpha value for every sample, such as luma.
    ///
    /// Rows that are not completely inside all three buffers are not changed.
    ///
    /// - Parameters:
    ///   - alpha: 0 (only what is below) … 255 (only `above`) for each sample.
    ///   - target: The samples below, which receive the result; must not overlap `above` or `alpha`. Bytes after `width`
    ///     in each row are not changed.
    public static func drawFull(
        _ above: FrameBlend.Plane, _ alpha: FrameBlend.Plane, onto target: UnsafeMutableBufferPointer<UInt8>,
        stride: Int, width: Int, height: Int
    ) {
        let rows = unsafe min(
            height, FrameBlend.rows(above.samples.count, above.stride, width),
            FrameBlend.rows(alpha.samples.count, alpha.stride, width), FrameBlend.rows(target.count, stride, width))
        guard rows > 0, let samples = unsafe above.samples.baseAddress, let shares = unsafe alpha.samples.baseAddress,
            let output = target.baseAddress
        else { return }
        for row in 0..<rows {
            // `rows` was counted so that `width` bytes from each of these starts lie inside its buffer.
            unsafe self.drawRow(
                samples + row &* above.stride, shares + row &* alpha.stride, output + row &* stride, width)
        }
    }

    /// Draws one plane whose samples each cover two by two alpha values, such as chroma of 4:2:0. The alpha of a sample
    /// is the mean of its four values, rounded down. In the last column and the last row, it is computed from the first
    /// value and its neighbor inside the plane only, as FFmpeg does.
    ///
    /// Does nothing if one of the buffers is too short for the plane.
    ///
    /// - Parameters:
    ///   - alpha: Rows of `2 · width` values, `2 · height` rows.
    ///   - target: The samples below, which receive the result; must not overlap `above` or `alpha`.
    ///   - width: Samples per row of the whole drawn plane; its last column is special. `height`: in the same way.
    ///   - columns: Samples per row that are drawn, from the left; at most `width`. `lines`: in the same way.
    public static func drawHalved(
        _ above: FrameBlend.Plane, _ alpha: FrameBlend.Plane, onto target: UnsafeMutableBufferPointer<UInt8>,
        stride: Int, width: Int, height: Int, columns: Int, lines: Int
    ) {
        let (columns, lines) = (min(columns, width), min(lines, height))
        guard columns > 0, lines > 0, width < 1 << 16, height < 1 << 16,
            unsafe FrameBlend.rows(above.samples.count, above.stride, columns) >= lines,
            unsafe FrameBlend.rows(alpha.samples.count, alpha.stride, 2 &* columns) >= 2 &* lines,
            FrameBlend.rows(target.count, stride, columns) >= lines,
            let samples = unsafe above.samples.baseAddress, let shares = unsafe alpha.samples.baseAddress,
            let output = target.baseAddress
        else { return }
        for line in 0..<lines {
            // Every row lies inside its buffer: checked above for the last one.
            let source = unsafe samples + line &* above.stride
            let first = unsafe shares + 2 &* line &* alpha.stride
            let below = unsafe output + line &* stride
            var column = 0
            if line &+ 1 < height {
                let inner = min(columns, width &- 1)
                column = unsafe self.drawHalvedRow(source, first, first + alpha.stride, below, inner)
                while column < inner {
                    let at = 2 &* column
                    let sum =
                        unsafe UInt32(first[at]) &+ UInt32(first[at &+ 1])
                        &+ UInt32(first[alpha.stride &+ at]) &+ UInt32(first[alpha.stride &+ at &+ 1])
                    unsafe below[column] = self.mixed(below[column], source[column], sum >> 2)
                    column &+= 1
                }
            }
            while column < columns {
                let at = 2 &* column
                let corner = unsafe UInt32(first[at])
                let across =
                    column &+ 1 < width ? unsafe (corner &+ UInt32(first[at &+ 1])) >> 1 : corner
                let down =
                    line &+ 1 < height ? unsafe (corner &+ UInt32(first[alpha.stride &+ at])) >> 1 : corner
                unsafe below[column] = self.mixed(below[column], source[column], (across &+ down) >> 1)
                column &+= 1
            }
        }
    }

    /// Mixes one sample.
    ///
    /// - Parameter share: 0…255.
    @inline(__always)
    private static func mixed(_ below: UInt8, _ above: UInt8, _ share: UInt32) -> UInt8 {
        let sum = UInt32(below) &* (255 &- share) &+ UInt32(above) &* share &+ 128
        return UInt8(truncatingIfNeeded: (sum &* 257) >> 16)
    }

    /// Mixes sixteen samples. `share`: 0…255 in each lane.
    @inline(__always)
    private static func mixed(
        _ below: SIMD16<UInt8>, _ above: SIMD16<UInt8>, _ share: SIMD16<UInt16>
    ) -> SIMD16<UInt8> {
        // 255 · 255 + 128 fits in 16 bits. x · 257 / 65,536 is (x + x / 256) / 256, which fits as well.
        let sum =
            SIMD16<UInt16>(truncatingIfNeeded: below) &* (255 &- share)
            &+ SIMD16<UInt16>(truncatingIfNeeded: above) &* share &+ 128
        return SIMD16<UInt8>(truncatingIfNeeded: (sum &+ (sum &>> 8)) &>> 8)
    }

    /// Draws one row. All three pointers must have `width` bytes.
    static func drawRow(
        _ above: UnsafePointer<UInt8>, _ alpha: UnsafePointer<UInt8>, _ target: UnsafeMutablePointer<UInt8>,
        _ width: Int
    ) {
        let (samples, shares) = unsafe (UnsafeRawPointer(above), UnsafeRawPointer(alpha))
        let output = UnsafeMutableRawPointer(target)
        var index = 0
        while index &+ 16 <= width {
            let a = unsafe shares.loadUnaligned(fromByteOffset: index, as: SIMD16<UInt8>.self)
            // Most of a gift's rectangle is transparent.
            if a != SIMD16<UInt8>(repeating: 0) {
                let over = unsafe samples.loadUnaligned(fromByteOffset: index, as: SIMD16<UInt8>.self)
                let under = unsafe output.loadUnaligned(fromByteOffset: index, as: SIMD16<UInt8>.self)
                unsafe output.storeBytes(
                    of: self.mixed(under, over, SIMD16<UInt16>(truncatingIfNeeded: a)), toByteOffset: index,
                    as: SIMD16<UInt8>.self)
            }
            index &+= 16
        }
        while index < width {
            unsafe target[index] = self.mixed(target[index], above[index], UInt32(alpha[index]))
            index &+= 1
        }
    }

    /// Draws the samples of one row in groups of sixteen, and returns their number. `above` and `target` must have
    /// `width` bytes, both rows of alpha `2 · width`.
    private static func drawHalvedRow(
        _ above: UnsafePointer<UInt8>, _ first: UnsafePointer<UInt8>, _ second: UnsafePointer<UInt8>,
        _ target: UnsafeMutablePointer<UInt8>, _ width: Int
    ) -> Int {
        let (upper, lower) = unsafe (UnsafeRawPointer(first), UnsafeRawPointer(second))
        let samples = unsafe UnsafeRawPointer(above)
        let output = UnsafeMutableRawPointer(target)
        let low = SIMD16<UInt16>(repeating: 0xff)
        var index = 0
        while index &+ 16 <= width {
            // Two neighbors in each lane; their order does not matter for the sum.
            let one = unsafe upper.loadUnaligned(fromByteOffset: 2 &* index, as: SIMD16<UInt16>.self)
            let other = unsafe lower.loadUnaligned(fromByteOffset: 2 &* index, as: SIMD16<UInt16>.self)
            if (one | other) != SIMD16<UInt16>(repeating: 0) {
                let share = ((one & low) &+ (one &>> 8) &+ (other & low) &+ (other &>> 8)) &>> 2
                let over = unsafe samples.loadUnaligned(fromByteOffset: index, as: SIMD16<UInt8>.self)
                let under = unsafe output.loadUnaligned(fromByteOffset: index, as: SIMD16<UInt8>.self)
                unsafe output.storeBytes(
                    of: self.mixed(under, over, share), toByteOffset: index, as: SIMD16<UInt8>.self)
            }
            index &+= 16
        }
        return index
    }
}
