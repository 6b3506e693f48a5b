/// Numbers of STUN attributes.
///
/// Spec: RFC 8489 §18.3, RFC 8445 §20.
enum AttributeType {
    static let mappedAddress: UInt16 = 0x0001
    static let username: UInt16 = 0x0006
    static let messageIntegrity: UInt16 = 0x0008
    static let errorCode: UInt16 = 0x0009
    static let unknownAttributes: UInt16 = 0x000A
    static let xorMappedAddress: UInt16 = 0x0020
    static let priority: UInt16 = 0x0024
    static let useCandidate: UInt16 = 0x0025
    static let fingerprint: UInt16 = 0x8028
    static let controlled: UInt16 = 0x8029
    static let controlling: UInt16 = 0x802A

    /// Attributes below 0x8000 that a receiver of connectivity checks understands or may ignore: besides those above,
    /// REALM, NONCE, MESSAGE-INTEGRITY-SHA256, PASSWORD-ALGORITHM and USERHASH.
    static let understood: Set<UInt16> = [
        mappedAddress, username, messageIntegrity, errorCode, unknownAttributes, xorMappedAddress, priority,
        useCandidate, 0x0014, 0x0015, 0x001C, 0x001D, 0x001E,
    ]
}

extension STUNMessage {
    /// Method of connectivity checks.
    package static let binding: UInt16 = 1

    /// The value of the first attribute of a type.
    func value(_ type: UInt16) -> ArraySlice<UInt8>? {
        self.attributes.first { $0.type == type }.map { self.bytes[$0.range] }
    }

    /// USERNAME as sent; nil without one, above 513 bytes, or if it is not UTF-8.
    package var username: String? {
        guard let value = self.value(AttributeType.username), value.count <= 513 else { return nil }
        return String(validating: value, as: UTF8.self)
    }

    /// The part of USERNAME before the colon: the user name fragment of the receiver of a request (RFC 8445 §7.2.2).
    package var receiverUfrag: String? {
        guard let value = self.value(AttributeType.username), value.count <= 513,
            let colon = value.firstIndex(of: UInt8(ascii: ":"))
        else { return nil }
        return String(validating: value[..<colon], as: UTF8.self)
    }

    package var usesCandidate: Bool { self.value(AttributeType.useCandidate) != nil }

    /// PRIORITY; nil without it, or if it has another size than four bytes.
    package var priority: UInt32? { self.value(AttributeType.priority).flatMap { Self.integer($0) } }

    /// The tie-breaker of a sender in the controlled role; nil if the sender is not in it.
    package var controlledTieBreaker: UInt64? { self.value(AttributeType.controlled).flatMap { Self.integer($0) } }

    package var controllingTieBreaker: UInt64? { self.value(AttributeType.controlling).flatMap { Self.integer($0) } }

    /// Types of attributes that the receiver would have to understand, and does not.
    package var unknownAttributes: [UInt16] {
        self.attributes.map(\.type).filter { $0 < 0x8000 && !AttributeType.understood.contains($0) }
    }

    /// XOR-MAPPED-ADDRESS (RFC 8489 §14.2); nil without it, or if it is malformed.
    package var mappedAddress: ICEAddress? {
        guard let value = self.value(AttributeType.xorMappedAddress).map({ Array($0) }), value.count >= 8 else {
            return nil
        }
        guard value.count == (value[1] == 1 ? 8 : 20), value[1] == 1 || value[1] == 2 else { return nil }
        let mask = Self.cookie + self.transactionID
        let port = UInt16(value[2] ^ mask[0]) << 8 | UInt16(value[3] ^ mask[1])
        return ICEAddress(bytes: zip(value[4...], mask).map { $0 ^ $1 }, port: port)
    }

    /// The number of ERROR-CODE (RFC 8489 §14.8), 300 to 699; nil without it, or if it is malformed.
    package var errorNumber: Int? {
        guard let value = self.value(AttributeType.errorCode).map({ Array($0) }), value.count >= 4,
            (3...6).contains(value[2] & 7), value[3] < 100
        else { return nil }
        return Int(value[2] & 7) * 100 + Int(value[3])
    }

    /// A big-endian number of exactly the size of its type.
    private static func integer<Number: FixedWidthInteger>(_ value: ArraySlice<UInt8>) -> Number? {
        guard value.count == Number.bitWidth / 8 else { return nil }
        return value.reduce(0) { $0 << 8 | Number(truncatingIfNeeded: $1) }
    }
}
