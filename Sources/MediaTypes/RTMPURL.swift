/// An RTMP URL for publishing or playing: `rtmp://host[:port]/app/name[?query]`, or `rtmps://…` over TLS.
package struct RTMPURL: Sendable, Hashable {
    package let host: String
    /// TCP port: that of the URL, or else 1935, or 443 over TLS.
    package let port: Int
    /// RTMP application: all path segments but the last, or the only segment; all segments if the caller passed a key.
    package let app: String
    /// Stream name: the last path segment with the query; only the query if the path has one segment; the key if the
    /// caller passed one.
    package let streamName: String
    /// Whether the connection uses TLS (`rtmps`).
    package let isSecure: Bool

    /// Parses an RTMP URL.
    ///
    /// - Parameters:
    ///   - allowsTLS: Whether `rtmps` is accepted too, because the caller supports TLS.
    ///   - key: The stream name with its query, if the URL ends with the application (a query of the URL is ignored
    ///     then); `nil`: the URL contains the name.
    /// - Returns: `nil` for another scheme, no host, no path, or a port outside 1 to 65,535. A user name and a password
    ///   are ignored.
    package init?(_ text: String, allowsTLS: Bool = false, key: String? = nil) {
        let scheme = text.prefix { $0 != ":" }.lowercased()
        guard scheme == "rtmp" || allowsTLS && scheme == "rtmps", text.dropFirst(scheme.count).hasPrefix("://") else {
            return nil
        }
        let isSecure = scheme == "rtmps"
        let rest = text.dropFirst(scheme.count + 3)
        guard let slash = rest.firstIndex(of: "/") else { return nil }
        var authority = rest[..<slash]
        // Credentials are not part of the address; servers use other ways to authenticate.
        if let at = authority.lastIndex(of: "@") { authority = authority[authority.index(after: at)...] }
        var path = rest[rest.index(after: slash)...]
        var query = Substring()
        if let mark = path.firstIndex(of: "?") {
            query = path[mark...]
            path = path[..<mark]
        }
        var port = isSecure ? 443 : 1935
        var host = authority
        let isBracketed = authority.hasPrefix("[")
        if let colon = authority.lastIndex(of: ":"), !isBracketed || authority[..<colon].hasSuffix("]") {
            guard let number = Int(authority[authority.index(after: colon)...]), (1...65_535).contains(number) else {
                return nil
            }
            port = number
            host = authority[..<colon]
        }
        if isBracketed && host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        let segments = path.split(separator: "/")
        guard !host.isEmpty, let last = segments.last else { return nil }
        self.host = String(host)
        self.port = port
        self.isSecure = isSecure
        if let key {
            self.app = segments.joined(separator: "/")
            self.streamName = key
        } else if segments.count == 1 {
            self.app = String(last)
            self.streamName = String(query)
        } else {
            self.app = segments.dropLast().joined(separator: "/")
            self.streamName = String(last + query)
        }
    }

    /// `HOST:PORT`, an IPv6 address in brackets.
    package var authority: String {
        let host = self.host.contains(":") ? "[\(self.host)]" : self.host
        return "\(host):\(self.port)"
    }

    /// The `tcUrl` of the `connect` command: the URL without stream name.
    package var tcURL: String { "\(self.isSecure ? "rtmps" : "rtmp")://\(self.authority)/\(self.app)" }

    /// The URL for logs and states: without credentials and query, and with only a few characters of the stream name to
    /// tell streams apart.
    package var redacted: String {
        let name = self.streamName.prefix { $0 != "?" }
        let shown = self.streamName.isEmpty ? "" : "/" + name.prefix(min(4, name.count / 3)) + "…"
        return self.tcURL + shown
    }
}
