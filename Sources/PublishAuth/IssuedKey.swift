import HLS
package import MediaTypes
import RTMP

/// A signed stream key for one source, with what its publisher enters in an encoder.
///
/// Signed as ``SignedKeyCheck`` verifies it, in the form `hmac`. The key is a secret: anyone
/// who has it can publish until it expires.
package struct IssuedKey: Sendable, Hashable {
    /// Maximum length of the nonce in bytes.
    package static let longestNonce = 64

    /// Latest expiry, in Unix seconds: in the year 2262, the last second whose nanoseconds fit into 64 bits.
    package static let latestExpiry: Int64 = .max / TimeMath.nanoseconds

    package let room: String
    /// The source as the pipeline file names it: `uid`, or `uid/streamType`.
    package let source: String
    /// Unix time in seconds; the room accepts the key until then, and `maxSkewSeconds` longer.
    package let expiry: Int64
    package let nonce: String
    /// The stream key to enter in an encoder: the source's percent-encoded name, with the signature as its query.
    package let streamKey: String

    /// Signs a key.
    ///
    /// - Parameters:
    ///   - secret: The secret that the room knows; must not be empty.
    ///   - source: The plain name; it is percent-encoded here.
    ///   - nonce: See ``isNonce(_:)``.
    /// - Returns: `nil` if a room could not accept the key: an empty secret, a nonce with other characters, an expiry outside 0 to
    ///   ``latestExpiry``, or a name that is empty or does not fit into an address (``StreamAddress/maximumLength``).
    package init?(secret: String, room: String, source: String, expiry: Int64, nonce: String) {
        guard !secret.isEmpty, Self.isNonce(nonce), (0...Self.latestExpiry).contains(expiry) else { return nil }
        let name = source.split(separator: "/", omittingEmptySubsequences: false)
            .map { PercentEncoding.encode(String($0)) }.joined(separator: "/")
        let check = SignedKeyCheck(form: .hmac, secrets: [secret], room: room, app: Self.anyApp)
        let key =
            "\(name)?e=\(expiry)&n=\(nonce)&s="
            + check.signature(name: name, expiry: "\(expiry)", nonce: nonce, secret: secret)
        // Not every name survives in an address: a room removes empty path segments, for example.
        guard let address = StreamAddress(app: Self.anyApp, streamName: key),
            let read = address.key(app: Self.anyApp), PercentEncoding.decode(read) == source,
            check.verdict(on: address, name: read, now: 0) == .valid(nonce: nonce, expiry: expiry)
        else { return nil }
        (self.room, self.source, self.expiry, self.nonce, self.streamKey) = (room, source, expiry, nonce, key)
    }

    /// An application name for checking the key's address; any name will do, because the form `hmac` does not sign it.
    private static let anyApp = "live"

    /// Returns whether `text` can be a nonce: 1 to ``longestNonce`` letters, digits, `-`, `.`, `_` and `~`. None of
    /// these has to be escaped in a URL, and none separates parts of the signed text.
    package static func isNonce(_ text: String) -> Bool {
        (1...self.longestNonce).contains(text.utf8.count) && PercentEncoding.encode(text) == text
    }

    /// Makes a nonce of 128 random bits, as 22 characters.
    package static func makeNonce(using random: inout some RandomNumberGenerator) -> String {
        let bytes = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        return String(decoding: Base64URL.encode(bytes), as: UTF8.self)
    }

    /// Returns the whole publish URL, which contains the key.
    ///
    /// - Parameter server: `rtmp://HOST[:PORT]/APP` or `rtmps://…`, without a slash at the end.
    package func url(server: String) -> String { "\(server)/\(self.streamKey)" }

    /// Returns the stream id that an SRT caller must send, which contains the key.
    package func streamID(app: String) -> String { "\(app)/\(self.streamKey)" }

    /// The time until which the key is valid, in ISO 8601.
    package var expiryText: String { ProgramDate.format(self.expiry * TimeMath.nanoseconds) }

    /// Returns the key and its URLs as JSON, for programs.
    ///
    /// - Parameter isSingleUse: True if the room accepts the key for one publication only; `nil`: not known.
    package func json(server: String, app: String, isSingleUse: Bool?) -> JSONValue {
        var members = [
            JSONValue.Member("room", .string(self.room)), JSONValue.Member("source", .string(self.source)),
            JSONValue.Member("server", .string(server)), JSONValue.Member("streamKey", .string(self.streamKey)),
            JSONValue.Member("url", .string(self.url(server: server))),
            JSONValue.Member("srtStreamId", .string(self.streamID(app: app))),
            JSONValue.Member("nonce", .string(self.nonce)), JSONValue.Member("expires", .integer(self.expiry)),
            JSONValue.Member("expiresAt", .string(self.expiryText)),
        ]
        if let isSingleUse { members.append(JSONValue.Member("singleUse", .bool(isSingleUse))) }
        return .object(members)
    }

    /// Returns the key as text for people, with the names that encoders give to their input fields.
    package func text(server: String, app: String, isSingleUse: Bool?) -> String {
        let use =
            switch isSingleUse {
            case true?: ", for one publication: an encoder that reconnects needs a new key"
            case false?: ", for any number of publications"
            case nil: ""
            }
        return """
            server      \(server)
            stream key  \(self.streamKey)
            URL         \(self.url(server: server))
            SRT         streamid=\(self.streamID(app: app))
            valid       until \(self.expiryText)\(use)

            """
    }
}
