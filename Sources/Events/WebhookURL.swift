import MediaTypes
import PipelineSpec

/// The components of a webhook's URL. Parsing is strict: URLs that other parsers could understand differently are
/// rejected.
struct WebhookURL: Sendable, Hashable {
    let isSecure: Bool
    let target: EgressPolicy.Target
    /// Path with the query.
    let path: String
    /// Host and port as written in the URL, for the header field `Host`.
    let authority: String

    /// Parses a URL.
    ///
    /// - Returns: `nil` for anything but `http[s]://HOST[:PORT][/PATH][?QUERY][#FRAGMENT]` without user, with a host of
    ///   letters, digits, `-`, `.` and `_`, or an IPv6 address in brackets; `nil` beyond 2,048 bytes. The fragment is
    ///   left out.
    init?(_ text: String) {
        let lower = text.prefix(8).lowercased()
        guard let scheme = ["http://", "https://"].first(where: { lower.hasPrefix($0) }), text.utf8.count <= 2048,
            text.isVisible
        else { return nil }
        self.isSecure = scheme == "https://"
        let rest = text.dropFirst(scheme.count).prefix { $0 != "#" }
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        let path = rest.dropFirst(authority.count)
        self.path = path.hasPrefix("/") ? String(path) : "/\(path)"
        self.authority = String(authority)
        var host = authority
        var port = self.isSecure ? 443 : 80
        var behind: Substring
        if host.hasPrefix("[") {
            guard let end = host.firstIndex(of: "]") else { return nil }
            behind = host[host.index(after: end)...]
            host = host[host.index(after: host.startIndex)..<end]
            guard host.contains(":"), IPAddress(host) != nil else { return nil }
        } else {
            host = authority.prefix { $0 != ":" }
            behind = authority[host.endIndex...]
            guard host.isPlain(marks: "-._"), !host.isEmpty else { return nil }
        }
        if !behind.isEmpty {
            let digits = behind.dropFirst()
            guard behind.first == ":", (1...5).contains(digits.utf8.count), digits.isDigits,
                let number = Int(digits), (1...65_535).contains(number)
            else { return nil }
            port = number
        }
        self.target = EgressPolicy.Target(host: String(host), port: port, defaultPort: self.isSecure ? 443 : 80)
    }
}

extension EgressPolicy.Target {
    /// Makes the target from the URL of a webhook; `nil` for a URL that parsers may understand differently.
    package init?(webhook url: String) {
        guard let url = WebhookURL(url) else { return nil }
        self = url.target
    }
}
