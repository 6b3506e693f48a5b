import HLS
import MediaTypes
import Testing

@Suite("One avcC for two streams: ISO/IEC 14496-15 §5.3.3.1")
struct JoinedConfigurationTests {
    /// Sequence and picture parameter sets with id 0: constrained baseline, level 1.3.
    private static let baseline = CodecFactsTests.baseline178
    private static let frames: [UInt8] = [0x68, 0xCE, 0x3C, 0x80]

    /// The configuration of `high720` with `id` as the id of both parameter sets. Spec: H.264 §7.3.2.1.1, §7.3.2.2.
    private static func high(id: UInt32) throws -> AVCConfiguration {
        var sequence = Array(CodecFactsTests.high720.prefix(4))
        sequence += Self.renumbered(
            SequenceParameterSet.removingEmulationPrevention(CodecFactsTests.high720[4...]), [id])
        var picture: [UInt8] = [0x68]
        picture += Self.renumbered(Array(CodecFactsTests.pictureSet.dropFirst()), [id, id])
        return try #require(AVCConfiguration(nalUnits: [sequence, picture]))
    }

    /// Replaces the first `ue(v)` values, each 0 and one bit long, by `ids`.
    private static func renumbered(_ payload: [UInt8], _ ids: [UInt32]) -> [UInt8] {
        var bits = payload.flatMap { byte in (0..<8).map { byte >> UInt8(7 - $0) & 1 } }
        // The stop bit is the last set bit.
        while bits.last == 0 { bits.removeLast() }
        bits.removeFirst(ids.count)
        for id in ids.reversed() {
            let code = String(id + 1, radix: 2).map { UInt8(String($0)) ?? 0 }
            bits = [UInt8](repeating: 0, count: code.count - 1) + code + bits
        }
        while bits.count % 8 != 0 { bits.append(0) }
        return stride(from: 0, to: bits.count, by: 8).map { at in bits[at..<(at + 8)].reduce(0) { $0 << 1 | $1 } }
    }

    @Test("an avcC joined from two streams has the parameter sets of both, and the profile and level of the first")
    func joins() throws {
        let own = try Self.high(id: 31)
        #expect(own.sequence.width == 1280 && own.sequence.level == 31, "only the ids were changed")
        let other = try #require(AVCConfiguration(nalUnits: [Self.baseline, Self.frames]))
        let both = try #require(own.joined(with: other))
        #expect(both.sequenceParameterSets == own.sequenceParameterSets + other.sequenceParameterSets)
        #expect(both.pictureParameterSets == own.pictureParameterSets + other.pictureParameterSets)
        #expect(both.codecString == "avc1.64001f")
        // Only constraint flags set in all sets are set.
        #expect(Array(both.record.prefix(6)) == [1, 100, 0, 31, 0xFF, 0xE2])
        #expect(AVCConfiguration(extradata: both.record) == both)
        #expect(AVCConfiguration(extradata: both.record)?.record == both.record)
    }

    @Test("streams are not joined if their parameter sets share an id, or the second's profile is above the first's")
    func refuses() throws {
        let other = try #require(AVCConfiguration(nalUnits: [Self.baseline, Self.frames]))
        #expect(try Self.high(id: 0).joined(with: other) == nil, "id 0 twice")
        #expect(try Self.high(id: 31).joined(with: Self.high(id: 31)) == nil)
        #expect(try other.joined(with: Self.high(id: 31)) == nil, "high is more than baseline")
        #expect(try Self.high(id: 31).joined(with: Self.high(id: 0)) != nil)
    }
}
