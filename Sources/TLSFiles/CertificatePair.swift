package import MediaTypes
import NIOSSL
import Threading

/// A certificate chain and its private key, loaded and verified to match.
package struct CertificatePair: Sendable {
    let chain: [NIOSSLCertificateSource]
    let key: NIOSSLPrivateKeySource
    /// Unix time in seconds from which the first certificate is valid.
    package let validFrom: Int64
    /// Unix time in seconds until which the first certificate is valid.
    package let validUntil: Int64

    /// Maximum size of a file in bytes (1 MiB); a chain of a hundred certificates is shorter.
    private static let longestFile = 1 << 20

    /// Reads a certificate chain and its key from PEM files and checks that they match.
    ///
    /// - Parameters:
    ///   - files: Paths of both files; relative paths are relative to the working directory.
    ///   - place: Name of the listener in errors, such as `viewer`.
    /// - Throws: ``MediaError/Code/notReadable`` for a file that is missing or unreadable, ``MediaError/Code/rejected``
    ///   for one that is not a PEM file of certificates or of a key, or for a key of another certificate.
    package static func load(_ files: CertificateFiles, place: String) throws(MediaError) -> CertificatePair {
        let certificates = try Self.certificates(files.certificate, place)
        guard let first = certificates.first else {
            throw MediaError(
                .rejected, "\(files.certificate) contains no certificate", at: place,
                fix: "write the path of a PEM file with \"-----BEGIN CERTIFICATE-----\"")
        }
        let pair = CertificatePair(
            chain: certificates.map { .certificate($0) }, key: .privateKey(try Self.privateKey(files.key, place)),
            validFrom: Int64(first.notValidBefore), validUntil: Int64(first.notValidAfter))
        do {
            // BoringSSL compares key and certificate when a context is created.
            _ = try NIOSSLContext(
                configuration: .makeServerConfiguration(certificateChain: pair.chain, privateKey: pair.key))
        } catch {
            throw MediaError(
                .rejected, "the key \(files.key) does not belong to the certificate \(files.certificate)", at: place,
                fix: "use the key of the certificate; the server's certificate must come first in its file")
        }
        return pair
    }

    /// Returns why clients reject the certificate at `now`; `nil` if it is valid then.
    ///
    /// - Parameter now: Unix time, seconds.
    package func timeProblem(now: Int64) -> String? {
        if now > self.validUntil { return "the certificate has expired" }
        if now < self.validFrom { return "the certificate is not valid yet" }
        return nil
    }

    private static func certificates(_ path: String, _ place: String) throws(MediaError) -> [NIOSSLCertificate] {
        let bytes = try Self.bytes(path, "certificate", place)
        do {
            return try NIOSSLCertificate.fromPEMBytes(bytes)
        } catch {
            throw MediaError(
                .rejected, "\(path) is not a PEM file with certificates", at: place,
                fix: "write the path of a PEM file with \"-----BEGIN CERTIFICATE-----\"")
        }
    }

    private static func privateKey(_ path: String, _ place: String) throws(MediaError) -> NIOSSLPrivateKey {
        let bytes = try Self.bytes(path, "key", place)
        do {
            return try NIOSSLPrivateKey(bytes: bytes, format: .pem)
        } catch {
            throw MediaError(
                .rejected, "\(path) is not a PEM file with a private key, or the key has a passphrase", at: place,
                fix: "write the path of a PEM file with \"-----BEGIN PRIVATE KEY-----\"")
        }
    }

    private static func bytes(_ path: String, _ what: String, _ place: String) throws(MediaError) -> [UInt8] {
        do throws(FileReading.Failure) {
            return try FileReading.regular(path, limit: Self.longestFile)
        } catch {
            throw MediaError(
                .notReadable, "the \(what) \(path) \(error.text)", at: place,
                fix: "check the path and the file's permissions; a relative path is relative to the working directory")
        }
    }
}
