internal import COpenSSL
package import MediaTypes

/// The keys of one direction for RTP or for RTCP.
package struct SRTPSessionKeys: Sendable {
    package let profile: SRTPKeys.Profile
    /// Key of AES-128, 16 bytes.
    package let encryption: [UInt8]
    /// Session salt, as many bytes as the master salt.
    package let salt: [UInt8]
    /// Key of HMAC-SHA1, 20 bytes; empty with GCM.
    package let authentication: [UInt8]

    package init(profile: SRTPKeys.Profile, encryption: [UInt8], salt: [UInt8], authentication: [UInt8]) {
        self.profile = profile
        self.encryption = encryption
        self.salt = salt
        self.authentication = authentication
    }
}

/// Derivation of session keys, with a key derivation rate of 0: once.
///
/// Spec: RFC 3711 §4.3; RFC 7714 §11.
package enum SRTPKeyDerivation {
    /// What a session key is for. Spec: RFC 3711 §4.3.2.
    package enum Label: UInt8, Sendable {
        case encryption = 0
        case authentication = 1
        case salt = 2
    }

    /// Size of the key of HMAC-SHA1. Spec: RFC 3711 §5.2.
    static let authenticationSize = 20
    /// Labels of RTCP are those of RTP plus this.
    private static let rtcpLabels: UInt8 = 3

    /// - Throws: ``MediaError/Code/rejected`` if a key has the wrong size; ``MediaError/Code/internal`` if OpenSSL fails.
    package static func sessionKeys(
        _ profile: SRTPKeys.Profile, key: [UInt8], salt: [UInt8], forRTCP: Bool
    ) throws(MediaError) -> SRTPSessionKeys {
        guard key.count == profile.keySize, salt.count == profile.saltSize else {
            throw MediaError(
                .rejected, "a master key of \(key.count) bytes with a salt of \(salt.count) does not fit the profile",
                at: "srtp", fix: "pass the keys of DTLSTransport")
        }
        let isGCM = profile == .aes128GCM
        return SRTPSessionKeys(
            profile: profile,
            encryption: try Self.derive(.encryption, key, salt, forRTCP: forRTCP, count: profile.keySize),
            salt: try Self.derive(.salt, key, salt, forRTCP: forRTCP, count: profile.saltSize),
            authentication: isGCM
                ? [] : try Self.derive(.authentication, key, salt, forRTCP: forRTCP, count: Self.authenticationSize))
    }

    /// One session key: the key stream of AES in counter mode.
    ///
    /// - Parameters:
    ///   - key: 16 bytes.
    ///   - salt: 12 or 14 bytes; it is extended to 16 bytes by zeros at its end.
    package static func derive(
        _ label: Label, _ key: [UInt8], _ salt: [UInt8], forRTCP: Bool, count: Int
    ) throws(MediaError) -> [UInt8] {
        var vector = Array((salt + [0, 0, 0, 0]).prefix(16))
        vector[7] ^= label.rawValue + (forRTCP ? Self.rtcpLabels : 0)
        guard vector.count == 16, let stream = Self.keyStream(key, vector: vector, count: count) else {
            throw MediaError.openSSL("AES in counter mode failed", at: "srtp")
        }
        return stream
    }

    /// The first bytes of the key stream of AES-128 in counter mode.
    ///
    /// - Returns: `nil` if the key or vector does not have 16 bytes, or OpenSSL fails.
    package static func keyStream(_ key: [UInt8], vector: [UInt8], count: Int) -> [UInt8]? {
        guard key.count == 16, vector.count == 16, let context = unsafe EVP_CIPHER_CTX_new() else { return nil }
        defer { unsafe EVP_CIPHER_CTX_free(context) }
        var stream = [UInt8](repeating: 0, count: count)
        var written: Int32 = 0
        // Key and vector have 16 bytes. It writes `count` bytes over those it reads, which OpenSSL allows.
        let isDone = unsafe stream.withUnsafeMutableBufferPointer { bytes in
            unsafe EVP_EncryptInit_ex(context, EVP_aes_128_ctr(), nil, key, vector) == 1
                && EVP_EncryptUpdate(context, bytes.baseAddress, &written, bytes.baseAddress, Int32(clamping: count))
                    == 1
        }
        return isDone && Int(written) == count ? stream : nil
    }
}
