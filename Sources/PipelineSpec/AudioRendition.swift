import MediaTypes

/// One encoding of the room's audio: an audio rendition of the multivariant playlist, in its own group.
package struct AudioRendition: Sendable, Hashable {
    package enum Codec: String, Sendable, CaseIterable { case aac }
    /// AAC profiles (MPEG-4 audio object types). Spec: ISO/IEC 14496-3 §1.5.1.
    package enum Profile: String, Sendable, CaseIterable { case lc }

    /// Name of the rendition, its media playlist and its group: `[A-Za-z0-9_-]{1,32}`. Default `audio`.
    package var name = "audio"
    /// Audio codec. Default ``Codec/aac``.
    package var codec = Codec.aac
    /// AAC profile. Default ``Profile/lc``.
    package var profile = Profile.lc
    /// Bit rate in bit/s (32,000…320,000). Default: `audio.bitrate`.
    package var bitrate = 0

    package init(name: String = "audio", bitrate: Int = 0) {
        self.name = name
        self.bitrate = bitrate
    }

    static let rule = ObjectRule(
        "one encoding of the room's audio", AudioRendition(name: ""),
        [
            Field(
                required: "name", \.name, .name(32, marks: "_-"),
                "the audio rendition's name: 1 to 32 letters, digits, _ or -"),
            Field("codec", \.codec, .choice, "audio codec"),
            Field("profile", \.profile, .choice, "AAC profile"),
            Field(
                "bitrate", \.bitrate, .bits(32_000...320_000), "bit rate in bit/s; default audio.bitrate",
                derived: true),
        ])
}

extension ValueRule where Value == [String] {
    /// A rule that accepts one name or a list of names.
    static func names(_ most: Int, marks: String, upTo count: Int) -> ValueRule {
        let one = ValueRule<String>.name(most, marks: marks)
        let several = ValueRule<[String]>.list(of: one, 1...count, standIn: "")
        return ValueRule(
            schema: [JSONMember("anyOf", .array([.object(one.schema), .object(several.schema)]))],
            read: { node, path, log in
                if case .array = node.content { return several.read(node, path, &log) }
                return one.read(node, path, &log).map { [$0] }
            })
    }
}
