import BenchCases
import MediaKernels

extension KernelSuite {
    static let pictureKernels: [KernelCase] = [crossfade, overlay]

    /// A luma plane of 1280×720 with an animation drawn over it, half of which is transparent.
    private static let overlay: KernelCase = {
        var kernel = KernelCase(name: "overlay", unit: "byte", unitsPerItem: 1280 * 720) {
            let (width, height) = (1280, 720)
            let above = Fixture.codedBytes(width * height, seed: 1)
            let below = Fixture.codedBytes(width * height, seed: 2)
            var alpha = Fixture.codedBytes(width * height, seed: 3)
            for index in alpha.indices where index % width < width / 2 { alpha[index] = 0 }
            let shares = alpha
            func kernel(_ items: Int) -> [UInt8] {
                var target = below
                for _ in 0..<items {
                    above.withUnsafeBufferPointer { above in
                        shares.withUnsafeBufferPointer { shares in
                            target.withUnsafeMutableBufferPointer {
                                AlphaBlend.drawFull(
                                    FrameBlend.Plane(above, stride: width), FrameBlend.Plane(shares, stride: width),
                                    onto: $0, stride: width, width: width, height: height)
                            }
                        }
                    }
                }
                return target
            }
            func reference(_ items: Int) -> [UInt8] {
                var target = below
                for _ in 0..<items {
                    for index in target.indices {
                        let share = Int(shares[index])
                        target[index] = UInt8(
                            (Int(target[index]) * (255 - share) + Int(above[index]) * share + 127) / 255)
                    }
                }
                return target
            }
            return KernelWork(
                kernel: { Self.mark(kernel($0)) }, reference: { Self.mark(reference($0)) },
                agrees: { kernel(2) == reference(2) })
        }
        kernel.itemsToCount = 4
        return kernel
    }()

    /// A luma plane of 1280×720, crossfaded.
    private static let crossfade: KernelCase = {
        var kernel = KernelCase(name: "crossfade", unit: "byte", unitsPerItem: 1280 * 720) {
            let (width, height) = (1280, 720)
            let first = Fixture.codedBytes(width * height, seed: 1)
            let second = Fixture.codedBytes(width * height, seed: 2)
            func kernel(_ items: Int) -> [UInt8] {
                var target = [UInt8](repeating: 0, count: width * height)
                for item in 0..<items {
                    first.withUnsafeBufferPointer { first in
                        second.withUnsafeBufferPointer { second in
                            target.withUnsafeMutableBufferPointer {
                                FrameBlend.mix(
                                    FrameBlend.Plane(first, stride: width), FrameBlend.Plane(second, stride: width),
                                    weight: 100 + item & 1, into: $0, stride: width, width: width, height: height)
                            }
                        }
                    }
                }
                return target
            }
            func reference(_ items: Int) -> [UInt8] {
                var target = [UInt8](repeating: 0, count: width * height)
                for item in 0..<items {
                    let weight = 100 + item & 1
                    for index in target.indices {
                        target[index] = UInt8(
                            (Int(first[index]) * (256 - weight) + Int(second[index]) * weight + 128) >> 8)
                    }
                }
                return target
            }
            return KernelWork(
                kernel: { Self.mark(kernel($0)) }, reference: { Self.mark(reference($0)) },
                agrees: { kernel(2) == reference(2) })
        }
        kernel.itemsToCount = 4
        return kernel
    }()

    private static func mark(_ samples: [UInt8]) -> UInt64 {
        stride(from: 0, to: samples.count, by: 61).reduce(UInt64(0)) { $0 &* 31 &+ UInt64(samples[$1]) }
    }
}
