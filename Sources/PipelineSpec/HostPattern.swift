import MediaTypes

/// Servers a room may fetch sources from: `HOST`, `HOST:PORT`, `HOST:*`, and `*.DOMAIN` in place of the host.
///
/// Without a port only 1935. Names are compared as written, whatever their case; `*.DOMAIN` stands for every name below the
/// domain and not for the domain itself.
package struct HostPattern: Sendable, Hashable, CustomStringConvertible {
    /// Lower case, without brackets; begins with `.` for every name below.
    private let host: String
    /// nil: any. ``portOfScheme``: the one of the URL's scheme.
    private let port: Int?
    package let description: String

    /// Takes the place of a pattern that is wrong; allows nothing.
    static let standIn = HostPattern(host: "", port: 0, description: "")

    private init(host: String, port: Int?, description: String) {
        (self.host, self.port, self.description) = (host, port, description)
    }

    /// Stands for the port of the URL's scheme; no port that can be written.
    static let portOfScheme = 0

    /// - Parameter defaultPort: The port of a pattern that has none.
    /// - Returns: nil for what is no pattern.
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
        let isWellFormed = name.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x61...0x7a, 0x2d, 0x2e, 0x5f: true
            case 0x3a, 0x25: isBracketed
            default: false
            }
        }
        guard !name.isEmpty, isWellFormed else { return nil }
        self.host = String(rest)
        self.port = port
        self.description = text
    }

    /// The address that is written in place of a name; `nil`: a name is.
    var address: IPAddress? { IPAddress(self.host) }

    /// Stands for every name below a domain.
    var isBelow: Bool { self.host.hasPrefix(".") }

    /// - Parameter defaultPort: The port of the URL's scheme.
    func allows(port: Int, defaultPort: Int) -> Bool {
        guard let own = self.port else { return true }
        return port == (own == Self.portOfScheme ? defaultPort : own)
    }

    /// Whether the server at `host` and `port` is one of these.
    package func allows(host: String, port: Int) -> Bool {
        self.allows(host: host, port: port, defaultPort: 1935)
    }

    /// - Parameter defaultPort: The port of the URL's scheme.
    func allows(host: String, port: Int, defaultPort: Int) -> Bool {
        let host = host.lowercased()
        guard self.allows(port: port, defaultPort: defaultPort) else { return false }
        // A name that ends in a dot is the same name to the resolver.
        let name = host.hasSuffix(".") ? host.dropLast() : host[...]
        return self.host.hasPrefix(".") ? name.hasSuffix(self.host) && name.count > self.host.count : name == self.host
    }
}

extension ValueRule where Value == HostPattern {
    static var hostPattern: ValueRule {
        self.parsed(
            "HOST, HOST:PORT or HOST:*, or *.DOMAIN in place of the host; without a port only 1935",
            pattern: "^[^\\s/@]+$"
        ) { HostPattern($0) }
    }
}
