import MediaTypes

/// A pattern for servers: `HOST`, `HOST:PORT` or `HOST:*`; `*.DOMAIN` can replace the host.
///
/// Without a port, the pattern matches only the default port (1935 unless the caller sets another port). Names are
/// compared without regard to case. `*.DOMAIN` matches every name below the domain, but not the domain itself.
package struct HostPattern: Sendable, Hashable, CustomStringConvertible {
    /// Host in lower case, without brackets; begins with `.` if the pattern matches every name below a domain.
    private let host: String
    /// Port that the pattern matches; `nil`: any port. ``portOfScheme``: the default port of the URL's scheme.
    private let port: Int?
    package let description: String

    /// Value that replaces a list element that cannot be parsed, so that parsing can continue. It matches nothing.
    static let standIn = HostPattern(host: "", port: 0, description: "")

    private init(host: String, port: Int?, description: String) {
        (self.host, self.port, self.description) = (host, port, description)
    }

    /// Marks the default port of the URL's scheme; 0 cannot occur as a written port.
    static let portOfScheme = 0

    /// Parses a host pattern.
    ///
    /// - Parameter defaultPort: The port to match if the pattern does not contain one.
    /// - Returns: `nil` if the text is not a pattern.
    package init?(_ text: String, defaultPort: Int = 1935) {
        guard text.utf8.count <= 300 else { return nil }
        var rest = text.lowercased()[...]
        let isBracketed = rest.hasPrefix("[")
        var port: Int? = defaultPort
        if let colon = rest.lastIndex(of: ":"), !isBracketed || rest[..<colon].hasSuffix("]") {
            let written = rest[rest.index(after: colon)...]
            if written == "*" {
                port = nil
            } else {
                guard let number = Int(written), (1...65_535).contains(number) else { return nil }
                port = number
            }
            rest = rest[..<colon]
        }
        if isBracketed {
            guard rest.hasSuffix("]") else { return nil }
            rest = rest.dropFirst().dropLast()
        }
        let isBelow = !isBracketed && rest.hasPrefix("*.")
        if isBelow { rest = rest.dropFirst() }
        let name = isBelow ? rest.dropFirst() : rest
        guard !name.isEmpty, name.isPlain(marks: isBracketed ? "-._:%" : "-._") else { return nil }
        self.host = String(rest)
        self.port = port
        self.description = text
    }

    /// The IP address in the pattern; `nil` if it contains a name.
    var address: IPAddress? { IPAddress(self.host) }

    /// Whether the pattern matches every name below a domain (`*.DOMAIN`).
    var isBelow: Bool { self.host.hasPrefix(".") }

    /// Whether the pattern matches a port, whatever the host.
    ///
    /// - Parameter defaultPort: The default port of the URL's scheme.
    func allows(port: Int, defaultPort: Int) -> Bool {
        guard let own = self.port else { return true }
        return port == (own == Self.portOfScheme ? defaultPort : own)
    }

    /// Whether the pattern matches the server at `host` and `port`.
    package func allows(host: String, port: Int) -> Bool {
        self.allows(host: host, port: port, defaultPort: 1935)
    }

    /// Whether the pattern matches the server at `host` and `port`.
    ///
    /// - Parameter defaultPort: The default port of the URL's scheme.
    func allows(host: String, port: Int, defaultPort: Int) -> Bool {
        let host = host.lowercased()
        guard self.allows(port: port, defaultPort: defaultPort) else { return false }
        // The resolver treats a name with a trailing dot as the same name.
        let name = host.hasSuffix(".") ? host.dropLast() : host[...]
        return self.host.hasPrefix(".") ? name.hasSuffix(self.host) && name.count > self.host.count : name == self.host
    }
}

extension ValueRule where Value == HostPattern {
    static var hostPattern: ValueRule {
        self.parsed(
            "HOST, HOST:PORT or HOST:*, or *.DOMAIN in place of the host; without a port, only port 1935",
            pattern: "^[^\\s/@]+$"
        ) { HostPattern($0) }
    }
}
