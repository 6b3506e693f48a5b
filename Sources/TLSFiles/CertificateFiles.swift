/// Paths of a listener's certificate and key: two PEM files.
package struct CertificateFiles: Sendable, Hashable {
    /// Path of the certificate file: the server's certificate, followed by the intermediate certificates.
    package var certificate: String
    /// Path of the private key of the server's certificate; the key has no passphrase.
    package var key: String

    package init(certificate: String, key: String) {
        self.certificate = certificate
        self.key = key
    }
}
