import COpenSSL
import OpenSSLCrypto

/// A DTLS peer that can do what `DTLSTransport` does not: without certificate, without SRTP, with renegotiation.
final class RawPeer: DTLSEnd {
    /// Fingerprints of its certificate by SHA-1, SHA-256, SHA-384 and SHA-512.
    let fingerprints: [DTLSFingerprint]
    private let context: OpaquePointer
    private let ssl: OpaquePointer
    private let input: OpaquePointer
    private let output: OpaquePointer
    private(set) var isHandshaking = true
    private(set) var isClosed = false
    private(set) var error: Int32 = 0
    private let isClient: Bool
    private let mtu: Int

    /// - Parameters:
    ///   - profiles: SRTP profiles, by OpenSSL's names; `nil` offers no SRTP.
    ///   - suites: `nil` keeps OpenSSL's.
    ///   - mtu: Size of the records that it sends, in bytes; at least 256.
    init(
        isClient: Bool, hasCertificate: Bool = true, profiles: String? = "SRTP_AES128_CM_SHA1_80",
        version: Int32 = DTLS1_2_VERSION, suites: String? = nil, mtu: Int = 1_200
    ) throws {
        struct NoMemory: Error {}
        guard let context = SSL_CTX_new(DTLS_method()), let key = copenssl_make_p256_key(), let certificate = X509_new()
        else { throw NoMemory() }
        self.isClient = isClient
        self.mtu = mtu
        self.context = context
        SSL_CTX_set_security_level(context, 0)
        _ = copenssl_set_versions(context, version, version)
        X509_set_version(certificate, 2)
        ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), 7)
        _ = copenssl_set_lifetime(certificate, 0, 3_600)
        X509_set_pubkey(certificate, key)
        X509_sign(certificate, key, EVP_sha256())
        self.fingerprints = [
            ("sha-1", EVP_sha1()), ("sha-256", EVP_sha256()), ("sha-384", EVP_sha384()), ("sha-512", EVP_sha512()),
        ].map { name, kind in
            var digest = [UInt8](repeating: 0, count: 64)
            var count: UInt32 = 0
            X509_digest(certificate, kind, &digest, &count)
            return DTLSFingerprint(algorithm: name, bytes: Array(digest.prefix(Int(count))))
        }
        if hasCertificate {
            SSL_CTX_use_certificate(context, certificate)
            SSL_CTX_use_PrivateKey(context, key)
        }
        X509_free(certificate)
        EVP_PKEY_free(key)
        if let profiles { _ = SSL_CTX_set_tlsext_use_srtp(context, profiles) }
        if let suites { SSL_CTX_set_cipher_list(context, suites) }
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        SSL_CTX_set_cert_verify_callback(context, { _, _ in 1 }, nil)
        guard let ssl = SSL_new(context), let input = BIO_new(BIO_s_mem()), let output = BIO_new(BIO_s_mem()) else {
            throw NoMemory()
        }
        self.ssl = ssl
        self.input = input
        self.output = output
        copenssl_retry_when_empty(input)
        copenssl_retry_when_empty(output)
        SSL_set_bio(ssl, input, output)
        _ = SSL_set_options(ssl, copenssl_op_no_query_mtu())
        _ = copenssl_set_link_mtu(ssl, mtu)
        // As long as the short timer of a transport: one that waited longer would see the other give up.
        DTLS_set_timer_cb(ssl) { _, _ in 20_000 }
        if isClient { SSL_set_connect_state(ssl) } else { SSL_set_accept_state(ssl) }
    }

    deinit {
        SSL_free(self.ssl)
        SSL_CTX_free(self.context)
    }

    func start() -> [[UInt8]] { self.isClient ? self.advance() : [] }

    func receive(_ datagram: [UInt8]) -> [[UInt8]] {
        BIO_write(self.input, datagram, Int32(datagram.count))
        return self.advance()
    }

    func handleTimeout() -> [[UInt8]] {
        _ = copenssl_handle_timeout(self.ssl)
        return self.take()
    }

    /// Begins another handshake on the same connection.
    func renegotiate() -> [[UInt8]] {
        SSL_renegotiate(self.ssl)
        return self.advance()
    }

    /// Sends application data.
    func write(_ bytes: [UInt8]) -> [[UInt8]] {
        SSL_write(self.ssl, bytes, Int32(bytes.count))
        return self.take()
    }

    func close() -> [[UInt8]] {
        SSL_shutdown(self.ssl)
        return self.take()
    }

    /// The keying material of SRTP, in the order of RFC 5764 §4.2.
    func keyingMaterial(_ count: Int) -> [UInt8] {
        var material = [UInt8](repeating: 0, count: count)
        SSL_export_keying_material(self.ssl, &material, count, "EXTRACTOR-dtls_srtp", 19, nil, 0, 0)
        return material
    }

    private func advance() -> [[UInt8]] {
        ERR_clear_error()
        var result = SSL_do_handshake(self.ssl)
        if result == 1 {
            self.isHandshaking = false
            var buffer = [UInt8](repeating: 0, count: 4_096)
            repeat { result = SSL_read(self.ssl, &buffer, Int32(buffer.count)) } while result > 0
        }
        switch SSL_get_error(self.ssl, result) {
        case SSL_ERROR_WANT_READ: break
        case SSL_ERROR_ZERO_RETURN: self.isClosed = true
        case let error:
            self.error = error
            self.isHandshaking = false
        }
        return self.take()
    }

    private func take() -> [[UInt8]] {
        var bytes = [UInt8](repeating: 0, count: copenssl_pending(self.output))
        BIO_read(self.output, &bytes, Int32(bytes.count))
        return DTLSRecords.datagrams(bytes, most: self.mtu)
    }
}
