import BenchCases
import MediaKernels

extension KernelSuite {
    static let animationKernels: [KernelCase] = [packedFrame, jpegColors]

    private static let width = 1280
    private static let height = 720

    /// The planes of an animation's frame: luma, Cb, Cr and alpha. Half of it is transparent.
    private static func animationFrame() -> [[UInt8]] {
        var alpha = Fixture.codedBytes(width * height, seed: 3)
        for index in alpha.indices where index % width < width / 2 { alpha[index] = 0 }
        let chroma = [4, 5].map { Fixture.codedBytes(width * height / 4, seed: $0) }
        return [Fixture.codedBytes(width * height, seed: 1)] + chroma + [alpha]
    }

    /// A packed frame of 1280×720, drawn over a frame of the program; the reference draws the planes themselves.
    private static let packedFrame: KernelCase = {
        var kernel = KernelCase(name: "packed-frame", unit: "byte", unitsPerItem: width * height) {
            let planes = animationFrame()
            let below = [2, 6, 7].map { Fixture.codedBytes($0 == 2 ? width * height : width * height / 4, seed: $0) }
            var scratch: [UInt8] = []
            let packed = with(planes) { planes in
                PackedFrame(
                    luma: planes[0], cb: planes[1], cr: planes[2], alpha: planes[3], width: width, height: height,
                    scratch: &scratch)
            }
            func kernel(_ items: Int) -> [[UInt8]] {
                var (luma, cb, cr) = (below[0], below[1], below[2])
                for _ in 0..<items { withTargets(&luma, &cb, &cr) { packed?.draw(onto: $0, $1, $2, x: 0, y: 0) } }
                return [luma, cb, cr]
            }
            func reference(_ items: Int) -> [[UInt8]] {
                var targets = below
                for _ in 0..<items {
                    with(planes) { planes in
                        targets[0].withUnsafeMutableBufferPointer {
                            AlphaBlend.drawFull(
                                planes[0], planes[3], onto: $0, stride: width, width: width, height: height)
                        }
                        for plane in 1...2 {
                            targets[plane].withUnsafeMutableBufferPointer {
                                AlphaBlend.drawHalved(
                                    planes[plane], planes[3], onto: $0, stride: width / 2, width: width / 2,
                                    height: height / 2, columns: width / 2, lines: height / 2)
                            }
                        }
                    }
                }
                return targets
            }
            return KernelWork(
                kernel: { mark(kernel($0)) }, reference: { mark(reference($0)) },
                agrees: { kernel(2) == reference(2) })
        }
        kernel.itemsToCount = 4
        return kernel
    }()

    /// A frame of 1280×720 in BT.709 whose colors become those of a JPEG file; the reference computes with real numbers.
    private static let jpegColors: KernelCase = {
        var kernel = KernelCase(name: "jpeg-colors", unit: "byte", unitsPerItem: width * height) {
            let planes = animationFrame()
            let colors = JFIFColors(isBT601: false)
            func kernel(_ items: Int) -> [[UInt8]] {
                var luma = [UInt8](repeating: 0, count: width * height)
                var cb = [UInt8](repeating: 0, count: width * height / 4)
                var cr = cb
                for _ in 0..<items {
                    with(planes) { planes in
                        withTargets(&luma, &cb, &cr) {
                            colors.convert(luma: planes[0], cb: planes[1], cr: planes[2], into: $0, $1, $2)
                        }
                    }
                }
                return [luma, cb, cr]
            }
            func reference(_ items: Int) -> [[UInt8]] {
                var result: [[UInt8]] = []
                for _ in 0..<items { result = plainColors(planes) }
                return result
            }
            return KernelWork(
                kernel: { mark(kernel($0)) }, reference: { mark(reference($0)) },
                agrees: {
                    zip(kernel(1), reference(1)).allSatisfy { zip($0, $1).allSatisfy { abs(Int($0) - Int($1)) <= 1 } }
                })
        }
        kernel.itemsToCount = 4
        return kernel
    }()

    /// Full-range BT.601 from limited-range BT.709.
    private static func plainColors(_ planes: [[UInt8]]) -> [[UInt8]] {
        func rounded(_ value: Double) -> UInt8 { UInt8(max(0, min(255, value.rounded()))) }
        func chroma(_ first: UInt8, _ share: Double, _ second: UInt8, _ other: Double) -> UInt8 {
            rounded(128 + ((Double(first) - 128) * share + (Double(second) - 128) * other) * 255 / 224)
        }
        var luma = planes[0]
        for index in luma.indices {
            let half = index / width / 2 * (width / 2) + index % width / 2
            let color = (Double(planes[1][half]) - 128) * 0.101_579 + (Double(planes[2][half]) - 128) * 0.196_076
            luma[index] = rounded((Double(planes[0][index]) - 16) * 255 / 219 + color * 255 / 224)
        }
        let pairs = Array(zip(planes[1], planes[2]))
        return [
            luma, pairs.map { chroma($0, 0.989_854, $1, -0.110_653) },
            pairs.map { chroma($1, 0.983_398, $0, -0.072_453) },
        ]
    }

    private static func with<Result>(_ planes: [[UInt8]], _ body: ([FrameBlend.Plane]) -> Result) -> Result {
        func next(_ found: [FrameBlend.Plane]) -> Result {
            guard found.count < planes.count else { return body(found) }
            let stride = found.count == 1 || found.count == 2 ? width / 2 : width
            return planes[found.count].withUnsafeBufferPointer {
                next(found + [FrameBlend.Plane($0, stride: stride)])
            }
        }
        return next([])
    }

    private static func withTargets(
        _ luma: inout [UInt8], _ cb: inout [UInt8], _ cr: inout [UInt8],
        _ body: (PackedFrame.Target, PackedFrame.Target, PackedFrame.Target) -> Void
    ) {
        luma.withUnsafeMutableBufferPointer { luma in
            cb.withUnsafeMutableBufferPointer { cb in
                cr.withUnsafeMutableBufferPointer { cr in
                    body(
                        PackedFrame.Target(luma, stride: width, width: width, height: height),
                        PackedFrame.Target(cb, stride: width / 2, width: width / 2, height: height / 2),
                        PackedFrame.Target(cr, stride: width / 2, width: width / 2, height: height / 2))
                }
            }
        }
    }

    private static func mark(_ planes: [[UInt8]]) -> UInt64 {
        planes.reduce(UInt64(0)) { sum, plane in
            stride(from: 0, to: plane.count, by: 61).reduce(sum) { $0 &* 31 &+ UInt64(plane[$1]) }
        }
    }
}
