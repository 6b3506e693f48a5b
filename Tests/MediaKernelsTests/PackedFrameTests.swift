import MediaKernels
import TestSupport
import Testing

@Suite("Packed frames: drawn exactly as the frames that they were packed from")
struct PackedFrameTests {
    /// Rows of `stride` samples, of which `width` are visible.
    struct Samples {
        var bytes: [UInt8]
        let width: Int
        let height: Int
        let stride: Int

        init(_ width: Int, _ height: Int, _ random: inout TestRandom, values: ClosedRange<UInt8> = 0...255) {
            (self.width, self.height) = (width, height)
            self.stride = width + Int.random(in: 0...9, using: &random)
            self.bytes = (0..<self.stride * height).map { _ in UInt8.random(in: values, using: &random) }
        }

        func withPlane<R>(_ body: (FrameBlend.Plane) -> R) -> R {
            self.bytes.withUnsafeBufferPointer { body(FrameBlend.Plane($0, stride: self.stride)) }
        }
    }

    struct Frame {
        var luma: Samples
        var cb: Samples
        var cr: Samples
        var alpha: Samples

        init(_ width: Int, _ height: Int, _ random: inout TestRandom, values: ClosedRange<UInt8> = 0...255) {
            self.luma = Samples(width, height, &random, values: values)
            self.cb = Samples(width / 2, height / 2, &random, values: values)
            self.cr = Samples(width / 2, height / 2, &random, values: values)
            self.alpha = Samples(width, height, &random)
        }

        /// Sets the alpha of a rectangle.
        mutating func fill(_ columns: Range<Int>, _ rows: Range<Int>, alpha: UInt8) {
            for row in rows {
                for column in columns { self.alpha.bytes[row * self.alpha.stride + column] = alpha }
            }
        }

        func packed() -> PackedFrame? {
            var scratch: [UInt8] = []
            return self.luma.withPlane { luma in
                self.cb.withPlane { cb in
                    self.cr.withPlane { cr in
                        self.alpha.withPlane { alpha in
                            PackedFrame(
                                luma: luma, cb: cb, cr: cr, alpha: alpha, width: self.luma.width,
                                height: self.luma.height, scratch: &scratch)
                        }
                    }
                }
            }
        }

        /// Draws the frame with the kernels for whole planes.
        func draw(onto canvas: [Samples], x: Int, y: Int) -> [[UInt8]] {
            zip(canvas, [self.luma, self.cb, self.cr]).enumerated().map { plane, pair in
                var below = pair.0
                let above = pair.1
                let half = plane == 0 ? 0 : 1
                let (left, top, stride) = (x >> half, y >> half, below.stride)
                let (columns, lines) = (min(above.width, below.width - left), min(above.height, below.height - top))
                above.withPlane { above in
                    self.alpha.withPlane { alpha in
                        below.bytes.withUnsafeMutableBufferPointer {
                            let target = UnsafeMutableBufferPointer(rebasing: $0[(top * stride + left)...])
                            if plane == 0 {
                                AlphaBlend.drawFull(
                                    above, alpha, onto: target, stride: stride, width: columns, height: lines)
                            } else {
                                AlphaBlend.drawHalved(
                                    above, alpha, onto: target, stride: stride, width: self.cb.width,
                                    height: self.cb.height, columns: columns, lines: lines)
                            }
                        }
                    }
                }
                return below.bytes
            }
        }
    }

    private static func canvas(_ width: Int, _ height: Int, _ random: inout TestRandom) -> [Samples] {
        [
            Samples(width, height, &random), Samples((width + 1) / 2, (height + 1) / 2, &random),
            Samples((width + 1) / 2, (height + 1) / 2, &random),
        ]
    }

    private static func draw(_ frame: PackedFrame, onto canvas: [Samples], x: Int, y: Int) -> [[UInt8]] {
        var (luma, cb, cr) = (canvas[0], canvas[1], canvas[2])
        luma.bytes.withUnsafeMutableBufferPointer { first in
            cb.bytes.withUnsafeMutableBufferPointer { second in
                cr.bytes.withUnsafeMutableBufferPointer { third in
                    frame.draw(
                        onto: .init(first, stride: canvas[0].stride, width: canvas[0].width, height: canvas[0].height),
                        .init(second, stride: canvas[1].stride, width: canvas[1].width, height: canvas[1].height),
                        .init(third, stride: canvas[2].stride, width: canvas[2].width, height: canvas[2].height),
                        x: x, y: y)
                }
            }
        }
        return [luma.bytes, cb.bytes, cr.bytes]
    }

