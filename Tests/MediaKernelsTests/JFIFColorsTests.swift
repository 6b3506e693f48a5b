import MediaKernels
import TestSupport
import Testing

@Suite("Colors of JPEG files: JFIF")
struct JFIFColorsTests {
    private typealias Samples = PackedFrameTests.Samples

    /// Full-range BT.601 of a color, in real numbers: by way of R'G'B'.
    private static func converted(_ y: UInt8, _ cb: UInt8, _ cr: UInt8, isBT601: Bool) -> [Double] {
        let (kr, kb) = isBT601 ? (0.299, 0.114) : (0.2126, 0.0722)
        let (luma, blue, red) = ((Double(y) - 16) / 219, (Double(cb) - 128) / 224, (Double(cr) - 128) / 224)
        let (r, b) = (luma + 2 * (1 - kr) * red, luma + 2 * (1 - kb) * blue)
        let g = (luma - kr * r - kb * b) / (1 - kr - kb)
        let result = 0.299 * r + 0.587 * g + 0.114 * b
        return [result * 255, (b - result) / 1.772 * 255 + 128, (r - result) / 1.402 * 255 + 128]
            .map { min(255, max(0, $0)) }
    }

    private static func convert(_ frame: [Samples], into target: [Samples], isBT601: Bool) -> [[UInt8]] {
        var (luma, cb, cr) = (target[0], target[1], target[2])
        frame[0].withPlane { first in
            frame[1].withPlane { second in
                frame[2].withPlane { third in
                    luma.bytes.withUnsafeMutableBufferPointer { one in
                        cb.bytes.withUnsafeMutableBufferPointer { two in
                            cr.bytes.withUnsafeMutableBufferPointer { three in
                                JFIFColors(isBT601: isBT601).convert(
                                    luma: first, cb: second, cr: third,
                                    into: .init(
                                        one, stride: target[0].stride, width: target[0].width, height: target[0].height),
                                    .init(
                                        two, stride: target[1].stride, width: target[1].width, height: target[1].height),
                                    .init(
                                        three, stride: target[2].stride, width: target[2].width,
                                        height: target[2].height))
                            }
                        }
                    }
                }
            }
        }
        return [luma.bytes, cb.bytes, cr.bytes]
    }

    private static func planes(_ width: Int, _ height: Int, _ random: inout TestRandom) -> [Samples] {
        [
            Samples(width, height, &random), Samples((width + 1) / 2, (height + 1) / 2, &random),
            Samples((width + 1) / 2, (height + 1) / 2, &random),
        ]
    }

    @Test("colors are converted to those of JPEG files within rounding, and nothing else is written", arguments: 0..<40)
    func equalsReference(seed: Int) {
        var random = TestRandom(seed: UInt64(seed))
        let isBT601 = seed % 2 == 0
        let (width, height) = (Int.random(in: 1...70, using: &random), Int.random(in: 1...9, using: &random))
        let frame = Self.planes(width, height, &random)
        let target = Self.planes(width, height, &random)
        let result = Self.convert(frame, into: target, isBT601: isBT601)
        for row in 0..<height {
            for column in 0..<width {
                let (cbAt, crAt) = (
                    row / 2 * frame[1].stride + column / 2, row / 2 * frame[2].stride + column / 2
                )
                let expected = Self.converted(
                    frame[0].bytes[row * frame[0].stride + column], frame[1].bytes[cbAt], frame[2].bytes[crAt],
                    isBT601: isBT601)
                let (lumaAt, outCb, outCr) = (
                    row * target[0].stride + column, row / 2 * target[1].stride + column / 2,
                    row / 2 * target[2].stride + column / 2
                )
                let found = [result[0][lumaAt], result[1][outCb], result[2][outCr]]
                for plane in 0..<3 {
                    #expect(abs(Double(found[plane]) - expected[plane]) < 0.52, "\(found) for \(expected)")
                }
            }
        }
        for plane in 0..<3 {
            let (samples, stride) = (target[plane], target[plane].stride)
            for index in samples.bytes.indices where index % stride >= samples.width {
                #expect(result[plane][index] == samples.bytes[index])
            }
        }
    }

    @Test("planes that are too short for a frame are not converted to colors of JPEG files")
    func shortPlanes() {
        var random = TestRandom(seed: 5)
        let target = Self.planes(16, 8, &random)
        for plane in 0..<3 {
            var frame = Self.planes(16, 8, &random)
            frame[plane].bytes.removeLast(frame[plane].bytes.count / 2)
            for isBT601 in [false, true] {
                #expect(Self.convert(frame, into: target, isBT601: isBT601) == target.map(\.bytes))
            }
        }
    }
}
