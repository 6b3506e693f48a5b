import MediaTypes

/// What the offer of a WHIP publisher or a WHEP viewer asks for: its transport, and its media sections.
///
/// Spec: RFC 9725 §4.2, §4.4; RFC 9429 §5.3.
package struct MediaOffer: Sendable, Hashable {
    /// One section that carries media.
    struct Media: Sendable, Hashable {
        /// Position of the section in the offer.
        var index: Int
        var kind: TrackKind
        var mid: String
        /// Acceptable payload types in the order of the offer.
        var codecs: [OfferedCodec]
        /// Encoding names as offered, without repetition, for messages.
        var names: [String]
        /// Simulcast layers in the order of the offer, and the payload types of those layers that restrict them.
        var layers: [SimulcastLayer]
    }

    /// What the offerer does.
    package enum Role: Sendable, Hashable {
        case publisher, viewer

        /// Direction that its sections must have; `sendrecv` is accepted as well.
        var direction: MediaDirection { self == .publisher ? .sendonly : .recvonly }
    }

    package let description: SessionDescription
    /// Credentials of the offerer.
    package let credentials: ICECredentials
    /// Accepted digests of the offerer's certificate; never empty.
    package let fingerprints: [SDPFingerprint]
    /// Whether the offerer insists on being the DTLS server.
    package let peerIsDTLSServer: Bool
    /// Whether the sections are a bundle; false only for a single section.
    package let isBundle: Bool
    let media: [Media]

    /// - Parameter role: What the offerer does. Its sections must have a direction that fits.
    /// - Throws: ``WHIPError``: 400 for malformed values, 413 beyond a limit, 422 for offers that WHIP or WHEP does not
    ///   allow.
    package init(parsing bytes: [UInt8], from role: Role = .publisher) throws(WHIPError) {
        let description = try SessionDescription(parsing: bytes)
        self.description = description
        self.media = try Self.media(of: description, from: role)
        let tagged = try Self.transportSection(description, self.media)
        self.isBundle = tagged.isBundle
        let section = description.sections[tagged.index].attributes
        // RFC 8839 §5.4, RFC 8122 §5, RFC 4145 §4: these may stand at the session level, for all sections.
        self.credentials = try Self.credentials(section, description.attributes)
        self.fingerprints = try Self.fingerprints(section, description.attributes)
        self.peerIsDTLSServer = try Self.isServer(section, description.attributes)
        if description.attributes.has("ice-lite") || section.has("ice-lite") {
            throw .unacceptable(
                "both sides are ICE-lite, so that neither sends connectivity checks",
                fix: role == .publisher
                    ? "publish with a client that supports full ICE" : "play with a client that supports full ICE")
        }
        for media in self.media where !description.sections[media.index].attributes.has("rtcp-mux") {
            throw .unacceptable(
                "the \(media.kind.rawValue) section has no rtcp-mux", fix: "offer RTP and RTCP on one port (rtcp-mux)")
        }
    }

    // MARK: Sections

    private static let transports: Set<String> = [
        "UDP/TLS/RTP/SAVPF", "UDP/TLS/RTP/SAVP", "TCP/DTLS/RTP/SAVPF", "TCP/DTLS/RTP/SAVP", "RTP/SAVPF", "RTP/SAVP",
    ]

    private static func media(
        of description: SessionDescription, from role: Role
    ) throws(WHIPError) -> [Media] {
        var found: [Media] = []
        for (index, section) in description.sections.enumerated() {
            // RFC 9429 §5.2.1: port 0 disables a section, except in a bundle.
            if section.port == 0, !section.attributes.has("bundle-only") { continue }
            guard let kind = TrackKind(rawValue: section.media) else {
                throw .unacceptable(
                    "the offer has a section of the type \(section.media.prefix(32)), which is not accepted",
                    fix: "offer audio and video only, without data channels")
            }
            guard Self.transports.contains(section.transport) else {
                throw .unacceptable(
                    "the \(kind.rawValue) section uses \(section.transport.prefix(32)), which is not DTLS-SRTP",
                    fix: "offer UDP/TLS/RTP/SAVPF")
            }
            let direction = section.attributes.direction ?? description.attributes.direction ?? .sendrecv
            guard direction == role.direction || direction == .sendrecv else {
                throw .unacceptable(
                    "the \(kind.rawValue) section is \(direction.rawValue), but must be "
                        + "\(role.direction.rawValue) or sendrecv",
                    fix: "offer \(role.direction.rawValue) sections")
            }
            guard !found.contains(where: { $0.kind == kind }) else {
                throw .unacceptable(
                    "the offer has more than one \(kind.rawValue) section",
                    fix: role == .publisher
                        ? "offer one \(kind.rawValue) track; publish others with stream keys of their own"
                        : "offer one \(kind.rawValue) section")
            }
            found.append(try Media(section, index: index, kind: kind))
        }
        guard !found.isEmpty else {
            throw .unacceptable(
                "the offer has no audio or video section",
                fix: role == .publisher ? "offer a track to send" : "offer a track to receive")
        }
        return found
    }

    /// The section whose transport all sections use: the first of the bundle.
    ///
    /// Spec: RFC 9143 §7.2.1 (offerer tagged section).
    private static func transportSection(
        _ description: SessionDescription, _ media: [Media]
    ) throws(WHIPError) -> (index: Int, isBundle: Bool) {
        var mids: Set<String> = []
        for section in media where !section.mid.isEmpty {
            guard mids.insert(section.mid).inserted else {
                throw .malformed("two sections have the same mid")
            }
        }
        for group in description.attributes.all(named: "group") {
            let words = group.split(separator: " ")
            guard words.first == "BUNDLE" else { continue }
            // A group may name sections that the offer does not have: FFmpeg 8.0 always writes "0 1".
            let members = words.dropFirst().compactMap { word in media.first { $0.mid == word } }
            guard media.allSatisfy({ part in members.contains { $0.index == part.index } }) else { continue }
            if let first = members.first { return (first.index, true) }
        }
        guard media.count == 1, description.sections[media[0].index].port != 0 else {
            throw .unacceptable(
                "the sections are not one bundle", fix: "offer all sections in one BUNDLE group (max-bundle)")
        }
        return (media[0].index, false)
    }
}

