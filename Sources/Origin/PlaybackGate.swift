import LibAV
import MediaTypes
import Synchronization

/// Lets in whoever shows a URL that somebody with the secret has signed, for as long as it says and below the path it names.
///
/// A signed URL has three parameters: `exp`, the second of the Unix clock it is good until; `scope`, what the paths it is good
/// for begin with, letter by letter, `/` if it is not there: `/720p` is `/720p.m3u8`, its segments and keys, and `/720p60.m3u8`
/// too, `/live/` is all below it; `sig`, HMAC-SHA256 in hexadecimal digits over these lines, without a line break at the end:
///
///     tandem-playback
///     ROOM
///     SCOPE
///     EXP
///
/// Whoever opens a playlist is let into what is in it, since a playlist's URIs carry the query on.
package struct PlaybackGate: Sendable, CustomReflectable {
    /// What is to be said of a request.
    package enum Verdict: Sendable, Hashable {
        case open
        /// A parameter is missing, twice there or cannot be read.
        case unsigned
        /// The signature is another one.
        case forged
        case expired
        /// It is good for another path.
        case elsewhere
    }

    /// The longest scope; it is a path of ours or the beginning of one.
    private static let longestScope = 256

    /// Of all copies of a gate.
    private final class Secrets: Sendable {
        let current: Mutex<[[UInt8]]>
        init(_ secrets: [[UInt8]]) { self.current = Mutex(secrets) }
    }

    private let room: String
    private let secrets: Secrets
    private let now: @Sendable () -> Int64

    /// A dump shows no secret.
    package var customMirror: Mirror { Mirror(self, children: ["room": self.room]) }

    /// - Parameters:
    ///   - secrets: At least one; a URL may be signed with any of them, so that one can follow another.
    ///   - now: Seconds since the Unix epoch.
    package init(room: String, secrets: [String], now: @escaping @Sendable () -> Int64) {
        self.now = now
        self.room = room
        self.secrets = Secrets(secrets.map { Array($0.utf8) })
    }

    /// From now on these are the secrets, for all copies of this gate. At least one.
    package func renew(secrets: [String]) {
        let secrets = secrets.map { Array($0.utf8) }
        self.secrets.current.withLock { $0 = secrets }
    }

    /// Of the scope every byte counts, and nothing else: it is the beginning of the path, whether or not that is a whole name.
    ///
    /// - Parameters:
    ///   - path: Decoded, with its leading slash.
    ///   - query: Decoded.
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
        // To the end, whichever is right.
        var isGenuine = false
        for secret in self.secrets.current.withLock({ $0 }) {
            let code = MessageAuthentication.hmacSHA256(key: secret, message: message)
            isGenuine = ConstantTime.isEqual(code, signature) || isGenuine
        }
        guard isGenuine else { return .forged }
        guard expiry > self.now() else { return .expired }
        return path.utf8.starts(with: scope.utf8) ? .open : .elsewhere
    }

    /// The query of a signed URL, percent-encoded; signed with the first secret.
    ///
    /// - Parameter seconds: How long it is good from now on.
    package func query(scope: String, seconds: Int64) -> String {
        let expiry = self.now().addingReportingOverflow(seconds).partialValue
        guard let secret = self.secrets.current.withLock({ $0.first }) else { return "" }
        let signature = Hexadecimal.text(
            MessageAuthentication.hmacSHA256(key: secret, message: self.message(scope: scope, expiry: "\(expiry)")))
        let pairs = [("exp", "\(expiry)")] + (scope == "/" ? [] : [("scope", scope)]) + [("sig", signature)]
        return QueryPassing.query(pairs.map { (name: $0.0, value: $0.1) })
    }

    private func message(scope: String, expiry: String) -> [UInt8] {
        Array("tandem-playback\n\(self.room)\n\(scope)\n\(expiry)".utf8)
    }
}

extension PlaybackGate.Verdict {
    /// For a person who looks at the answer; `nil` for ``open``.
    var reason: String? {
        switch self {
        case .open: nil
        case .unsigned: "this URL is not signed"
        case .forged: "the signature of this URL is not right"
        case .expired: "this URL has expired"
        case .elsewhere: "this URL is signed for another path"
        }
    }
}
