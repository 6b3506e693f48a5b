import LibAV
import MediaTypes

/// Signs the requests to a webhook, so that the receiver can verify who sent them and when.
///
/// Spec: Standard Webhooks, "Signature scheme": HMAC-SHA256 over `id.timestamp.body`.
package struct WebhookSignature: Sendable, Hashable {
    private let keys: [[UInt8]]

    /// Makes a signature from the webhook's secrets.
    ///
    /// - Parameter secrets: Each secret is `whsec_` followed by the key in base64, or any other text, which is then the
    ///   key itself. Requests are signed with all of them, so that secrets can be rotated.
    package init(secrets: [String]) {
        self.keys = secrets.filter { !$0.isEmpty }.map { secret in
            if secret.hasPrefix("whsec_"), let key = Base64.decode(String(secret.dropFirst(6))), !key.isEmpty {
                return key
            }
            return Array(secret.utf8)
        }
    }

    /// A digest of the keys: empty without keys.
    var digest: [UInt8] { self.keys.flatMap { Digest.sha256(of: $0) } }

    /// Returns the value of the header field `webhook-signature`: `v1,` and the signature in base64 for each secret,
    /// separated by spaces; `nil` without secrets.
    package func field(id: String, timestamp: Int64, body: [UInt8]) -> String? {
        guard !self.keys.isEmpty else { return nil }
        let message = Array("\(id).\(timestamp).".utf8) + body
        return self.keys.map { key in
            "v1," + Base64.encode(MessageAuthentication.hmacSHA256(key: key, message: message))
        }.joined(separator: " ")
    }
}