extension MediaOffer.Media {
    fileprivate init(_ section: SessionDescription.Section, index: Int, kind: TrackKind) throws(WHIPError) {
        (self.index, self.kind) = (index, kind)
        let mid = section.attributes.first(named: "mid") ?? ""
        guard mid.isVisible, mid.utf8.count <= 32 else {
            throw .malformed("a mid is not a word of at most 32 characters")
        }
        self.mid = String(mid)
        self.layers = try SimulcastLayer.parse(section.attributes)
        (self.codecs, self.names) = ([], [])
        let maps = section.attributes.byPayloadType(named: "rtpmap").compactMapValues { RTPMap($0) }
        let formats = section.attributes.byPayloadType(named: "fmtp")
        var types: [UInt8] = []
        for format in section.formats {
            guard let type = RTPMap.payloadType(format) else {
                throw .malformed("\(format.visible(16)) is not a payload type")
            }
            if !types.contains(type) { types.append(type) }
        }
        // Payload types of retransmissions, and those that they resend.
        let resent = types.compactMap { type -> (rtx: UInt8, of: UInt8)? in
            guard maps[type]?.encoding == "rtx", RTPMap.isUsable(type),
                let of = RTPMap.payloadType(FormatParameters.parse(formats[type] ?? "")["apt"] ?? "")
            else { return nil }
            return (type, of)
        }
        for type in types {
            guard let map = maps[type] else { continue }
            if !self.names.contains(map.spelling) { self.names.append(map.spelling) }
            guard
                var codec = OfferedCodec(
                    payloadType: type, map: map, fmtp: FormatParameters.parse(formats[type] ?? ""))
            else { continue }
            codec.rtxPayloadType = resent.first { $0.of == type && maps[$0.rtx]?.clockRate == map.clockRate }?.rtx
            self.codecs.append(codec)
        }
    }
}
