import MediaTypes

extension Pipeline {
    /// Moderation of the sources by a service of the operator.
    package struct Moderation: Sendable, Equatable {
        package var stills = Stills()

        package init() {}

        /// Stills of the sources, which are sent to the service.
        package struct Stills: Sendable, Equatable {
            /// Seconds between two stills of a source (1…60). `nil`: only on request.
            package var intervalSeconds: Int?
            /// Width of a still in pixels (64…1,280); its height is in proportion. Default 640.
            package var width = 640
            /// The service that receives the stills and may answer with commands; `nil`: none.
            package var webhook: Webhook?
            /// Id of an output of type `http` or `s3` into which the stills are also uploaded; `nil`: none.
            package var store: String?

            package init() {}
        }

        /// The receiver of stills.
        package struct Webhook: Sendable, Equatable {
            /// URL of the receiver, `http://…` or `https://…`. ``Secret/inline(_:)`` or ``Secret/env(_:)``.
            package var url = Secret.inline("")
            /// Time from the beginning of a request to the end of its answer, in milliseconds (100…15,000). Default 5,000.
            package var timeoutMs = 5_000
            /// Secrets for signing requests, one per line; `nil`: requests are not signed. Never
            /// ``Secret/inline(_:)``.
            package var secret: Secret?

            package init() {}

            /// The URL if the document contains it; `nil` if it comes from an environment variable.
            package var urlText: String? {
                get { if case .inline(let text) = self.url, !text.isEmpty { text } else { nil } }
                set { if let newValue { self.url = .inline(newValue) } }
            }
        }
    }
}

extension Pipeline.Moderation {
    static let rule = ObjectRule(
        "moderation of the sources by a service", Pipeline.Moderation(),
        [
            Field(
                required: "stills", \.stills, .object(Stills.rule, finish: Stills.checked),
                "stills of the sources, and where they are sent")
        ])
}

extension Pipeline.Moderation.Stills {
    static let rule = ObjectRule(
        "stills of the sources, and where they are sent", Self(),
        [
            Field(
                optional: "intervalSeconds", \.intervalSeconds, .integer(1...60),
                "seconds between two stills of a source; default only on request (POST /v1/sources/UID:still)"),
            Field(
                "width", \.width, .integer(64...1280), "width of a still in pixels; its height is in proportion"),
            Field(
                optional: "webhook", \.webhook,
                .object(Pipeline.Moderation.Webhook.rule, finish: Pipeline.Moderation.Webhook.checked),
                "receives each still; its answer may cover, mute or kick the source"),
            Field(
                optional: "store", \.store, .id,
                "outputId of an output of type http or s3, which uploads each still as moderation-UID-TIME-NUMBER.jpg"),
        ])

    static func checked(_ stills: Self, _ path: String, _ log: inout SpecLog) -> Self {
        if !log.isWritten("\(path).webhook"), !log.isWritten("\(path).store") {
            log.mistake(
                "\(path).webhook", "is missing, so stills would be sent nowhere", fix: "add \"webhook\" or \"store\"")
        }
        return stills
    }
}

extension Pipeline.Moderation.Webhook {
    static let rule = ObjectRule(
        "receives stills of the sources", Self(),
        [
            Field(optional: "url", \.urlText, .webhookURL, "URL that receives each still in a POST request"),
            Field(optional: "urlEnv", \.url.variable, .variable, "environment variable that holds the URL instead"),
            Field(
                "timeoutMs", \.timeoutMs, .integer(100...15_000), "timeout of a request and its answer in milliseconds"),
            Field(
                optional: "secretEnv", \.secret.variable, .variable,
                "environment variable that holds the secret for signing requests (whsec_… or any text); each line adds one signature"
            ),
            Field(optional: "secretFile", \.secret.file, .path, "file that holds the secret instead"),
        ], keywords: [SourceDraft.needsURL])

    static func checked(_ webhook: Self, _ path: String, _ log: inout SpecLog) -> Self {
        log.checkSecret("secret", at: path)
        switch (log.isWritten("\(path).url"), log.isWritten("\(path).urlEnv")) {
        case (true, true):
            log.mistake("\(path).urlEnv", "cannot be combined with url", fix: "remove one of the two")
        case (false, false):
            log.mistake("\(path).url", "is missing", fix: "add \"url\" or \"urlEnv\": the URL that receives the stills")
        default: break
        }
        return webhook
    }
}

extension PipelineRules {
    /// Reports moderation in an offline job, and a store that is not an output for uploads.
    func checkModeration(_ log: inout SpecLog) {
        guard let moderation = self.pipeline.moderation else { return }
        if self.pipeline.clock == .offline, log.isValid("clock") {
            log.mistake("moderation", "has no effect, because the clock is offline", fix: "remove it")
        }
        let path = "moderation.stills.store"
        guard let store = moderation.stills.store, log.isValid(path, "outputs") else { return }
        let known = self.pipeline.uploads.map(\.outputID)
        guard !known.contains(store) else { return }
        log.mistake(
            path, "there is no output \(SpecText.quoted(store)) of type http or s3",
            fix: known.isEmpty ? "add such an output, or remove store" : "use one of: \(known.joined(separator: ", "))")
    }
}
