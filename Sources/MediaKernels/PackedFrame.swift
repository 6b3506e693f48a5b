/// A frame with an alpha plane, 8-bit 4:2:0, in little memory: what is completely transparent is left out, the alpha of
/// what is completely opaque as well, and the rest is packed without loss (``BlockPacking``). Drawn over another frame, it
/// gives the same samples as the frame that it was packed from.
///
/// The frame is divided into tiles of 32 by 2 samples, stored row by row from the left. A tile is:
/// - ``Tile/clear``, followed by the number of transparent tiles from this one on in this row, 1…255; or
/// - ``Tile/opaque``, followed by the packed blocks of luma (64 samples), Cb and Cr (16 each); or
/// - ``Tile/mixed``, followed by those of alpha (64), luma, Cb and Cr.
///
/// In a tile that reaches beyond the right edge, the last sample of each row is repeated.
@safe
public struct PackedFrame: Sendable {
    /// First byte of a tile.
    enum Tile {
        static let clear: UInt8 = 0
        static let opaque: UInt8 = 1
        static let mixed: UInt8 = 2
    }

    /// Width of a tile in samples; its height is 2.
    static let tileWidth = 32
    /// Largest size of a tile in bytes.
    static let mostTileBytes = 1 + 2 * BlockPacking.mostBytes(64) + 2 * BlockPacking.mostBytes(16)

    /// Size in samples; even, 2…8192.
    public let width: Int
    public let height: Int
    /// The tiles, then ``mostTileBytes`` zeros, so that a tile can be read without a check of its length.
    let bytes: [UInt8]

    /// Number of bytes of memory that the frame needs.
    public var byteCount: Int { self.bytes.count }

    /// Packs a frame.
    ///
    /// - Parameters:
    ///   - width: Samples per row of luma and alpha; Cb and Cr have half of it. `height`: in the same way.
    ///   - scratch: Memory that is reused from frame to frame; any content.
    /// - Returns: `nil` if the size is odd or out of range, or a plane is too short for it.
    public init?(
        luma: FrameBlend.Plane, cb: FrameBlend.Plane, cr: FrameBlend.Plane, alpha: FrameBlend.Plane, width: Int,
        height: Int, scratch: inout [UInt8]
    ) {
        guard width >= 2, height >= 2, width <= 8192, height <= 8192, width.isMultiple(of: 2),
            height.isMultiple(of: 2),
            unsafe FrameBlend.rows(luma.samples.count, luma.stride, width) >= height,
            unsafe FrameBlend.rows(alpha.samples.count, alpha.stride, width) >= height,
            unsafe FrameBlend.rows(cb.samples.count, cb.stride, width / 2) >= height / 2,
            unsafe FrameBlend.rows(cr.samples.count, cr.stride, width / 2) >= height / 2
        else { return nil }
        self.width = width
        self.height = height
        let tiles = (width + Self.tileWidth - 1) / Self.tileWidth
        let most = (tiles * height / 2 + 1) * Self.mostTileBytes
        if scratch.count < most { scratch = [UInt8](repeating: 0, count: most) }
        let packer = Packer(luma: luma, cb: cb, cr: cr, alpha: alpha, width: width, height: height)
        // `scratch` has space for the longest tile in every place, and for the zeros.
        self.bytes = unsafe scratch.withUnsafeMutableBufferPointer { output in
            guard let base = output.baseAddress else { return [] }
            let count = unsafe packer.pack(into: base)
            unsafe (base + count).update(repeating: 0, count: Self.mostTileBytes)
            return unsafe [UInt8](UnsafeBufferPointer(start: base, count: count + Self.mostTileBytes))
        }
    }
}

/// The planes of a frame that is packed. Every row lies inside its plane: checked by the initializer of ``PackedFrame``.
private struct Packer {
    let luma: FrameBlend.Plane
    let cb: FrameBlend.Plane
    let cr: FrameBlend.Plane
    let alpha: FrameBlend.Plane
    let width: Int
    let height: Int

