package import MediaTypes

extension Pipeline {
    /// Servers that `rtmp-pull` and `srt-pull` sources may be pulled from.
    package struct Pull: Sendable, Equatable {
        /// Patterns of the allowed servers. Empty by default, because a pipeline file from an untrusted origin must not
        /// make the worker connect to arbitrary servers.
        package var allowedHosts: [HostPattern] = []

        package init() {}

        package func allows(_ url: RTMPURL) -> Bool { self.allows(host: url.host, port: url.port) }
        package func allows(_ url: SRTURL) -> Bool { self.allows(host: url.host, port: url.port) }

        func allows(host: String, port: Int) -> Bool {
            self.allowedHosts.contains { $0.allows(host: host, port: port) }
        }
    }

    /// Another room that receives a source's packets.
    package struct Relay: Sendable, Equatable {
        /// Id of the relay: `[A-Za-z0-9_.-]{1,64}`, unique in its source.
        package var relayID: String
        /// URL of the other room: `rtmp://host[:port]/app/key`.
        package var url: Secret

        package init(relayID: String, url: Secret) {
            self.relayID = relayID
            self.url = url
        }
    }
}

extension Pipeline.Pull {
    static let rule = ObjectRule(
        "rules for sources that this worker pulls from other servers", Pipeline.Pull(),
        [
            Field(
                "allowedHosts", \.allowedHosts, .list(of: .hostPattern, 0...64, standIn: .standIn),
                "servers that rtmp-pull and srt-pull sources may name: HOST, HOST:PORT, HOST:*, *.DOMAIN; without a port, only port 1935"
            )
        ])
}

/// A relay while its JSON object is being parsed.
struct RelayDraft: Sendable {
    var relayID = ""
    var url: String?
    var urlEnv: String?

    static let rule = ObjectRule(
        "another room that receives the source's packets", RelayDraft(),
        [
            Field(
                required: "relayId", \.relayID, .id, "a name for the relay, unique in its source"),
            Field(optional: "url", \.url, .rtmpURL, "rtmp://host[:port]/app/key of the other room"),
            Field(optional: "urlEnv", \.urlEnv, .variable, "environment variable that holds the URL instead"),
        ], keywords: [SourceDraft.needsURL])

    static func finished(_ draft: RelayDraft, _ path: String, _ log: inout SpecLog) -> Pipeline.Relay {
        SourceDraft.checkURL(path, &log)
        return Pipeline.Relay(
            relayID: draft.relayID, url: draft.urlEnv.map { .env($0) } ?? .inline(draft.url ?? ""))
    }
}

extension SourceDraft {
    static let urlWords = ["url", "urlEnv"]

    static let needsURL = JSONMember(
        "oneOf", .array(urlWords.map { .object([JSONMember("required", .array([.string($0)]))]) }))

    /// Checks that exactly one of `url` and `urlEnv` is given.
    ///
    /// - Parameter form: The form of the URL, for the `fix` of the mistake that both are missing.
    static func checkURL(_ path: String, _ log: inout SpecLog, form: String = "rtmp://host[:port]/app/key") {
        let written = self.urlWords.filter { log.isWritten("\(path).\($0)") }
        if written.isEmpty {
            log.mistake("\(path).url", "is missing", fix: "add \"url\" or \"urlEnv\": \(form)")
        } else if written.count == 2 {
            log.mistake("\(path).urlEnv", "cannot be combined with url", fix: "remove one of them")
        }
    }
}

extension RTMPURL {
    /// Maximum length of an RTMP URL in a pipeline file or in a command, in bytes.
    package static let longest = 1_024
}

extension ValueRule where Value == String {
    /// A rule for an RTMP URL to publish to or to play from. The last part of the URL is a secret.
    static var rtmpURL: ValueRule {
        self.text("rtmp://host[:port]/app/key", pattern: "^[rR][tT][mM][pP]://[^/]+/.+$", isSecret: true) { text in
            text.utf8.count <= RTMPURL.longest && text.isVisible && RTMPURL(text) != nil
        }
    }
}

extension PipelineRules {
    /// Checks that pull sources use allowed servers, and that the relay ids of each source are unique.
    func checkRelays(_ log: inout SpecLog) {
        for (index, source) in self.pipeline.sources.enumerated() {
            let path = "sources[\(index)]"
            self.checkPull(of: source, path, &log)
            var names: [String: String] = [:]
            for (position, relay) in source.relays.enumerated() {
                let element = "relays[\(position)]"
                log.checkUnique(
                    relay.relayID, "\(path).\(element).relayId", of: element, &names, fix: "use another name")
            }
        }
    }

    private func checkPull(of source: Pipeline.Source, _ path: String, _ log: inout SpecLog) {
        let server: (host: String, port: Int)?
        switch source.input {
        case .pull(.inline(let text)): server = RTMPURL(text).map { ($0.host, $0.port) }
        case .srtPull(.inline(let text)): server = SRTURL(text).map { ($0.host, $0.port) }
        default: server = nil
        }
        guard let (host, port) = server, log.isValid("\(path).url", "ingest.pull"),
            !self.pipeline.ingest.pull.allows(host: host, port: port)
        else { return }
        let shown = "\(host.contains(":") ? "[\(host)]" : host):\(port)"
        log.mistake(
            "\(path).url", "\(shown) is not in ingest.pull.allowedHosts",
            fix: "add \(SpecText.quoted(shown)) to ingest.pull.allowedHosts if you trust this server")
    }
}
