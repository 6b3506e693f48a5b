import MediaTypes

/// Answers the offers of WHEP viewers.
///
/// An audio section without Opus is declined, so that the viewer still gets the video. If the program has video, then an offer
/// with a video section without H.264 in packetization mode 1 is refused, since its viewer would see nothing and not know why.
///
/// Spec: draft-ietf-wish-whep §4.2; RFC 9429 §5.3 (answers); RFC 9143 (bundle).
package enum ViewerNegotiation {
    /// What this side can send.
    package struct Program: Sendable, Hashable {
        package var hasVideo: Bool
        package var hasAudio: Bool
        /// `profile_idc` of the H.264 stream; nil while unknown. An offered payload type with this profile is preferred.
        package var profile: UInt8?

        package init(hasVideo: Bool, hasAudio: Bool, profile: UInt8? = nil) {
            self.hasVideo = hasVideo
            self.hasAudio = hasAudio
            self.profile = profile
        }
    }

    /// - Parameters:
    ///   - offer: The body of the POST, at most 64 KiB.
    ///   - sources: The stream identifiers to announce, by kind.
    /// - Returns: The tracks to send in the order of the offer, at least one, and the answer.
    /// - Throws: 400 for malformed offers, 413 beyond a limit, 422 for offers that cannot be accepted.
    package static func answer(
        to offer: [UInt8], program: Program, sources: ViewerSources, settings: AnswerSettings
    ) throws(WHIPError) -> (session: NegotiatedSession, answer: String) {
        let offer = try MediaOffer(parsing: offer, from: .viewer)
        var tracks: [NegotiatedTrack] = []
        var sections: [Int: ViewerAnswer.Section] = [:]
        for media in offer.media {
            let attributes = offer.description.sections[media.index].attributes
            guard let codec = Self.codec(of: media, program) else {
                if media.kind == .video, program.hasVideo { throw Self.refusal(of: media) }
                sections[media.index] = .declined
                continue
            }
            let track = Self.track(media, codec, attributes.feedback(codec.payloadType))
            let isSent = media.kind == .video ? program.hasVideo : program.hasAudio
            if isSent { tracks.append(track) }
            sections[media.index] = isSent ? .sent(track) : .inactive(track)
        }
        guard !tracks.isEmpty else {
            throw .noCommonCodec(
                "the offer has no section that this output can send",
                fix: program.hasVideo ? "offer video with H264, or audio with opus" : "offer audio with opus")
        }
        let session = NegotiatedSession(
            tracks: tracks, remoteUfrag: offer.credentials.ufrag, remotePassword: offer.credentials.password,
            fingerprints: offer.fingerprints, peerIsDTLSServer: offer.peerIsDTLSServer)
        let answer = ViewerAnswer(
            offer: offer, sections: sections, sources: sources, settings: settings,
            isDTLSClient: offer.peerIsDTLSServer)
        return (session, answer.text)
    }

    // MARK: Codecs

    private static func codec(of media: MediaOffer.Media, _ program: Program) -> OfferedCodec? {
        guard media.kind == .video else { return media.codecs.first { $0.codec == .opus } }
        // Packetization mode 0 has no fragments, which frames of this program need.
        let usable = media.codecs.filter { $0.codec == .h264 && $0.fmtp["packetization-mode"] == "1" }
        return usable.min { Self.distance(of: $0, program) < Self.distance(of: $1, program) }
    }

    /// Lower is better. Players decode other profiles than the negotiated one, but not all of them say so.
    private static func distance(of codec: OfferedCodec, _ program: Program) -> Int {
        let offered = codec.fmtp["profile-level-id"].flatMap { UInt8($0.prefix(2), radix: 16) } ?? 0x42
        return offered == program.profile ? 0 : 1 + codec.rank
    }

    private static func refusal(of media: MediaOffer.Media) -> WHIPError {
        let offered = media.names.filter { $0.lowercased() != "rtx" }.prefix(12).map { $0.visible(24) }
        let list = offered.isEmpty ? "no codec" : offered.joined(separator: ", ")
        if media.names.contains(where: { $0.lowercased() == "h264" }) {
            let isOnlyMode = media.codecs.contains { $0.codec == .h264 }
            return .noCommonCodec(
                isOnlyMode
                    ? "the offer has H264 without packetization-mode=1"
                    : "the offer has H264 without a profile and packetization mode that this output supports",
                fix: "offer the Baseline, Main or High profile with packetization-mode=1, or play the HLS output")
        }
        return .noCommonCodec(
            "the offer has video as \(list); this output sends H264",
            fix: "play with a client that receives H264, or play the HLS output")
    }

    private static func track(
        _ media: MediaOffer.Media, _ codec: OfferedCodec, _ feedback: Set<String>
    ) -> NegotiatedTrack {
        NegotiatedTrack(
            mid: media.mid, kind: media.kind, codec: codec.codec, payloadType: codec.payloadType,
            rtxPayloadType: codec.rtxPayloadType, clockRate: codec.clockRate, fmtp: codec.fmtp,
            hasNACK: feedback.contains("nack"), hasPLI: feedback.contains("nack pli"),
            hasFIR: feedback.contains("ccm fir"), hasREMB: feedback.contains("goog-remb"))
    }
}

/// The identifiers of the streams that a viewer gets.
package struct ViewerSources: Sendable, Hashable {
    package var video: UInt32
    /// Retransmissions of video (RFC 4588).
    package var videoRepair: UInt32
    package var audio: UInt32
    /// CNAME of all streams (RFC 7022), which makes players keep them in sync.
    package var canonicalName: String

    package init(video: UInt32, videoRepair: UInt32, audio: UInt32, canonicalName: String) {
        self.video = video
        self.videoRepair = videoRepair
        self.audio = audio
        self.canonicalName = canonicalName
    }
}
