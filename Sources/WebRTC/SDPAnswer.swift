import MediaTypes

/// Writes the answer to an offer. Numbers, names and the order of sections are those of the offer.
///
/// Spec: RFC 9429 §5.3.1, RFC 9725 §4.4.
struct SDPAnswer {
    let offer: MediaOffer
    let session: NegotiatedSession
    let settings: AnswerSettings

    /// The answer, as lines that end with CR LF.
    var text: String {
        var lines = ["v=0", "o=- \(self.settings.sessionID & (1 << 63 - 1)) 1 IN IP4 127.0.0.1", "s=-", "t=0 0"]
        if self.offer.isBundle { lines.append("a=group:BUNDLE " + self.bundle.joined(separator: " ")) }
        lines.append("a=ice-lite")
        if self.offer.description.attributes.has("extmap-allow-mixed") { lines.append("a=extmap-allow-mixed") }
        for (index, section) in self.offer.description.sections.enumerated() {
            if let position = self.offer.media.firstIndex(where: { $0.index == index }) {
                lines += self.accepted(section, self.session.tracks[position])
            } else {
                lines += self.rejected(section)
            }
        }
        return lines.map { $0 + "\r\n" }.joined()
    }

    /// Mids in the order of the offer's group, which decides whose transport is used (RFC 9143 §7.3.1).
    private var bundle: [String] {
        for group in self.offer.description.attributes.all(named: "group") {
            let mids = group.split(separator: " ").dropFirst().map { String($0) }
            let known = mids.filter { mid in self.session.tracks.contains { $0.mid == mid } }
            if group.hasPrefix("BUNDLE"), self.session.tracks.allSatisfy({ known.contains($0.mid) }) {
                return known.enumerated().filter { known.firstIndex(of: $0.element) == $0.offset }.map(\.element)
            }
        }
        return self.session.tracks.map(\.mid)
    }

    // MARK: Sections

    /// Repeats a section that the offerer itself had disabled.
    private func rejected(_ section: SessionDescription.Section) -> [String] {
        var lines = [
            "m=\(section.media) 0 \(section.transport) \(section.formats.first { $0.isVisible } ?? "0")",
            "c=IN IP4 0.0.0.0", "a=inactive",
        ]
        if let mid = section.attributes.first(named: "mid"), mid.isVisible, (1...32).contains(mid.utf8.count) {
            lines.append("a=mid:\(mid)")
        }
        return lines
    }

    private func accepted(_ section: SessionDescription.Section, _ track: NegotiatedTrack) -> [String] {
        let types = ([track.payloadType] + [track.rtxPayloadType].compactMap(\.self)).map { "\($0)" }
        var lines = [
            "m=\(section.media) 9 \(section.transport) \(types.joined(separator: " "))", "c=IN IP4 0.0.0.0",
        ]
        if track.kind == .video { lines += self.bandwidth }
        if !track.mid.isEmpty { lines.append("a=mid:\(track.mid)") }
        lines += ["a=recvonly", "a=rtcp-mux"]
        if section.attributes.has("rtcp-rsize") { lines.append("a=rtcp-rsize") }
        lines += [
            "a=ice-ufrag:\(self.settings.credentials.ufrag)", "a=ice-pwd:\(self.settings.credentials.password)",
            "a=fingerprint:\(self.settings.fingerprint.text)",
            "a=setup:\(self.session.peerIsDTLSServer ? "active" : "passive")",
        ]
        if section.attributes.has("extmap-allow-mixed") { lines.append("a=extmap-allow-mixed") }
        lines += self.formats(section, track) + self.extensions(track) + self.layers(track)
        return lines + self.settings.candidateLines
    }

