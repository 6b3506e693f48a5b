/// The address that a publisher asks for: path and query of `connect` and `publish` together.
///
/// Encoders split `rtmp://host/app/key?query` at different positions, so the parts are joined first: the path segments
/// of `app`, then those of the stream name; the query items of both, where those of the stream name take precedence.
/// The host is ignored.
package struct StreamAddress: Sendable, Hashable {
    /// Maximum length of `app` and of the stream name, in UTF-8 bytes each.
    package static let maximumLength = 512

    /// One `name=value` of the query, not percent-decoded.
    package struct QueryItem: Sendable, Hashable {
        package let name: String
        package let value: String
    }

    /// Path segments without empty ones and `_definst_`, not percent-decoded.
    package let segments: [String]
    package let query: [QueryItem]
    /// The query of the stream name, or of `app` if the stream name has none, as sent and without `?`.
    package let rawQuery: String

    /// Joins the two parts of an address.
    ///
    /// - Returns: nil if a part is too long, is not valid UTF-8, or contains ASCII control characters.
    package init?(app: String, streamName: String) {
        guard StreamAddress.isAcceptable(app), StreamAddress.isAcceptable(streamName) else { return nil }
        let first = StreamAddress.split(StreamAddress.spelledOut(app))
        let second = StreamAddress.split(streamName)
        self.segments =
            StreamAddress.segments(first.path) + StreamAddress.segments(StreamAddress.withoutPrefix(second.path))
        var query = StreamAddress.items(first.query)
        for item in StreamAddress.items(second.query) {
            query.removeAll { $0.name == item.name }
            query.append(item)
        }
        self.query = query
        self.rawQuery = String(second.query.isEmpty ? first.query : second.query)
    }

    /// The part of the path after `app`; nil if the path does not begin with `app`, or nothing follows it. `app` may
    /// have several segments.
    package func key(app: String) -> String? {
        let prefix = StreamAddress.segments(Substring(app))
        guard self.segments.count > prefix.count, self.segments.starts(with: prefix) else { return nil }
        return self.segments.dropFirst(prefix.count).joined(separator: "/")
    }

    /// The login scheme that the publisher names in `authmod`, as encoders do to log in with a user name and password;
    /// `nil` if it names none or an unknown one. Only the stream key admits a publisher; the scheme decides only what a
    /// refusal says.
    package var login: Login? { self.query.first { $0.name == "authmod" }.flatMap { Login(rawValue: $0.value) } }

    package enum Login: String, Sendable, Hashable {
        /// The login scheme of Adobe's server and compatible servers.
        case adobe
        /// The login scheme of Limelight's network.
        case llnw
    }

    /// Returns false for text that is too long, or that contains U+FFFD, which replaces invalid bytes and could make
    /// different names equal, or ASCII control characters, which could forge log lines.
    private static func isAcceptable(_ text: String) -> Bool {
        text.utf8.count <= self.maximumLength
            && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F && $0.value != 0xFFFD }
    }

    /// Removes quotes and spaces that remain when the address was copied from a web page, then splits at the first `?`.
    private static func split(_ text: String) -> (path: Substring, query: Substring) {
        let junk: Set<Character> = ["'", "\"", " "]
        var trimmed = text[...]
        while let first = trimmed.first, junk.contains(first) { trimmed.removeFirst() }
        while let last = trimmed.last, junk.contains(last) { trimmed.removeLast() }
        guard let mark = trimmed.firstIndex(of: "?") else { return (trimmed, "") }
        return (trimmed[..<mark], trimmed[trimmed.index(after: mark)...])
    }

    /// Converts `APP...vhost...HOST&QUERY` to `APP?vhost=HOST&QUERY`. The former is used with SRS by clients that drop
    /// everything after `?`.
    private static func spelledOut(_ app: String) -> String {
        guard !app.contains("?"), let mark = app.firstRange(of: "...vhost...") else { return app }
        return "\(app[..<mark.lowerBound])?vhost=\(app[mark.upperBound...])"
    }

    /// Removes `mp4:` and `flv:`, which name a container for servers that record and are not part of the name.
    private static func withoutPrefix(_ path: Substring) -> Substring {
        for prefix in ["mp4:", "flv:"] where path.hasPrefix(prefix) { return path.dropFirst(prefix.count) }
        return path
    }

    private static func segments(_ path: Substring) -> [String] {
        path.split(separator: "/").map(String.init).filter { $0 != "_definst_" }
    }

    private static func items(_ query: Substring) -> [QueryItem] {
        query.split(separator: "&").map { item in
            guard let equals = item.firstIndex(of: "=") else { return QueryItem(name: String(item), value: "") }
            return QueryItem(name: String(item[..<equals]), value: String(item[item.index(after: equals)...]))
        }
    }
}
