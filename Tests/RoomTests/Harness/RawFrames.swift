import Testing

/// The frames of a YUV4MPEG2 file with 4:2:0 samples: a `raw` output, or a file made by FFmpeg.
struct RawFrames {
    private static let head = Array("FRAME\n".utf8)

    let width: Int
    let height: Int
    private let bytes: [UInt8]
    private let start: Int

    init(_ bytes: [UInt8], width: Int, height: Int) throws {
        (self.bytes, self.width, self.height) = (bytes, width, height)
        self.start = try #require(bytes.firstIndex(of: UInt8(ascii: "\n"))) + 1
    }

    private var length: Int { self.width * self.height * 3 / 2 }

    var count: Int { (self.bytes.count - self.start) / (Self.head.count + self.length) }

    /// All samples of a frame: luma, then both chroma planes.
    func frame(_ index: Int) -> ArraySlice<UInt8> {
        let first = self.start + index * (Self.head.count + self.length) + Self.head.count
        return self.bytes[first..<first + self.length]
    }

    /// The luma samples of a frame, row by row.
    func lumas(_ index: Int) -> ArraySlice<UInt8> { self.frame(index).prefix(self.width * self.height) }

    /// Luma of a sample.
    func luma(_ index: Int, _ x: Int, _ y: Int) -> Int {
        let frame = self.frame(index)
        return Int(frame[frame.startIndex + y * self.width + x])
    }

    /// Mean luma of the 8x8 samples around a point.
    func mean(_ index: Int, _ x: Int, _ y: Int) -> Int {
        let frame = self.frame(index)
        var sum = 32
        for row in y - 4..<y + 4 {
            for column in x - 4..<x + 4 { sum += Int(frame[frame.startIndex + row * self.width + column]) }
        }
        return sum / 64
    }
}
