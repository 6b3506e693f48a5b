/// The body of a PATCH: candidates of the client, or its new credentials for an ICE restart.
///
/// Candidates are counted and otherwise ignored: media uses the address from which connectivity checks came.
///
/// Spec: RFC 8840 §9, RFC 9725 §4.3.
package struct SDPFragment: Sendable, Hashable {
    /// Credentials in the fragment; nil if it has none.
    package var credentials: ICECredentials?
    package var candidates: Int
    package var endsCandidates: Bool

    /// Largest accepted fragment in bytes.
    package static let largest = 16 << 10
    /// Media type of a fragment.
    package static let mediaType = "application/trickle-ice-sdpfrag"

    /// - Throws: 400 for a malformed fragment, or one that has neither credentials nor candidates nor their end; 413 if it or
    ///   a line is too large.
    package init(parsing bytes: [UInt8]) throws(WHIPError) {
        guard bytes.count <= Self.largest else {
            throw .tooLarge(
                "the fragment has \(bytes.count) bytes; the limit is \(Self.largest)",
                fix: "send the candidates in several PATCH requests")
        }
        (self.credentials, self.candidates, self.endsCandidates) = (nil, 0, false)
        var (ufrag, password): (String?, String?) = (nil, nil)
        var lines = SDPLines(bytes)
        while let line = try lines.next() {
            // The m= lines only say which section the lines below belong to; in a bundle all share one transport.
            guard line.type == UInt8(ascii: "a") else { continue }
            let parts = line.value.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let value = parts.count > 1 ? String(parts[1]) : ""
            switch parts[0] {
            case "ice-ufrag": ufrag = ufrag ?? value
            case "ice-pwd": password = password ?? value
            case "candidate": self.candidates += 1
            case "end-of-candidates": self.endsCandidates = true
            default: break
            }
        }
        guard (ufrag == nil) == (password == nil) else {
            throw .malformed("ice-ufrag and ice-pwd belong together")
        }
        if let ufrag, let password {
            guard ICECredentials.isUfrag(ufrag), ICECredentials.isPassword(password) else {
                throw .malformed("ice-ufrag or ice-pwd has a wrong length or character")
            }
            self.credentials = ICECredentials(ufrag: ufrag, password: password)
        }
        guard self.credentials != nil || self.candidates > 0 || self.endsCandidates else {
            throw .malformed("the fragment has neither candidates nor ICE credentials")
        }
    }

    /// The fragment that answers an ICE restart: this program's new credentials and its candidates.
    ///
    /// - Parameters:
    ///   - settings: Contains the new credentials.
    ///   - session: The negotiated session. Its first track gives the `m=` line, its tracks' `mid`s the bundle.
    package static func answer(settings: AnswerSettings, session: NegotiatedSession) -> String {
        var lines = ["a=ice-lite"]
        let mids = session.tracks.map(\.mid).filter { !$0.isEmpty }
        if mids.count > 1 { lines.append("a=group:BUNDLE " + mids.joined(separator: " ")) }
        if let first = session.tracks.first {
            lines.append("m=\(first.kind.rawValue) 9 UDP/TLS/RTP/SAVPF \(first.payloadType)")
            if !first.mid.isEmpty { lines.append("a=mid:\(first.mid)") }
        }
        lines += ["a=ice-ufrag:\(settings.credentials.ufrag)", "a=ice-pwd:\(settings.credentials.password)"]
        return (lines + settings.candidateLines).map { $0 + "\r\n" }.joined()
    }
}
