import MediaTypes

extension JSONNode {
    /// Returns the document after a patch, in which sources have the secrets that the patch leaves out.
    ///
    /// A list in a merge patch replaces the whole list, and clients read the sources without their secrets
    /// (``withoutSecrets``). So a source of the patch without stream keys or without URL keeps those of the old source
    /// with the same `uid`, `streamType` and `type`. A relay without URL keeps that of the old relay with its `relayId`.
    func mergedKeepingSecrets(with patch: JSONNode) -> JSONNode {
        var merged = self.merged(with: patch)
        guard patch[key: "sources"] != nil, case .array(let old)? = self[key: "sources"]?.content,
            case .array(let new)? = merged[key: "sources"]?.content, case .object(let members) = merged.content
        else { return merged }
        let known = Dictionary(old.compactMap { source in source.sourceName.map { ($0, source) } }) { first, _ in first
        }
        let sources = new.map { source in
            source.sourceName.flatMap { known[$0] }.map { source.keepingSecrets(of: $0) } ?? source
        }
        merged.content = .object(
            members.map { $0.key == "sources" ? JSONMember("sources", JSONNode(.array(sources)), at: $0.position) : $0 }
        )
        return merged
    }

    /// Members that set stream keys. A source of the patch that has one of them does not keep the old stream keys.
    private static let keys = ["streamKey", "streamKeys", "streamKeyEnv", "streamKeyFile"]

    /// Stream type and `uid` of a source, which identify it; `nil` if it has no `uid`.
    private var sourceName: String? {
        guard let uid = self[key: "uid"], let name = uid.string ?? uid.integer.map({ "\($0)" }) else { return nil }
        return "\(self[key: "streamType"]?.string ?? "main") \(name)"
    }

    private func keepingSecrets(of old: JSONNode) -> JSONNode {
        guard case .object(var members) = self.content, case .object(let before) = old.content,
            self[key: "type"]?.string ?? "rtmp" == old[key: "type"]?.string ?? "rtmp"
        else { return self }
        if !members.contains(where: { Self.keys.contains($0.key) }) {
            members += before.filter { $0.key == "streamKey" || $0.key == "streamKeys" }
        }
        if !members.contains(where: { $0.key == "url" || $0.key == "urlEnv" }) {
            members += before.filter { $0.key == "url" }
        }
        if let place = members.firstIndex(where: { $0.key == "relays" }),
            case .array(let relays) = members[place].value.content,
            case .array(let oldRelays)? = old[key: "relays"]?.content
        {
            let kept = relays.map { relay in
                guard relay[key: "url"] == nil, relay[key: "urlEnv"] == nil, case .object(let parts) = relay.content,
                    let id = relay[key: "relayId"]?.string,
                    let url = oldRelays.first(where: { $0[key: "relayId"]?.string == id })?[key: "url"]
                else { return relay }
                return JSONNode(.object(parts + [JSONMember("url", url)]), at: relay.position)
            }
            members[place] = JSONMember("relays", JSONNode(.array(kept)), at: members[place].position)
        }
        return JSONNode(.object(members), at: self.position)
    }
}