    @Test(
        "packed frames of random sizes, colors and transparency are drawn exactly, also over the right and bottom edge",
        arguments: 0..<80)
    func equalsUnpacked(seed: Int) throws {
        var random = TestRandom(seed: UInt64(seed))
        let (width, height) = (
            2 * Int.random(in: 1...90, using: &random), 2 * Int.random(in: 1...12, using: &random)
        )
        // Each number of bits in which the differences of a block fit.
        let values: ClosedRange<UInt8> = [7...7, 100...101, 252...255, 30...45, 0...255][seed % 5]
        var frame = Frame(width, height, &random, values: values)
        for _ in 0..<Int.random(in: 0...6, using: &random) {
            let (left, top) = (Int.random(in: 0..<width, using: &random), Int.random(in: 0..<height, using: &random))
            frame.fill(
                left..<Int.random(in: left...width, using: &random), top..<Int.random(in: top...height, using: &random),
                alpha: Bool.random(using: &random) ? 0 : 255)
        }
        let canvas = Self.canvas(
            Int.random(in: 1...200, using: &random), Int.random(in: 1...30, using: &random), &random)
        let (x, y) = (
            Int.random(in: 0..<canvas[0].width, using: &random) & ~1,
            Int.random(in: 0..<canvas[0].height, using: &random) & ~1
        )
        let packed = try #require(frame.packed())
        #expect(packed.width == width && packed.height == height)
        #expect(
            Self.draw(packed, onto: canvas, x: x, y: y) == frame.draw(onto: canvas, x: x, y: y),
            "\(width)x\(height) at \(x),\(y) of \(canvas[0].width)x\(canvas[0].height)")
    }

    @Test("what is transparent needs almost no memory in a packed frame, also over more tiles than one byte counts")
    func transparentIsLeftOut() throws {
        var random = TestRandom(seed: 1)
        var frame = Frame(8192, 4, &random)
        frame.fill(0..<8192, 0..<4, alpha: 0)
        let clear = try #require(frame.packed())
        #expect(clear.byteCount < 200)
        frame.fill(8191..<8192, 3..<4, alpha: 9)
        let canvas = Self.canvas(8192, 4, &random)
        let packed = try #require(frame.packed())
        #expect(packed.byteCount < 400)
        #expect(Self.draw(clear, onto: canvas, x: 0, y: 0) == canvas.map(\.bytes))
        #expect(Self.draw(packed, onto: canvas, x: 0, y: 0) == frame.draw(onto: canvas, x: 0, y: 0))
    }

    @Test("opaque parts of a packed frame need no alpha, and flat colors need few bytes")
    func opaqueIsSmall() throws {
        var random = TestRandom(seed: 2)
        var frame = Frame(640, 64, &random)
        frame.fill(0..<640, 0..<64, alpha: 255)
        #expect(try #require(frame.packed()).byteCount < 640 * 64 * 3 / 2 * 11 / 10)
        var flat = Frame(640, 64, &random, values: 80...95)
        flat.fill(0..<640, 0..<64, alpha: 255)
        #expect(try #require(flat.packed()).byteCount < 640 * 64 * 3 / 4 * 12 / 10)
    }

    @Test(
        "a frame of an odd or too large size is not packed, and one outside a canvas, or on planes too short, is not drawn"
    )
    func refused() throws {
        var random = TestRandom(seed: 3)
        let bytes = [UInt8](repeating: 1, count: 4 * 9000)
        var scratch: [UInt8] = []
        let sizes: [(Int, Int)] = [
            (3, 2), (2, 3), (0, 2), (2, 0), (8194, 2), (2, 8194), (.max, .max), (-2, 2), (2, 6),
        ]
        bytes.withUnsafeBufferPointer { samples in
            let plane = FrameBlend.Plane(samples, stride: 9000)
            for (width, height) in sizes {
                let packed = PackedFrame(
                    luma: plane, cb: plane, cr: plane, alpha: plane, width: width, height: height, scratch: &scratch)
                #expect(packed == nil, "\(width)x\(height)")
            }
        }
        let frame = Frame(8, 8, &random)
        let packed = try #require(frame.packed())
        let canvas = Self.canvas(16, 16, &random)
        let places: [(Int, Int)] = [(16, 0), (0, 16), (-2, 0), (0, -2), (.max, .max)]
        for (x, y) in places {
            #expect(Self.draw(packed, onto: canvas, x: x, y: y) == canvas.map(\.bytes))
        }
        var short = canvas
        short[1].bytes.removeLast()
        if short[1].stride > short[1].width { short[1].bytes.removeLast(short[1].stride - short[1].width) }
        #expect(Self.draw(packed, onto: short, x: 0, y: 0) == short.map(\.bytes))
    }
}
