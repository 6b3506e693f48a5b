/// Converts 8-bit 4:2:0 frames of limited range, in BT.709 or BT.601, to the colors of JPEG files: full range, BT.601.
///
/// Spec: ITU-T T.871 (JFIF) §7, ITU-R BT.709-6 §3, ITU-R BT.601-7 §2.5. Colors outside R'G'B' are not clipped to it.
public struct JFIFColors: Sendable {
    /// Number of fractional bits of the tables.
    private static let bits: Int32 = 14

    /// Whether the matrix of the frames is BT.601, so that only the range changes.
    private let isBT601: Bool
    /// Seven tables of 256 values with ``bits`` fractional bits: what a sample adds to one of the result. Luma from luma, from
    /// Cb and from Cr; Cb from Cb and from Cr; Cr from Cr and from Cb.
    private let sums: [Int32]
    /// Chroma of limited range as full range.
    private static let fullChroma = LevelMap {
        UInt8(clamping: (($0 < 128 ? -112 : 112) + (Int($0) - 128) * 255) / 224 + 128)
    }

    /// - Parameter isBT601: Whether the matrix of the frames is BT.601; otherwise it is BT.709.
    public init(isBT601: Bool) {
        self.isBT601 = isBT601
        let (one, half) = (1 << Int(Self.bits), 1 << (Int(Self.bits) - 1))
        let luma = (0..<256).map { Int32(clamping: ($0 - 16) * 255 * one / 219 + half) }
        /// The part of a chroma sample, times `share` millionths.
        func chroma(_ share: Int, plus offset: Int = 0) -> [Int32] {
            (0..<256).map { Int32(clamping: ($0 - 128) * 255 * one * share / (224 * 1_000_000) + offset) }
        }
        // The shares follow from the luma weights of red and blue: 0.2126 and 0.0722 in BT.709, 0.299 and 0.114 in BT.601.
        let middle = 128 * one + half
        let tables = [
            luma, chroma(101_579), chroma(196_076), chroma(989_854, plus: middle), chroma(-110_653),
            chroma(983_398, plus: middle), chroma(-72_453),
        ]
        self.sums = Array(tables.joined())
    }

    /// Converts a frame. Does nothing if a plane is too short. Does not allocate.
    ///
    /// - Parameter outLuma: Receives the luma; its size is that of the frame. `outCb` and `outCr` have half its width and
    ///   height, rounded up. They must not overlap the frame.
    public func convert(
        luma: FrameBlend.Plane, cb: FrameBlend.Plane, cr: FrameBlend.Plane, into outLuma: PackedFrame.Target,
        _ outCb: PackedFrame.Target, _ outCr: PackedFrame.Target
    ) {
        let (width, height) = (outLuma.width, outLuma.height)
        guard outLuma.isWhole, outCb.isWhole, outCr.isWhole else { return }
        let (columns, lines) = (outCb.width, outCb.height)
        guard columns == (width + 1) / 2, lines == (height + 1) / 2, outCr.width == columns, outCr.height == lines,
            unsafe FrameBlend.rows(luma.samples.count, luma.stride, width) >= height,
            unsafe FrameBlend.rows(cb.samples.count, cb.stride, columns) >= lines,
            unsafe FrameBlend.rows(cr.samples.count, cr.stride, columns) >= lines
        else { return }
        if self.isBT601 {
            LevelMap.fullRange.map(luma, into: outLuma)
            Self.fullChroma.map(cb, into: outCb)
            Self.fullChroma.map(cr, into: outCr)
            return
        }
        unsafe self.sums.withUnsafeBufferPointer { sums in
            guard let base = sums.baseAddress else { return }
            unsafe Self.convertLuma(base, luma, cb, cr, outLuma)
            unsafe Self.add(base + 768, cb, base + 1024, cr, outCb)
            unsafe Self.add(base + 1280, cr, base + 1536, cb, outCr)
        }
    }

    /// Adds the values of two planes of the same size in tables of 256. All rows of `output` lie inside both.
    private static func add(
        _ firstTable: UnsafePointer<Int32>, _ first: FrameBlend.Plane, _ secondTable: UnsafePointer<Int32>,
        _ second: FrameBlend.Plane, _ output: PackedFrame.Target
    ) {
        guard let one = unsafe first.samples.baseAddress, let other = unsafe second.samples.baseAddress,
            let to = unsafe output.samples.baseAddress
        else { return }
        for row in 0..<output.height {
            let (left, right) = unsafe (one + row &* first.stride, other + row &* second.stride)
            let target = unsafe to + row &* output.stride
            for column in 0..<output.width {
                let sum = unsafe firstTable[Int(left[column])] &+ secondTable[Int(right[column])]
                unsafe target[column] = UInt8(clamping: sum &>> self.bits)
            }
        }
    }

    /// Computes luma from luma and chroma. All rows of `output` lie inside `luma`, and half as many, rounded up, inside
    /// `cb` and `cr`.
    private static func convertLuma(
        _ tables: UnsafePointer<Int32>, _ luma: FrameBlend.Plane, _ cb: FrameBlend.Plane, _ cr: FrameBlend.Plane,
        _ output: PackedFrame.Target
    ) {
        guard let samples = unsafe luma.samples.baseAddress, let blue = unsafe cb.samples.baseAddress,
            let red = unsafe cr.samples.baseAddress, let to = unsafe output.samples.baseAddress
        else { return }
        for row in 0..<output.height {
            let source = unsafe samples + row &* luma.stride
            let (left, right) = unsafe (blue + row / 2 &* cb.stride, red + row / 2 &* cr.stride)
            let target = unsafe to + row &* output.stride
            var column = 0
            while column < output.width {
                let half = column / 2
                let color = unsafe tables[256 &+ Int(left[half])] &+ tables[512 &+ Int(right[half])]
                unsafe target[column] = UInt8(clamping: (tables[Int(source[column])] &+ color) &>> self.bits)
                column &+= 1
                guard column < output.width else { break }
                unsafe target[column] = UInt8(clamping: (tables[Int(source[column])] &+ color) &>> self.bits)
                column &+= 1
            }
        }
    }
}
