internal import COpenSSL

extension DTLSTransport {
    /// Label of the keying material. Spec: RFC 5764 §4.2.
    private static let label = "EXTRACTOR-dtls_srtp"

    /// Continues the handshake with what was received.
    func shakeHands() {
        // SSL_get_error looks at the thread's errors, which others may have left.
        ERR_clear_error()
        let result = unsafe SSL_do_handshake(self.ssl)
        guard result != 1 else { return self.finishHandshake() }
        switch unsafe SSL_get_error(self.ssl, result) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: break
        case SSL_ERROR_ZERO_RETURN: self.state = .closed
        default: self.state = .failed("the handshake failed: \(OpenSSLError.take() ?? "no reason given")")
        }
    }

    /// Reads what a peer sends after the handshake: alerts, retransmissions, and application data, which is discarded.
    func readRecords() {
        unsafe withUnsafeTemporaryAllocation(byteCount: 2_048, alignment: 1) { buffer in
            while true {
                ERR_clear_error()
                // Writes at most as many bytes as the buffer has.
                let count = unsafe SSL_read(self.ssl, buffer.baseAddress, Int32(buffer.count))
                if count > 0 { continue }
                switch unsafe SSL_get_error(self.ssl, count) {
                case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: break
                case SSL_ERROR_ZERO_RETURN:
                    self.sendCloseNotify()
                    self.state = .closed
                default: self.state = .failed("the connection failed: \(OpenSSLError.take() ?? "no reason given")")
                }
                return
            }
        }
    }

    /// Compares the certificate, then takes the keys.
    private func finishHandshake() {
        guard self.hasExpectedCertificate() else {
            return self.refuse("the certificate does not match the fingerprint of the session description")
        }
        guard let profile = self.negotiatedProfile() else {
            return self.refuse("the peer does not use SRTP (extension use_srtp)")
        }
        guard let keys = self.exportKeys(profile) else {
            return self.refuse("cannot derive the SRTP keys: \(OpenSSLError.take() ?? "no reason given")")
        }
        self.state = .connected(keys)
    }

    private func refuse(_ reason: String) {
        self.sendCloseNotify()
        self.state = .failed(reason)
    }

    private func hasExpectedCertificate() -> Bool {
        guard let certificate = unsafe SSL_get1_peer_certificate(self.ssl) else { return false }
        defer { unsafe X509_free(certificate) }
        return self.fingerprints.contains { fingerprint in
            unsafe DTLSIdentity.digest(certificate, fingerprint.algorithm) == fingerprint.bytes
        }
    }

    private func negotiatedProfile() -> SRTPKeys.Profile? {
        // The profile belongs to OpenSSL's table, which is constant.
        guard let profile = unsafe SSL_get_selected_srtp_profile(self.ssl) else { return nil }
        switch unsafe Int32(clamping: profile.pointee.id) {
        case SRTP_AEAD_AES_128_GCM: return .aes128GCM
        case SRTP_AES128_CM_SHA1_80: return .aes128CMSHA1
        default: return nil
        }
    }

    /// Exports the SRTP keys. The material has the client's key, the server's key, the client's salt and the server's
    /// salt, in this order. Spec: RFC 5764 §4.2.
    private func exportKeys(_ profile: SRTPKeys.Profile) -> SRTPKeys? {
        let (key, salt) = (profile.keySize, profile.saltSize)
        var material = [UInt8](repeating: 0, count: 2 * (key + salt))
        // Writes as many bytes as the array has; the label's length is without the zero at its end.
        let isDone = unsafe SSL_export_keying_material(
            self.ssl, &material, material.count, Self.label, Self.label.utf8.count, nil, 0, 0)
        guard isDone == 1 else { return nil }
        let client = (key: Array(material[..<key]), salt: Array(material[2 * key..<2 * key + salt]))
        let server = (key: Array(material[key..<2 * key]), salt: Array(material[(2 * key + salt)...]))
        let (local, remote) = unsafe SSL_is_server(self.ssl) == 1 ? (server, client) : (client, server)
        return SRTPKeys(
            profile: profile, localKey: local.key, localSalt: local.salt, remoteKey: remote.key, remoteSalt: remote.salt
        )
    }
}
