import LibAV
import MediaTypes

/// A receiver of the room's events.
package struct Webhook: Sendable, Hashable {
    /// `http://…` or `https://…`. Never shown, because it may contain a token.
    package let url: String
    /// Event types to send, such as `source.live` or `source.*`; empty: all.
    package let types: [String]
    /// Timeout of an attempt, in nanoseconds.
    package let timeout: Int64
    package let signature: WebhookSignature

    package init(url: String, types: [String] = [], timeout: Int64 = 3_000_000_000, secrets: [String] = []) {
        self.url = url
        self.types = types
        self.timeout = timeout
        self.signature = WebhookSignature(secrets: secrets)
    }

    /// Identifies the webhook across workers without revealing its URL.
    var id: String { Hexadecimal.text(Array(Digest.sha256(of: Array(self.url.utf8)).prefix(8))) }

    /// The public part of the URL: scheme and host.
    package var shownURL: String {
        let parts = self.url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count >= 3 else { return "?" }
        let host = parts[2].split(separator: "@").last ?? ""
        return "\(parts[0])//\(host.prefix { $0 != "?" && $0 != "#" })"
    }
}
