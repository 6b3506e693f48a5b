package import MediaTypes
import NIOSSL
import Stages

/// A certificate chain and its key, read and found to belong together.
package struct CertificatePair: Sendable {
    let chain: [NIOSSLCertificateSource]
    let key: NIOSSLPrivateKeySource
    /// Unix time, seconds, from which the first certificate is valid.
    package let validFrom: Int64
    /// Unix time, seconds, after which the first certificate is not valid any more.
    package let validUntil: Int64

    /// Most bytes of a file that are read: a chain of a hundred certificates is shorter.
    private static let longestFile = 1 << 20

    /// - Parameters:
    ///   - files: Relative paths are relative to the working directory.
    ///   - place: Names the listener in errors, such as `viewer`.
    /// - Throws: ``MediaError/Code/notReadable`` for a file that is missing or not to be read,
    ///   ``MediaError/Code/rejected`` for one that is no such PEM file, or a key of another certificate.
    package static func load(_ files: CertificateFiles, place: String) throws(MediaError) -> CertificatePair {
        let certificates = try Self.certificates(files.certificate, place)
        guard let first = certificates.first else {
            throw MediaError(
                .rejected, "there is no certificate in \(files.certificate)", at: place,
                fix: "write the path of a PEM file with \"-----BEGIN CERTIFICATE-----\"")
        }
        let pair = CertificatePair(
            chain: certificates.map { .certificate($0) }, key: .privateKey(try Self.privateKey(files.key, place)),
            validFrom: Int64(first.notValidBefore), validUntil: Int64(first.notValidAfter))
        do {
            // BoringSSL compares key and certificate when a context is made of them.
            _ = try NIOSSLContext(
                configuration: .makeServerConfiguration(certificateChain: pair.chain, privateKey: pair.key))
        } catch {
            throw MediaError(
                .rejected, "the key \(files.key) does not belong to the certificate \(files.certificate)", at: place,
                fix: "name the key the certificate was made for; the server's own certificate comes first in its file")
        }
        return pair
    }

    /// Why clients will refuse it; `nil`: the time is right.
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
                .rejected, "\(path) is no PEM file of certificates", at: place,
                fix: "write the path of a PEM file with \"-----BEGIN CERTIFICATE-----\"")
        }
    }

    private static func privateKey(_ path: String, _ place: String) throws(MediaError) -> NIOSSLPrivateKey {
        let bytes = try Self.bytes(path, "key", place)
        do {
            return try NIOSSLPrivateKey(bytes: bytes, format: .pem)
        } catch {
            throw MediaError(
                .rejected, "\(path) is no PEM file of a private key, or it has a passphrase", at: place,
                fix: "write the path of a PEM file with \"-----BEGIN PRIVATE KEY-----\"")
        }
    }

    private static func bytes(_ path: String, _ what: String, _ place: String) throws(MediaError) -> [UInt8] {
        do throws(WholeRead.Failure) {
            return try WholeRead.regular(path, limit: Self.longestFile)
        } catch {
            throw MediaError(
                .notReadable, "the \(what) \(path) \(error.text)", at: place,
                fix: "check the path and who may read it; it is relative to the working directory")
        }
    }
}
