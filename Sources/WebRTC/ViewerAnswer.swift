import MediaTypes

/// Writes the answer to a viewer's offer. Numbers, names and the order of sections are those of the offer.
///
/// Spec: RFC 9429 §5.3.1, draft-ietf-wish-whep §4.2.
struct ViewerAnswer {
    /// The answer to one section of the offer.
    enum Section {
        case sent(NegotiatedTrack)
        /// The codec is known, but this side has nothing to send.
        case inactive(NegotiatedTrack)
        case declined
    }

    let offer: MediaOffer
    /// What is answered to each section, by its position in the offer.
    let sections: [Int: Section]
    let sources: ViewerSources
    let settings: AnswerSettings
    let isDTLSClient: Bool

    /// The answer, as lines that end with CR LF.
    var text: String {
        var lines = ["v=0", "o=- \(self.settings.sessionID & (1 << 63 - 1)) 1 IN IP4 127.0.0.1", "s=-", "t=0 0"]
        let mids = self.bundle
        if self.offer.isBundle, !mids.isEmpty { lines.append("a=group:BUNDLE " + mids.joined(separator: " ")) }
        lines += ["a=ice-lite", "a=msid-semantic: WMS \(Self.streamID)"]
        if self.offer.description.attributes.has("extmap-allow-mixed") { lines.append("a=extmap-allow-mixed") }
        for (index, section) in self.offer.description.sections.enumerated() {
            switch self.sections[index] {
            case .sent(let track): lines += self.accepted(section, track, isSent: true)
            case .inactive(let track): lines += self.accepted(section, track, isSent: false)
            case .declined, nil: lines += Self.declined(section)
            }
        }
        return lines.map { $0 + "\r\n" }.joined()
    }

    /// Name of the one MediaStream that the viewer gets.
    private static let streamID = "program"

    /// Mids of the accepted sections, in the order of the offer's group.
    private var bundle: [String] {
        var own: [String] = []
        for index in self.offer.description.sections.indices {
            switch self.sections[index] {
            case .sent(let track), .inactive(let track): own.append(track.mid)
            case .declined, nil: break
            }
        }
        for group in self.offer.description.attributes.all(named: "group") where group.hasPrefix("BUNDLE") {
            var known: [String] = []
            for mid in group.split(separator: " ").dropFirst().map({ String($0) })
            where own.contains(mid) && !known.contains(mid) {
                known.append(mid)
            }
            if known.count == own.count { return known }
        }
        return own
    }

    private static func declined(_ section: SessionDescription.Section) -> [String] {
        var lines = [
            "m=\(section.media) 0 \(section.transport) \(section.formats.first { $0.isVisible } ?? "0")",
            "c=IN IP4 0.0.0.0", "a=inactive",
        ]
        if let mid = section.attributes.first(named: "mid"), mid.isVisible, (1...32).contains(mid.utf8.count) {
            lines.append("a=mid:\(mid)")
        }
        return lines
    }

    private func accepted(
        _ section: SessionDescription.Section, _ track: NegotiatedTrack, isSent: Bool
    ) -> [String] {
        let types = ([track.payloadType] + [track.rtxPayloadType].compactMap(\.self)).map { "\($0)" }
        var lines = [
            "m=\(section.media) 9 \(section.transport) \(types.joined(separator: " "))", "c=IN IP4 0.0.0.0",
        ]
        if !track.mid.isEmpty { lines.append("a=mid:\(track.mid)") }
        lines += [isSent ? "a=sendonly" : "a=inactive", "a=rtcp-mux"]
        if section.attributes.has("rtcp-rsize") { lines.append("a=rtcp-rsize") }
        lines += [
            "a=ice-ufrag:\(self.settings.credentials.ufrag)", "a=ice-pwd:\(self.settings.credentials.password)",
            "a=fingerprint:\(self.settings.fingerprint.text)", "a=setup:\(self.isDTLSClient ? "active" : "passive")",
        ]
        if section.attributes.has("extmap-allow-mixed") { lines.append("a=extmap-allow-mixed") }
        lines += self.formats(section, track)
        if isSent { lines += self.streams(track) }
        return lines + self.settings.candidateLines
    }

    private func formats(_ section: SessionDescription.Section, _ track: NegotiatedTrack) -> [String] {
        let type = track.payloadType
        // The encoding name is repeated as offered, because some clients compare its case.
        let map = section.attributes.byPayloadType(named: "rtpmap")[type]?.split(separator: " ").first ?? ""
        var lines = ["a=rtpmap:\(type) \(map)"]
        let parameters = Self.parameters(track)
        if !parameters.isEmpty { lines.append("a=fmtp:\(type) \(parameters.joined(separator: ";"))") }
        let feedback: [(Bool, String)] = [
            (track.hasNACK, "nack"), (track.hasPLI, "nack pli"), (track.hasFIR, "ccm fir"),
            (track.hasREMB, "goog-remb"),
        ]
        lines += feedback.filter(\.0).map { "a=rtcp-fb:\(type) \($0.1)" }
        if let rtx = track.rtxPayloadType {
            lines += ["a=rtpmap:\(rtx) rtx/\(track.clockRate)", "a=fmtp:\(rtx) apt=\(type)"]
        }
        return lines
    }

    private static func parameters(_ track: NegotiatedTrack) -> [String] {
        func repeated(_ names: [String]) -> [String] {
            names.compactMap { name in
                guard let value = track.fmtp[name], value.utf8.count <= 16, value.isPlain(marks: "") else { return nil }
                return "\(name)=\(value)"
            }
        }
        switch track.codec {
        case .opus: return repeated(["minptime", "useinbandfec"]) + ["stereo=1", "sprop-stereo=1"]
        case .h264: return repeated(["level-asymmetry-allowed", "packetization-mode", "profile-level-id"])
        default: return []
        }
    }

    /// The lines that announce the stream identifiers of a track that is sent.
    ///
    /// Spec: RFC 8830 (msid), RFC 5576 (ssrc, FID by RFC 4588 §8.8).
    private func streams(_ track: NegotiatedTrack) -> [String] {
        let msid = "\(Self.streamID) \(track.kind.rawValue)"
        var ids = [track.kind == .video ? self.sources.video : self.sources.audio]
        var lines = ["a=msid:\(msid)"]
        if track.kind == .video, track.rtxPayloadType != nil {
            ids.append(self.sources.videoRepair)
            lines.append("a=ssrc-group:FID \(ids[0]) \(ids[1])")
        }
        for id in ids {
            lines += ["a=ssrc:\(id) cname:\(self.sources.canonicalName)", "a=ssrc:\(id) msid:\(msid)"]
        }
        return lines
    }
}
