import PublishAuth
package import MediaTypes
package import PipelineSpec

/// Finds which members of the pipeline file were changed by commands and document changes. If the operator has changed such
/// a member in the file too, then the file wins when a worker restores the state.
extension CommandedState {
    /// One member of the pipeline file, identified by its location.
    package enum FileMember: Sendable, Hashable {
        case path([DocumentEdit.Step])
        /// A text, score bar or countdown, by its id. It counts in all scenes that contain it.
        case decoration(list: String, key: String, id: String)

        package var name: String {
            switch self {
            case .path(let path): DocumentEdit.name(of: path)
            case .decoration(let list, _, let id): "\(list)[\(id)]"
            }
        }

        /// The member's value in the file; nil if the file does not set it.
        func value(in file: RoomDocument) -> JSONNode? {
            switch self {
            case .path(let path): file.member(path)
            case .decoration(let list, let key, let id): file.decorations(in: list, key, id)
            }
        }
    }

    package static func scene(_ id: String) -> FileMember { .path([.key("scenes"), .element(id)]) }
    package static func text(_ id: String) -> FileMember { .decoration(list: "texts", key: "textId", id: id) }
    package static func score(_ id: String) -> FileMember { .decoration(list: "scoreBars", key: "scoreId", id: id) }
    package static func countdown(_ id: String) -> FileMember {
        .decoration(list: "countdowns", key: "countdownId", id: id)
    }
    package static func source(_ id: SourceID, _ key: String) -> FileMember {
        .path([.key("sources"), .element("\(id.uid)/\(id.streamType.rawValue)"), .key(key)])
    }
    package static let onAirMember = FileMember.path([.key("program"), .key("scene")])

    /// Every member of the pipeline file that commands have changed.
    package var changedMembers: [FileMember] {
        var members: [FileMember] = (self.document?.edits ?? []).map { .path($0.path) }
        if self.onAir != nil || !self.upcoming.isEmpty { members.append(Self.onAirMember) }
        members += self.scenes.keys.sorted().map { Self.scene($0) }
        for (id, source) in self.sources.sorted(by: { $0.key.description < $1.key.description }) {
            if source.volume != nil { members.append(Self.source(id, "volume")) }
            if !source.trackVolumes.isEmpty { members.append(Self.source(id, "audioTracks")) }
            if source.offsetMs != nil { members.append(Self.source(id, "offsetMs")) }
            if source.rotation != nil { members.append(Self.source(id, "rotation")) }
            if source.recording != nil { members.append(Self.source(id, "record")) }
        }
        members += self.texts.keys.sorted().map { Self.text($0) }
        members += self.scores.keys.sorted().map { Self.score($0) }
        members += self.countdowns.keys.sorted().map { Self.countdown($0) }
        return members
    }

    /// Salted hashes of the values that the changed members have in `file`, by the name of the member.
    package func hashes(of file: RoomDocument) -> [String: String] {
        var hashes: [String: String] = [:]
        for member in self.changedMembers { hashes[member.name] = self.hash(of: member, in: file) }
        return hashes
    }

    private func hash(of member: FileMember, in file: RoomDocument) -> String {
        let value = member.value(in: file).map { $0.canonical.text() } ?? "absent"
        return HashedStreamKey.digest(of: value, salt: self.salt, bytes: 12)
    }

    /// Whether the value of the member differs from the file that the previous worker ran. False if that worker has not
    /// recorded it.
    package func isChanged(_ member: FileMember, in file: RoomDocument) -> Bool {
        guard let before = self.fileMembers[member.name] else { return false }
        return before != self.hash(of: member, in: file)
    }
}
