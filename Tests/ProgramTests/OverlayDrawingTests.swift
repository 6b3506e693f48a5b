import LibAV
import MediaTypes
import TestSupport
import Testing

@Suite("Overlays are drawn as FFmpeg's overlay filter draws them")
struct OverlayDrawingTests {
    /// A canvas with random rectangles.
    private static func canvas(_ width: Int, _ height: Int, _ random: inout TestRandom) throws -> Picture {
        var canvas = try PictureCanvas.open(width: width, height: height, fill: .black)
        for _ in 0..<30 {
            canvas.fill(
                x: Int.random(in: 0..<width, using: &random), y: Int.random(in: 0..<height, using: &random),
                width: Int.random(in: 1...40, using: &random), height: Int.random(in: 1...40, using: &random),
                CanvasColor(
                    y: UInt8.random(in: 0...255, using: &random), cb: UInt8.random(in: 0...255, using: &random),
                    cr: UInt8.random(in: 0...255, using: &random)))
        }
        return canvas.finish()
    }

    /// An image in which every sample has a random color and alpha.
    private static func sprite(_ width: Int, _ height: Int, _ random: inout TestRandom) throws -> Picture {
        var sprite = Sprite(width: width, height: height)
        for y in 0..<height {
            for x in 0..<width {
                let color = CanvasColor(
                    y: UInt8.random(in: 0...255, using: &random), cb: UInt8.random(in: 0...255, using: &random),
                    cr: UInt8.random(in: 0...255, using: &random))
                sprite.fill(x: x, y: y, width: 1, height: 1, color, alpha: UInt8.random(in: 0...255, using: &random))
            }
        }
        return try sprite.picture()
    }

    private static func samples(_ picture: Picture) -> [[UInt8]] {
        (0..<3).map { plane in
            let half = plane == 0 ? 0 : 1
            let (width, height) = (picture.format.width >> half, picture.format.height >> half)
            return picture.withPlane(plane) { samples, stride in
                (0..<height).flatMap { row in (0..<width).map { samples[row * stride + $0] } }
            } ?? []
        }
    }

    @Test("every sample of a canvas with a random image drawn over it equals libavfilter's", arguments: 0..<24)
    func equalsFilter(seed: Int) throws {
        var random = TestRandom(seed: UInt64(seed))
        let canvas = try Self.canvas(160, 120, &random)
        let sprite = try Self.sprite(
            2 * Int.random(in: 1...60, using: &random), 2 * Int.random(in: 1...40, using: &random), &random)
        // Some reach beyond the right or the bottom edge.
        let (x, y) = (2 * Int.random(in: 0..<70, using: &random), 2 * Int.random(in: 0..<50, using: &random))
        let graph = try FilterGraph.open(
            "[a][b]overlay=x=\(x):y=\(y):format=yuv420[out]",
            inputs: [
                FilterGraph.Input(label: "a", format: canvas.format),
                FilterGraph.Input(label: "b", format: sprite.format),
            ], outputs: ["out"], fps: 30, place: "test")
        let expected = try #require(try graph.run([canvas, sprite], pts: 0).first)
        let drawn = try canvas.overlaid(with: [Picture.Overlay(sprite, x: x, y: y)])
        #expect(drawn.format == canvas.format)
        #expect(Self.samples(drawn) == Self.samples(expected), "\(sprite.format) at \(x),\(y)")
    }

