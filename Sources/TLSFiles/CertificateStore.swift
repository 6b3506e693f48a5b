package import MediaTypes
package import NIOSSL
import Threading
import Synchronization

/// The certificate of a listener, which can be renewed without a restart. New TLS handshakes use the new certificate;
/// open connections keep theirs.
///
/// The owner calls ``check()`` about once per second, and ``reload()`` on request. If a new certificate or key cannot be
/// used, the old pair stays in use until a usable pair appears.
package final class CertificateStore: Sendable {
    /// The result of checking the files.
    package enum CheckResult: Sendable, Equatable {
        case unchanged
        /// The new certificate and key are in use; the certificate is valid until this Unix time in seconds.
        case renewed(validUntil: Int64)
        /// The new certificate or key cannot be used. ``check()`` reports it once for each change of the files, at the
        /// second check that finds it.
        case refused(MediaError)
    }

    private struct Marks: Hashable {
        var certificate: FileVersion?
        var key: FileVersion?
    }

    private struct State {
        var pair: CertificatePair
        /// Versions of the files that were last accepted or refused.
        var marks: Marks
        /// Versions of files that were found unusable once. One of the two may not have been replaced yet, so they are
        /// checked again before they are refused.
        var suspect: Marks?
    }

    package let files: CertificateFiles
    /// Name of the listener in errors.
    package let place: String
    private let state: Mutex<State>

    /// Reads the files.
    ///
    /// - Throws: What ``CertificatePair/load(_:place:)`` throws.
    package init(_ files: CertificateFiles, place: String) throws(MediaError) {
        self.files = files
        self.place = place
        // The marks are read before the files, so that the first check finds a change in between.
        let marks = Self.marks(files)
        self.state = Mutex(State(pair: try CertificatePair.load(files, place: place), marks: marks))
    }

    /// The certificate and key that new connections use.
    package var current: CertificatePair { self.state.withLock(\.pair) }

    /// Checks whether the files have changed, and loads them if they have. Blocks while it reads.
    package func check() -> CheckResult {
        let marks = Self.marks(self.files)
        guard self.state.withLock({ $0.marks != marks }) else { return .unchanged }
        do throws(MediaError) {
            return .renewed(validUntil: try self.take(marks))
        } catch {
            return self.state.withLock { state in
                // Two files cannot be replaced at once, so a mismatch is reported only if the next check finds it
                // again.
                guard state.suspect == marks else {
                    state.suspect = marks
                    return .unchanged
                }
                state.marks = marks
                state.suspect = nil
                return .refused(error)
            }
        }
    }

    /// Loads the files even if they have not changed.
    package func reload() -> CheckResult {
        do throws(MediaError) {
            return .renewed(validUntil: try self.take(Self.marks(self.files)))
        } catch {
            return .refused(error)
        }
    }

    private func take(_ marks: Marks) throws(MediaError) -> Int64 {
        let pair = try CertificatePair.load(self.files, place: self.place)
        self.state.withLock { $0 = State(pair: pair, marks: marks) }
        return pair.validUntil
    }

    private static func marks(_ files: CertificateFiles) -> Marks {
        Marks(certificate: FileVersion(path: files.certificate), key: FileVersion(path: files.key))
    }

    /// Returns the TLS configuration of a server with this store's certificate: TLS 1.2 or later; each handshake uses
    /// the ``current`` pair.
    ///
    /// - Parameter protocols: ALPN protocols in order of preference, such as `h2`, `http/1.1`; empty: none.
    package func serverConfiguration(protocols: [String] = []) -> TLSConfiguration {
        let pair = self.current
        var configuration = TLSConfiguration.makeServerConfiguration(certificateChain: pair.chain, privateKey: pair.key)
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = protocols
        configuration.sslContextCallback = { _, promise in
            let pair = self.current
            var override = NIOSSLContextConfigurationOverride()
            override.certificateChain = pair.chain
            override.privateKey = pair.key
            promise.succeed(override)
        }
        return configuration
    }
}
