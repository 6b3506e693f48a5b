import LibAV
import MediaKernels
import Testing

@Suite("AES-128 in CBC mode with PKCS7: NIST SP 800-38A §F.2, RFC 5652 §6.3")
struct BlockCipherTests {
    private static let key = Output.hex("2b7e151628aed2a6abf7158809cf4f3c")
    private static let vector = Output.hex("000102030405060708090a0b0c0d0e0f")

    @Test(
        "AES-128-CBC ciphertext equals the standard's test vector; a message of whole blocks gets another block of padding"
    )
    func standard() throws {
        let clear = Output.hex("6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51")
        let sealed = try #require(
            BlockCipher.sealed(
                [PacketMemory(Array(clear[..<5])), PacketMemory(Array(clear[5...]))], key: Self.key, vector: Self.vector
            ))
        #expect(
            Array(sealed.bytes.prefix(32))
                == Output.hex("7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2"))
        #expect(sealed.count == 48 && BlockCipher.size(ofClear: 32) == 48)
        #expect(BlockCipher.opened(sealed.bytes, key: Self.key, vector: Self.vector) == clear)
    }

    @Test(
        "encrypted data of 0 to 70 bytes decrypts, truncated data does not; a key or vector of a wrong length is refused"
    )
    func lengths() throws {
        for count in 0...70 {
            let clear = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            let sealed = try #require(
                BlockCipher.sealed([PacketMemory(clear)], key: Self.key, vector: Self.vector))
            #expect(sealed.count == BlockCipher.size(ofClear: count) && sealed.count > count)
            #expect(BlockCipher.opened(sealed.bytes, key: Self.key, vector: Self.vector) == clear)
            #expect(BlockCipher.opened(Array(sealed.bytes.dropLast()), key: Self.key, vector: Self.vector) == nil)
        }
        #expect(BlockCipher.opened([], key: Self.key, vector: Self.vector) == nil)
        #expect(BlockCipher.sealed([], key: [1], vector: Self.vector) == nil)
        #expect(BlockCipher.sealed([], key: Self.key, vector: []) == nil)
    }
}
