import MediaTypes

/// Output that publishes one rendition, without further transcoding, to an RTMP server such as a CDN.
package struct RTMPOutput: Sendable, Hashable {
    /// How the certificate of an RTMPS server is verified.
    package struct TLS: Sendable, Hashable {
        /// PEM file of the certificate authorities to trust; `nil`: those of the system.
        package var authorities: String?
        /// Whether the server's certificate must be valid and contain its host name.
        package var verify = true

        package init() {}
    }

    /// Delays between connection attempts in milliseconds: exponential backoff with jitter.
    package struct Retry: Sendable, Hashable {
        /// Maximum of the first delay in milliseconds (100…60,000). Each delay is random between half of its maximum
        /// and the maximum, which doubles with each attempt, up to ``maxDelayMs``.
        package var initialDelayMs = 1_000
        /// Maximum of all delays in milliseconds (100…600,000).
        package var maxDelayMs = 30_000

        package init() {}
    }

    /// Id of the output: `[A-Za-z0-9_.-]{1,64}`. Default `rtmp`.
    package var outputID = "rtmp"
    /// Target URL: `rtmp[s]://host[:port]/app/key`, without the stream key if ``key`` contains it.
    package var url = Secret.inline("")
    /// The stream key, with its query if it has one; `nil` if ``url`` contains the stream key.
    package var key: Secret?
    /// Name of the rendition to send; `nil`: the first rendition.
    package var rendition: String?
    package var retry = Retry()
    /// Milliseconds after which the connection is closed if the server reads nothing or acknowledges nothing
    /// (1,000…60,000).
    package var stallTimeoutMs = 4_000
    package var tls = TLS()

    package init() {}

    static let rule = ObjectRule(
        "publishes one rendition to an RTMP server", RTMPOutput(),
        [
            Field("type", always: "rtmp", isRequired: true, "the kind of output"),
            .outputID(\.outputID),
            Field(
                optional: "url", \.urlText, .pushURL,
                "rtmp://host[:port]/app/key or rtmps://…; without the stream key if key, keyEnv or keyFile is given"),
            Field(optional: "urlEnv", \.url.variable, .variable, "environment variable that holds the URL instead"),
            Field(
                optional: "key", \.keyText, .pushKey,
                "the stream key, with its query if it has one; never shown by the API"),
            Field(optional: "keyEnv", \.key.variable, .variable, "environment variable that holds the key instead"),
            Field(optional: "keyFile", \.key.file, .path, "file that holds the key instead"),
            Field(
                optional: "rendition", \.rendition, .name(32, marks: "_.-"),
                "name of the rendition to send, with its first audio rendition; default the first rendition"),
            Field(
                "retry", \.retry, .object(Retry.rule), "delays before it reconnects; it never gives up"),
            Field(
                "stallTimeoutMs", \.stallTimeoutMs, .integer(1_000...60_000),
                "milliseconds after which the connection is closed if the server reads nothing or acknowledges nothing"),
            Field("tls", \.tls, .object(TLS.rule), "how the certificate of an rtmps:// server is verified"),
        ])

    /// Whether a text is a valid stream key, from the file or elsewhere: 1 to 256 printable ASCII characters without
    /// space.
    package static func isKey(_ text: String) -> Bool {
        (1...256).contains(text.utf8.count) && text.isVisible
    }

    /// The target URL if the document contains it; `nil` if the URL is empty or comes from an environment variable.
    package var urlText: String? {
        get { if case .inline(let text) = self.url, !text.isEmpty { text } else { nil } }
        set { if let newValue { self.url = .inline(newValue) } }
    }

    private var keyText: String? {
        get { if case .inline(let text) = self.key { text } else { nil } }
        set { if let newValue { self.key = .inline(newValue) } }
    }

    /// The target URL without its secrets, for display.
    package var shownTarget: String {
        guard let text = self.urlText else { return "\(self.url)" }
        return RTMPURL(text, allowsTLS: true, key: self.key == nil ? nil : "")?.redacted ?? "?"
    }
}

