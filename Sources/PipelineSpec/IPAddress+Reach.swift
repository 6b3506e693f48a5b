extension IPAddress {
    /// The scope of an address, which decides whether an API request may make the worker connect to it.
    package enum Reach: Sendable, Hashable {
        /// A global unicast address.
        case global
        /// An address that is not global and not link-local: loopback, private, shared, documentation, multicast or
        /// reserved. A global address of this machine or its network is ``global``.
        case local
        /// Link-local, or an address at which clouds serve instance metadata and credentials.
        case linkLocal
    }

    /// The scope of this address. A NAT64, 6to4 or IPv4-compatible address counts as the IPv4 address that it embeds.
    ///
    /// Spec: RFC 6890 (special-purpose addresses), RFC 6052 (NAT64), RFC 3056 (6to4).
    package var reach: Reach {
        let address = self.carried ?? self
        if Self.linkLocal.contains(where: { $0.contains(address) }) { return .linkLocal }
        return Self.local.contains { $0.contains(address) } ? .local : .global
    }

    /// The IPv4 address that is embedded in this IPv6 address and receives its packets (NAT64, 6to4 and IPv4-compatible
    /// addresses); `nil` for any other address.
    private var carried: IPAddress? {
        if self.isIPv4 { return nil }
        if self.high == 0x0064_ff9b_0000_0000, self.low >> 32 == 0 { return Self.mapping(self.low) }
        if self.high >> 48 == 0x2002 { return Self.mapping(self.high >> 16) }
        // `::` and `::1` are not IPv4 addresses.
        if self.high == 0, self.low >> 32 == 0, self.low > 1 { return Self.mapping(self.low) }
        return nil
    }

    private static func mapping(_ bits: UInt64) -> IPAddress {
        IPAddress(high: 0, low: 0xffff_0000_0000 | bits & 0xffff_ffff)
    }

    private static let linkLocal = Self.ranges([
        "169.254.0.0/16", "fe80::/10",
        // Metadata services outside the link-local ranges: Azure, Alibaba Cloud, Oracle Cloud, AWS and Google Cloud.
        "168.63.129.16", "100.100.100.200", "192.0.0.192", "fd00:ec2::/32", "fd20:ce::254",
    ])

    /// Ranges of addresses that count as ``Reach/local``. They include 0.0.0.0 and `::`, because Linux treats a
    /// connection to these as loopback.
    private static let local = Self.ranges([
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24",
        "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3",
        "::/127", "64:ff9b:1::/48", "100::/64", "2001::/32", "2001:db8::/32", "fc00::/7", "fec0::/10", "ff00::/8",
    ])

    private static func ranges(_ texts: [String]) -> [AddressRange] { texts.compactMap { AddressRange($0) } }
}
