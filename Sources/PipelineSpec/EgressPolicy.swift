package import MediaTypes

/// Which servers the control API may make the room connect to: relays, RTMP outputs and webhooks.
///
/// Servers that the pipeline file names are allowed at any address except link-local and metadata addresses, and at
/// those only if the file contains exactly this address. The check uses the resolved address of each connection, so
/// that DNS rebinding (a name that later resolves to another address) does not get around it.
package struct EgressPolicy: Sendable, Equatable {
    /// The server that a URL names.
    package struct Target: Sendable, Hashable {
        /// The host as in the URL, in lower case, without brackets.
        package let host: String
        package let port: Int
        /// The port of the URL's scheme: 1935, 443 or 80.
        package let defaultPort: Int

        package init(host: String, port: Int, defaultPort: Int) {
            self.host = host.lowercased()
            self.port = port
            self.defaultPort = defaultPort
        }

        /// `HOST:PORT`, with an IPv6 address in brackets.
        package var description: String {
            self.host.contains(":") ? "[\(self.host)]:\(self.port)" : "\(self.host):\(self.port)"
        }
    }

    /// Why a connection is refused. The text does not reveal which address a name resolves to.
    package enum Refusal: Error, Sendable, Hashable, CustomStringConvertible {
        case linkLocal(String)
        case local(String)
        case notListed(String)

        package var description: String {
            switch self {
            case .linkLocal(let server):
                "\(server) is at a link-local or metadata address, which control.egress.allowedHosts cannot allow"
            case .local(let server):
                "\(server) is at a loopback or private address, which control.egress.allowedHosts does not list"
            case .notListed(let server): "\(server) is not in control.egress.allowedHosts"
            }
        }
    }

    /// Entries of `control.egress.allowedHosts`; a server is allowed if at least one entry allows it.
    package var allowed: [EgressEntry]
    /// Servers that the pipeline file names.
    package var named: Set<Target>
    /// Webhook URLs that the pipeline file names; they are not checked.
    package var webhooks: Set<String>

    package init(
        allowed: [EgressEntry] = [.publicAddresses], named: Set<Target> = [], webhooks: Set<String> = []
    ) {
        self.allowed = allowed
        self.named = named
        self.webhooks = webhooks
    }

    /// Returns why a connection to `address`, one of the addresses of `target`, is refused; `nil` if it is allowed.
    package func refusal(of target: Target, at address: IPAddress) -> Refusal? {
        let isNamed = self.isNamed(target)
        guard address.reach != .linkLocal else {
            // The operator has written exactly this address in the pipeline file.
            return isNamed && IPAddress(target.host) == address ? nil : .linkLocal(target.description)
        }
        if isNamed || self.allowed.contains(where: { $0.allows(target, at: address) }) { return nil }
        return address.reach == .local ? .local(target.description) : .notListed(target.description)
    }

    /// Returns why every connection to `target` is refused, whatever address its name resolves to; `nil` if that
    /// depends on the address, or if the connection is allowed.
    package func refusal(of target: Target) -> Refusal? {
        if let address = IPAddress(target.host) { return self.refusal(of: target, at: address) }
        guard !self.isNamed(target), !self.allowed.contains(where: { $0.mayAllow(target) }) else { return nil }
        return .notListed(target.description)
    }

    private func isNamed(_ target: Target) -> Bool {
        self.named.contains { $0.host == target.host && $0.port == target.port }
    }
}

extension EgressPolicy.Target {
    /// Creates the target for the server that the URL of a relay or an RTMP output names.
    package init(_ url: RTMPURL) {
        self.init(host: url.host, port: url.port, defaultPort: url.isSecure ? 443 : 1935)
    }
}

/// An entry of `control.egress.allowedHosts`: `public`, a range of addresses, or a host pattern (``HostPattern``).
package enum EgressEntry: Sendable, Hashable, CustomStringConvertible {
    /// Every global address, on any port.
    case publicAddresses
    /// A range of addresses, on any port.
    case range(AddressRange)
    /// A host pattern. If the pattern has no port, only the default port of the URL's scheme is allowed.
    case host(HostPattern)

    /// Value that replaces a list element that cannot be parsed, so that parsing can continue. It allows nothing.
    static let standIn = EgressEntry.host(.standIn)

    /// Parses an entry of `control.egress.allowedHosts`; `nil` if the text is not a valid entry.
    package init?(_ text: String) {
        if text.lowercased() == "public" {
            self = .publicAddresses
        } else if text.contains("/") {
            guard let range = AddressRange(text) else { return nil }
            self = .range(range)
        } else {
            guard let host = HostPattern(text, defaultPort: HostPattern.portOfScheme) else { return nil }
            self = .host(host)
        }
    }

    package var description: String {
        switch self {
        case .publicAddresses: "public"
        case .range(let range): "\(range)".contains("/") ? "\(range)" : "\(range)/\(range.isIPv4 ? 32 : 128)"
        case .host(let host): host.description
        }
    }

    /// Whether the entry allows `target` at `address`. A host name without a wildcard may resolve to any address except
    /// the link-local addresses that no entry allows. A name that matches `*.DOMAIN` must resolve to a global address,
    /// because other people may be able to create names below the domain.
    func allows(_ target: EgressPolicy.Target, at address: IPAddress) -> Bool {
        switch self {
        case .publicAddresses: address.reach == .global
        case .range(let range): range.contains(address)
        case .host(let host):
            if let literal = host.address {
                literal == address && host.allows(port: target.port, defaultPort: target.defaultPort)
            } else {
                host.allows(host: target.host, port: target.port, defaultPort: target.defaultPort)
                    && (!host.isBelow || address.reach == .global)
            }
        }
    }

    /// Whether ``allows(_:at:)`` can be true for some address.
    func mayAllow(_ target: EgressPolicy.Target) -> Bool {
        switch self {
        case .publicAddresses, .range: true
        case .host(let host):
            host.address == nil
                ? host.allows(host: target.host, port: target.port, defaultPort: target.defaultPort)
                : host.allows(port: target.port, defaultPort: target.defaultPort)
        }
    }
}

extension ValueRule where Value == EgressEntry {
    static var egressEntry: ValueRule {
        self.parsed(
            "public, a range such as 10.0.0.0/8, or HOST, HOST:PORT, HOST:* or *.DOMAIN",
            pattern: "^[^\\s@]+$", parse: EgressEntry.init)
    }
}
