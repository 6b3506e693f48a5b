internal import COpenSSL
package import MediaTypes

/// A certificate with its private key, and the settings of every handshake in which it is used.
///
/// Made once for each WebRTC listener: ECDSA on P-256, signed by itself, valid for ten years. Peers do not check a chain; they
/// compare the certificate's digest with the one in the session description (RFC 8827 §6.5).
@safe
package final class DTLSIdentity: @unchecked Sendable {
    // @unchecked Sendable: `context` is changed only before `init` returns; afterwards only SSL_new uses it, which
    // OpenSSL allows on several threads at once (openssl-threads(7): SSL_CTX is reference-counted and locked).
    let context: OpaquePointer

    /// SHA-256 of the certificate, for `a=fingerprint`.
    package let fingerprint: DTLSFingerprint

    /// Suites with forward secrecy and authenticated encryption. Spec: RFC 8827 §6.5 requires the first of every peer.
    private static let suites =
        "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-CHACHA20-POLY1305:"
        + "ECDHE-RSA-CHACHA20-POLY1305:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384"
    private static let groups = "X25519:P-256:P-384"
    /// SRTP protection profiles in the order of preference.
    private static let profiles = "SRTP_AEAD_AES_128_GCM:SRTP_AES128_CM_SHA1_80"
    /// Limit for the certificates of a peer, in bytes: an RSA certificate of 4,096 bits has about 1,300.
    private static let mostCertificateBytes = 16 << 10
    private static let day = 86_400

    /// Makes a new key pair and certificate.
    ///
    /// - Throws: ``MediaError/Code/internal`` if OpenSSL has no memory or lacks an algorithm.
    package init() throws(MediaError) {
        guard let key = unsafe copenssl_make_p256_key() else { throw Self.error("cannot make a key pair on P-256") }
        defer { unsafe EVP_PKEY_free(key) }
        let certificate = try unsafe Self.makeCertificate(key)
        defer { unsafe X509_free(certificate) }
        guard let bytes = unsafe Self.digest(certificate, "sha-256") else {
            throw Self.error("SHA-256 is not available")
        }
        guard let context = unsafe SSL_CTX_new(DTLS_method()) else { throw Self.error("cannot create a DTLS context") }
        unsafe self.context = context
        self.fingerprint = DTLSFingerprint(algorithm: "sha-256", bytes: bytes)
        // From here on, `deinit` frees the context if something throws. OpenSSL takes references of its own.
        guard unsafe SSL_CTX_use_certificate(context, certificate) == 1 && SSL_CTX_use_PrivateKey(context, key) == 1
        else { throw Self.error("OpenSSL did not accept the certificate") }
        try self.configure()
    }

    deinit { unsafe SSL_CTX_free(self.context) }

    private static func error(_ what: String) -> MediaError { MediaError.openSSL(what, at: "dtls") }

    private func configure() throws(MediaError) {
        // Everything that the system's openssl.cnf may have set is set here.
        unsafe SSL_CTX_set_security_level(self.context, 2)
        guard
            unsafe copenssl_set_versions(self.context, DTLS1_2_VERSION, DTLS1_2_VERSION) == 1
                && SSL_CTX_set_cipher_list(self.context, Self.suites) == 1
                && copenssl_set_groups(self.context, Self.groups) == 1
        else { throw Self.error("DTLS 1.2 with ECDHE is not available") }
        // Returns 0 on success.
        guard unsafe SSL_CTX_set_tlsext_use_srtp(self.context, Self.profiles) == 0 else {
            throw Self.error("the SRTP profiles are not available")
        }
        // Without renegotiation, tickets and a session cache, one handshake gives one set of keys and one certificate.
        let options =
            copenssl_op_no_renegotiation() | copenssl_op_no_query_mtu() | copenssl_op_no_ticket()
            | copenssl_op_no_compression() | copenssl_op_server_preference()
        _ = unsafe SSL_CTX_set_options(self.context, options)
        unsafe copenssl_disable_session_cache(self.context)
        unsafe copenssl_limit_certificates(self.context, Self.mostCertificateBytes)
        unsafe copenssl_use_cookies(self.context)
        unsafe SSL_CTX_set_verify(self.context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
        // Every certificate is accepted here, in place of the check of a chain: `DTLSTransport` compares its digest
        // before it derives keys.
        unsafe SSL_CTX_set_cert_verify_callback(self.context, { _, _ in 1 }, nil)
    }

    /// - Returns: A certificate that the caller must free.
    private static func makeCertificate(_ key: OpaquePointer) throws(MediaError) -> OpaquePointer {
        guard let certificate = unsafe X509_new() else { throw Self.error("there is no memory for a certificate") }
        var serial: UInt64 = 0
        let name = Array("tandem".utf8)
        // The subject name belongs to the certificate and is freed with it. All lengths are those of the arguments.
        let isMade = unsafe withUnsafeMutableBytes(of: &serial) { bytes in
            unsafe RAND_bytes(bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(bytes.count)) == 1
        }
        guard isMade,
            unsafe X509_set_version(certificate, 2) == 1
                // Positive, as RFC 5280 §4.1.2.2 requires.
                && ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial >> 1 | 1) == 1
                // From yesterday on, since clocks differ.
                && copenssl_set_lifetime(certificate, -Self.day, 3_650 * Self.day) == 1
                && X509_NAME_add_entry_by_txt(
                    X509_get_subject_name(certificate), "CN", copenssl_utf8_string(), name, Int32(name.count), -1, 0)
                    == 1
                && X509_set_issuer_name(certificate, X509_get_subject_name(certificate)) == 1
                && X509_set_pubkey(certificate, key) == 1 && X509_sign(certificate, key, EVP_sha256()) > 0
        else {
            unsafe X509_free(certificate)
            throw Self.error("cannot make a certificate")
        }
        return unsafe certificate
    }

    /// The digest of a certificate in its DER form.
    ///
    /// - Parameter algorithm: A name of ``DTLSFingerprint/algorithm``.
    /// - Returns: `nil` for an unknown algorithm.
    static func digest(_ certificate: OpaquePointer, _ algorithm: String) -> [UInt8]? {
        let kind: OpaquePointer?
        switch algorithm {
        case "sha-256": unsafe kind = EVP_sha256()
        case "sha-384": unsafe kind = EVP_sha384()
        case "sha-512": unsafe kind = EVP_sha512()
        default: unsafe kind = nil
        }
        guard let kind = unsafe kind else { return nil }
        // The longest digest that OpenSSL has, EVP_MAX_MD_SIZE.
        var bytes = [UInt8](repeating: 0, count: 64)
        var written: UInt32 = 0
        guard unsafe X509_digest(certificate, kind, &bytes, &written) == 1 else { return nil }
        return Array(bytes.prefix(Int(written)))
    }
}
