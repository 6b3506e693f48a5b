#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif
package import Control
import Events
import MediaTypes
package import PipelineSpec
import Stages

/// What requests may name and where they may make the room connect to: nothing but what the operator's pipeline file allows.
extension Room {
    /// What a request may name: what the operator wrote, and what requests before have been granted.
    func grants() -> ResourceGrants {
        let (written, current) = self.value.withLock { ($0.api.documents.written, $0.api.documents.current?.effective) }
        let control = self.pipeline.control
        return ResourceGrants([written, current].compactMap { $0 }) { resource in
            switch resource.use {
            case .variable: false
            case .file: OperatorDirectory.isReadable(resource.name, in: control.secretsDirectory)
            case .image:
                OperatorDirectory.holds(resource.name, in: control.imagesDirectory)
                    || OperatorDirectory.holds(resource.name, in: control.secretsDirectory)
            }
        }
    }

    /// Refuses what a request names and may not, before any of it is looked at.
    static func check(_ document: JSONNode, _ grants: ResourceGrants) throws(ControlFailure) {
        let mistakes = grants.mistakes(in: document)
        guard !mistakes.isEmpty else { return }
        throw .refused(mistakes) { what, fix, _ in .authDenied(what, fix: fix) }
    }

    static let egressFix = "list the server in control.egress.allowedHosts, or name it in the pipeline file"

    /// Refuses a document that names a server nothing will be sent to, as far as its name tells.
    package func checkServers(of pipeline: Pipeline) throws(ControlFailure) {
        let policy = self.settings.egress.policy
        var mistakes: [SpecMistake] = []
        func check(_ path: String, _ target: EgressPolicy.Target?) {
            guard let target, let refusal = policy.refusal(of: target) else { return }
            mistakes.append(SpecMistake(path: path, at: .none, what: "\(refusal)", fix: Self.egressFix))
        }
        for (index, source) in pipeline.sources.enumerated() {
            for (place, relay) in source.relays.enumerated() {
                guard case .inline(let text) = relay.url else { continue }
                check("sources[\(index)].relays[\(place)].url", RTMPURL(text).map { EgressPolicy.Target($0) })
            }
        }
        for (index, output) in pipeline.outputs.enumerated() {
            guard case .rtmp(let push) = output, let text = push.urlText else { continue }
            check("outputs[\(index)].url", push.server(text).map { EgressPolicy.Target($0) })
        }
        for (index, sink) in pipeline.control.events.enumerated() {
            guard let text = sink.urlText, !policy.webhooks.contains(text) else { continue }
            guard let target = EgressPolicy.Target(webhook: text) else {
                mistakes.append(
                    SpecMistake(
                        path: "control.events[\(index)].url", at: .none,
                        what: "has a form that only some clients understand",
                        fix: "write http[s]://HOST[:PORT]/PATH, without user and password"))
                continue
            }
            check("control.events[\(index)].url", target)
        }
        guard !mistakes.isEmpty else { return }
        throw .refused(mistakes) { what, fix, _ in .authDenied(what, fix: fix) }
    }
}

extension RTMPOutput {
    /// The URL in its parts, whether or not it ends with a key.
    func server(_ text: String) -> RTMPURL? { RTMPURL(text, allowsTLS: true, key: self.key == nil ? nil : "") }
}

extension EgressPolicy {
    /// The policy of a pipeline file: its allow list, and the servers it names itself. What cannot be read names none.
    init(_ pipeline: Pipeline) {
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
}

/// A directory whose files requests may name.
package enum OperatorDirectory {
    /// Most bytes of a file that holds a secret.
    private static let longestSecret = 4_095

    /// Whether there is such a file, and it lies in the directory as it is written and where its links lead.
    ///
    /// The path must begin with the directory's as the pipeline file writes it, and must not go back up: then only those who may
    /// write in the directory decide what it leads to.
    package static func holds(_ path: String, in directory: String?) -> Bool {
        guard var directory, !path.utf8.contains(0) else { return false }
        while directory.count > 1, directory.hasSuffix("/") { directory.removeLast() }
        let prefix = directory == "/" ? "/" : directory + "/"
        guard path.hasPrefix(prefix) else { return false }
        let steps = path.dropFirst(prefix.count).split(separator: "/", omittingEmptySubsequences: false)
        guard !steps.contains(where: { $0.isEmpty || $0 == "." || $0 == ".." }) else { return false }
        guard let root = self.resolved(directory), let file = self.resolved(path) else { return false }
        return file.hasPrefix(root == "/" ? "/" : root + "/")
    }

    /// The same for a file that can be read as a secret.
    package static func isReadable(_ path: String, in directory: String?) -> Bool {
        guard self.holds(path, in: directory) else { return false }
        do throws(WholeRead.Failure) {
            return try !WholeRead.regular(path, limit: Self.longestSecret).isEmpty
        } catch {
            return false
        }
    }

    /// The path without links, `.` and `..`.
    private static func resolved(_ path: String) -> String? {
        guard let text = realpath(path, nil) else { return nil }
        defer { free(text) }
        return String(cString: text)
    }
}
