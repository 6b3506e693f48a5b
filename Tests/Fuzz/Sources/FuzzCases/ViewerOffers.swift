import MediaTypes
import WHEP
import WebRTC

/// Offers and requests of WHEP viewers: a refusal, or an answer that the viewer can apply.
enum ViewerOffers {
    static let requests = [
        "POST /whep\n\napplication/sdp\nv=0", "POST /whep/720p?exp=1\n\napplication/sdp\nv=0",
        "DELETE /whep/session/00112233445566778899aabbccddeeff\n\n\n",
        "PATCH /whep/session/00112233445566778899aabbccddeeff\n*\napplication/trickle-ice-sdpfrag\n"
            + "a=ice-ufrag:abcd\na=ice-pwd:0123456789012345678901",
        "OPTIONS /whep/%zz\n\n\n", "PUT /whep//session\n\n\n",
    ]

    /// A publisher's offer as that of a viewer.
    static func recvonly(_ offer: [UInt8]) -> [UInt8] {
        let lines = String(decoding: offer, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        return Array(
            lines.map { $0.hasPrefix("a=sendonly") ? "a=recvonly" + $0.dropFirst(10) : $0 }.joined(separator: "\n").utf8
        )
    }

    /// Input: the offer. Its last byte also says what the program has.
    static func check(_ bytes: [UInt8]) -> String? {
        let flags = bytes.last ?? 0
        let program = ViewerNegotiation.Program(
            hasVideo: flags & 1 == 0, hasAudio: flags & 2 == 0, profile: flags & 4 == 0 ? nil : 0x4D)
        let sources = ViewerSources(video: 4, videoRepair: 5, audio: 6, canonicalName: "c")
        do throws(WHIPError) {
            let (session, answer) = try ViewerNegotiation.answer(
                to: bytes, program: program, sources: sources, settings: WebRTCCase.settings)
            guard let offer = try? SessionDescription(parsing: bytes),
                let read = try? SessionDescription(parsing: Array(answer.utf8))
            else { return "an answer that cannot be read" }
            return Self.check(session, read, offer)
        } catch {
            if ![400, 413, 422].contains(error.status) { return "status \(error.status)" }
            return error.detail.isEmpty || error.fix.isEmpty || error.detail.utf8.count > 500 ? "no clear refusal" : nil
        }
    }

    private static func check(
        _ session: NegotiatedSession, _ answer: SessionDescription, _ offer: SessionDescription
    ) -> String? {
        if session.tracks.isEmpty || Set(session.tracks.map(\.kind)).count != session.tracks.count {
            return "no tracks"
        }
        for track in session.tracks where track.codec != (track.kind == .video ? .h264 : .opus) {
            return "\(track.kind) as \(track.codec)"
        }
        guard answer.sections.count == offer.sections.count else { return "\(answer.sections.count) sections" }
        var sent = 0
        for (own, other) in zip(answer.sections, offer.sections) {
            if own.media != other.media || own.transport != other.transport { return "another section" }
            let names = Set(own.attributes.map(\.name))
            if names.contains("sendonly") { sent += 1 }
            if own.port == 0, !names.contains("inactive") { return "a declined section is active" }
            guard own.port != 0 else { continue }
            if names.contains("sendonly") == names.contains("inactive") { return "no direction" }
            if own.formats.contains(where: { format in !other.formats.contains { UInt8($0) == UInt8(format) } }) {
                return "a payload type that was not offered"
            }
        }
        return sent == session.tracks.count ? nil : "\(sent) sections are sent"
    }

    /// Input: method and target, If-Match, type in a line each, then the body.
    static func request(_ bytes: [UInt8]) -> String? {
        let lines = bytes.split(separator: 0x0A, maxSplits: 3, omittingEmptySubsequences: false)
        func text(_ index: Int) -> String? {
            lines.count > index && !lines[index].isEmpty ? String(decoding: lines[index], as: UTF8.self) : nil
        }
        let words = (text(0) ?? "").split(separator: " ", maxSplits: 1)
        guard words.count == 2 else { return nil }
        let request = WHIPRequest(
            method: String(words[0]), path: String(words[1].split(separator: "?").first ?? ""), contentType: text(2),
            ifMatch: text(1), requestedMethod: text(1), body: lines.count > 3 ? Array(lines[3]) : [])
        let decision = WHEPRequests.decision(on: request) { $0.hasPrefix("0") ? ("\"e\"", "other") : nil }
        switch decision {
        case .play: return request.method == "POST" ? nil : "\(request.method) begins to play"
        case .delete(let id), .restart(let id, _): return id.utf8.count == 32 ? nil : "a session \(id)"
        case .reply(let reply):
            for field in reply.fields
            where (field.name + field.value).utf8.contains(where: { $0 == 0x0A || $0 == 0x0D }) {
                return "\(field.name) contains a line end"
            }
            guard reply.status >= 400 else {
                return [200, 204].contains(reply.status) ? nil : "status \(reply.status)"
            }
            let root = JSONParser.parse(Array(reply.body.utf8)).root
            return root?[key: "fix"]?.string?.isEmpty == false ? nil : "a refusal without a remedy"
        }
    }
}
