import MediaTypes

/// A receiver of the room's events.
package struct EventSink: Sendable, Hashable {
    /// How it gets them.
    package enum Kind: String, Sendable, CaseIterable {
        /// One POST an event: CloudEvents in JSON, signed as Standard Webhooks say.
        case webhook
    }

    package var type = Kind.webhook
    /// `http://…` or `https://…`, whose path may be a secret. ``Secret/inline(_:)`` or ``Secret/env(_:)``.
    package var url = Secret.inline("")
    /// Kinds it gets, as `source.live` or `source.*`; empty: all.
    package var types: [String] = []
    /// Time an attempt may take, in milliseconds (100…15,000). Default 3,000.
    package var timeoutMs = 3000
    /// One secret a line, each of which signs; `nil`: nothing is signed. Never ``Secret/inline(_:)``.
    package var secret: Secret?

    package init() {}

    static let rule = ObjectRule(
        "a receiver of the room's events", EventSink(),
        [
            Field(required: "type", \.type, .choice, "how it gets them: webhook, one POST an event"),
            Field(
                optional: "url", \.urlText,
                .webhookURL, "where each event is sent, in order, again until it is taken (status 2xx)"),
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
                "kinds of events it gets; none: all"),
            Field("timeoutMs", \.timeoutMs, .integer(100...15_000), "milliseconds an attempt may take"),
            Field(
                optional: "secretEnv", \.secret.variable, .variable,
                "environment variable that holds the secret which signs what is sent (whsec_… or any text); several lines: several signatures"
            ),
            Field(optional: "secretFile", \.secret.file, .path, "file that holds it instead"),
        ], keywords: [SourceDraft.needsURL])

    /// The URL's text, where the pipeline holds it.
    package var urlText: String? {
        get { if case .inline(let text) = self.url, !text.isEmpty { text } else { nil } }
        set { if let newValue { self.url = .inline(newValue) } }
    }

    /// Whether events can be sent there.
    package static func isURL(_ text: String) -> Bool {
        let rest = ["http://", "https://"].lazy.filter { text.hasPrefix($0) }.first.map { text.dropFirst($0.count) }
        guard let rest, text.utf8.count <= 2048, let first = rest.first else { return false }
        return first != "/" && rest.utf8.allSatisfy { (0x21...0x7e).contains($0) }
    }

    static func checked(_ sink: EventSink, _ path: String, _ log: inout SpecLog) -> EventSink {
        log.checkSecret("secret", at: path)
        switch (log.isWritten("\(path).url"), log.isWritten("\(path).urlEnv")) {
        case (true, true): log.mistake("\(path).urlEnv", "stands beside url", fix: "keep one of the two")
        case (false, false):
            log.mistake("\(path).url", "is missing", fix: "add \"url\" or \"urlEnv\": where each event is sent")
        default: break
        }
        return sink
    }
}
