import MediaTypes

/// A receiver of the room's events.
package struct EventSink: Sendable, Hashable {
    /// How the events are delivered.
    package enum Kind: String, Sendable, CaseIterable {
        /// One POST request per event: CloudEvents in JSON, signed according to Standard Webhooks if there is a secret.
        case webhook
    }

    package var type = Kind.webhook
    /// URL of the receiver, `http://…` or `https://…`. Its path may be a secret. ``Secret/inline(_:)`` or
    /// ``Secret/env(_:)``.
    package var url = Secret.inline("")
    /// Event types to deliver, such as `source.live` or `source.*`; empty: all.
    package var types: [String] = []
    /// Timeout of one delivery attempt in milliseconds (100…15,000). Default 3,000.
    package var timeoutMs = 3000
    /// Secrets for signing requests, one per line; each adds a signature. `nil`: requests are not signed. Never
    /// ``Secret/inline(_:)``.
    package var secret: Secret?

    package init() {}

    static let rule = ObjectRule(
        "a receiver of the room's events", EventSink(),
        [
            Field(required: "type", \.type, .choice, "how events are delivered; webhook: one POST request per event"),
            Field(
                optional: "url", \.urlText,
                .webhookURL,
                "URL that receives the events in order; each is sent again until the response has a 2xx status; status 410 ends the delivery"
            ),
            Field(optional: "urlEnv", \.url.variable, .variable, "environment variable that holds the URL instead"),
            Field(
                "types", \.types,
                .list(
                    of: .text("a type such as source.live or source.*", pattern: "^[A-Za-z_.]{1,64}(\\.\\*)?$") {
                        text in
                        let name = text.hasSuffix(".*") ? text.dropLast(2) : text[...]
                        return !name.isEmpty && name.utf8.count <= 64
                            && name.allSatisfy { $0.isASCII && ($0.isLetter || $0 == "." || $0 == "_") }
                    }, 0...64, standIn: ""),
                "event types to deliver; an empty list means all"),
            Field("timeoutMs", \.timeoutMs, .integer(100...15_000), "timeout of one delivery attempt in milliseconds"),
            Field(
                optional: "secretEnv", \.secret.variable, .variable,
                "environment variable that holds the secret for signing requests (whsec_… or any text); each line adds one signature"
            ),
            Field(optional: "secretFile", \.secret.file, .path, "file that holds the secret instead"),
        ], keywords: [SourceDraft.needsURL])

    /// The receiver's URL if the document contains it; `nil` if the URL comes from an environment variable.
    package var urlText: String? {
        get { if case .inline(let text) = self.url, !text.isEmpty { text } else { nil } }
        set { if let newValue { self.url = .inline(newValue) } }
    }

    /// Whether the text is a URL that events can be sent to.
    package static func isURL(_ text: String) -> Bool {
        guard let rest = text.behindWebScheme, text.utf8.count <= 2048, let first = rest.first else { return false }
        return first != "/" && rest.isVisible
    }

    static func checked(_ sink: EventSink, _ path: String, _ log: inout SpecLog) -> EventSink {
        log.checkSecret("secret", at: path)
        switch (log.isWritten("\(path).url"), log.isWritten("\(path).urlEnv")) {
        case (true, true): log.mistake("\(path).urlEnv", "cannot be combined with url", fix: "remove one of the two")
        case (false, false):
            log.mistake("\(path).url", "is missing", fix: "add \"url\" or \"urlEnv\": the URL that receives the events")
        default: break
        }
        return sink
    }
}

extension String {
    /// The text after `http://` or `https://`; `nil` for any other text.
    var behindWebScheme: Substring? {
        ["http://", "https://"].first { self.hasPrefix($0) }.map { self.dropFirst($0.count) }
    }
}
