/// Where a listener's certificate is: two PEM files.
package struct CertificateFiles: Sendable, Hashable {
    /// The certificate and, after it, those that lead to its authority.
    package var certificate: String
    /// The private key of the first certificate, without a passphrase.
    package var key: String

    package init(certificate: String, key: String) {
        self.certificate = certificate
        self.key = key
    }
}
