import MediaTypes

/// One rendition, its packets as they are coded, published to an RTMP server such as a CDN's.
package struct RTMPOutput: Sendable, Hashable {
    /// How an RTMPS server is known to be the right one.
    package struct TLS: Sendable, Hashable {
        /// PEM file of the authorities that may have signed its certificate; `nil`: the system's.
        package var authorities: String?
        /// Whether its certificate must be in order and name its host.
        package var verify = true

        package init() {}
    }

    /// Milliseconds between attempts: each wait doubles, with chance in it.
    package struct Retry: Sendable, Hashable {
        /// Longest first wait.
        package var initialDelayMs = 1_000
        /// Longest wait of all.
        package var maxDelayMs = 30_000

        package init() {}
    }

    /// `[A-Za-z0-9_.-]{1,64}`. Default `rtmp`.
    package var outputID = "rtmp"
    /// `rtmp[s]://host[:port]/app/key`, without the key where ``key`` holds it.
    package var url = Secret.inline("")
    /// The stream name, with its query if it has one; `nil`: it stands in ``url``.
    package var key: Secret?
    /// Name of a rendition; `nil`: the first.
    package var rendition: String?
    package var retry = Retry()
    /// Milliseconds without progress after which a connection is given up.
    package var stallTimeoutMs = 4_000
    package var tls = TLS()

    package init() {}

    static let rule = ObjectRule(
        "one rendition, published to an RTMP server", RTMPOutput(),
        [
            Field("type", always: "rtmp", isRequired: true, "the kind of output"),
            Field(
                "outputId", \.outputID, .name(64, marks: "_.-"), "the output's id: 1 to 64 letters, digits, _ . or -"),
            Field(
                optional: "url", \.urlText, .pushURL,
                "rtmp://host[:port]/app/key or rtmps://…, without the key where one of the key words holds it"),
            Field(optional: "urlEnv", \.url.variable, .variable, "environment variable that holds the URL instead"),
            Field(
                optional: "key", \.keyText, .pushKey, "the stream key, with its query if it has one; never shown"),
            Field(optional: "keyEnv", \.key.variable, .variable, "environment variable that holds the key instead"),
            Field(optional: "keyFile", \.key.file, .path, "file that holds the key instead"),
            Field(
                optional: "rendition", \.rendition, .name(32, marks: "_.-"),
                "name of the rendition that is sent, with its first sound; default the first"),
            Field(
                "retry", \.retry, .object(Retry.rule), "how long it waits before it connects again; it never gives up"),
            Field(
                "stallTimeoutMs", \.stallTimeoutMs, .integer(1_000...60_000),
                "milliseconds in which a server must take or acknowledge something"),
            Field("tls", \.tls, .object(TLS.rule), "how an rtmps:// server is known to be the right one"),
        ])

    /// Whether a text can be a stream key, wherever it is from: one line of 1 to 256 printable ASCII characters without space.
    package static func isKey(_ text: String) -> Bool {
        (1...256).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7e).contains($0) }
    }

    /// The URL's text, where the pipeline holds it.
    package var urlText: String? {
        get { if case .inline(let text) = self.url, !text.isEmpty { text } else { nil } }
        set { if let newValue { self.url = .inline(newValue) } }
    }

    private var keyText: String? {
        get { if case .inline(let text) = self.key { text } else { nil } }
        set { if let newValue { self.key = .inline(newValue) } }
    }

    /// Where it goes, without what must not be seen.
    package var shownTarget: String {
        guard let text = self.urlText else { return "\(self.url)" }
        return RTMPURL(text, allowsTLS: true, key: self.key == nil ? nil : "")?.redacted ?? "?"
    }
}

extension RTMPOutput.TLS {
    static let rule = ObjectRule(
        "how an RTMPS server is known to be the right one", RTMPOutput.TLS(),
        [
            Field(
                optional: "authorities", \.authorities, .path,
                "PEM file of the authorities that may have signed its certificate, relative to the working directory; "
                    + "default the system's"),
            Field("verify", \.verify, .boolean, "whether its certificate must be in order and name its host"),
        ])
}

extension RTMPOutput.Retry {
    static let rule = ObjectRule(
        "waits between attempts", RTMPOutput.Retry(),
        [
            Field(
                "initialDelayMs", \.initialDelayMs, .integer(100...60_000),
                "milliseconds of the longest first wait; each wait doubles, with chance in it"),
            Field(
                "maxDelayMs", \.maxDelayMs, .integer(100...600_000), "milliseconds of the longest wait of all"),
        ])
}

extension ValueRule where Value == String {
    /// Where to publish. Its last part may be a secret.
    fileprivate static var pushURL: ValueRule {
        self.text(
            "rtmp://host[:port]/app/key", pattern: "^[rR][tT][mM][pP][sS]?://[^/]+/.+$", isSecret: true
        ) { text in
            text.utf8.count <= 1024 && text.utf8.allSatisfy { (0x21...0x7e).contains($0) }
                && RTMPURL(text, allowsTLS: true) != nil
        }
    }

    fileprivate static var pushKey: ValueRule {
        self.text("a stream key", pattern: "^[!-~]{1,256}$", isSecret: true) { RTMPOutput.isKey($0) }
    }
}

extension Pipeline {
    /// The RTMP outputs.
    package var pushes: [RTMPOutput] {
        self.outputs.compactMap { if case .rtmp(let output) = $0 { output } else { nil } }
    }

    /// The rendition an RTMP output sends.
    package func rendition(of output: RTMPOutput) -> Rendition? {
        guard let name = output.rendition else { return self.renditions.first }
        return self.renditions.first { $0.name == name }
    }
}

extension PipelineRules {
    func check(_ output: RTMPOutput, _ path: String, _ log: inout SpecLog) {
        if self.pipeline.clock == .offline {
            log.mistake(
                path, "an rtmp output is live, and clock is \"offline\"", fix: "remove it, or the clock")
        }
        self.checkWhere(output, path, &log)
        guard log.isSound("\(path).rendition"), let name = output.rendition else { return }
        if !self.pipeline.renditions.contains(where: { $0.name == name }) {
            log.mistake(
                "\(path).rendition", "there is no rendition \(SpecText.quoted(name))",
                fix: "write \(SpecText.choice(self.pipeline.renditions.map(\.name), quoted: true))")
        }
    }

    private func checkWhere(_ output: RTMPOutput, _ path: String, _ log: inout SpecLog) {
        SourceDraft.checkURL(path, &log)
        let keys = ["key", "keyEnv", "keyFile"].filter { log.isWritten("\(path).\($0)") }
        for key in keys.dropFirst() {
            log.mistake("\(path).\(key)", "stands beside \(keys[0])", fix: "keep one of them")
        }
        if keys.isEmpty, let text = output.urlText, log.isSound("\(path).url"),
            RTMPURL(text, allowsTLS: true)?.streamName.prefix(while: { $0 != "?" }).isEmpty != false
        {
            log.mistake(
                "\(path).url", "holds no stream key", fix: "write rtmp://host[:port]/app/key, or add \"key\"")
        }
        if log.isSound("\(path).retry.initialDelayMs", "\(path).retry.maxDelayMs"),
            output.retry.maxDelayMs < output.retry.initialDelayMs
        {
            log.mistake(
                "\(path).retry.maxDelayMs", "is less than initialDelayMs",
                fix: "write at least \(output.retry.initialDelayMs)")
        }
    }
}
