/// Address and port of a peer, and whether it connects by TCP. Small and fast to hash and compare, since it is looked up
/// for every datagram.
package struct ICEAddress: Sendable, Hashable {
    /// The first 8 bytes of the address as a number, and in ``low`` the last 8. An IPv4 address is the low 32 bits of
    /// ``low``.
    package let high: UInt64
    package let low: UInt64
    package let port: UInt16
    package let isIPv4: Bool
    package let isTCP: Bool

    package init(ipv4: UInt32, port: UInt16, isTCP: Bool = false) {
        (self.high, self.low, self.port, self.isIPv4, self.isTCP) = (0, UInt64(ipv4), port, true, isTCP)
    }

    /// An address of 16 bytes. An IPv4-mapped one (RFC 4291 §2.5.5.2) becomes the IPv4 address, so that a peer has the
    /// same address on sockets of both families.
    package init(high: UInt64, low: UInt64, port: UInt16, isTCP: Bool = false) {
        let isMapped = high == 0 && low >> 32 == 0xFFFF
        self.high = high
        self.low = isMapped ? low & 0xFFFF_FFFF : low
        (self.port, self.isIPv4, self.isTCP) = (port, isMapped, isTCP)
    }

    /// - Parameter bytes: 4 or 16 bytes in network order.
    /// - Returns: nil for another number of bytes.
    package init?(bytes: some Collection<UInt8>, port: UInt16, isTCP: Bool = false) {
        switch bytes.count {
        case 4: self.init(ipv4: bytes.reduce(0) { $0 << 8 | UInt32($1) }, port: port, isTCP: isTCP)
        case 16:
            self.init(
                high: bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) },
                low: bytes.dropFirst(8).reduce(0) { $0 << 8 | UInt64($1) }, port: port, isTCP: isTCP)
        default: return nil
        }
    }

    /// 4 or 16 bytes in network order.
    package var bytes: [UInt8] {
        if self.isIPv4 { return (0..<4).map { UInt8(truncatingIfNeeded: self.low >> (24 - $0 * 8)) } }
        return [self.high, self.low].flatMap { half in
            (0..<8).map { UInt8(truncatingIfNeeded: half >> (56 - $0 * 8)) }
        }
    }
}
