import OpenSSLCrypto
import Testing

@Suite("SRTP vectors: RFC 3711 appendix B, RFC 7714 §16 and §17")
struct SRTPVectorTests {
    @Test("the key stream of AES counter mode for SRTP is that of RFC 3711 B.2")
    func keyStream() throws {
        let stream = try #require(
            SRTPKeyDerivation.keyStream(
                hex("2B7E151628AED2A6ABF7158809CF4F3C"), vector: hex("F0F1F2F3F4F5F6F7F8F9FAFBFCFD0000"),
                count: 0xFF02 * 16))
        let blocks = [
            (0, "E03EAD0935C95E80E166B16DD92B4EB4"), (1, "D23513162B02D0F72A43A2FE4A5F97AB"),
            (2, "41E95B3BB0A2E8DD477901E4FCA894C0"), (0xFEFF, "EC8CDF7398607CB0F2D21675EA9EA1E4"),
            (0xFF00, "362B7C3C6773516318A077D7FC5073AE"), (0xFF01, "6A2CC3787889374FBEB4C81B17BA6C44"),
        ]
        for (number, block) in blocks { #expect(Array(stream[number * 16..<number * 16 + 16]) == hex(block)) }
    }

    @Test("SRTP session keys are those of RFC 3711 B.3")
    func sessionKeys() throws {
        let (key, salt) = (hex("E1F97A0D3E018BE0D64FA32C06DE4139"), hex("0EC675AD498AFEEBB6960B3AABE6"))
        let keys = try SRTPKeyDerivation.sessionKeys(.aes128CMSHA1, key: key, salt: salt, forRTCP: false)
        #expect(keys.encryption == hex("C61E7A93744F39EE10734AFE3FF7A087"))
        #expect(keys.salt == hex("30CBBC08863D8C85D49DB34A9AE1"))
        #expect(keys.authentication == hex("CEBE321F6FF7716B6FD4AB49AF256A156D38BAA4"))
        let long = try SRTPKeyDerivation.derive(.authentication, key, salt, forRTCP: false, count: 94)
        #expect(
            long
                == hex(
                    """
                    CEBE321F6FF7716B6FD4AB49AF256A15 6D38BAA48F0A0ACF3C34E2359E6CDBCE E049646C43D9327AD175578EF7227098
                    6371C10C9A369AC2F94A8C5FBCDDDC25 6D6E919A48B610EF17C2041E47403576 6B68642C59BBFC2F34DB60DBDFB2
                    """))
    }

    @Test("SRTP session keys for RTCP differ from those for RTP")
    func rtcpKeys() throws {
        let (key, salt) = (hex("E1F97A0D3E018BE0D64FA32C06DE4139"), hex("0EC675AD498AFEEBB6960B3AABE6"))
        let rtp = try SRTPKeyDerivation.sessionKeys(.aes128CMSHA1, key: key, salt: salt, forRTCP: false)
        let rtcp = try SRTPKeyDerivation.sessionKeys(.aes128CMSHA1, key: key, salt: salt, forRTCP: true)
        #expect(rtp.encryption != rtcp.encryption && rtp.salt != rtcp.salt && rtp.authentication != rtcp.authentication)
    }

    private static let gcm = SRTPSessionKeys(
        profile: .aes128GCM, encryption: hex("000102030405060708090a0b0c0d0e0f"),
        salt: hex("517569642070726f2071756f"), authentication: [])

    private static let rtp = hex(
        """
        8040f17b 8041f8d3 5501a0b2 47616c6c 69612065 7374206f 6d6e6973 20646976 69736120 696e2070 61727465 73207472
        6573
        """)
    private static let srtp = hex(
        """
        8040f17b 8041f8d3 5501a0b2 f24de3a3 fb34de6c acba861c 9d7e4bca be633bd5 0d294e6f 42a5f47a 51c7d19b 36de3adf
        8833899d 7f27beb1 6a9152cf 765ee439 0cce
        """)
    private static let rtcp = hex(
        """
        81c8000d 4d617273 4e545031 4e545032 52545020 0000042a 0000e930 4c756e61 deadbeef deadbeef deadbeef deadbeef
        deadbeef
        """)
    private static let srtcp = hex(
        """
        81c8000d 4d617273 63e94885 dcdab67c a727d766 2f6b7e99 7ff5c0f7 6c06f32d c676a5f1 730d6fda 4ce09b46 86303ded
        0bb9275b c84aa458 96cf4d2f c5abf872 45d9eade 800005d4
        """)
    /// RFC 7714 §17.3: authenticated but not encrypted.
    private static let clearSRTCP = hex(
        """
        81c8000d 4d617273 4e545031 4e545032 52545020 0000042a 0000e930 4c756e61 deadbeef deadbeef deadbeef deadbeef
        deadbeef 841dd968 3dd78ec9 2ae58790 125f62b3 000005d4
        """)

    @Test("AES-128-GCM protects and unprotects the RTP packet of RFC 7714 §16.1.1 and §16.1.2")
    func gcmRTP() throws {
        var packet = Self.rtp
        #expect(try SRTPSender(rtp: Self.gcm, rtcp: Self.gcm).protectRTP(&packet) == .ok)
        #expect(packet == Self.srtp)
        #expect(try SRTPReceiver(rtp: Self.gcm, rtcp: Self.gcm).unprotectRTP(&packet) == .ok)
        #expect(packet == Self.rtp)
    }

    @Test(
        "AES-128-GCM protects and unprotects the RTCP packet of RFC 7714 §17.1; the unencrypted one of §17.3 is refused"
    )
    func gcmRTCP() throws {
        var packet = Self.rtcp
        #expect(try SRTPSender(rtp: Self.gcm, rtcp: Self.gcm, firstRTCPIndex: 0x5D4).protectRTCP(&packet) == .ok)
        #expect(packet == Self.srtcp)
        let receiver = try SRTPReceiver(rtp: Self.gcm, rtcp: Self.gcm)
        #expect(receiver.unprotectRTCP(&packet) == .ok)
        #expect(packet == Self.rtcp)
        var clear = Self.clearSRTCP
        #expect(receiver.unprotectRTCP(&clear) == .malformed)
    }

    @Test("AES-CM with HMAC-SHA1-80 protects and unprotects libsrtp's reference packet")
    func counterMode() throws {
        // libsrtp's test/srtp_driver.c, srtp_validate: the same keys, in wide use as a vector.
        let keys = SRTPKeys(
            profile: .aes128CMSHA1, localKey: hex("e1f97a0d3e018be0d64fa32c06de4139"),
            localSalt: hex("0ec675ad498afeebb6960b3aabe6"), remoteKey: hex("e1f97a0d3e018be0d64fa32c06de4139"),
            remoteSalt: hex("0ec675ad498afeebb6960b3aabe6"))
        let plain = hex("800f1234decafbadcafebabe") + [UInt8](repeating: 0xAB, count: 16)
        var packet = plain
        #expect(try SRTPSender(keys: keys).protectRTP(&packet) == .ok)
        #expect(packet == hex("800f1234decafbadcafebabe4e55dc4ce79978d88ca4d215949d2402b78d6acc99ea179b8dbb"))
        #expect(try SRTPReceiver(keys: keys).unprotectRTP(&packet) == .ok)
        #expect(packet == plain)
    }

    @Test("SRTP keys of a wrong size are refused", arguments: SRTPKeys.Profile.allCases)
    func wrongSizes(profile: SRTPKeys.Profile) {
        let sizes = [(15, profile.saltSize), (17, profile.saltSize), (16, 0), (16, 13), (0, 0)]
        for (key, salt) in sizes {
            let bad = SRTPKeys(
                profile: profile, localKey: Array(repeating: 1, count: key),
                localSalt: Array(repeating: 1, count: salt),
                remoteKey: Array(repeating: 1, count: key), remoteSalt: Array(repeating: 1, count: salt))
            #expect(throws: (any Error).self) { try SRTPReceiver(keys: bad) }
            #expect(throws: (any Error).self) { try SRTPSender(keys: bad) }
        }
    }
}
