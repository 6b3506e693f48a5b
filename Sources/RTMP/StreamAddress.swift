/// Where a publisher wants to go: the path and the query that `connect` and `publish` give together.
///
/// Encoders cut `rtmp://host/app/key?query` at different places, so the parts are joined again before anyone looks: path
/// segments of `app`, then of the stream name; the query of both, the stream name's winning. The host plays no role.
package struct StreamAddress: Sendable, Hashable {
    /// Longest `app` and stream name, in UTF-8 bytes each.
    package static let maximumLength = 512

    /// One `name=value` of the query, as sent: not percent-decoded.
    package struct QueryItem: Sendable, Hashable {
        package let name: String
        package let value: String

        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// Path segments, none empty, as sent: not percent-decoded.
    package let segments: [String]
    package let query: [QueryItem]
    /// The query of the stream name, or of `app` when that has none, as sent and without `?`.
    package let rawQuery: String

    /// - Returns: nil when a part is too long, is no valid UTF-8, or holds control characters.
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

    /// What follows `app` in the path; nil when the path does not begin with `app` or ends with it. `app` may have several
    /// segments.
    package func key(app: String) -> String? {
        let prefix = StreamAddress.segments(Substring(app))
        guard self.segments.count > prefix.count, self.segments.starts(with: prefix) else { return nil }
        return self.segments.dropFirst(prefix.count).joined(separator: "/")
    }

    /// How the publisher wants to log in by name and password: servers that know such logins ask for them, and encoders repeat
    /// the question in the query of `app`. Nothing of it is looked at here, and the stream key decides alone.
    package var login: Login? { self.query.first { $0.name == "authmod" }.flatMap { Login(rawValue: $0.value) } }

    package enum Login: String, Sendable, Hashable {
        /// Of Adobe's server, and those that do as it does.
        case adobe
        /// Of Limelight's network.
        case llnw
    }

    /// Names with replaced bytes (U+FFFD), NUL or C0 controls could collapse into one another or forge log lines.
    private static func isAcceptable(_ text: String) -> Bool {
        text.utf8.count <= self.maximumLength
            && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F && $0.value != 0xFFFD }
    }

    /// Trims what copying out of a web page leaves, then cuts at the first `?`.
    private static func split(_ text: String) -> (path: Substring, query: Substring) {
        let junk: Set<Character> = ["'", "\"", " "]
        var trimmed = text[...]
        while let first = trimmed.first, junk.contains(first) { trimmed.removeFirst() }
        while let last = trimmed.last, junk.contains(last) { trimmed.removeLast() }
        guard let mark = trimmed.firstIndex(of: "?") else { return (trimmed, "") }
        return (trimmed[..<mark], trimmed[trimmed.index(after: mark)...])
    }

    /// `APP...vhost...HOST&QUERY` is `APP?vhost=HOST&QUERY`, as it is written for SRS by clients that lose what is behind a `?`.
    private static func spelledOut(_ app: String) -> String {
        guard !app.contains("?"), let mark = app.firstRange(of: "...vhost...") else { return app }
        return "\(app[..<mark.lowerBound])?vhost=\(app[mark.upperBound...])"
    }

    /// `mp4:` and `flv:` name a container for servers that record; they are not part of the name.
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
