/// The certificate of a listener: with it, the listener speaks TLS 1.2 or later. New files are taken without a restart.
package struct TLSSettings: Sendable, Hashable {
    /// PEM file of the certificate, followed by those that lead to its authority; relative to the working directory.
    package var certificate = ""
    /// PEM file of its private key, without a passphrase; relative to the working directory.
    package var key = ""

    package init() {}
}

extension TLSSettings {
    static let rule = ObjectRule(
        "a certificate and its key", TLSSettings(),
        [
            Field(
                required: "certificate", \.certificate, .path,
                "PEM file of the certificate and those that lead to its authority, relative to the working directory"),
            Field(
                required: "key", \.key, .path,
                "PEM file of the private key, without a passphrase, relative to the working directory"),
        ])

    /// What the machine says of the files.
    func check(_ checks: SpecChecks, at path: String, _ log: inout SpecLog) {
        guard log.isSound(path), !self.certificate.isEmpty, !self.key.isEmpty else { return }
        switch checks.certificate(self) {
        case .unusable(let problem): log.mistake(path, problem.what, fix: problem.fix)
        case .doubtful(let problem): log.warning(path, problem.what, fix: problem.fix)
        case nil: break
        }
    }
}
