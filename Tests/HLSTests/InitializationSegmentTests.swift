import HLS
import MediaTypes
import Testing

@Suite("Initialization segment: ISO/IEC 14496-12 §8, CMAF ISO/IEC 23000-19 §7.3")
struct InitializationSegmentTests {
    private static var h264: CodecParameters {
        CodecParameters(
            codec: .h264,
            configuration: [0, 0, 0, 1] + CodecFactsTests.high720 + [0, 0, 0, 1] + CodecFactsTests.pictureSet)
    }
    private static let aac = CodecParameters(codec: .aac, configuration: [0x11, 0x90])

    private static func bytes(_ parameters: CodecParameters) throws -> [UInt8] {
        try InitializationSegmentWriter.bytes(
            for: parameters, width: 1280, height: 720, grid: try Make.grid(), place: "720p")
    }

    @Test("the boxes of an initialization segment for H.264 equal the golden file")
    func video() throws { try expectGolden(BoxDump(Self.bytes(Self.h264)).text, "init-video.txt") }

    @Test("the boxes of an initialization segment for AAC equal the golden file")
    func audio() throws { try expectGolden(BoxDump(Self.bytes(Self.aac)).text, "init-audio.txt") }

    @Test("Annex B extradata and avcC give byte-identical initialization segments")
    func deterministic() throws {
        let record = try #require(AVCConfiguration(extradata: Self.h264.configuration)).record
        #expect(try Self.bytes(Self.h264) == Self.bytes(CodecParameters(codec: .h264, configuration: record)))
    }

    @Test("the boxes of a media fragment equal the golden file")
    func fragment() throws {
        var segmenter = TrackSegmenter(kind: .video, grid: try Make.grid(), firstTick: 0)
        for (pts, dts) in [(Int64(0), Int64(-1)), (2, 0), (1, 1)] {
            _ = segmenter.append(Make.picture(pts, dts: dts, key: pts == 0, size: 3))
        }
        let part = try #require(segmenter.finish().parts.first)
        try expectGolden(BoxDump(part.memory.bytes).text, "fragment-video.txt")
    }

    @Test(
        "an initialization segment for a codec other than H.264 and AAC is refused with the reason",
        arguments: [CodecName.hevc, .opus, .mp3, .av1])
    func otherCodecs(codec: CodecName) {
        let error = #expect(throws: MediaError.self) {
            try Self.bytes(CodecParameters(codec: codec, configuration: []))
        }
        #expect(error?.code == .unavailable)
    }

    @Test(
        "an initialization segment for an unreadable H.264 configuration is refused",
        arguments: [[], [1, 2, 3], [0, 0, 0, 1, 0x67]] as [[UInt8]])
    func unreadable(bytes: [UInt8]) {
        let error = #expect(throws: MediaError.self) {
            try Self.bytes(CodecParameters(codec: .h264, configuration: bytes))
        }
        #expect(error?.code == .invalidData)
    }
}
