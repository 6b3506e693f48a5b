import Glibc
import LibAV
import MediaTypes
import Testing

@Suite("JPEG encoder: JFIF 1.02")
struct JPEGEncoderTests {
    /// Width and height in the frame header of a baseline file.
    private static func size(_ bytes: [UInt8]) -> (width: Int, height: Int)? {
        guard let place = bytes.indices.dropLast(8).first(where: { bytes[$0] == 0xff && bytes[$0 + 1] == 0xc0 }) else {
            return nil
        }
        return (Int(bytes[place + 7]) << 8 | Int(bytes[place + 8]), Int(bytes[place + 5]) << 8 | Int(bytes[place + 6]))
    }

    @Test(
        "a frame becomes a JPEG of the requested size, rounded down to even numbers, at least 16",
        arguments: [(64, 36, 64, 36), (33, 19, 32, 18), (640, 360, 640, 360), (1, 1, 16, 16)])
    func sizes(width: Int, height: Int, expectedWidth: Int, expectedHeight: Int) throws {
        let picture = try PictureCanvas.open(width: 320, height: 180, fill: .black).finish()
        let bytes = try JPEGEncoder.jpeg(picture, width: width, height: height)
        #expect(bytes.prefix(2) == [0xff, 0xd8] && bytes.suffix(2) == [0xff, 0xd9])
        let size = try #require(Self.size(bytes))
        #expect(size == (expectedWidth, expectedHeight))
    }

    @Test("a color is encoded as full-range BT.601, within JPEG's loss")
    func colors() throws {
        var canvas = try PictureCanvas.open(width: 64, height: 64, fill: .black)
        canvas.fill(x: 0, y: 0, width: 64, height: 64, CanvasColor(red: 200, green: 30, blue: 60))
        let bytes = try JPEGEncoder.jpeg(canvas.finish(), width: 64, height: 64)
        // Full-range BT.601 of the color: limited range or BT.709 would be off by 10 and more.
        let decoded = try Self.decoded(bytes)
        let expected = (luma: 84.2, blue: 114.3, red: 210.6)
        let found = [0, 1, 2].map { plane in
            decoded.withPlane(plane) { rows, stride in Int(rows[16 * stride + 16]) } ?? 0
        }
        #expect(abs(Double(found[0]) - expected.luma) < 4, "\(found)")
        #expect(abs(Double(found[1]) - expected.blue) < 4 && abs(Double(found[2]) - expected.red) < 4, "\(found)")
    }

    @Test("a JPEG writer that stays open makes the same files as one that is opened for each frame")
    func writer() throws {
        func picture(_ red: UInt8) throws -> Picture {
            var canvas = try PictureCanvas.open(width: 320, height: 180, fill: .black)
            canvas.fill(x: 8, y: 8, width: 200, height: 100, CanvasColor(red: red, green: 30, blue: 60))
            return canvas.finish()
        }
        let writer = try JPEGWriter.open(picture(0).format, width: 160, height: 90)
        for red: UInt8 in [200, 20, 20, 120] {
            let single = try JPEGEncoder.jpeg(picture(red), width: 160, height: 90)
            #expect(try writer.jpeg(picture(red)) == single)
        }
    }

    private static func decoded(_ bytes: [UInt8]) throws -> Picture {
        let path = "/tmp/tandem-still-\(bytes.count)-\(UInt32.random(in: 0...(.max))).jpg"
        let file = try #require(fopen(path, "wb"))
        fwrite(bytes, 1, bytes.count, file)
        fclose(file)
        defer { unlink(path) }
        return try Picture.load(path: path, place: "test")
    }
}
