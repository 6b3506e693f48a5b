import Events
package import MediaTypes
package import PipelineSpec
import Secrets

extension EgressPolicy {
    /// The policy of a pipeline file: connections are allowed to the hosts in its allow list, and to the servers of its
    /// relays, RTMP outputs and webhooks. URLs that cannot be read are ignored.
    package init(_ pipeline: Pipeline) {
        self.init(allowed: pipeline.control.egress.allowedHosts)
        func text(_ secret: Secret) -> String? { try? secret.resolved(place: "") }
        for relay in pipeline.sources.flatMap(\.relays) {
            if let url = text(relay.url).flatMap({ RTMPURL($0) }) { self.named.insert(Target(url)) }
        }
        for push in pipeline.pushes {
            if let url = text(push.url).flatMap({ push.server($0) }) { self.named.insert(Target(url)) }
        }
        for sink in pipeline.control.events {
            guard let url = text(sink.url) else { continue }
            self.webhooks.insert(url)
            if let target = Target(webhook: url) { self.named.insert(target) }
        }
    }

    /// The remedy in errors about a refused server.
    package static let fix = "list the server in control.egress.allowedHosts, or name it in the pipeline file"

    /// The servers in a document to which the policy forbids connections, as far as their names show. Only URLs in the
    /// document itself are checked, not those in files or environment variables.
    package func mistakes(in pipeline: Pipeline) -> [SpecDiagnostic] {
        var mistakes: [SpecDiagnostic] = []
        func check(_ path: String, _ target: Target?) {
            guard let target, let refusal = self.refusal(of: target) else { return }
            mistakes.append(SpecDiagnostic(path: path, at: .none, what: "\(refusal)", fix: Self.fix))
        }
        for (index, source) in pipeline.sources.enumerated() {
            for (place, relay) in source.relays.enumerated() {
                guard case .inline(let text) = relay.url else { continue }
                check("sources[\(index)].relays[\(place)].url", RTMPURL(text).map { Target($0) })
            }
        }
        for (index, output) in pipeline.outputs.enumerated() {
            guard case .rtmp(let push) = output, let text = push.urlText else { continue }
            check("outputs[\(index)].url", push.server(text).map { Target($0) })
        }
        for (index, sink) in pipeline.control.events.enumerated() {
            guard let text = sink.urlText, !self.webhooks.contains(text) else { continue }
            guard let target = Target(webhook: text) else {
                mistakes.append(
                    SpecDiagnostic(
                        path: "control.events[\(index)].url", at: .none,
                        what: "is not a plain HTTP URL, so clients may interpret it differently",
                        fix: "write http[s]://HOST[:PORT]/PATH without user and password"))
                continue
            }
            check("control.events[\(index)].url", target)
        }
        return mistakes
    }
}

extension RTMPOutput {
    /// The server in the output's URL, whether or not the URL contains the stream key; nil if the URL is invalid.
    fileprivate func server(_ text: String) -> RTMPURL? {
        RTMPURL(text, allowsTLS: true, key: self.key == nil ? nil : "")
    }
}
