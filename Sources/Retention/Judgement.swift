/// Decides about the directories of a root. Pure.
struct Judgement: Sendable {
    let rule: RetentionRule
    /// Recordings that a worker can still finish: their rooms by id, each with its path.
    private var unfinished: [String: String] = [:]
    /// The path of an unfinished recording whose files do not say its room.
    private var unfinishedOfUnknown: String?
    /// The path of a directory that could not be looked at: it may have an unfinished recording of any room.
    private var unseen: String?

    init(_ rule: RetentionRule) { self.rule = rule }

    /// Takes note of a directory. Called for all directories before the first decision.
    mutating func note(_ facts: FolderFacts, path: String) {
        guard case .recording(isUnfinished: true) = facts.kind else { return }
        if let room = facts.room {
            self.unfinished[room] = path
        } else {
            self.unfinishedOfUnknown = path
        }
    }

    /// Takes note of a directory that could not be looked at.
    mutating func noteUnseen(path: String) { self.unseen = self.unseen ?? path }

    /// Decides about a directory.
    func finding(_ facts: FolderFacts, path: String) -> Finding {
        let keepsInner = self.keepsInner(facts)
        var finding = Finding(
            .output, path: path, room: facts.room, modified: facts.modified,
            files: keepsInner ? facts.files - facts.last : facts.files + facts.innerFiles,
            bytes: keepsInner ? facts.bytes : FolderFacts.sum(facts.bytes, facts.innerBytes),
            others: facts.foreign, verdict: .remove)
        switch facts.kind {
        case .output(let hasEnded):
            finding.verdict = self.verdict(facts, hasEnded)
            if keepsInner, finding.isRemovable, finding.files == 0 { finding.verdict = .keep(Self.onlyClips) }
        case .transport(let hasEnded):
            finding.kind = .transport
            if let problem = facts.problem {
                finding.verdict = .skip(problem)
            } else {
                finding.verdict =
                    hasEnded
                    ? .byAge(finding.modified, after: self.rule.after, self.rule)
                    : .keep("the playlists have not ended")
            }
        case .recording(let isUnfinished):
            finding.kind = .recording
            finding.modified = max(facts.modified, facts.innerModified)
            if let problem = facts.problem {
                finding.verdict = .skip(problem)
            } else if isUnfinished {
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

    private func verdict(_ facts: FolderFacts, _ hasEnded: Bool?) -> Finding.Verdict {
        if hasEnded != false, let problem = facts.problem { return .skip(problem) }
        guard let hasEnded else { return .keep("state.json is damaged") }
        guard hasEnded else { return .keep("the room has not ended") }
        if let store = facts.unfinishedStore {
            return .keep("the store \(store) has not everything yet: start the room again")
        }
        // An earlier run removed everything else, after it had looked at the room's recordings.
        if facts.files == 1 { return .byAge(facts.modified, after: self.rule.after, self.rule) }
        if let path = facts.room.map({ self.unfinished[$0] }) ?? self.unfinished.values.min() {
            return .keep("its recording in \(path) is not finished: start the room again")
        }
        if let path = self.unfinishedOfUnknown {
            return .keep("the recording in \(path) is not finished, and may be of this room")
        }
        if let path = self.unseen {
            return .keep("\(path) could not be looked at, and may have an unfinished recording of this room")
        }
        return .byAge(facts.modified, after: self.rule.after, self.rule)
    }

    /// Whether clips of an HLS output stay, and with them the files by which a later run finds them.
    func keepsInner(_ facts: FolderFacts) -> Bool {
        guard facts.innerFiles > 0 else { return false }
        guard let age = self.rule.recordingsAfter else { return true }
        return !self.rule.isOver(facts.innerModified, after: age)
    }
}
