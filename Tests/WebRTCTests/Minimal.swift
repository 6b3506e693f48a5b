import Foundation

/// Small offers for single properties.
enum Minimal {
    static let fingerprint = "a=fingerprint:sha-256 " + (0..<32).map { _ in "AB" }.joined(separator: ":")
    static let password = "a=ice-pwd:0123456789012345678901"

    /// One video section.
    static func offer(types: String = "96", lines: [String] = ["a=rtpmap:96 VP8/90000"]) -> String {
        let all =
            ["v=0", "o=- 1 2 IN IP4 127.0.0.1", "s=-", "t=0 0", "m=video 9 UDP/TLS/RTP/SAVPF \(types)"]
            + ["c=IN IP4 0.0.0.0", "a=mid:v", "a=sendonly", "a=rtcp-mux", "a=setup:actpass", "a=ice-ufrag:abcd"]
            + [Self.password, Self.fingerprint] + lines
        return all.map { $0 + "\r\n" }.joined()
    }

    /// An audio section, to be added to another offer.
    static func audio(mid: String = "a") -> String {
        let lines =
            ["m=audio 9 UDP/TLS/RTP/SAVPF 111", "a=mid:\(mid)", "a=sendonly", "a=rtcp-mux", "a=setup:actpass"]
            + ["a=ice-ufrag:abcd", Self.password, Self.fingerprint, "a=rtpmap:111 opus/48000/2"]
        return lines.map { $0 + "\r\n" }.joined()
    }

    /// Video and audio in one bundle.
    static var both: String {
        self.offer().replacingOccurrences(of: "t=0 0\r\n", with: "t=0 0\r\na=group:BUNDLE v a\r\n") + self.audio()
    }
}
