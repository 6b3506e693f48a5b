import MediaTypes

/// A payload type of an offer that this program can receive, or send to a viewer.
struct OfferedCodec: Sendable, Hashable {
    var codec: CodecName
    var payloadType: UInt8
    var rtxPayloadType: UInt8?
    var clockRate: Int
    /// Encoding name as offered.
    var encoding: String
    /// Format parameters, with their names in lower case.
    var fmtp: [String: String]
    /// Rank within its codec: lower is preferred.
    var rank: Int

    /// - Returns: nil for codecs and profiles that this program does not support.
    init?(payloadType: UInt8, map: RTPMap, fmtp: [String: String]) {
        guard RTPMap.isUsable(payloadType) else { return nil }
        switch map.encoding {
        case "h264":
            guard let rank = H264Format.rank(fmtp) else { return nil }
            (self.codec, self.rank) = (.h264, rank)
        case "vp8": (self.codec, self.rank) = (.vp8, 0)
        case "vp9":
            // Profiles above 0 have more than 8 bits or other chroma formats (draft-ietf-payload-vp9 §6.1).
            guard Int(fmtp["profile-id"] ?? "0") == 0 else { return nil }
            (self.codec, self.rank) = (.vp9, 0)
        case "opus":
            // RFC 7587 §7: always 48000 and 2, whatever is encoded.
            guard map.clockRate == 48_000, map.channels == 2 else { return nil }
            (self.codec, self.rank) = (.opus, 0)
        default: return nil
        }
        guard map.encoding == "opus" || map.clockRate == 90_000 else { return nil }
        self.payloadType = payloadType
        self.clockRate = map.clockRate
        self.encoding = map.spelling
        self.fmtp = fmtp
    }
}

/// Ranks the H.264 payload formats of an offer by their format parameters (`fmtp`), and rejects unsupported ones.
///
/// Spec: RFC 6184 §8.1.
enum H264Format {
    /// Returns the rank of a payload format; lower is preferred. Profiles in order of preference: constrained baseline,
    /// baseline, main, high. The level is ignored, because it is not binding in practice.
    ///
    /// - Returns: 0 to 3 for packetization mode 1, 4 to 7 for mode 0; nil for other modes and profiles.
    static func rank(_ fmtp: [String: String]) -> Int? {
        let mode = fmtp["packetization-mode"] ?? "0"
        guard mode == "0" || mode == "1", let profile = Self.profile(fmtp["profile-level-id"]) else { return nil }
        return profile + (mode == "1" ? 0 : 4)
    }

    private static func profile(_ text: String?) -> Int? {
        // RFC 6184 §8.1: without the parameter, baseline profile, level 1.
        guard let text else { return 1 }
        let digits = text.utf8.compactMap(\.hexadecimalValue)
        guard digits.count == text.utf8.count, digits.count >= 2 else { return nil }
        // FFmpeg 8.0 writes more than 6 digits for constrained profiles; the first two are the profile in any case.
        let constraints = digits.count == 6 ? digits[2] << 4 | digits[3] : 0
        switch digits[0] << 4 | digits[1] {
        case 0x42: return constraints & 0x40 != 0 ? 0 : 1
        case 0x4D: return 2
        case 0x64: return 3
        default: return nil
        }
    }
}
