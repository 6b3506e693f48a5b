/// Writes STUN messages.
///
/// Spec: RFC 8489 §5, §14.
package struct STUNWriter {
    private var bytes: [UInt8]

    /// - Parameter transactionID: 12 bytes; others are cut, or filled with zeros.
    package init(_ kind: STUNMessage.Class, method: UInt16 = STUNMessage.binding, transactionID: some Collection<UInt8>)
    {
        let type = kind.rawValue | method & 0xF | (method & 0x70) << 1 | (method & 0xF80) << 2
        self.bytes = [UInt8(type >> 8), UInt8(type & 0xFF), 0, 0] + STUNMessage.cookie + transactionID.prefix(12)
        self.bytes += [UInt8](repeating: 0, count: max(0, STUNMessage.headerLength - self.bytes.count))
    }

    /// Adds an attribute, filled up with zeros to a multiple of 4 bytes. Values are cut at 1,024 bytes.
    package mutating func add(_ type: UInt16, _ value: some Collection<UInt8>) {
        let value = value.prefix(1024)
        self.bytes += [UInt8(type >> 8), UInt8(type & 0xFF), UInt8(value.count >> 8), UInt8(value.count & 0xFF)]
        self.bytes += value
        self.bytes += [UInt8](repeating: 0, count: -value.count & 3)
        self.setLength(self.bytes.count)
    }

    /// Adds XOR-MAPPED-ADDRESS (§14.2).
    package mutating func addMappedAddress(_ address: ICEAddress) {
        let mask = Array(self.bytes[4..<20])
        let port: [UInt8] = [UInt8(address.port >> 8) ^ mask[0], UInt8(address.port & 0xFF) ^ mask[1]]
        let ip = zip(address.bytes, mask).map { $0 ^ $1 }
        self.add(AttributeType.xorMappedAddress, [0, address.isIPv4 ? 1 : 2] + port + ip)
    }

    /// Adds ERROR-CODE (§14.8).
    package mutating func addError(_ number: Int, _ reason: String) {
        let (hundreds, rest) = number.quotientAndRemainder(dividingBy: 100)
        self.add(
            AttributeType.errorCode,
            [0, 0, UInt8(truncatingIfNeeded: hundreds & 7), UInt8(truncatingIfNeeded: rest)] + Array(reason.utf8))
    }

    /// Adds MESSAGE-INTEGRITY and FINGERPRINT, and gives the message.
    package mutating func finished(password: [UInt8], hmac: STUNMessage.HMAC) -> [UInt8] {
        // The HMAC covers a length that includes its own attribute (§14.5).
        self.setLength(self.bytes.count + 24)
        self.add(AttributeType.messageIntegrity, hmac(password, self.bytes).prefix(20))
        return self.finished()
    }

    /// Adds FINGERPRINT, and gives the message.
    package mutating func finished() -> [UInt8] {
        self.setLength(self.bytes.count + 8)
        let checksum = STUNChecksum.value(self.bytes[...])
        self.add(
            AttributeType.fingerprint,
            stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: checksum >> $0) })
        return self.bytes
    }

    private mutating func setLength(_ end: Int) {
        let length = end - STUNMessage.headerLength
        (self.bytes[2], self.bytes[3]) = (UInt8(truncatingIfNeeded: length >> 8), UInt8(truncatingIfNeeded: length))
    }
}
