/// An IPv4 or IPv6 address.
///
/// Stored as the 16 bytes of an IPv6 address; an IPv4 address as `::ffff:a.b.c.d` (RFC 4291 §2.5.5.2). A dual-stack socket
/// reports its IPv4 peers in that form, so both forms of one peer compare equal.
package struct IPAddress: Sendable, Hashable, CustomStringConvertible {
    let high: UInt64
    let low: UInt64

    private static let mapped: UInt64 = 0xffff_0000_0000

    init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low) }

    /// - Parameter bytes: 4 or 16 bytes in network order.
    /// - Returns: nil for another number of bytes.
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

    /// - Parameter text: Such as `192.0.2.1`, `2001:db8::1` or `fe80::1%eth0` (the zone is ignored); without brackets.
    /// - Returns: nil for anything else, including host names.
    package init?(_ text: some StringProtocol) {
        let bare = text.prefix { $0 != "%" }
        guard bare.utf8.count <= 45 else { return nil }
        if let four = Self.dotted(bare) {
            self.init(high: 0, low: Self.mapped | UInt64(four))
            return
        }
        guard let groups = Self.groups(bare) else { return nil }
        self.init(
            high: groups.prefix(4).reduce(0) { $0 << 16 | UInt64($1) },
            low: groups.dropFirst(4).reduce(0) { $0 << 16 | UInt64($1) })
    }

    /// Whether this is an IPv4 address.
    package var isIPv4: Bool { self.high == 0 && self.low >> 32 == 0xffff }

    /// 127.0.0.0/8 or `::1`.
    package var isLoopback: Bool {
        self.isIPv4 ? self.low >> 24 & 0xff == 127 : self.high == 0 && self.low == 1
    }

    /// Spec: RFC 5952 for IPv6.
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

    /// `a.b.c.d` in decimal; a leading zero could mean octal, so it is refused.
    private static func dotted(_ text: some StringProtocol) -> UInt32? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var value: UInt32 = 0
        for part in parts {
            guard (1...3).contains(part.utf8.count), part.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                let number = UInt8(part), part.utf8.count == 1 || part.utf8.first != 0x30
            else { return nil }
            value = value << 8 | UInt32(number)
        }
        return value
    }

    /// Eight groups of sixteen bits.
    private static func groups(_ text: some StringProtocol) -> [UInt16]? {
        guard text.contains(":"), text.utf8.count >= 2 else { return nil }
        var halves: [[UInt16]] = [[]]
        var parts = text.split(separator: ":", omittingEmptySubsequences: false)[...]
        // `::` at an end leaves two empty parts there.
        if parts.first?.isEmpty == true {
            parts.removeFirst()
            guard parts.first?.isEmpty == true else { return nil }
        }
        if parts.count > 1, parts.last?.isEmpty == true {
            parts.removeLast()
            guard parts.last?.isEmpty == true else { return nil }
        }
        for (index, part) in zip(parts.indices, parts) {
            if part.isEmpty {
                halves.append([])
                guard halves.count == 2 else { return nil }
            } else if part.contains(".") {
                guard index == parts.indices.last, let four = self.dotted(part) else { return nil }
                halves[halves.count - 1] += [UInt16(four >> 16), UInt16(four & 0xffff)]
            } else {
                guard part.utf8.count <= 4, part.utf8.allSatisfy(self.isHex), let group = UInt16(part, radix: 16)
                else { return nil }
                halves[halves.count - 1].append(group)
            }
        }
        let known = halves.reduce(0) { $0 + $1.count }
        guard halves.count == 2 else { return known == 8 ? halves[0] : nil }
        guard known < 8 else { return nil }
        return halves[0] + [UInt16](repeating: 0, count: 8 - known) + halves[1]
    }

    private static func isHex(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte & 0xdf)
    }
}