    @Test(
        "a packed image, and a canvas from a pool, give the same samples as libavfilter's overlay", arguments: 0..<24)
    func packedEquals(seed: Int) throws {
        var random = TestRandom(seed: UInt64(100 + seed))
        let canvas = try Self.canvas(
            2 * Int.random(in: 30...90, using: &random), 2 * Int.random(in: 30...70, using: &random), &random)
        let sprite = try Self.sprite(
            2 * Int.random(in: 1...60, using: &random), 2 * Int.random(in: 1...40, using: &random), &random)
        let (x, y) = (2 * Int.random(in: 0..<30, using: &random), 2 * Int.random(in: 0..<30, using: &random))
        let graph = try FilterGraph.open(
            "[a][b]overlay=x=\(x):y=\(y):format=yuv420[out]",
            inputs: [
                FilterGraph.Input(label: "a", format: canvas.format),
                FilterGraph.Input(label: "b", format: sprite.format),
            ], outputs: ["out"], fps: 30, place: "test")
        let expected = Self.samples(try #require(try graph.run([canvas, sprite], pts: 0).first))
        var scratch: [UInt8] = []
        let own = sprite.packed(scratch: &scratch)
        let packed = try #require(own)
        let pool = try CanvasPool.open(canvas.format)
        for round in 1...3 {
            let drawn = try canvas.overlaid(with: [Picture.Overlay(packed, x: x, y: y)], in: pool)
            #expect(drawn.format == canvas.format)
            #expect(Self.samples(drawn) == expected, "\(sprite.format) at \(x),\(y), round \(round)")
        }
        #expect(Self.samples(try canvas.overlaid(with: [Picture.Overlay(packed, x: x, y: y)])) == expected)
        let other = canvas.packed(scratch: &scratch)
        #expect(other == nil, "a frame without an alpha plane is not packed")
    }

    @Test(
        "colors and alpha side by side are used in place with the same result as a filter graph", arguments: 0..<12)
    func sideBySide(seed: Int) throws {
        var random = TestRandom(seed: UInt64(200 + seed))
        let isRight = seed % 2 == 0
        let (width, height) = (
            2 * Int.random(in: 4...60, using: &random), 2 * Int.random(in: 4...30, using: &random)
        )
        let packed = try Self.canvas(2 * width, height, &random)
        let below = try Self.canvas(128, 64, &random)
        let (color, mask) = isRight ? (0, width) : (width, 0)
        let graph = try FilterGraph.open(
            "[in]split[a][b];[a]crop=\(width):\(height):\(color):0:exact=1[c];"
                + "[b]crop=\(width):\(height):\(mask):0:exact=1,extractplanes=y,"
                + "lut=y='clip(round((val-16)*255/219),0,255)'[m];[c][m]alphamerge[out]",
            inputs: [FilterGraph.Input(label: "in", format: packed.format)], outputs: ["out"], fps: 30, place: "test")
        let expected = try #require(try graph.run([packed], pts: 0).first)
            .signalled(as: .sprite(width: width, height: height))
        let before = Self.samples(packed)
        let joined = try #require(
            try packed.joined(alphaOnRight: isRight, in: Picture.alphaPool(packed.format)))
        #expect(joined.format == expected.format)
        #expect(Self.samples(joined) == Self.samples(expected))
        let drawn = try [joined, expected].map {
            Self.samples(try below.overlaid(with: [Picture.Overlay($0, x: 4, y: 2)]))
        }
        #expect(drawn[0] == drawn[1], "\(width)x\(height)")
        #expect(Self.samples(packed) == before, "the frame itself is not changed")
    }

    @Test("a frame of a canvas pool is not written again while it is in use")
    func pooledFramesAreOwn() throws {
        var random = TestRandom(seed: 9)
        let pool = try CanvasPool.open(.canvas(width: 64, height: 48))
        let canvases = try (0..<4).map { _ in try Self.canvas(64, 48, &random) }
        let drawn = try canvases.map { try $0.overlaid(with: [], in: pool) }
        #expect(drawn.map { Self.samples($0) } == canvases.map { Self.samples($0) })
        let other = try Self.canvas(32, 32, &random)
        #expect(Self.samples(try other.overlaid(with: [], in: pool)) == Self.samples(other), "another format")
        #expect(throws: MediaError.self) { try CanvasPool.open(.sprite(width: 64, height: 48)) }
    }

    @Test("an image outside the canvas, at a negative position or without an alpha plane is not drawn")
    func notDrawn() throws {
        var random = TestRandom(seed: 7)
        let canvas = try Self.canvas(64, 64, &random)
        let sprite = try Self.sprite(8, 8, &random)
        let overlays = [(64, 0), (0, 64), (-2, 0), (0, -2), (.max, .max)].map {
            Picture.Overlay(sprite, x: $0.0, y: $0.1)
        }
        let drawn = try canvas.overlaid(with: overlays + [Picture.Overlay(canvas, x: 0, y: 0)])
        #expect(Self.samples(drawn) == Self.samples(canvas))
    }
}
