/// Paths of a listener's certificate and key: two PEM files.
package struct CertificateFiles: Sendable, Hashable {
    /// The certificate, followed by the intermediate certificates up to its authority.
    package var certificate: String
    /// The private key of the first certificate, without a passphrase.
    package var key: String

    package init(certificate: String, key: String) {
        self.certificate = certificate
        self.key = key
    }
}
