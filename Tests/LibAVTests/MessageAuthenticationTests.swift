import LibAV
import MediaTypes
import Testing

@Suite("HMAC: RFC 2104, with the cases of RFC 4231 and RFC 2202")
struct MessageAuthenticationTests {
    private static func many(_ byte: UInt8, _ count: Int) -> [UInt8] { [UInt8](repeating: byte, count: count) }

    /// Keys and messages at the start of both documents.
    private static let common: [(key: [UInt8], message: [UInt8])] = [
        (many(0x0B, 20), Array("Hi There".utf8)),
        (Array("Jefe".utf8), Array("what do ya want for nothing?".utf8)),
        (many(0xAA, 20), many(0xDD, 50)), (Array(1...25), many(0xCD, 50)),
        (many(0x0C, 20), Array("Test With Truncation".utf8)),
    ]

    @Test("HMAC-SHA256 gives the codes of RFC 4231 §4.2 to §4.8")
    func sha256() {
        let long =
            "This is a test using a larger than block-size key and a larger than block-size data. "
            + "The key needs to be hashed before being used by the HMAC algorithm."
        let cases =
            Self.common + [
                (Self.many(0xAA, 131), Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8)),
                (Self.many(0xAA, 131), Array(long.utf8)),
            ]
        let codes = [
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe",
            "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b",
            // The document has only the first half.
            "a3b6167473100ee06e0c796c2955552b",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
            "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2",
        ]
        #expect(cases.count == codes.count)
        for (number, (input, code)) in zip(cases, codes).enumerated() {
            let made = MessageAuthentication.hmacSHA256(key: input.key, message: input.message)
            #expect(made.count == 32)
            #expect(Hexadecimal.text(Array(made.prefix(code.utf8.count / 2))) == code, "test case \(number + 1)")
        }
    }

    @Test("HMAC-SHA1 gives the codes of RFC 2202 §3")
    func sha1() {
        let cases =
            Self.common + [
                (Self.many(0xAA, 80), Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8)),
                (
                    Self.many(0xAA, 80),
                    Array("Test Using Larger Than Block-Size Key and Larger Than One Block-Size Data".utf8)
                ),
            ]
        let codes = [
            "b617318655057264e28bc0b6fb378c8ef146be00", "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79",
            "125d7342b9ac11cd91a39af48aa17b4f63f175d3", "4c9007f4026250c6bc8414f9bf50c86c2d7235da",
            "4c1a03424b55e07fe7f27be1d58bb9324a9a5a04", "aa4ae5e15272d00e95705637ce8a3b55ed402112",
            "e8e99d0f45237d786d6bbaa7965c7808bbff1a91",
        ]
        #expect(cases.count == codes.count)
        for (number, (input, code)) in zip(cases, codes).enumerated() {
            let made = MessageAuthentication.hmacSHA1(key: input.key, message: input.message)
            #expect(Hexadecimal.text(made) == code, "test case \(number + 1)")
        }
    }

    /// HMAC-SHA256 as RFC 2104 §2 defines it, computed with only the digest.
    private static func reference(_ key: [UInt8], _ message: [UInt8]) -> [UInt8] {
        var block = key.count > 64 ? Digest.sha256(of: key) : key
        block += Self.many(0, 64 - block.count)
        let inner = Digest.sha256(of: block.map { $0 ^ 0x36 } + message)
        return Digest.sha256(of: block.map { $0 ^ 0x5C } + inner)
    }

    @Test(
        "HMAC-SHA256 equals its definition for keys and messages of 0 bytes to 1 and 3 MiB, also around the block size")
    func lengths() {
        var random = SystemRandomNumberGenerator()
        func bytes(_ count: Int) -> [UInt8] {
            var bytes: [UInt8] = []
            bytes.reserveCapacity(count + 8)
            while bytes.count < count { withUnsafeBytes(of: random.next()) { bytes += $0 } }
            return Array(bytes.prefix(count))
        }
        for keyCount in [0, 1, 31, 32, 33, 63, 64, 65, 128, 4_096, 1 << 20] {
            let key = bytes(keyCount)
            for count in [0, 1, 55, 56, 63, 64, 65, 1_000, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 3 << 20] {
                let message = bytes(count)
                let code = MessageAuthentication.hmacSHA256(key: key, message: message)
                #expect(code == Self.reference(key, message), "\(count) bytes with a key of \(keyCount)")
            }
        }
    }
}
