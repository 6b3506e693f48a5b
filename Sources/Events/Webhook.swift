import LibAV
import MediaTypes

/// One receiver of the room's events.
package struct Webhook: Sendable, Hashable {
    /// `http://…` or `https://…`. Never shown: it may hold a token.
    package let url: String
    /// Kinds that are sent, as `source.live` or `source.*`; empty: all.
    package let types: [String]
    /// Nanoseconds an attempt may take.
    package let timeout: Int64
    package let signature: WebhookSignature

    package init(url: String, types: [String] = [], timeout: Int64 = 3_000_000_000, secrets: [String] = []) {
        self.url = url
        self.types = types
        self.timeout = timeout
        self.signature = WebhookSignature(secrets: secrets)
    }

    /// Tells it from others across workers, and does not tell its URL.
    var id: String { Hexadecimal.text(Array(Digest.sha256(of: Array(self.url.utf8)).prefix(8))) }

    /// What may be shown: scheme and host.
    package var shownURL: String {
        let parts = self.url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count >= 3 else { return "?" }
        let host = parts[2].split(separator: "@").last ?? ""
        return "\(parts[0])//\(host.prefix { $0 != "?" && $0 != "#" })"
    }
}
