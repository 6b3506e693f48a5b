import MediaTypes

/// Answers offers of WHIP clients.
///
/// An offer is accepted as a whole or refused: an answer that rejects one section would let a publisher go live without
/// its audio or video.
///
/// Spec: RFC 9725 §4.2, §4.4; RFC 9429 §5.3 (answers); RFC 9143 (bundle).
package enum SDPNegotiation {
    /// - Parameter offer: The body of the POST, at most 64 KiB.
    /// - Throws: 400 for malformed offers, 413 beyond a limit, 422 for offers that cannot be accepted.
    package static func answer(
        to offer: [UInt8], settings: AnswerSettings
    ) throws(WHIPError) -> (session: NegotiatedSession, answer: String) {
        let offer = try MediaOffer(parsing: offer)
        let session = try self.session(of: offer, settings: settings)
        return (session, SDPAnswer(offer: offer, session: session, settings: settings).text)
    }

    private static func session(
        of offer: MediaOffer, settings: AnswerSettings
    ) throws(WHIPError) -> NegotiatedSession {
        let common = offer.description.attributes.extensions
        var tracks: [NegotiatedTrack] = []
        for media in offer.media {
            guard let codec = Self.codec(of: media, settings: settings) else {
                throw Self.refusal(of: media, settings: settings)
            }
            let attributes = offer.description.sections[media.index].attributes
            // An extension at the session level applies to all sections (RFC 8285 §5), unless its id is used in this one.
            let own = attributes.extensions
            let shared = common.filter { !own.values.contains($0.value) }
            let extensions = own.merging(shared) { own, _ in own }
            tracks.append(
                Self.track(media, codec, attributes.feedback(codec.payloadType), extensions, attributes.ssrcs))
        }
        return NegotiatedSession(
            tracks: tracks, remoteUfrag: offer.credentials.ufrag, remotePassword: offer.credentials.password,
            fingerprints: offer.fingerprints, peerIsDTLSServer: offer.peerIsDTLSServer,
            software: Self.software(of: offer))
    }

    // MARK: Codecs

    private static func accepted(_ kind: TrackKind, settings: AnswerSettings) -> [CodecName] {
        kind == .audio ? (settings.takesOpus ? [.opus] : []) : settings.videoCodecs
    }

    /// The first accepted codec that is offered, and of its payload types the one with the lowest rank.
    private static func codec(of media: MediaOffer.Media, settings: AnswerSettings) -> OfferedCodec? {
        // A layer may be restricted to some payload types: one that all layers can use is preferred.
        let shared = media.codecs.filter { codec in
            media.layers.allSatisfy { $0.payloadTypes?.contains(codec.payloadType) ?? true }
        }
        for name in Self.accepted(media.kind, settings: settings) {
            for list in [shared, media.codecs] {
                let own = list.filter { $0.codec == name }
                // The order of the offer decides between equal ranks: `min` returns the first.
                if let best = own.min(by: { $0.rank < $1.rank }) { return best }
            }
        }
        return nil
    }

    private static func refusal(of media: MediaOffer.Media, settings: AnswerSettings) -> WHIPError {
        let kind = media.kind.rawValue
        let offered = media.names.filter { !Self.helpers.contains($0.lowercased()) }.prefix(12)
            .map { $0.visible(24) }
        let names = Self.accepted(media.kind, settings: settings).compactMap { Self.encodings[$0] }
        let list = offered.isEmpty ? "no codec" : offered.joined(separator: ", ")
        guard !names.isEmpty else {
            return .noCommonCodec(
                "the offer has \(kind) as \(list); this room takes no \(kind) codec of WebRTC",
                fix: media.kind == .audio ? "add opus to ingest.codecs" : "add h264, vp8 or vp9 to ingest.codecs")
        }
        return .noCommonCodec(
            "the offer has \(kind) as \(list); this room takes \(names.joined(separator: ", "))"
                + (media.kind == .video ? " with 8 bits and 4:2:0" : ""),
            fix: "publish with \(names.joined(separator: " or "))")
    }

    private static let encodings: [CodecName: String] = [.h264: "H264", .vp8: "VP8", .vp9: "VP9", .opus: "opus"]
    /// Encodings that carry no media of their own.
    private static let helpers: Set<String> = ["rtx", "red", "ulpfec", "flexfec-03", "telephone-event", "cn"]

    // MARK: Tracks

    private static func track(
        _ media: MediaOffer.Media, _ codec: OfferedCodec, _ feedback: Set<String>, _ extensions: [Substring: UInt8],
        _ ssrcs: [UInt32]
    ) -> NegotiatedTrack {
        // Each layer has an SSRC, and with retransmissions two.
        let rtx = media.layers.count > StreamTable.mostLayers ? nil : codec.rtxPayloadType
        let transportCC = feedback.contains("transport-cc") ? extensions[HeaderExtension.transportCC] : nil
        return NegotiatedTrack(
            mid: media.mid, kind: media.kind, codec: codec.codec, payloadType: codec.payloadType,
            rtxPayloadType: rtx, clockRate: codec.clockRate, fmtp: codec.fmtp,
            hasNACK: feedback.contains("nack"), hasPLI: feedback.contains("nack pli"),
            hasFIR: feedback.contains("ccm fir"), hasTransportCC: transportCC != nil,
            hasREMB: transportCC == nil && feedback.contains("goog-remb"), transportCCExtension: transportCC,
            orientationExtension: media.kind == .video ? extensions[HeaderExtension.orientation] : nil,
            midExtension: media.mid.isEmpty ? nil : extensions[HeaderExtension.mid],
            ridExtension: media.layers.isEmpty ? nil : extensions[HeaderExtension.rid],
            repairedRidExtension: media.layers.isEmpty ? nil : extensions[HeaderExtension.repairedRid],
            rids: media.layers.map(\.rid), ssrcs: ssrcs)
    }

    // MARK: Software

    /// `a=tool`, the user name of `o=` (Firefox, FFmpeg) or `s=`. `-` is no name, and neither is `rtc`, the user name in every
    /// offer of libdatachannel (OBS).
    private static func software(of offer: MediaOffer) -> String? {
        let description = offer.description
        let candidates = [
            description.attributes.first(named: "tool").map { String($0) }, description.origin, description.name,
        ]
        for case let text? in candidates {
            let visible = String(
                text.unicodeScalars.filter { (0x21...0x7E).contains($0.value) }.prefix(64).map(Character.init))
            if !visible.isEmpty, visible != "-", visible != "rtc" { return visible }
        }
        return nil
    }
}

/// URIs of RTP header extensions.
enum HeaderExtension {
    /// Transport-wide sequence numbers (draft-holmer-rmcat-transport-wide-cc-extensions-01).
    static let transportCC: Substring =
        "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"
    /// Video orientation (3GPP TS 26.114 §7.4.5).
    static let orientation: Substring = "urn:3gpp:video-orientation"
    /// The `mid` of a packet's section (RFC 9143 §15.2).
    static let mid: Substring = "urn:ietf:params:rtp-hdrext:sdes:mid"
    /// The simulcast layer of a packet (RFC 8852 §4.1).
    static let rid: Substring = "urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id"
    /// The simulcast layer of a retransmission (RFC 8852 §4.2).
    static let repairedRid: Substring = "urn:ietf:params:rtp-hdrext:sdes:repaired-rtp-stream-id"
}