extension RTMPOutput.TLS {
    static let rule = ObjectRule(
        "how the certificate of an RTMPS server is verified", RTMPOutput.TLS(),
        [
            Field(
                optional: "authorities", \.authorities, .path,
                "PEM file of the certificate authorities to trust, relative to the working directory; default the system's"
            ),
            Field(
                "verify", \.verify, .boolean, "whether the server's certificate must be valid and contain its host name"
            ),
        ])
}

extension RTMPOutput.Retry {
    static let rule = ObjectRule(
        "delays between connection attempts", RTMPOutput.Retry(),
        [
            Field(
                "initialDelayMs", \.initialDelayMs, .integer(100...60_000),
                "maximum of the first delay in milliseconds; it doubles with each attempt and is randomized"),
            Field(
                "maxDelayMs", \.maxDelayMs, .integer(100...600_000), "maximum of all delays in milliseconds"),
        ])
}

extension ValueRule where Value == String {
    /// A rule for a URL to publish to. The last part of the URL may be a secret.
    fileprivate static var pushURL: ValueRule {
        self.text(
            "rtmp://host[:port]/app/key", pattern: "^[rR][tT][mM][pP][sS]?://[^/]+/.+$", isSecret: true
        ) { text in
            text.utf8.count <= 1024 && text.isVisible && RTMPURL(text, allowsTLS: true) != nil
        }
    }

    fileprivate static var pushKey: ValueRule {
        self.text("a stream key", pattern: "^[!-~]{1,256}$", isSecret: true) { RTMPOutput.isKey($0) }
    }
}

extension Pipeline {
    /// The RTMP outputs in file order.
    package var pushes: [RTMPOutput] {
        self.outputs.compactMap { if case .rtmp(let output) = $0 { output } else { nil } }
    }

    /// Returns the rendition that an RTMP output sends; `nil` if there is no rendition with the given name.
    package func rendition(of output: RTMPOutput) -> Rendition? {
        guard let name = output.rendition else { return self.renditions.first }
        return self.renditions.first { $0.name == name }
    }
}

extension PipelineRules {
    func check(_ output: RTMPOutput, _ path: String, _ log: inout SpecLog) {
        if self.pipeline.clock == .offline {
            log.mistake(
                path, "an rtmp output needs a live room, but clock is \"offline\"",
                fix: "remove this output, or remove clock")
        }
        self.checkWhere(output, path, &log)
        guard log.isValid("\(path).rendition"), let name = output.rendition else { return }
        if !self.pipeline.renditions.contains(where: { $0.name == name }) {
            log.mistake(
                "\(path).rendition", "there is no rendition \(SpecText.quoted(name))",
                fix: "write \(SpecText.choice(self.pipeline.renditions.map(\.name), quoted: true))")
        }
    }

    private func checkWhere(_ output: RTMPOutput, _ path: String, _ log: inout SpecLog) {
        SourceDraft.checkURL(path, &log, form: "rtmp://host[:port]/app/key or rtmps://…")
        let keys = ["key", "keyEnv", "keyFile"].filter { log.isWritten("\(path).\($0)") }
        for key in keys.dropFirst() {
            log.mistake("\(path).\(key)", "cannot be combined with \(keys[0])", fix: "remove one of them")
        }
        if keys.isEmpty, let text = output.urlText, log.isValid("\(path).url"),
            RTMPURL(text, allowsTLS: true)?.streamName.prefix(while: { $0 != "?" }).isEmpty != false
        {
            log.mistake(
                "\(path).url", "contains no stream key", fix: "write rtmp://host[:port]/app/key, or add \"key\"")
        }
        if log.isValid("\(path).retry.initialDelayMs", "\(path).retry.maxDelayMs"),
            output.retry.maxDelayMs < output.retry.initialDelayMs
        {
            log.mistake(
                "\(path).retry.maxDelayMs", "is less than initialDelayMs",
                fix: "write at least \(output.retry.initialDelayMs)")
        }
    }
}
