package import MediaTypes

extension JSONNode {
    /// Returns the value after a JSON merge patch: an object in the patch is merged member by member, any other value
    /// replaces the old one, and null removes a member.
    ///
    /// Spec: RFC 7396 §2.
    package func merged(with patch: JSONNode) -> JSONNode {
        guard case .object(let changes) = patch.content else { return patch }
        var members: [JSONMember?] = []
        if case .object(let own) = self.content { members = own }
        var places: [String: Int] = [:]
        for (index, member) in members.enumerated() {
            if let member { places[member.key] = index }
        }
        for change in changes {
            let place = places[change.key]
            if case .null = change.value.content {
                if let place { members[place] = nil }
                places[change.key] = nil
                continue
            }
            let value = (place.flatMap { members[$0]?.value } ?? .object([])).merged(with: change.value)
            let member = JSONMember(change.key, value, at: change.position)
            if let place {
                members[place] = member
            } else {
                places[change.key] = members.count
                members.append(member)
            }
        }
        return JSONNode(.object(members.compactMap { $0 }), at: self.position)
    }

    /// Returns the paths at which this value and `other` differ, in the order of this value; source positions are
    /// ignored.
    ///
    /// For an object that only one of them has, the result contains the paths of its leaves. If two arrays differ in length,
    /// it contains the path of the whole array. Below a path of more than ``longestPath`` bytes it contains only that path.
    package func differences(from other: JSONNode, at path: String = "") -> [String] {
        if path.utf8.count > Self.longestPath { return self.isSame(as: other) ? [] : [path] }
        switch (self.content, other.content) {
        case (.object(let own), .object(let others)):
            let before = Dictionary(others.map { ($0.key, $0.value) }) { first, _ in first }
            let now = Set(own.map(\.key))
            let kept = own.flatMap { member -> [String] in
                let place = SpecPath.join(path, member.key)
                return before[member.key].map { member.value.differences(from: $0, at: place) }
                    ?? member.value.everything(at: place)
            }
            let gone = others.filter { !now.contains($0.key) }
            return kept + gone.flatMap { $0.value.everything(at: SpecPath.join(path, $0.key)) }
        case (.array(let own), .array(let others)) where own.count == others.count:
            return own.indices.flatMap { own[$0].differences(from: others[$0], at: "\(path)[\($0)]") }
        case (.object, _), (.array, _): return [path]
        default: return self.content == other.content ? [] : [path]
        }
    }

    /// Whether both values are equal, regardless of source positions and the order of members.
    func isSame(as other: JSONNode) -> Bool {
        switch (self.content, other.content) {
        case (.object(let own), .object(let others)):
            let before = Dictionary(others.map { ($0.key, $0.value) }) { first, _ in first }
            return own.count == others.count
                && own.allSatisfy { member in before[member.key].map { member.value.isSame(as: $0) } ?? false }
        case (.array(let own), .array(let others)):
            return own.count == others.count && zip(own, others).allSatisfy { $0.isSame(as: $1) }
        default: return self.content == other.content
        }
    }

    /// Maximum length of a path in bytes; differences below a longer path are not listed one by one. `ext` can be
    /// nested deeply, and each of its leaves would repeat the whole path. No member that the pipeline defines has such
    /// a long path.
    private static let longestPath = 256

    /// Returns the paths of all leaves of an object; for any other value, its own path.
    private func everything(at path: String) -> [String] {
        guard case .object(let members) = self.content, !members.isEmpty, path.utf8.count <= Self.longestPath else {
            return [path]
        }
        return members.flatMap { $0.value.everything(at: SpecPath.join(path, $0.key)) }
    }

    /// The pipeline file without secrets: without stream keys and the URLs of sources, relays and RTMP outputs. Webhooks
    /// for events have only scheme, host and port; the URLs of other servers have no user, password, query and fragment.
    /// `recordingUrl` stays as it is, because it is in the viewers' page.
    package var withoutSecrets: JSONNode { self.cleared(parent: "") }

    private func cleared(parent: String) -> JSONNode {
        switch self.content {
        case .array(let elements): return .array(elements.map { $0.cleared(parent: parent) })
        case .object(let members):
            let hidesURL =
                ["sources", "relays"].contains(parent)
                || parent == "outputs" && members.contains { $0.key == "type" && $0.value.string == "rtmp" }
            return .object(
                members.compactMap { member in
                    switch member.key {
                    case "streamKey", "streamKeys": return nil
                    case "key" where parent == "outputs": return nil
                    case "url" where hidesURL: return nil
                    case "url" where parent == "events":
                        guard let url = member.value.string else { return nil }
                        return JSONMember(member.key, .string(Self.origin(url)))
                    case "url", "endpoint", "keyUri":
                        guard let url = member.value.string else { return nil }
                        return JSONMember(member.key, .string(Self.plain(url)))
                    default: return JSONMember(member.key, member.value.cleared(parent: member.key))
                    }
                })
        default: return JSONNode(self.content)
        }
    }

    /// Returns only scheme, host and port of a webhook's URL, because chat services put a secret into the path.
    static func origin(_ url: String) -> String {
        let plain = Self.plain(url)
        guard let scheme = plain.firstRange(of: "://") else { return plain }
        return String(plain[..<scheme.upperBound] + plain[scheme.upperBound...].prefix { $0 != "/" })
    }

    /// Returns a URL without user, password, query and fragment.
    static func plain(_ url: String) -> String {
        var text = url.prefix { $0 != "?" && $0 != "#" }
        if let scheme = text.firstRange(of: "://") {
            let authority = text[scheme.upperBound...].prefix { $0 != "/" }
            if let at = authority.lastIndex(of: "@") {
                text = text[..<scheme.upperBound] + text[text.index(after: at)...]
            }
        }
        return String(text)
    }
}
