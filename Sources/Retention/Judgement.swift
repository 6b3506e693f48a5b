/// Decides about the directories of a root. Pure.
struct Judgement: Sendable {
    let rule: RetentionRule
    /// Recordings that a worker can still finish: their rooms by id, each with its path.
    private(set) var unfinished: [String: String] = [:]
    /// The path of an unfinished recording whose files do not say its room.
    private(set) var unfinishedOfUnknown: String?

    init(_ rule: RetentionRule) { self.rule = rule }

    /// Takes note of a directory. Called for all directories before the first decision.
    mutating func note(_ look: FolderLook, path: String) {
        guard case .recording(isUnfinished: true) = look.kind else { return }
        if let room = look.room {
            self.unfinished[room] = path
        } else {
            self.unfinishedOfUnknown = path
        }
    }

    /// Decides about a directory.
    func finding(_ look: FolderLook, path: String) -> Finding {
        let inner = look.inner.reduce(into: (files: 0, bytes: Int64(0))) { sum, each in
            sum.files += each.files.count
            sum.bytes += each.files.bytes
        }
        let keepsInner = self.keepsInner(look)
        var finding = Finding(
            .output, path: path, room: look.room, modified: look.files.modified,
            files: look.files.count + (keepsInner ? -look.files.last.count : inner.files),
            bytes: look.files.bytes + (keepsInner ? 0 : inner.bytes),
            others: look.files.foreign.count, verdict: .remove)
        switch look.kind {
        case .output(let summary):
            finding.verdict = self.verdict(look, summary?.hasEnded)
            if keepsInner, finding.isRemovable, finding.files == 0 { finding.verdict = .keep(Self.onlyClips) }
        case .transport(let hasEnded):
            finding.kind = .transport
            finding.verdict =
                hasEnded
                ? .byAge(finding.modified, after: self.rule.after, self.rule) : .keep("the playlists have not ended")
        case .recording(let isUnfinished):
            finding.kind = .recording
            finding.modified = max(finding.modified, look.inner.map(\.files.modified).max() ?? 0)
            if isUnfinished {
                finding.verdict = .keep("not finished: its room goes on, or start its room again")
            } else if let age = self.rule.recordingsAfter {
                finding.verdict = .byAge(finding.modified, after: age, self.rule)
            } else {
                finding.verdict = .keep("recordings are kept unless --recordings-older-than is given")
            }
        }
        return finding
    }

    private static let onlyClips = "only its clips are left; --recordings-older-than removes them"

    private func verdict(_ look: FolderLook, _ hasEnded: Bool?) -> Finding.Verdict {
        guard let hasEnded else { return .keep("state.json cannot be read") }
        guard hasEnded else { return .keep("the room has not ended") }
        if let store = look.unfinishedStores.first {
            return .keep("the store \(store) has not everything yet: start the room again")
        }
        // An earlier run removed everything else, after it had looked at the room's recordings.
        if look.files.count == 1 { return .byAge(look.files.modified, after: self.rule.after, self.rule) }
        if let path = look.room.map({ self.unfinished[$0] }) ?? self.unfinished.values.min() {
            return .keep("its recording in \(path) is not finished: start the room again")
        }
        if let path = self.unfinishedOfUnknown {
            return .keep("the recording in \(path) is not finished, and may be of this room")
        }
        return .byAge(look.files.modified, after: self.rule.after, self.rule)
    }

    /// Whether clips of an HLS output stay, and with them the files by which a later run finds them.
    func keepsInner(_ look: FolderLook) -> Bool {
        let inner = look.inner.filter { $0.files.count > 0 }
        guard !inner.isEmpty else { return false }
        guard let age = self.rule.recordingsAfter else { return true }
        return !inner.allSatisfy { self.rule.isOver($0.files.modified, after: age) }
    }
}
