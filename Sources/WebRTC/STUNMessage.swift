import MediaTypes

/// A STUN message whose form is right; who sent it is checked by ``isAuthentic(password:hmac:)``.
///
/// Spec: RFC 8489 §5 (header), §14 (attributes), §6.3 (checks of the form).
package struct STUNMessage: Sendable {
    package enum Class: UInt16, Sendable, Hashable {
        case request = 0x000
        case indication = 0x010
        case success = 0x100
        case error = 0x110
    }

    /// Type and position of an attribute.
    package struct Attribute: Sendable, Hashable {
        package var type: UInt16
        /// The value, without padding, in the bytes of the message.
        package var range: Range<Int>
    }

    /// Computes HMAC-SHA1 (RFC 2104) of a message with a key: 20 bytes.
    package typealias HMAC = @Sendable (_ key: [UInt8], _ message: [UInt8]) -> [UInt8]

    /// Size of the header in bytes.
    package static let headerLength = 20
    /// Largest accepted message in bytes. Connectivity checks have about 100.
    package static let largest = 1500
    /// Maximum number of attributes of a message.
    package static let mostAttributes = 32
    static let cookie: [UInt8] = [0x21, 0x12, 0xA4, 0x42]

    package let bytes: [UInt8]
    package let kind: Class
    /// Method of the message, 12 bits; 1 is Binding.
    package let method: UInt16
    /// Attributes before MESSAGE-INTEGRITY; those after it are not protected and are ignored (§14.5).
    package let attributes: [Attribute]
    /// Where the value of MESSAGE-INTEGRITY begins; nil without it.
    let integrity: Int?
    /// Whether the message ends with a FINGERPRINT. Bytes with a wrong one are not accepted as a message.
    package let hasFingerprint: Bool

    /// - Returns: nil if the bytes are not a STUN message, or its FINGERPRINT is wrong.
    package init?(_ bytes: [UInt8]) {
        guard (Self.headerLength...Self.largest).contains(bytes.count), bytes.count.isMultiple(of: 4),
            bytes[0] & 0xC0 == 0, Self.number(bytes, 2) == bytes.count - Self.headerLength,
            bytes[4..<8].elementsEqual(Self.cookie)
        else { return nil }
        let type = UInt16(Self.number(bytes, 0))
        guard let kind = Class(rawValue: type & 0x110) else { return nil }
        self.kind = kind
        self.method = type & 0xF | type >> 1 & 0x70 | type >> 2 & 0xF80
        var (found, integrity, fingerprint): ([Attribute], Int?, Int?) = ([], nil, nil)
        var (position, count) = (Self.headerLength, 0)
        while position < bytes.count {
            let (attribute, length) = (UInt16(Self.number(bytes, position)), Self.number(bytes, position + 2))
            let start = position + 4
            position = start + (length + 3) & ~3
            count += 1
            // FINGERPRINT is the last attribute (§14.7).
            guard position <= bytes.count, count <= Self.mostAttributes, fingerprint == nil else { return nil }
            switch attribute {
            case AttributeType.fingerprint:
                guard length == 4, position == bytes.count else { return nil }
                fingerprint = start
            case AttributeType.messageIntegrity where integrity == nil:
                guard length == 20 else { return nil }
                integrity = start
            case _ where integrity == nil: found.append(Attribute(type: attribute, range: start..<start + length))
            default: break
            }
        }
        if let fingerprint {
            let checksum = STUNChecksum.value(bytes[..<(fingerprint - 4)])
            guard Self.number(bytes, fingerprint) << 16 | Self.number(bytes, fingerprint + 2) == Int(checksum) else {
                return nil
            }
        }
        (self.bytes, self.attributes, self.integrity) = (bytes, found, integrity)
        self.hasFingerprint = fingerprint != nil
    }

    /// 16 bits; the caller checks the bounds, and every attribute's header is inside: sizes are multiples of 4.
    private static func number(_ bytes: [UInt8], _ at: Int) -> Int { Int(bytes[at]) << 8 | Int(bytes[at + 1]) }

    /// The transaction id, 12 bytes.
    package var transactionID: ArraySlice<UInt8> { self.bytes[8..<20] }

    /// Whether the sender knows the password. Compares in constant time.
    ///
    /// Spec: RFC 8489 §14.5: the HMAC covers the message up to the attribute, with the length as if it ended there.
    package func isAuthentic(password: [UInt8], hmac: HMAC) -> Bool {
        guard let integrity else { return false }
        var covered = Array(self.bytes[..<(integrity - 4)])
        let length = integrity + 20 - Self.headerLength
        (covered[2], covered[3]) = (UInt8(length >> 8), UInt8(length & 0xFF))
        return ConstantTime.isEqual(hmac(password, covered), Array(self.bytes[integrity..<integrity + 20]))
    }
}
