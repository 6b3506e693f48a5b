import LibAV
import MediaTypes
import Testing

@Suite("Conversion of source frames before composition")
struct PictureConversionTests {
    private func filters(
        _ format: PictureFormat, transfer: UInt32 = 2, primaries: UInt32 = 2, turns: Int = 0, mirrored: Bool = false,
        deinterlaces: Bool = false, canToneMap: Bool = true
    ) throws(MediaError) -> String? {
        var traits = PictureTraits()
        traits.transfer = transfer
        traits.primaries = primaries
        return try PictureConversion.make(
            format, traits, orientation: VideoOrientation(quarterTurns: turns, isMirrored: mirrored),
            deinterlaces: deinterlaces, canToneMap: canToneMap, place: "test")?.filters
    }

    private func format(matrix: UInt32, range: UInt32 = 1) -> PictureFormat {
        var format = PictureFormat.canvas(width: 640, height: 360)
        format.matrix = matrix
        format.range = range
        return format
    }

    @Test(
        "8-bit 4:2:0 frames in BT.709, BT.601 or an unspecified matrix pass unconverted, in either range",
        arguments: [1, 2, 3, 5, 6] as [UInt32])
    func nothingToDo(matrix: UInt32) throws {
        #expect(try self.filters(self.format(matrix: matrix)) == nil)
        #expect(try self.filters(self.format(matrix: matrix, range: 2)) == nil)
    }

    @Test(
        "frames are rotated and mirrored by the matching filters",
        arguments: [
            (1, false, "transpose=clock"), (2, false, "vflip,hflip"), (3, false, "transpose=cclock"),
            (0, true, "hflip"),
            (3, true, "hflip,transpose=cclock"),
        ])
    func turned(turns: Int, mirrored: Bool, text: String) throws {
        #expect(try self.filters(self.format(matrix: 1), turns: turns, mirrored: mirrored) == text)
    }

    @Test("HDR is tone-mapped where possible and refused with a remedy otherwise", arguments: [16, 18] as [UInt32])
    func highDynamicRange(transfer: UInt32) throws {
        let text = try self.filters(self.format(matrix: 9), transfer: transfer, primaries: 9)
        #expect(text?.contains("tonemap") == true)
        let error = #expect(throws: MediaError.self) {
            _ = try self.filters(self.format(matrix: 9), transfer: transfer, primaries: 9, canToneMap: false)
        }
        #expect(error?.code == .unsupportedColor)
        #expect(error?.fix.isEmpty == false)
    }

    @Test("an unsupported color matrix is refused", arguments: [8, 11, 14] as [UInt32])
    func unknownMatrix(matrix: UInt32) {
        let error = #expect(throws: MediaError.self) { _ = try self.filters(self.format(matrix: matrix)) }
        #expect(error?.code == .unsupportedColor)
    }

    @Test(
        "display matrices of the four rotations, and of two of them mirrored, give the orientation",
        arguments: [
            ([1, 0, 0, 1], 0, false), ([0, 1, -1, 0], 1, false), ([-1, 0, 0, -1], 2, false), ([0, -1, 1, 0], 3, false),
            ([-1, 0, 0, 1], 0, true), ([1, 0, 0, -1], 2, true),
        ] as [([Int32], Int, Bool)])
    func displayMatrix(parts: [Int32], turns: Int, mirrored: Bool) {
        let one = parts.map { $0 * 65_536 }
        let matrix = [one[0], one[1], 0, one[2], one[3], 0, 0, 0, 1 << 30]
        #expect(
            VideoOrientation(displayMatrix: matrix) == VideoOrientation(quarterTurns: turns, isMirrored: mirrored))
        #expect(VideoOrientation(displayMatrix: []) == .upright)
    }

    @Test(
        "if the size changes with every frame, graphs are built for the first four, then for one frame in eight; the others are dropped"
    )
    func changesAreBounded() throws {
        let normalizer = PictureNormalizer(place: "test")
        var count = 0
        for index in 0..<400 {
            let picture = try PictureCanvas.open(width: 16 + 2 * (index % 200), height: 16, fill: .black).finish(pts: 0)
            try normalizer.normalize(picture, orientation: VideoOrientation(quarterTurns: 1)) { _ in count += 1 }
        }
        #expect(count + normalizer.dropped == 400)
        #expect(count >= 50 && count <= 4 + 400 / 8)
    }

    @Test("a rotated frame keeps its pts and swaps width and height")
    func turnsPicture() throws {
        let normalizer = PictureNormalizer(place: "test")
        let picture = try PictureCanvas.open(width: 64, height: 32, fill: .white).finish(pts: 1234)
        var turned: [Picture] = []
        try normalizer.normalize(picture, orientation: VideoOrientation(quarterTurns: 3)) { turned.append($0) }
        #expect(turned.map(\.pts) == [1234])
        #expect(turned.first?.format.width == 32 && turned.first?.format.height == 64)
    }

    @Test("buffers of rotated frames that are not needed for a minute or two are freed")
    func givesBack() throws {
        let normalizer = PictureNormalizer(place: "test")
        var (kept, turned): ([Picture], Int) = ([], 0)
        let burst = 10
        for index in 0..<(2 * VideoDecoder.lookInterval + burst) {
            let picture = try PictureCanvas.open(width: 32, height: 16, fill: .black).finish(pts: Int64(index))
            try normalizer.normalize(picture, orientation: VideoOrientation(quarterTurns: 1)) { made in
                if made.pts == Int64(index), made.format.width == 16 { turned += 1 }
                if index < burst { kept.append(made) }
            }
            if index == burst { kept = [] }
        }
        #expect(kept.isEmpty && turned == 2 * VideoDecoder.lookInterval + burst)
        #expect(normalizer.renewals == 1)
    }
}
