/// The certificate of a listener that uses TLS 1.2 or later. Changed files are loaded without a restart.
package struct TLSSettings: Sendable, Hashable {
    /// PEM file with the certificate, followed by the intermediate certificates; relative to the working directory.
    package var certificate = ""
    /// PEM file of the certificate's private key, without a passphrase; relative to the working directory.
    package var key = ""

    package init() {}
}

extension TLSSettings {
    static let rule = ObjectRule(
        "a certificate and its key", TLSSettings(),
        [
            Field(
                required: "certificate", \.certificate, .path,
                "PEM file with the certificate, followed by the intermediate certificates, relative to the working directory"
            ),
            Field(
                required: "key", \.key, .path,
                "PEM file of the private key, without a passphrase, relative to the working directory"),
        ])

    /// Checks the certificate files on this machine and reports their problems.
    func check(_ checks: SpecChecks, at path: String, _ log: inout SpecLog) {
        guard log.isValid(path), !self.certificate.isEmpty, !self.key.isEmpty else { return }
        switch checks.certificate(self) {
        case .unusable(let problem): log.mistake(path, problem.what, fix: problem.fix)
        case .doubtful(let problem): log.warning(path, problem.what, fix: problem.fix)
        case nil: break
        }
    }
}
