import MediaTypes

/// A receiver of the room's events.
package struct EventSink: Sendable, Hashable {
    /// How it gets them.
    package enum Kind: String, Sendable, CaseIterable {
        /// One POST an event: CloudEvents in JSON, signed as Standard Webhooks say.
        case webhook
    }

    package var type = Kind.webhook
    /// `http://…` or `https://…`.
    package var url = ""
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
                required: "url", \.url,
                .webhookURL, "where each event is sent, in order, again until it is taken (status 2xx)"),
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
                optional: "secretEnv", \.secretEnv, .variable,
                "environment variable that holds the secret which signs what is sent (whsec_… or any text); several lines: several signatures"
            ),
            Field(optional: "secretFile", \.secretFile, .path, "file that holds it instead"),
        ])

    private var secretFile: String? {
        get { self.secret?.file }
        set { if let newValue { self.secret = .file(newValue) } }
    }

    private var secretEnv: String? {
        get { self.secret?.variable }
        set { if let newValue { self.secret = .env(newValue) } }
    }

    static func checked(_ sink: EventSink, _ path: String, _ log: inout SpecLog) -> EventSink {
        if log.isWritten("\(path).secretEnv"), log.isWritten("\(path).secretFile") {
            log.mistake("\(path).secretFile", "stands beside secretEnv", fix: "keep one of the two")
        }
        return sink
    }
}