    /// Writes all tiles to `output`, which has space for them, and returns the number of bytes.
    func pack(into output: UnsafeMutablePointer<UInt8>) -> Int {
        unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 64) { block -> Int in
            guard let block = block.baseAddress else { return 0 }
            var count = 0
            for line in 0..<self.height / 2 {
                var clear: UInt8 = 0
                var column = 0
                while column < self.width {
                    unsafe self.gather(
                        self.alpha, row: 2 * line, rows: 2, column, PackedFrame.tileWidth, self.width, block)
                    let (isClear, isOpaque) = unsafe Self.judge(block)
                    if !isClear || clear == .max { unsafe Self.flush(&clear, output, &count) }
                    if isClear {
                        clear &+= 1
                    } else {
                        unsafe output[count] = isOpaque ? PackedFrame.Tile.opaque : PackedFrame.Tile.mixed
                        count &+= 1
                        if !isOpaque { unsafe count &+= BlockPacking.pack(block, 64, into: output + count) }
                        unsafe self.gather(
                            self.luma, row: 2 * line, rows: 2, column, PackedFrame.tileWidth, self.width, block)
                        unsafe count &+= BlockPacking.pack(block, 64, into: output + count)
                        unsafe count &+= self.packChroma(self.cb, line, column / 2, block, into: output + count)
                        unsafe count &+= self.packChroma(self.cr, line, column / 2, block, into: output + count)
                    }
                    column &+= PackedFrame.tileWidth
                }
                unsafe Self.flush(&clear, output, &count)
            }
            return count
        }
    }

    private func packChroma(
        _ plane: FrameBlend.Plane, _ row: Int, _ column: Int, _ block: UnsafeMutablePointer<UInt8>,
        into output: UnsafeMutablePointer<UInt8>
    ) -> Int {
        unsafe self.gather(plane, row: row, rows: 1, column, PackedFrame.tileWidth / 2, self.width / 2, block)
        return unsafe BlockPacking.pack(block, 16, into: output)
    }

    /// Writes the number of transparent tiles, unless it is 0.
    private static func flush(_ clear: inout UInt8, _ output: UnsafeMutablePointer<UInt8>, _ count: inout Int) {
        guard clear > 0 else { return }
        unsafe output[count] = PackedFrame.Tile.clear
        unsafe output[count &+ 1] = clear
        count &+= 2
        clear = 0
    }

    /// Copies `rows` rows of `size` samples of a plane from `column` on to `block`. Beyond `width`, the last sample of the
    /// row is repeated.
    private func gather(
        _ plane: FrameBlend.Plane, row: Int, rows: Int, _ column: Int, _ size: Int, _ width: Int,
        _ block: UnsafeMutablePointer<UInt8>
    ) {
        guard let samples = unsafe plane.samples.baseAddress else { return }
        let count = min(size, width &- column)
        for index in 0..<rows {
            let from = unsafe samples + ((row &+ index) &* plane.stride &+ column)
            let to = unsafe block + index &* size
            unsafe to.update(from: from, count: count)
            if count < size { unsafe (to + count).update(repeating: from[count &- 1], count: size &- count) }
        }
    }

    /// Whether the 64 alpha values of a tile are all 0, and whether they are all 255.
    private static func judge(_ alpha: UnsafePointer<UInt8>) -> (isClear: Bool, isOpaque: Bool) {
        let raw = unsafe UnsafeRawPointer(alpha)
        var any = SIMD16<UInt8>(repeating: 0)
        var all = SIMD16<UInt8>(repeating: 255)
        for index in 0..<4 {
            let next = unsafe raw.loadUnaligned(fromByteOffset: 16 &* index, as: SIMD16<UInt8>.self)
            any |= next
            all &= next
        }
        return (any == SIMD16(repeating: 0), all == SIMD16(repeating: 255))
    }
}
