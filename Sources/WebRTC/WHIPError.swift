package import MediaTypes

/// A refusal of a WHIP or WHEP request: HTTP status and problem details.
///
/// Spec: RFC 9457 §3, with the additional member `fix`.
package struct WHIPError: Error, Sendable, Hashable {
    /// HTTP status, 400 to 599.
    package var status: Int
    /// Stable error code, such as `noCommonCodec`; the `type` is `urn:tandem:error:` and this code.
    package var code: String
    /// Short text that is the same for every error of this code.
    package var title: String
    /// What is wrong with this request: one sentence without a full stop. It never contains a key or a session URL.
    package var detail: String
    /// What the publisher or the operator should do: an imperative sentence without a full stop.
    package var fix: String
    /// Seconds after which the request may be repeated; nil: no such hint.
    package var retryAfter: Int?

    package init(
        _ status: Int, _ code: String, title: String, detail: String, fix: String, retryAfter: Int? = nil
    ) {
        self.status = status
        self.code = code
        self.title = title
        self.detail = detail
        self.fix = fix
        self.retryAfter = retryAfter
    }

    /// The body of the reply, `application/problem+json`.
    package var problem: JSONValue {
        [
            "type": .string("urn:tandem:error:\(self.code)"), "title": .string(self.title),
            "status": JSONValue(self.status), "code": .string(self.code), "detail": .string(self.detail),
            "fix": .string(self.fix),
        ]
    }
}
