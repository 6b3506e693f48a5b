package import MediaTypes

extension Pipeline {
    /// The SRT listener: MPEG-TS over SRT, with the keys, admission and timeouts of RTMP. The stream id is the stream
    /// key.
    package struct SRT: Sendable, Equatable {
        /// UDP address of the listener. Default `0.0.0.0:9000`.
        package var listen = ListenAddress.tcp(host: "0.0.0.0", port: 9000)
        /// SRT latency: the time in which lost packets can be sent again, in milliseconds (20…8,000). The larger value
        /// of the two sides applies. Default 120.
        package var latencyMs = 120
        /// Passphrase that publishers must encrypt with; `nil`: encryption is not accepted. Never
        /// ``Secret/inline(_:)``.
        package var passphrase: Secret?
        /// Length in bytes of the AES key derived from the passphrase (16, 24, 32). Default 16.
        package var keyLength = 16

        package init() {}
    }
}

extension Pipeline.SRT {
    static let rule = ObjectRule(
        "the SRT listener", Pipeline.SRT(),
        [
            Field("listen", \.listen, .address(unix: false), "host:port of UDP; port 0: any free port"),
            Field(
                "latencyMs", \.latencyMs, .integer(20...8000),
                "SRT latency: milliseconds in which lost packets can be sent again; the larger value of the two sides applies"
            ),
            Field(
                optional: "passphraseEnv", \.passphrase.variable, .variable,
                "environment variable that holds the passphrase that publishers must encrypt with, 10 to 79 bytes"),
            Field(optional: "passphraseFile", \.passphrase.file, .path, "file that holds the passphrase instead"),
            Field(
                "pbkeylen", \.keyLength, .srtKeyLength,
                "length in bytes of the AES key derived from the passphrase: 16, 24 or 32"),
        ])

    static func checked(_ srt: Pipeline.SRT, _ path: String, _ log: inout SpecLog) -> Pipeline.SRT {
        log.checkSecret("passphrase", at: path)
        if srt.passphrase == nil, log.isWritten("\(path).pbkeylen"), log.isValid("\(path).pbkeylen") {
            log.mistake(
                "\(path).pbkeylen", "is the length of the encryption key, but there is no passphrase",
                fix: "add \"passphraseEnv\" or \"passphraseFile\", or remove pbkeylen")
        }
        return srt
    }
}

extension ValueRule where Value == Int {
    /// A rule for the length of an AES key in bytes: 16, 24 or 32.
    static var srtKeyLength: ValueRule {
        self.one(of: [16, 24, 32], otherwise: "is not the length of an AES key")
    }
}

extension ValueRule where Value == String {
    /// A rule for a URL that a stream is pulled from. The URL may contain secrets, so messages do not repeat it.
    static var pullURL: ValueRule {
        self.text(
            "rtmp://host[:port]/app/name, or srt://host:port?streamid=… (parameters: streamid, latency, passphrase, pbkeylen)",
            pattern: "^([rR][tT][mM][pP]://[^/]+/.+|[sS][rR][tT]://[^/]+:[0-9]+.*)$", isSecret: true
        ) { text in
            text.utf8.count <= 1024 && text.isVisible
                && (RTMPURL(text) != nil || SRTURL(text) != nil)
        }
    }
}

extension SourceDraft {
    /// Checks that the URL's scheme belongs to the source's type.
    static func checkScheme(_ draft: SourceDraft, _ path: String, _ log: inout SpecLog) {
        guard let url = draft.url, log.isValid("\(path).url") else { return }
        let isSRT = SRTURL(url) != nil
        guard isSRT != (draft.kind == .srtPull) else { return }
        log.mistake(
            "\(path).url", "is not an \(isSRT ? "rtmp" : "srt") URL",
            fix: "write \"type\": \"\(isSRT ? "srt-pull" : "rtmp-pull")\", or change the URL")
    }
}
