package import MediaTypes

extension Pipeline {
    /// Servers that `rtmp-pull` and `srt-pull` sources may be fetched from.
    package struct Pull: Sendable, Equatable {
        /// None by default: a pipeline from outside must not make the worker open connections where it likes.
        package var allowedHosts: [HostPattern] = []

        package init() {}

        package func allows(_ url: RTMPURL) -> Bool {
            self.allowedHosts.contains { $0.allows(host: url.host, port: url.port) }
        }
    }

    /// Another room a source's packets go to, from the begin.
    package struct Relay: Sendable, Equatable {
        /// `[A-Za-z0-9_.-]{1,64}`, unique in its source.
        package var relayID: String
        /// `rtmp://host[:port]/app/key`.
        package var url: Secret

        package init(relayID: String, url: Secret) {
            self.relayID = relayID
            self.url = url
        }
    }
}

extension Pipeline.Pull {
    static let rule = ObjectRule(
        "fetching sources from other servers", Pipeline.Pull(),
        [
            Field(
                "allowedHosts", \.allowedHosts, .list(of: .hostPattern, 0...64, standIn: .standIn),
                "servers that rtmp-pull and srt-pull sources may name: HOST, HOST:PORT, HOST:*, *.DOMAIN; without a port only 1935"
            )
        ])
}

/// A relay as its object is read.
struct RelayDraft: Sendable {
    var relayID = ""
    var url: String?
    var urlEnv: String?

    static let rule = ObjectRule(
        "another room the source's packets go to", RelayDraft(),
        [
            Field(
                required: "relayId", \.relayID, .name(64, marks: "_.-"), "a name for the relay, unique in its source"),
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

    /// One of the two, and not both.
    static func checkURL(_ path: String, _ log: inout SpecLog) {
        let written = self.urlWords.filter { log.isWritten("\(path).\($0)") }
        if written.isEmpty {
            log.mistake("\(path).url", "is missing", fix: "add \"url\" or \"urlEnv\": rtmp://host[:port]/app/key")
        } else if written.count == 2 {
            log.mistake("\(path).urlEnv", "stands beside url", fix: "keep one of them")
        }
    }
}

extension ValueRule where Value == String {
    /// Where to publish or to play. Its last part is a secret.
    static var rtmpURL: ValueRule {
        self.text("rtmp://host[:port]/app/key", pattern: "^[rR][tT][mM][pP]://[^/]+/.+$", isSecret: true) { text in
            text.utf8.count <= 1024 && text.utf8.allSatisfy { (0x21...0x7e).contains($0) } && RTMPURL(text) != nil
        }
    }
}

extension PipelineRules {
    /// Fetched sources come from servers that are listed; relays have names of their own.
    func checkRelays(_ log: inout SpecLog) {
        for (index, source) in self.pipeline.sources.enumerated() {
            let path = "sources[\(index)]"
            if case .pull(.inline(let text)) = source.input, let url = RTMPURL(text),
                log.isSound("\(path).url", "ingest.pull"), !self.pipeline.ingest.pull.allows(url)
            {
                let server = "\(url.host.contains(":") ? "[\(url.host)]" : url.host):\(url.port)"
                log.mistake(
                    "\(path).url", "\(server) is not in ingest.pull.allowedHosts",
                    fix: "add \(SpecText.quoted(server)) to ingest.pull.allowedHosts if it is yours")
            }
            var names: [String: Int] = [:]
            for (position, relay) in source.relays.enumerated() where log.isSound("\(path).relays[\(position)].relayId")
            {
                if let first = names[relay.relayID] {
                    log.mistake(
                        "\(path).relays[\(position)].relayId",
                        "\(SpecText.quoted(relay.relayID)) is relays[\(first)] already", fix: "use another name")
                } else {
                    names[relay.relayID] = position
                }
            }
        }
    }
}
