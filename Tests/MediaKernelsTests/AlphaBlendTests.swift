import MediaKernels
import TestSupport
import Testing

@Suite("Alpha blending kernels against plain loops")
struct AlphaBlendTests {
    /// One plane in a buffer that begins at `offset`.
    struct Plane {
        var bytes: [UInt8]
        var offset: Int
        var stride: Int

        init(width: Int, height: Int, _ random: inout TestRandom, values: ClosedRange<UInt8> = 0...255) {
            self.offset = Int.random(in: 0...17, using: &random)
            self.stride = width + Int.random(in: 0...40, using: &random)
            self.bytes = (0..<self.offset + self.stride * height).map { _ in UInt8.random(in: values, using: &random) }
        }

        subscript(row: Int, column: Int) -> UInt8 {
            get { self.bytes[self.offset + row * self.stride + column] }
            set { self.bytes[self.offset + row * self.stride + column] = newValue }
        }

        func withPlane(_ body: (FrameBlend.Plane) -> Void) {
            self.bytes.withUnsafeBufferPointer {
                body(FrameBlend.Plane(UnsafeBufferPointer(rebasing: $0[self.offset...]), stride: self.stride))
            }
        }
    }

    static func mixed(_ below: UInt8, _ above: UInt8, _ alpha: Int) -> UInt8 {
        UInt8((Int(below) * (255 - alpha) + Int(above) * alpha + 127) / 255)
    }

    @Test(
        "the alpha blending kernel draws random sizes, strides and alignments exactly, and writes nothing outside",
        arguments: 0..<60)
    func fullEqualsReference(seed: Int) {
        var random = TestRandom(seed: UInt64(seed))
        let width = Int.random(in: 1...130, using: &random)
        let height = Int.random(in: 1...9, using: &random)
        let above = Plane(width: width, height: height, &random)
        let alpha = Plane(width: width, height: height, &random, values: seed % 3 == 0 ? 0...1 : 0...255)
        var target = Plane(width: width, height: height, &random)
        var expected = target
        for row in 0..<height {
            for column in 0..<width {
                expected[row, column] = Self.mixed(target[row, column], above[row, column], Int(alpha[row, column]))
            }
        }
        let (offset, stride) = (target.offset, target.stride)
        above.withPlane { above in
            alpha.withPlane { alpha in
                target.bytes.withUnsafeMutableBufferPointer {
                    AlphaBlend.drawFull(
                        above, alpha, onto: UnsafeMutableBufferPointer(rebasing: $0[offset...]), stride: stride,
                        width: width, height: height)
                }
            }
        }
        #expect(target.bytes == expected.bytes)
    }

    @Test(
        "the alpha blending kernel draws planes with a quarter of the alpha's samples exactly, also only a part of a plane",
        arguments: 0..<60)
    func halvedEqualsReference(seed: Int) {
        var random = TestRandom(seed: UInt64(1000 + seed))
        let width = Int.random(in: 1...90, using: &random)
        let height = Int.random(in: 1...7, using: &random)
        let columns = seed % 2 == 0 ? width : Int.random(in: 1...width, using: &random)
        let lines = seed % 2 == 0 ? height : Int.random(in: 1...height, using: &random)
        let above = Plane(width: width, height: height, &random)
        let alpha = Plane(width: 2 * width, height: 2 * height, &random, values: seed % 3 == 0 ? 0...1 : 0...255)
        var target = Plane(width: width, height: height, &random)
        var expected = target
        for row in 0..<lines {
            for column in 0..<columns {
                let corner = Int(alpha[2 * row, 2 * column])
                let right = Int(alpha[2 * row, 2 * column + 1]), lower = Int(alpha[2 * row + 1, 2 * column])
                let mean: Int
                if row + 1 < height, column + 1 < width {
                    mean = (corner + right + lower + Int(alpha[2 * row + 1, 2 * column + 1])) / 4
                } else {
                    let across = column + 1 < width ? (corner + right) / 2 : corner
                    let down = row + 1 < height ? (corner + lower) / 2 : corner
                    mean = (across + down) / 2
                }
                expected[row, column] = Self.mixed(target[row, column], above[row, column], mean)
            }
        }
        let (offset, stride) = (target.offset, target.stride)
        above.withPlane { above in
            alpha.withPlane { alpha in
                target.bytes.withUnsafeMutableBufferPointer {
                    AlphaBlend.drawHalved(
                        above, alpha, onto: UnsafeMutableBufferPointer(rebasing: $0[offset...]), stride: stride,
                        width: width, height: height, columns: columns, lines: lines)
                }
            }
        }
        #expect(target.bytes == expected.bytes)
    }

    @Test(
        "alpha blending mixes all 256 sample values over every third sample value, at every seventh alpha, to the nearest value"
    )
    func isExact() {
        let above = (0...255).map { UInt8($0) }
        for share in stride(from: 0, through: 255, by: 7) {
            let alpha = [UInt8](repeating: UInt8(share), count: 256)
            for level in stride(from: 0, through: 255, by: 3) {
                var target = [UInt8](repeating: UInt8(level), count: 256)
                above.withUnsafeBufferPointer { above in
                    alpha.withUnsafeBufferPointer { alpha in
                        target.withUnsafeMutableBufferPointer {
                            AlphaBlend.drawFull(
                                FrameBlend.Plane(above, stride: 256), FrameBlend.Plane(alpha, stride: 256), onto: $0,
                                stride: 256, width: 256, height: 1)
                        }
                    }
                }
                #expect(target == above.map { Self.mixed(UInt8(level), $0, share) }, "\(level) at \(share)")
            }
        }
    }

    @Test(
        "buffers that are too short do not make the alpha blending kernel trap, and are drawn in whole rows or not at all"
    )
    func shortBuffers() {
        let bytes = [UInt8](repeating: 255, count: 20)
        var target = [UInt8](repeating: 7, count: 20)
        bytes.withUnsafeBufferPointer { source in
            target.withUnsafeMutableBufferPointer {
                let plane = FrameBlend.Plane(source, stride: 8)
                AlphaBlend.drawHalved(
                    plane, plane, onto: $0, stride: 8, width: 4, height: 3, columns: 4, lines: 3)
                AlphaBlend.drawFull(plane, plane, onto: $0, stride: 2, width: 4, height: 1)
                AlphaBlend.drawFull(plane, plane, onto: $0, stride: 8, width: -1, height: 1)
                AlphaBlend.drawHalved(
                    plane, plane, onto: $0, stride: 8, width: .max, height: .max, columns: .max, lines: .max)
            }
        }
        #expect(target == [UInt8](repeating: 7, count: 20), "nothing fits")
        bytes.withUnsafeBufferPointer { source in
            target.withUnsafeMutableBufferPointer {
                let plane = FrameBlend.Plane(source, stride: 8)
                AlphaBlend.drawFull(plane, plane, onto: $0, stride: 8, width: 4, height: 100)
            }
        }
        #expect(Array(target[16..<20]) == [255, 255, 255, 255], "the last whole row")
        #expect(Array(target[4..<8]) == [7, 7, 7, 7], "between the rows")
    }
}