    private func formats(_ section: SessionDescription.Section, _ track: NegotiatedTrack) -> [String] {
        let type = track.payloadType
        // The encoding name is repeated as offered, because some clients compare its case.
        let map = section.attributes.byPayloadType(named: "rtpmap")[type]?.split(separator: " ").first ?? ""
        var lines = ["a=rtpmap:\(type) \(map)"]
        let parameters = self.parameters(track)
        if !parameters.isEmpty { lines.append("a=fmtp:\(type) \(parameters.joined(separator: ";"))") }
        let feedback: [(Bool, String)] = [
            (track.hasNACK, "nack"), (track.hasPLI, "nack pli"), (track.hasFIR, "ccm fir"),
            (track.hasTransportCC, "transport-cc"), (track.hasREMB, "goog-remb"),
        ]
        lines += feedback.filter(\.0).map { "a=rtcp-fb:\(type) \($0.1)" }
        if let rtx = track.rtxPayloadType {
            lines += ["a=rtpmap:\(rtx) rtx/\(track.clockRate)", "a=fmtp:\(rtx) apt=\(type)"]
        }
        return lines
    }

    /// Parameters that describe the stream are repeated, and those that steer the sender are added.
    private func parameters(_ track: NegotiatedTrack) -> [String] {
        func repeated(_ names: [String]) -> [String] {
            names.compactMap { name in
                guard let value = track.fmtp[name], value.utf8.count <= 16, value.isPlain(marks: "") else { return nil }
                return "\(name)=\(value)"
            }
        }
        switch track.codec {
        case .opus:
            // Without stereo, libwebrtc sends one channel at about 30 kbit/s.
            return repeated(["minptime", "useinbandfec"]) + [
                "stereo=1", "sprop-stereo=1", "maxaveragebitrate=\(AnswerSettings.audioBitrate)",
            ]
        case .h264:
            return repeated(["level-asymmetry-allowed", "packetization-mode", "profile-level-id"]) + self.bitRates
        case .vp9: return repeated(["profile-id"]) + self.bitRates
        default: return self.bitRates
        }
    }

    /// Parameters of libwebrtc; others ignore them.
    private var bitRates: [String] {
        let most = self.settings.maxBitrateKbps
        var list = ["x-google-start-bitrate=\(min(self.settings.startBitrateKbps, most ?? .max))"]
        if let most { list.append("x-google-max-bitrate=\(most)") }
        return list
    }

    /// The highest bit rate for clients that read no parameters of libwebrtc: Firefox reads TIAS, others AS.
    ///
    /// Spec: RFC 8866 §5.8, RFC 3890 §6.2.
    private var bandwidth: [String] {
        self.settings.maxBitrateKbps.map { ["b=AS:\($0)", "b=TIAS:\($0 * 1_000)"] } ?? []
    }

    private func extensions(_ track: NegotiatedTrack) -> [String] {
        let offered: [(UInt8?, Substring)] = [
            (track.midExtension, HeaderExtension.mid), (track.ridExtension, HeaderExtension.rid),
            (track.repairedRidExtension, HeaderExtension.repairedRid),
            (track.transportCCExtension, HeaderExtension.transportCC),
            (track.orientationExtension, HeaderExtension.orientation),
        ]
        return offered.compactMap { id, uri in id.map { "a=extmap:\($0) \(uri)" } }
    }

    private func layers(_ track: NegotiatedTrack) -> [String] {
        guard !track.rids.isEmpty else { return [] }
        return track.rids.map { "a=rid:\($0) recv" } + ["a=simulcast:recv " + track.rids.joined(separator: ";")]
    }
}

extension AnswerSettings {
    /// `candidate` attributes, UDP before TCP: FFmpeg reads only the first, and takes no TCP.
    ///
    /// Spec: RFC 8839 §5.1; priorities by RFC 8445 §5.1.2.1 and RFC 6544 §4.2.
    var candidateLines: [String] {
        let ordered = self.candidates.filter { !$0.isTCP } + self.candidates.filter(\.isTCP)
        return ordered.prefix(32).enumerated().map { index, candidate in
            let address = "\(candidate.address) \(candidate.port) typ host"
            guard candidate.isTCP else {
                let priority = 126 << 24 | (65_535 - index) << 8 | 255
                return "a=candidate:\(index + 1) 1 udp \(priority) \(address)"
            }
            // Passive: direction preference 4. The type preference is below that of UDP.
            let priority = 99 << 24 | (4 << 13 | (8191 - index)) << 8 | 255
            return "a=candidate:\(index + 1) 1 tcp \(priority) \(address) tcptype passive"
        } + ["a=end-of-candidates"]
    }
}
