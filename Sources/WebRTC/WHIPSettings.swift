import MediaTypes

/// Configuration of a WHIP endpoint.
package struct WHIPSettings: Sendable, Hashable {
    /// A STUN or TURN server that clients are given (RFC 9725 §4.6).
    package struct ICEServer: Sendable, Hashable {
        /// Such as `stun:stun.example.net` or `turn:turn.example.net?transport=udp`.
        package var url: String
        /// User name for TURN; nil: none.
        package var username: String?
        /// Password for TURN. Secret: it is sent only to publishers with a valid key.
        package var credential: String?

        package init(url: String, username: String? = nil, credential: String? = nil) {
            self.url = url
            self.username = username
            self.credential = credential
        }
    }

    /// First segments of the stream's address, as for RTMP: the endpoint is `/whip/` and this. May have several segments.
    package var app: String
    /// Origins of web pages that may publish, such as `https://studio.example.net`; `*`: all.
    package var allowedOrigins: [String]
    package var iceServers: [ICEServer]

    package init(app: String, allowedOrigins: [String] = ["*"], iceServers: [ICEServer] = []) {
        self.app = app
        self.allowedOrigins = allowedOrigins
        self.iceServers = iceServers
    }

    /// `Link` fields for the reply that creates a session.
    ///
    /// Spec: RFC 9725 §4.6, RFC 8288 §3.
    var links: [WHIPReply.Field] {
        self.iceServers.filter { $0.url.isVisible && !$0.url.contains { "<>\"".contains($0) } }.map { server in
            var value = "<\(server.url)>; rel=\"ice-server\""
            if let username = server.username { value += "; username=\(Self.quoted(username))" }
            if let credential = server.credential {
                value += "; credential=\(Self.quoted(credential)); credential-type=\"password\""
            }
            return WHIPReply.Field("Link", value)
        }
    }

    /// A quoted-string (RFC 9110 §5.6.4). Characters that a field cannot contain are left out.
    private static func quoted(_ text: String) -> String {
        var out = "\""
        for unit in text.utf8 where (0x20...0x7E).contains(unit) {
            if unit == UInt8(ascii: "\"") || unit == UInt8(ascii: "\\") { out += "\\" }
            out.unicodeScalars.append(Unicode.Scalar(unit))
        }
        return out + "\""
    }
}
