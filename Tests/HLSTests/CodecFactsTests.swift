import HLS
import MediaTypes
import TestSupport
import Testing

@Suite("Codec facts: ITU-T H.264 §7.3.2.1.1, ISO/IEC 14496-15 §5.3.3.1, ISO/IEC 14496-3 §1.6.2.1, RFC 6381")
struct CodecFactsTests {
    /// x264, High, level 3.1, 1280×720.
    static let high720: [UInt8] = hex("6764001facd9405005bbff0003000410000003001000000303c0f1831960")
    static let pictureSet: [UInt8] = hex("68ebe3cb22c0")
    /// x264, constrained baseline, level 1.3, 318×178 (cropped from 320×192).
    static let baseline178: [UInt8] = hex("6742c00dd901419ea23ff016401dd10000030001000003003c0f142a48")

    static func hex(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        var digits = Array(text)
        if digits.count % 2 == 1 { digits.append("0") }
        for index in stride(from: 0, to: digits.count, by: 2) {
            bytes.append(UInt8(String(digits[index...(index + 1)]), radix: 16) ?? 0)
        }
        return bytes
    }

    @Test("profile, level and frame size are read from an H.264 sequence parameter set")
    func readsParameterSet() throws {
        let set = try #require(SequenceParameterSet(nalUnit: Self.high720))
        #expect(set.codecString == "avc1.64001f")
        #expect(set.width == 1280)
        #expect(set.height == 720)
        #expect(set.chromaFormat == 1)
        #expect(set.lumaBitDepth == 8)
        let small = try #require(SequenceParameterSet(nalUnit: Self.baseline178))
        #expect(small.codecString == "avc1.42c00d")
        #expect(small.width == 318)
        #expect(small.height == 178)
    }

    @Test(
        "a sequence parameter set truncated to any length does not trap, and to under 10 bytes is refused",
        arguments: 0..<28)
    func prefixesAreSafe(length: Int) {
        let prefix = Array(Self.high720.prefix(length))
        if length < 10 { #expect(SequenceParameterSet(nalUnit: prefix) == nil) }
    }

    @Test(
        "random bytes after a parameter set's header do not trap the parsers of parameter sets, avcC and AAC",
        arguments: 0..<2_000)
    func randomParameterSets(seed: Int) {
        var random = TestRandom(state: UInt64(seed))
        let profiles: [UInt8] = [66, 77, 100, 110, 122, 244]
        var bytes: [UInt8] = [0x67, profiles[seed % profiles.count], 0, 31]
        for _ in 0..<Int.random(in: 0...40, using: &random) { bytes.append(UInt8.random(in: 0...255, using: &random)) }
        if let set = SequenceParameterSet(nalUnit: bytes) { #expect(set.width > 0 && set.height > 0) }
        #expect(AVCConfiguration(extradata: bytes) == nil)
        _ = AVCConfiguration(extradata: [1] + bytes)
        _ = AudioSpecificConfig(record: bytes)
    }

    @Test("Annex B extradata, without its SEI, gives the same avcC as the avcC itself; a truncated avcC is refused")
    func extradataFormsAgree() throws {
        let sei: [UInt8] = [0x06, 0x05, 0x04, 1, 2, 3, 4, 0x80]
        let annexB = [0, 0, 0, 1] + Self.high720 + [0, 0, 1] + Self.pictureSet + [0, 0, 0, 1] + sei
        let fromAnnexB = try #require(AVCConfiguration(extradata: annexB))
        let record = fromAnnexB.record
        #expect(Array(record[0..<6]) == [1, 0x64, 0, 0x1F, 0xFF, 0xE1])
        #expect(Array(record[6..<8]) == [0, UInt8(Self.high720.count)])
        #expect(Array(record[8..<(8 + Self.high720.count)]) == Self.high720)
        #expect(record.suffix(4) == [0xFD, 0xF8, 0xF8, 0])
        #expect(AVCConfiguration(extradata: record) == fromAnnexB)
        #expect(AVCConfiguration(extradata: record)?.record == record)
        for length in 0..<(record.count - 4) {
            #expect(AVCConfiguration(extradata: Array(record.prefix(length))) == nil)
        }
    }

    @Test(
        "an AAC configuration gives codec string, sample rate and channels",
        arguments: [
            ([0x11, 0x90], "mp4a.40.2", 48_000, 2), ([0x12, 0x10], "mp4a.40.2", 44_100, 2),
            ([0x2B, 0x11, 0x88], "mp4a.40.5", 24_000, 2), ([0x11, 0x88], "mp4a.40.2", 48_000, 1),
            ([0x17, 0x80, 0x5D, 0xC0, 0x10], "mp4a.40.2", 48_000, 2), ([0xEB, 0x09, 0x88, 0], "mp4a.40.29", 24_000, 1),
            ([0x11, 0xB8], "mp4a.40.2", 48_000, 8), ([0x11, 0xD8], "mp4a.40.2", 48_000, 7),
            ([0x11, 0xE0], "mp4a.40.2", 48_000, 8), ([0x11, 0xF0], "mp4a.40.2", 48_000, 8),
        ] as [([UInt8], String, Int, Int)])
    func audioConfigurations(bytes: [UInt8], codec: String, rate: Int, channels: Int) throws {
        let audio = try #require(AudioSpecificConfig(record: bytes))
        #expect(audio.codecString == codec)
        #expect(audio.sampleRate == rate)
        #expect(audio.channels == channels)
    }

    @Test(
        "an AAC configuration that is truncated, or has a reserved or 22.2 channel configuration, is refused",
        arguments: [[], [0x11], [0xFF], [0x17, 0x80], [0x11, 0xC0], [0x11, 0xE8]] as [[UInt8]])
    func shortAudioConfigurations(bytes: [UInt8]) {
        #expect(AudioSpecificConfig(record: bytes) == nil)
    }
}
