import LibAV
import MediaTypes
import Testing

@Suite("Registered formats of an MPEG-TS stream: ISO/IEC 13818-1 §2.6.8")
struct RegisteredFormatTests {
    /// The registered identifier as libavformat reads it: as a little-endian number.
    static func tag(_ text: String) -> UInt32 {
        text.utf8.reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    @Test(
        "an MPEG-TS stream whose tables name another codec than before has changed its codec",
        arguments: [("Opus", .opus), ("AC-3", .ac3), ("EAC3", .eac3)] as [(String, CodecName)])
    func changed(name: String, codec: CodecName) {
        // For AAC without a registration descriptor libavformat reports the stream type.
        #expect(RegisteredFormat.change(of: .aac, from: 0x0F, to: Self.tag(name)) == codec)
        #expect(RegisteredFormat.change(of: nil, from: 0x04, to: Self.tag(name)) == codec)
        #expect(
            RegisteredFormat.change(of: codec, from: 0x06, to: Self.tag(name)) == nil,
            "the same codec is described more exactly")
        #expect(
            RegisteredFormat.change(of: .aac, from: Self.tag(name), to: Self.tag(name)) == nil,
            "the identifier was the same before")
    }

    @Test("an MPEG-TS stream's change between AC-3 and E-AC-3 is no change of codec, one to Opus is")
    func alike() {
        #expect(RegisteredFormat.change(of: .ac3, from: Self.tag("AC-3"), to: Self.tag("EAC3")) == nil)
        #expect(RegisteredFormat.change(of: .eac3, from: Self.tag("EAC3"), to: Self.tag("AC-3")) == nil)
        #expect(RegisteredFormat.change(of: .ac3, from: Self.tag("AC-3"), to: Self.tag("Opus")) == .opus)
    }

    @Test(
        "a registration identifier that names no codec does not count as a change of codec",
        arguments: ["HDMV", "CUEI", "KLVA", "\u{F}"])
    func unchanged(name: String) {
        #expect(RegisteredFormat.change(of: .aac, from: 0x0F, to: Self.tag(name)) == nil)
        #expect(RegisteredFormat.change(of: .opus, from: Self.tag("Opus"), to: Self.tag(name)) == nil)
    }
}
