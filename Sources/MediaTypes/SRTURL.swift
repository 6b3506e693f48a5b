/// An SRT URL for pulling a stream: `srt://host:port[?streamid=…&latency=…&passphrase=…&pbkeylen=…&mode=caller]`.
package struct SRTURL: Sendable, Hashable {
    package let host: String
    package let port: Int
    /// SRT stream id, which must be kept secret; empty: none.
    package let streamID: String
    /// SRT latency in milliseconds; 120 unless the URL contains another value.
    package let latencyMs: Int
    /// Passphrase for encryption, which must be kept secret; empty: the stream is not encrypted.
    package let passphrase: String
    /// Size in bytes of the key derived from the passphrase: 16, 24 or 32; 0: the peer decides.
    package let keyLength: Int

    /// Maximum length of a stream id in bytes.
    package static let longestStreamID = 512

    /// Parses an SRT URL.
    ///
    /// - Returns: `nil` for another scheme, no host, no port from 1 to 65,535, a query parameter that is unknown or cannot
    ///   be decoded, a stream id of more than ``longestStreamID`` bytes, a latency outside 20 to 8,000, a passphrase that
    ///   is neither empty nor 10 to 79 bytes long, a `pbkeylen` other than 16, 24 or 32, or a `mode` other than `caller`.
    package init?(_ text: String) {
        guard text.lowercased().hasPrefix("srt://") else { return nil }
        var authority = text.dropFirst("srt://".count)
        var query = Substring()
        if let mark = authority.firstIndex(of: "?") {
            query = authority[authority.index(after: mark)...]
            authority = authority[..<mark]
        }
        if authority.hasSuffix("/") { authority = authority.dropLast() }
        guard let colon = authority.lastIndex(of: ":"), let port = Int(authority[authority.index(after: colon)...]),
            (1...65_535).contains(port)
        else { return nil }
        var host = authority[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return nil
        }
        guard !host.isEmpty, host.isVisible,
            !host.contains(where: { "/@?#".contains($0) })
        else { return nil }
        (self.host, self.port) = (String(host), port)
        var (streamID, latency, passphrase, keyLength) = ("", 120, "", 0)
        for item in query.split(separator: "&") {
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let value = Self.decoded(parts[1]) else { return nil }
            switch parts[0] {
            case "streamid": streamID = value
            case "passphrase": passphrase = value
            case "mode": guard value == "caller" else { return nil }
            case "latency":
                guard let number = Int(value), (20...8000).contains(number) else { return nil }
                latency = number
            case "pbkeylen":
                guard let number = Int(value), [16, 24, 32].contains(number) else { return nil }
                keyLength = number
            default: return nil
            }
        }
        guard streamID.utf8.count <= Self.longestStreamID, passphrase.isEmpty || Self.isPassphrase(passphrase) else {
            return nil
        }
        (self.streamID, self.latencyMs, self.passphrase, self.keyLength) = (streamID, latency, passphrase, keyLength)
    }

    /// Whether SRT accepts the passphrase: 10 to 79 bytes.
    package static func isPassphrase(_ text: String) -> Bool { (10...79).contains(text.utf8.count) }

    /// Decodes `%XX`; `nil` if the result is not UTF-8 or contains control characters.
    private static func decoded(_ text: Substring) -> String? {
        guard let text = PercentEncoding.decode(text),
            text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7f })
        else { return nil }
        return text
    }

    /// The URL for logs and states: `srt://host:port`, without the query.
    package var redacted: String {
        "srt://\(self.host.contains(":") ? "[\(self.host)]" : self.host):\(self.port)"
    }
}
