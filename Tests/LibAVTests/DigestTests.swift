import LibAV
import MediaTypes
import Testing

@Suite("Message digests: FIPS 180-4, RFC 1321")
struct DigestTests {
    @Test(
        "SHA-256 gives the digests of the standard's examples and of empty input",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
            (
                "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
                "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
            ),
            (
                String(repeating: "a", count: 1_000_000),
                "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
            ),
        ])
    func sha256(message: String, digest: String) {
        #expect(Hexadecimal.text(Digest.sha256(of: Array(message.utf8))) == digest)
    }

    @Test(
        "MD5 gives the digests of the test suite in RFC 1321 §A.5",
        arguments: [
            ("", "d41d8cd98f00b204e9800998ecf8427e"), ("a", "0cc175b9c0f1b6a831c399e269772661"),
            ("abc", "900150983cd24fb0d6963f7d28e17f72"), ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
            ("abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"),
            (
                "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
                "d174ab98d277d9f5a5611c2c9f419d9f"
            ),
            (String(repeating: "1234567890", count: 8), "57edf4a22be3c955ac49da2e2107b67a"),
        ])
    func md5(message: String, digest: String) {
        #expect(Hexadecimal.text(Digest.md5(of: Array(message.utf8))) == digest)
    }

    @Test(
        "SHA-1 gives the digests of the standard's examples and of empty input",
        arguments: [
            ("", "da39a3ee5e6b4b0d3255bfef95601890afd80709"), ("abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "84983e441c3bd26ebaae4aa1f95129e5e54670f1"
            ),
            (String(repeating: "a", count: 1_000_000), "34aa973cd4c4daa4f61eeb2bdbad27316534016f"),
        ])
    func sha1(message: String, digest: String) {
        #expect(Hexadecimal.text(Digest.sha1(of: Array(message.utf8))) == digest)
    }

    @Test("SHA256Stream gives the digest of the whole message, however the message is split")
    func splits() {
        var random = SystemRandomNumberGenerator()
        var stream = SHA256Stream()
        // All lengths around one, two and three blocks of 64 bytes, and some long ones.
        for count in Array(0...200) + [4_095, 4_096, 100_000] {
            let message = (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) }
            let whole = Digest.sha256(of: message)
            for longest in [1, 7, 64, 65, 1_000] {
                var rest = message[...]
                while !rest.isEmpty {
                    let piece = rest.prefix(Int.random(in: 0...longest, using: &random))
                    stream.update(Array(piece))
                    rest = rest.dropFirst(piece.count)
                }
                let digest = stream.finish()
                #expect(digest == whole, "\(count) bytes in pieces of up to \(longest)")
            }
        }
    }

    @Test("finish() resets a SHA256Stream to empty, and two streams share no state")
    func again() {
        var one = SHA256Stream()
        var other = SHA256Stream()
        one.update(Array("ab".utf8))
        other.update(Array("x".utf8))
        one.update([])
        one.update(Array("c".utf8))
        let first = one.finish()
        let empty = one.finish()
        one.update(Array("abc".utf8))
        let second = one.finish()
        let foreign = other.finish()
        #expect(first == Digest.sha256(of: Array("abc".utf8)) && second == first)
        #expect(empty == Digest.sha256(of: []))
        #expect(foreign == Digest.sha256(of: Array("x".utf8)))
    }
}
