import MediaTypes
import WebRTC

/// Offers: each gets an answer that fits it, or a clear refusal.
///
/// Spec: RFC 3264 §6, RFC 9429 §5.3.1.
extension WebRTCCase {
    static func offer(_ bytes: [UInt8]) -> String? {
        do throws(WHIPError) {
            let (session, answer) = try SDPNegotiation.answer(to: bytes, settings: Self.settings)
            guard let offer = try? SessionDescription(parsing: bytes),
                let read = try? SessionDescription(parsing: Array(answer.utf8))
            else { return "an answer that cannot be read" }
            return Self.check(session) ?? Self.check(answer, read, offer, session)
        } catch {
            if ![400, 413, 422].contains(error.status) { return "status \(error.status)" }
            return error.detail.isEmpty || error.fix.isEmpty || error.detail.utf8.count > 500 ? "no clear refusal" : nil
        }
    }

    private static func check(_ session: NegotiatedSession) -> String? {
        if session.tracks.isEmpty || Set(session.tracks.map(\.kind)).count != session.tracks.count {
            return "\(session.tracks.count) tracks"
        }
        if session.fingerprints.isEmpty || !session.fingerprints.allSatisfy(\.isAccepted) {
            return "a weak fingerprint"
        }
        for track in session.tracks {
            if track.codec == .opus ? track.kind != .audio : ![.h264, .vp8, .vp9].contains(track.codec) {
                return "\(track.kind) as \(track.codec)"
            }
            for type in [track.payloadType, track.rtxPayloadType ?? 0] where type > 127 || (64...95).contains(type) {
                return "payload type \(type)"
            }
            if track.hasTransportCC && (track.transportCCExtension == nil || track.hasREMB) {
                return "two kinds of feedback"
            }
            if track.rids.count > 4 || track.ssrcs.count > 16 { return "no limit" }
        }
        return nil
    }

    private static func check(
        _ text: String, _ answer: SessionDescription, _ offer: SessionDescription, _ session: NegotiatedSession
    ) -> String? {
        if !text.hasSuffix("\r\n") || text.utf8.count(where: { $0 == 0x0A }) != text.utf8.count(where: { $0 == 0x0D }) {
            return "wrong line ends"
        }
        guard answer.sections.count == offer.sections.count else { return "\(answer.sections.count) sections" }
        var tracks = session.tracks[...]
        for (own, other) in zip(answer.sections, offer.sections) {
            if own.media != other.media || own.transport != other.transport { return "another section" }
            if own.port == 0 {
                if other.port != 0 { return "a section of the offer is rejected" }
                continue
            }
            guard let track = tracks.popFirst() else { return "more sections than tracks" }
            if let broken = Self.check(own, other, track) ?? Self.transport(own, session) { return broken }
        }
        if !tracks.isEmpty { return "fewer sections than tracks" }
        let groups = answer.attributes.filter { $0.name == "group" }.map(\.value)
        let mids = session.tracks.map(\.mid)
        if groups.count > 1 || (mids.count > 1 && groups.isEmpty) { return "\(groups.count) bundles" }
        if let group = groups.first,
            group.split(separator: " ").dropFirst().map({ String($0) }).sorted() != mids.sorted()
        {
            return "the bundle has \(group)"
        }
        return nil
    }

    private static func values(_ section: SessionDescription.Section, _ name: String) -> [String] {
        section.attributes.filter { $0.name == name }.map(\.value)
    }

    /// Checks that payload types and mids are those of the offer.
    private static func check(
        _ own: SessionDescription.Section, _ other: SessionDescription.Section, _ track: NegotiatedTrack
    ) -> String? {
        if own.formats.contains(where: { format in !other.formats.contains { UInt8($0) == UInt8(format) } }) {
            return "a payload type that was not offered"
        }
        if Self.values(own, "mid") != (track.mid.isEmpty ? [] : [track.mid]) { return "another mid" }
        if !track.mid.isEmpty, Self.values(other, "mid").first != track.mid { return "a mid that was not offered" }
        if !own.attributes.contains(where: { $0.name == "recvonly" }) { return "no direction" }
        for value in Self.values(own, "extmap") {
            let words = value.split(separator: " ")
            guard words.count == 2, UInt8(words[0]) != nil else { return "extmap:\(value)" }
        }
        let ids = Self.values(own, "extmap").compactMap { $0.split(separator: " ").first }
        if Set(ids).count != ids.count { return "one id for two extensions" }
        let layers = Self.values(own, "simulcast")
        if layers != (track.rids.isEmpty ? [] : ["recv " + track.rids.joined(separator: ";")]) { return "other layers" }
        for value in Self.values(own, "rtcp-fb") + Self.values(own, "rtpmap") + Self.values(own, "fmtp") {
            guard let type = value.split(separator: " ").first, own.formats.contains(String(type)) else {
                return "an attribute of another payload type"
            }
        }
        return nil
    }

    /// Checks that the transport's attributes are our own, not the offer's.
    private static func transport(_ own: SessionDescription.Section, _ session: NegotiatedSession) -> String? {
        let settings = Self.settings
        let expected = [
            ("ice-ufrag", [settings.credentials.ufrag]), ("ice-pwd", [settings.credentials.password]),
            ("fingerprint", [settings.fingerprint.text]), ("setup", [session.peerIsDTLSServer ? "active" : "passive"]),
        ]
        for (name, values) in expected where Self.values(own, name) != values { return "another \(name)" }
        return Self.values(own, "candidate").count == settings.candidates.count ? nil : "other candidates"
    }
}
