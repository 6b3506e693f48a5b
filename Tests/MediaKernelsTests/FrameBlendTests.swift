import MediaKernels
import TestSupport
import Testing

@Suite("Crossfade kernel against a plain loop")
struct FrameBlendTests {
    /// ``FrameBlend/mix(_:_:weight:into:stride:width:height:)`` for one sample.
    static func reference(_ first: UInt8, _ second: UInt8, weight: Int) -> UInt8 {
        UInt8((Int(first) * (256 - weight) + Int(second) * weight + 128) / 256)
    }

    @Test(
        "the crossfade kernel mixes random sizes, strides, alignments and weights exactly, and writes nothing outside",
        arguments: 0..<60)
    func mixEqualsReference(seed: Int) {
        var random = TestRandom(seed: UInt64(seed))
        let width = Int.random(in: 1...130, using: &random)
        let height = Int.random(in: 1...9, using: &random)
        let strides = (0..<3).map { _ in width + Int.random(in: 0...40, using: &random) }
        let offsets = (0..<3).map { _ in Int.random(in: 0...17, using: &random) }
        let weight = seed < 2 ? seed * 256 : Int.random(in: 0...256, using: &random)
        let bytes = (0..<3).map { plane in
            (0..<offsets[plane] + strides[plane] * height).map { _ in UInt8.random(in: 0...255, using: &random) }
        }
        var target = bytes[2]
        bytes[0].withUnsafeBufferPointer { first in
            bytes[1].withUnsafeBufferPointer { second in
                target.withUnsafeMutableBufferPointer { target in
                    FrameBlend.mix(
                        FrameBlend.Plane(UnsafeBufferPointer(rebasing: first[offsets[0]...]), stride: strides[0]),
                        FrameBlend.Plane(UnsafeBufferPointer(rebasing: second[offsets[1]...]), stride: strides[1]),
                        weight: weight, into: UnsafeMutableBufferPointer(rebasing: target[offsets[2]...]),
                        stride: strides[2], width: width, height: height)
                }
            }
        }
        var expected = bytes[2]
        for row in 0..<height {
            for column in 0..<width {
                expected[offsets[2] + row * strides[2] + column] = Self.reference(
                    bytes[0][offsets[0] + row * strides[0] + column], bytes[1][offsets[1] + row * strides[1] + column],
                    weight: weight)
            }
        }
        #expect(target == expected)
    }

    @Test("the crossfade kernel gives the exactly rounded 8-bit value, for every third level and every fifth weight")
    func isExact() {
        let second = (0...255).map { UInt8($0) }
        for weight in Array(stride(from: 0, through: 250, by: 5)) + [256] {
            for level in stride(from: 0, through: 255, by: 3) {
                let first = [UInt8](repeating: UInt8(level), count: 256)
                var target = [UInt8](repeating: 0, count: 256)
                first.withUnsafeBufferPointer { first in
                    second.withUnsafeBufferPointer { second in
                        target.withUnsafeMutableBufferPointer {
                            FrameBlend.mix(
                                FrameBlend.Plane(first, stride: 256), FrameBlend.Plane(second, stride: 256),
                                weight: weight, into: $0, stride: 256, width: 256, height: 1)
                        }
                    }
                }
                let expected = second.map { Self.reference(UInt8(level), $0, weight: weight) }
                #expect(target == expected, "\(level) at \(weight)")
            }
        }
    }

    @Test("short buffers and a weight out of range do not make the crossfade kernel trap; whole rows are mixed")
    func shortBuffers() {
        let bytes = [UInt8](repeating: 200, count: 20)
        var target = [UInt8](repeating: 7, count: 20)
        bytes.withUnsafeBufferPointer { source in
            target.withUnsafeMutableBufferPointer {
                let plane = FrameBlend.Plane(source, stride: 8)
                FrameBlend.mix(plane, plane, weight: 999, into: $0, stride: 8, width: 4, height: 100)
                FrameBlend.mix(plane, plane, weight: 0, into: $0, stride: 2, width: 4, height: 1)
                FrameBlend.mix(plane, plane, weight: 0, into: $0, stride: 8, width: 0, height: 1)
            }
        }
        #expect(Array(target[0..<4]) == [200, 200, 200, 200])
        #expect(Array(target[16..<20]) == [200, 200, 200, 200], "the last whole row")
        #expect(Array(target[4..<8]) == [7, 7, 7, 7], "between the rows")
    }
}
