package import MediaTypes

/// Servers that requests may make the room connect to: relays, RTMP outputs and webhooks that the control API sets.
///
/// What the pipeline file names is allowed because it names it. Judged on each address that a connection is about to be made to,
/// so that a name that resolves to something else a moment later gains nothing.
package struct EgressPolicy: Sendable, Equatable {
    /// The server a URL names.
    package struct Target: Sendable, Hashable {
        /// As the URL has it, in lower case, without brackets.
        package let host: String
        package let port: Int
        /// The port of the URL's scheme: 1935, 443 or 80.
        package let defaultPort: Int

        package init(host: String, port: Int, defaultPort: Int) {
            self.host = host.lowercased()
            self.port = port
            self.defaultPort = defaultPort
        }

        /// `HOST:PORT`, an IPv6 address in brackets.
        package var description: String {
            self.host.contains(":") ? "[\(self.host)]:\(self.port)" : "\(self.host):\(self.port)"
        }
    }

    /// Why a connection is refused. Does not tell which address a name has.
    package enum Refusal: Error, Sendable, Hashable, CustomStringConvertible {
        case linkLocal(String)
        case local(String)
        case notListed(String)

        package var description: String {
            switch self {
            case .linkLocal(let server):
                "\(server) is at a link-local or metadata address, which no entry allows"
            case .local(let server):
                "\(server) is at a loopback or private address, which control.egress.allowedHosts does not list"
            case .notListed(let server): "\(server) is not in control.egress.allowedHosts"
            }
        }
    }

    /// One of them is enough.
    package var allowed: [EgressEntry]
    /// Servers that the pipeline file names.
    package var named: Set<Target>
    /// Webhooks that the pipeline file names, which are not judged.
    package var webhooks: Set<String>

    package init(
        allowed: [EgressEntry] = [.publicAddresses], named: Set<Target> = [], webhooks: Set<String> = []
    ) {
        self.allowed = allowed
        self.named = named
        self.webhooks = webhooks
    }

    /// Why no connection to `address` may be made, which is one of `target`'s; `nil`: it may.
    package func refusal(of target: Target, at address: IPAddress) -> Refusal? {
        let isNamed = self.isNamed(target)
        guard address.reach != .linkLocal else {
            // The operator has written this very address.
            return isNamed && IPAddress(target.host) == address ? nil : .linkLocal(target.description)
        }
        if isNamed || self.allowed.contains(where: { $0.allows(target, at: address) }) { return nil }
        return address.reach == .local ? .local(target.description) : .notListed(target.description)
    }

    /// Why no connection to `target` will be made, whatever its name resolves to; `nil`: that depends on its address.
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
    /// The server of a relay or an RTMP output.
    package init(_ url: RTMPURL) {
        self.init(host: url.host, port: url.port, defaultPort: url.isSecure ? 443 : 1935)
    }
}

/// An entry of `control.egress.allowedHosts`: `public`, a range of addresses, or a host as ``HostPattern`` writes it.
package enum EgressEntry: Sendable, Hashable, CustomStringConvertible {
    /// Every global address, at any port.
    case publicAddresses
    /// At any port.
    case range(AddressRange)
    /// Without a port only the one of the URL's scheme.
    case host(HostPattern)

    /// Takes the place of an entry that is wrong; allows nothing.
    static let standIn = EgressEntry.host(.standIn)

    /// - Returns: nil for what is no entry.
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

    /// A host that is written out may be anywhere but where nothing is allowed. Below a domain others may give names, so those are
    /// held to global addresses.
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

    /// Whether there is an address at which ``allows(_:at:)`` is true.
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
