/// HMAC-SHA1 for tests: the cores get it from their callers.
///
/// Spec: RFC 2104, FIPS 180-4 §6.1.
enum HMACReference {
    @Sendable static func sha1(_ key: [UInt8], _ message: [UInt8]) -> [UInt8] {
        let key = (key.count > 64 ? Self.digest(key) : key)
        let padded = key + [UInt8](repeating: 0, count: 64 - key.count)
        return Self.digest(padded.map { $0 ^ 0x5C } + Self.digest(padded.map { $0 ^ 0x36 } + message))
    }

    private static func digest(_ message: [UInt8]) -> [UInt8] {
        var bytes = message + [0x80]
        bytes += [UInt8](repeating: 0, count: (120 - bytes.count % 64) % 64)
        bytes += Self.bigEndian(UInt64(message.count * 8))
        var state: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]
        for start in stride(from: 0, to: bytes.count, by: 64) {
            var words = (0..<16).map { word in
                bytes[start + word * 4..<start + word * 4 + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            }
            for index in 16..<80 {
                let mixed = words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16]
                words.append(mixed << 1 | mixed >> 31)
            }
            var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
            for (index, word) in words.enumerated() {
                let (value, constant): (UInt32, UInt32) =
                    switch index {
                    case 0..<20: (b & c | ~b & d, 0x5A82_7999)
                    case 20..<40: (b ^ c ^ d, 0x6ED9_EBA1)
                    case 40..<60: (b & c | b & d | c & d, 0x8F1B_BCDC)
                    default: (b ^ c ^ d, 0xCA62_C1D6)
                    }
                let next = (a << 5 | a >> 27) &+ value &+ e &+ constant &+ word
                (e, d, c, b, a) = (d, c, b << 30 | b >> 2, a, next)
            }
            state = zip(state, [a, b, c, d, e]).map { $0 &+ $1 }
        }
        return state.flatMap { Self.bigEndian($0) }
    }

    private static func bigEndian<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        stride(from: Number.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> Number($0)) }
    }
}
