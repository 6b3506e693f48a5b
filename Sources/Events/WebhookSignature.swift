import LibAV
import MediaTypes

/// Signs the requests to a webhook, so that the receiver can verify their sender and time.
///
/// Spec: Standard Webhooks, "Signature scheme": HMAC-SHA256 over `id.timestamp.body`.
package struct WebhookSignature: Sendable, Hashable {
    private let keys: [[UInt8]]

    /// - Parameter secrets: Each is `whsec_` followed by base64, or any other text, which is then the key itself. All
    ///   of them sign, so that the receiver may know the old or the new one.
    package init(secrets: [String]) {
        self.keys = secrets.filter { !$0.isEmpty }.map { secret in
            if secret.hasPrefix("whsec_"), let key = Base64.decode(String(secret.dropFirst(6))), !key.isEmpty {
                return key
            }
            return Array(secret.utf8)
        }
    }

    /// The field `webhook-signature`: `v1,` and base64 for each secret, separated by spaces; `nil` without secrets.
    package func field(id: String, timestamp: Int64, body: [UInt8]) -> String? {
        guard !self.keys.isEmpty else { return nil }
        let message = Array("\(id).\(timestamp).".utf8) + body
        return self.keys.map { key in
            "v1," + Base64.encode(MessageAuthentication.hmacSHA256(key: key, message: message))
        }.joined(separator: " ")
    }
}
