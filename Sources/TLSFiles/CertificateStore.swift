package import MediaTypes
package import NIOSSL
import Stages
import Synchronization

/// The certificate of a listener, renewed without a restart: handshakes that begin after a renewal have the new one,
/// connections that are open keep theirs.
///
/// Whoever owns the store calls ``look()`` about once a second, and ``reload()`` when told to. A pair that cannot be used
/// changes nothing: the old one stays until a good one is there.
package final class CertificateStore: Sendable {
    /// What a look at the files found.
    package enum Look: Sendable, Equatable {
        case unchanged
        /// The new pair is in use. Unix time, seconds, until which it is valid.
        case renewed(validUntil: Int64)
        /// The new pair cannot be used; told once for each change of the files.
        case refused(MediaError)
    }

    private struct Marks: Hashable {
        var certificate: FileMark?
        var key: FileMark?
    }

    private struct State {
        var pair: CertificatePair
        /// Of the files that were taken or refused last.
        var marks: Marks
        /// Of files that were found bad once: the other one of the two may be on its way.
        var suspect: Marks?
    }

    package let files: CertificateFiles
    /// Names the listener.
    package let place: String
    private let state: Mutex<State>

    /// Reads the files.
    ///
    /// - Throws: What ``CertificatePair/load(_:place:)`` throws.
    package init(_ files: CertificateFiles, place: String) throws(MediaError) {
        self.files = files
        self.place = place
        // Taken before the files are read: what changes in between is seen by the first look.
        let marks = Self.marks(files)
        self.state = Mutex(State(pair: try CertificatePair.load(files, place: place), marks: marks))
    }

    /// The pair that new connections get.
    package var current: CertificatePair { self.state.withLock(\.pair) }

    /// Takes the files' pair if they have changed. Reads them; call it where that may take a moment.
    package func look() -> Look {
        let marks = Self.marks(self.files)
        guard self.state.withLock({ $0.marks != marks }) else { return .unchanged }
        do throws(MediaError) {
            return .renewed(validUntil: try self.take(marks))
        } catch {
            return self.state.withLock { state in
                // Two files cannot be replaced at once. Half a renewal is told only if it stays one.
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

    /// Takes the files' pair, changed or not.
    package func reload() -> Look {
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
        Marks(certificate: FileMark(path: files.certificate), key: FileMark(path: files.key))
    }

    /// How a server speaks TLS with this store's certificate: 1.2 or later, each handshake with the pair of its moment.
    ///
    /// - Parameter protocols: For ALPN, the preferred one first, such as `h2`, `http/1.1`; empty: none.
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
