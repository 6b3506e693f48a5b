/// The value of FINGERPRINT.
///
/// Spec: RFC 8489 §14.7: CRC-32 (ITU V.42) of the message up to the attribute, XOR 0x5354554e.
enum STUNChecksum {
    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
    }

    static func value(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        let table = self.table
        let checksum = bytes.reduce(UInt32.max) { table[Int(UInt8(truncatingIfNeeded: $0) ^ $1)] ^ $0 >> 8 }
        return ~checksum ^ 0x5354_554E
    }
}
