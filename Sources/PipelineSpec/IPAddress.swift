import Libc

/// An IPv4 or IPv6 address.
///
/// It is stored as the 16 bytes of an IPv6 address, an IPv4 address as `::ffff:a.b.c.d` (RFC 4291 §2.5.5.2). A
/// dual-stack socket reports its IPv4 peers in that form, so both forms of one peer compare equal.
package struct IPAddress: Sendable, Hashable, CustomStringConvertible {
    let high: UInt64
    let low: UInt64

    private static let mapped: UInt64 = 0xffff_0000_0000

    init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low) }

    /// Creates an address from its bytes.
    ///
    /// - Parameter bytes: 4 or 16 bytes in network order.
    /// - Returns: `nil` for another number of bytes.
    package init?(bytes: some Collection<UInt8>) {
        switch bytes.count {
        case 4: self.init(high: 0, low: Self.mapped | bytes.reduce(0) { $0 << 8 | UInt64($1) })
        case 16:
            self.init(
                high: bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) },
                low: bytes.dropFirst(8).reduce(0) { $0 << 8 | UInt64($1) })
        default: return nil
        }
    }

    /// Parses an address without brackets, such as `192.0.2.1`, `2001:db8::1` or `fe80::1%eth0` (the zone is ignored).
    ///
    /// - Returns: `nil` for anything else, including host names.
    package init?(_ text: some StringProtocol) {
        let bare = text.prefix { $0 != "%" }
        guard bare.utf8.count <= 45, !bare.utf8.contains(0) else { return nil }
        let isIPv6 = bare.contains(":")
        var bytes = [UInt8](repeating: 0, count: isIPv6 ? 16 : 4)
        guard inet_pton(isIPv6 ? AF_INET6 : AF_INET, String(bare), &bytes) == 1 else { return nil }
        self.init(bytes: bytes)
    }

    /// The 16 bytes of the address in network order.
    package var bytes: [UInt8] {
        [self.high, self.low].flatMap { half in
            (0..<8).map { UInt8(truncatingIfNeeded: half >> (56 - $0 * 8)) }
        }
    }

    /// Whether this is `0.0.0.0` or `::`, which stand for all addresses of a machine.
    package var isUnspecified: Bool { self.high == 0 && (self.low == 0 || self.low == Self.mapped) }

    /// Whether this is an IPv4 address.
    package var isIPv4: Bool { self.high == 0 && self.low >> 32 == 0xffff }

    /// The address as text, an IPv6 address in the form of RFC 5952.
    package var description: String {
        if self.isIPv4 {
            return (0..<4).map { String(self.low >> UInt64(24 - 8 * $0) & 0xff) }.joined(separator: ".")
        }
        let groups = (0..<8).map { index in
            let half = index < 4 ? self.high : self.low
            return half >> UInt64(48 - 16 * (index % 4)) & 0xffff
        }
        var best = 0..<0
        var start = 0
        for index in 0...8 where index == 8 || groups[index] != 0 {
            if index - start > best.count { best = start..<index }
            start = index + 1
        }
        guard best.count >= 2 else { return groups.map { String($0, radix: 16) }.joined(separator: ":") }
        let head = groups[..<best.lowerBound].map { String($0, radix: 16) }.joined(separator: ":")
        let tail = groups[best.upperBound...].map { String($0, radix: 16) }.joined(separator: ":")
        return "\(head)::\(tail)"
    }
}
