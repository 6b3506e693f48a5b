import MediaTypes

/// A range of IP addresses in CIDR notation, such as `192.0.2.0/24` or `2001:db8::/32`, or one address.
package struct AddressRange: Sendable, Hashable, CustomStringConvertible {
    private let first: IPAddress
    /// Prefix length in bits (0…128), counted in the IPv6 form of the address, so that IPv4 lengths are larger by 96.
    private let length: Int

    /// Value that replaces a list element that cannot be parsed, so that parsing can continue. It contains only `::`.
    static let standIn = AddressRange(first: IPAddress(high: 0, low: 0), length: 128)

    private init(first: IPAddress, length: Int) {
        self.first = first
        self.length = length
    }

    /// Parses an address or a range in CIDR notation. Bits after the prefix are treated as 0.
    ///
    /// - Returns: `nil` if the text is neither, or if the address has a zone (`%eth0`).
    package init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = parts.first.flatMap({ IPAddress($0) }), !text.contains("%") else { return nil }
        let width = address.isIPv4 && !text.contains(":") ? 32 : 128
        var length = width
        if parts.count == 2 {
            guard parts[1].utf8.count <= 3, parts[1].isDigits,
                let number = Int(parts[1]), number <= width
            else { return nil }
            length = number
        }
        self.length = length + 128 - width
        self.first = Self.prefix(of: address, self.length)
    }

    /// The range of all addresses that share the first `bits` bits of `address` (0…32 for IPv4, 0…128 for IPv6).
    package init(address: IPAddress, bits: Int) {
        let bits = max(0, bits)
        self.length = address.isIPv4 ? 96 + min(32, bits) : min(128, bits)
        self.first = Self.prefix(of: address, self.length)
    }

    package func contains(_ address: IPAddress) -> Bool { Self.prefix(of: address, self.length) == self.first }

    /// Whether the range contains only IPv4 addresses.
    var isIPv4: Bool { self.first.isIPv4 && self.length >= 96 }

    package var description: String {
        let length = self.first.isIPv4 && self.length >= 96 ? self.length - 96 : self.length
        return length == (self.first.isIPv4 ? 32 : 128) ? "\(self.first)" : "\(self.first)/\(length)"
    }

    private static func prefix(of address: IPAddress, _ length: Int) -> IPAddress {
        // In Swift a shift by 64 or more yields 0, which is the wanted result here.
        IPAddress(
            high: address.high & ~(UInt64.max >> UInt64(min(length, 64))),
            low: address.low & ~(UInt64.max >> UInt64(max(0, length - 64))))
    }
}

extension ValueRule where Value == AddressRange {
    static var addressRange: ValueRule {
        self.parsed(
            "an IP address or a range such as 192.0.2.7, 10.0.0.0/8 or 2001:db8::/32",
            pattern: "^[0-9A-Fa-f:.]+(/[0-9]{1,3})?$", parse: AddressRange.init)
    }
}
