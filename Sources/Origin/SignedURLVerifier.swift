import LibAV
import MediaTypes
import Synchronization

/// Verifies the signed URLs of playback requests. A URL is signed with one of the room's secrets and is valid until a
/// time and for a path prefix, both of which it contains.
///
/// A signed URL has three parameters: `exp`, the Unix time in seconds at which the URL expires; `scope`, the prefix of
/// the paths for which it is valid (`/` if it is missing); `sig`, the signature. The prefix is compared byte by byte:
/// `/720p` covers `/720p.m3u8` with its segments and keys, but also `/720p60.m3u8`; `/live/` covers everything below
/// it. The signature is HMAC-SHA256 in hexadecimal digits over these four lines, without a line break at the end:
///
///     tandem-playback
///     ROOM
///     SCOPE
///     EXP
///
/// The URIs of this server that a playlist lists carry the query. So a client that can open a playlist can open
/// everything that it lists, as far as the scope covers it.
package struct SignedURLVerifier: Sendable, CustomReflectable {
    /// The result of checking a request's URL.
    package enum Verdict: Sendable, Hashable {
        case open
        /// A signature parameter is missing, repeated or invalid.
        case unsigned
        /// The signature is wrong.
        case forged
        case expired
        /// The URL is signed for another path.
        case elsewhere
    }

    /// Maximum length of a scope in bytes.
    private static let longestScope = 256

    /// The secrets, shared by all copies of a verifier.
    private final class Secrets: Sendable {
        let current: Mutex<[[UInt8]]>
        init(_ secrets: [[UInt8]]) { self.current = Mutex(secrets) }
    }

    private let room: String
    private let secrets: Secrets
    private let now: @Sendable () -> Int64

    /// Keeps the secrets out of debug output.
    package var customMirror: Mirror { Mirror(self, children: ["room": self.room]) }

    /// Makes a verifier.
    ///
    /// - Parameters:
    ///   - secrets: At least one secret; a URL may be signed with any of them, so that secrets can be rotated.
    ///   - now: Returns the seconds since the Unix epoch.
    package init(room: String, secrets: [String], now: @escaping @Sendable () -> Int64) {
        self.now = now
        self.room = room
        self.secrets = Secrets(secrets.map { Array($0.utf8) })
    }

    /// Replaces the secrets for all copies of this verifier; at least one is required.
    package func renew(secrets: [String]) {
        let secrets = secrets.map { Array($0.utf8) }
        self.secrets.current.withLock { $0 = secrets }
    }

    /// Checks a request's URL. The scope must be a byte prefix of the path; it need not end at a path component.
    ///
    /// - Parameters:
    ///   - path: Decoded path with its leading slash.
    ///   - query: Decoded names and values of the query.
    package func verdict(path: String, query: [(name: String, value: String)]) -> Verdict {
        func only(_ name: String) -> String? {
            let values = query.filter { $0.name == name }
            return values.count == 1 ? values[0].value : nil
        }
        let scopes = query.filter { $0.name == "scope" }
        guard let until = only("exp"), let expiry = Int64(until),
            let signature = only("sig").flatMap(Hexadecimal.decode), signature.count == 32, scopes.count <= 1
        else { return .unsigned }
        let scope = scopes.first?.value ?? "/"
        guard scope.utf8.first == UInt8(ascii: "/"), scope.utf8.count <= Self.longestScope else { return .unsigned }
        let message = self.message(scope: scope, expiry: until)
        // All secrets are checked, so that the time does not depend on which one matches.
        var isGenuine = false
        for secret in self.secrets.current.withLock({ $0 }) {
            let code = MessageAuthentication.hmacSHA256(key: secret, message: message)
            isGenuine = ConstantTime.isEqual(code, signature) || isGenuine
        }
        guard isGenuine else { return .forged }
        guard expiry > self.now() else { return .expired }
        return path.utf8.starts(with: scope.utf8) ? .open : .elsewhere
    }

    /// Returns the query of a signed URL, percent-encoded and signed with the first secret.
    ///
    /// - Parameter seconds: Number of seconds for which the URL is valid from now on.
    package func query(scope: String, seconds: Int64) -> String {
        let expiry = self.now().addingReportingOverflow(seconds).partialValue
        guard let secret = self.secrets.current.withLock({ $0.first }) else { return "" }
        let signature = Hexadecimal.text(
            MessageAuthentication.hmacSHA256(key: secret, message: self.message(scope: scope, expiry: "\(expiry)")))
        let pairs = [("exp", "\(expiry)")] + (scope == "/" ? [] : [("scope", scope)]) + [("sig", signature)]
        return QueryPropagation.query(pairs.map { (name: $0.0, value: $0.1) })
    }

    private func message(scope: String, expiry: String) -> [UInt8] {
        Array("tandem-playback\n\(self.room)\n\(scope)\n\(expiry)".utf8)
    }
}

extension SignedURLVerifier.Verdict {
    /// The reason for rejecting the request, as text for the viewer; `nil` for ``open``.
    var reason: String? {
        switch self {
        case .open: nil
        case .unsigned: "this URL is not signed"
        case .forged: "the signature of this URL is wrong"
        case .expired: "this URL has expired"
        case .elsewhere: "this URL is signed for another path"
        }
    }
}
