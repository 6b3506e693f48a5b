import LibAV
import MediaTypes

/// A webhook: an HTTP server that receives the room's events, with its settings.
package struct Webhook: Sendable, Hashable {
    /// URL of the receiver, `http://…` or `https://…`. It is never shown, because it may contain a token.
    package let url: String
    /// Types of the events to send, such as `source.live` or `source.*`; empty: all.
    package let types: [String]
    /// Longest time from the beginning of a delivery attempt until the head of the response, in nanoseconds.
    package let timeout: Int64
    package let signature: WebhookSignature

    package init(url: String, types: [String] = [], timeout: Int64 = 3_000_000_000, secrets: [String] = []) {
        self.url = url
        self.types = types
        self.timeout = timeout
        self.signature = WebhookSignature(secrets: secrets)
    }

    /// Id of the webhook, the same for all workers, which does not reveal its URL.
    var id: String { Hexadecimal.text(Array(Digest.sha256(of: Array(self.url.utf8)).prefix(8))) }

    /// A digest of all settings, the same for all workers: it differs if any of them does.
    var fingerprint: String {
        let text = ([self.url, "\(self.timeout)"] + self.types).joined(separator: "\n")
        let bytes = Array(text.utf8) + self.signature.digest
        return Hexadecimal.text(Array(Digest.sha256(of: bytes).prefix(16)))
    }

    /// The public part of the URL: scheme, host and port.
    package var shownURL: String {
        let parts = self.url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count >= 3 else { return "?" }
        let host = parts[2].split(separator: "@").last ?? ""
        return "\(parts[0])//\(host.prefix { $0 != "?" && $0 != "#" })"
    }
}
