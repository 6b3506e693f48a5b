/// Decides which directories below the root of a retention run are removed. Does no input or output.
struct RemovalPlan: Sendable {
    let rule: RetentionRule
    /// Paths of the recordings that a worker can still finish, by the ids of their rooms; one for each room.
    private var unfinished: [String: String] = [:]
    /// Path of an unfinished recording whose files do not contain the room's id; `nil` if there is none.
    private var unfinishedOfUnknown: String?
    /// Path of a directory that was not read and may contain an unfinished recording of any room; `nil` if there is
    /// none.
    private var unseen: String?

    init(_ rule: RetentionRule) { self.rule = rule }

    /// Registers the facts of a directory. Must be called for all directories before the first ``finding(_:path:)``.
    mutating func note(_ facts: FolderFacts, path: String) {
        guard case .recording(isUnfinished: true) = facts.kind else { return }
        if let room = facts.room {
            self.unfinished[room] = path
        } else {
            self.unfinishedOfUnknown = path
        }
    }

    /// Registers a directory that was not read: it cannot be opened or listed, is too deep, or is on another file
    /// system.
    mutating func noteUnseen(path: String) { self.unseen = self.unseen ?? path }

    /// Decides whether a directory is removed.
    func finding(_ facts: FolderFacts, path: String) -> Finding {
        let keepsInner = self.keepsInner(facts)
        var finding = Finding(
            .output, path: path, room: facts.room, modified: facts.modified,
            files: keepsInner ? facts.files - facts.last : facts.files + facts.innerFiles,
            bytes: keepsInner ? facts.bytes - facts.lastBytes : FolderFacts.sum(facts.bytes, facts.innerBytes),
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
                finding.verdict = .keep("its files are not finished: start the room again, unless it is still running")
            } else if let age = self.rule.recordingsAfter {
                finding.verdict = .byAge(finding.modified, after: age, self.rule)
            } else {
                finding.verdict = .keep("recordings are kept unless --recordings-older-than is given")
            }
        }
        return finding
    }

    private static let onlyClips = "only its clips are left: --recordings-older-than removes them"

    private func verdict(_ facts: FolderFacts, _ hasEnded: Bool?) -> Finding.Verdict {
        if hasEnded != false, let problem = facts.problem { return .skip(problem) }
        guard let hasEnded else { return .keep("state.json is damaged") }
        guard hasEnded else { return .keep("the room has not ended") }
        if let store = facts.unfinishedStore {
            return .keep("the upload to store \(store) is not complete: start the room again")
        }
        // An earlier run removed everything but state.json, after it had checked the room's recordings.
        if facts.files == 1 { return .byAge(facts.modified, after: self.rule.after, self.rule) }
        if let room = facts.room, let path = self.unfinished[room] {
            return .keep("its recording in \(path) is not finished: start the room again")
        }
        // Every recording may belong to an output without the room's id.
        let others = facts.room == nil ? self.unfinished.values.min() : nil
        if let path = others ?? self.unfinishedOfUnknown {
            return .keep("the recording in \(path) is not finished and may belong to this room: start its room again")
        }
        if let path = self.unseen {
            return .keep("\(path) could not be checked and may contain an unfinished recording of this room")
        }
        return .byAge(facts.modified, after: self.rule.after, self.rule)
    }

    /// Whether the clips in a directory are kept, and with them the files by which a later run recognizes the directory.
    func keepsInner(_ facts: FolderFacts) -> Bool {
        guard facts.innerFiles > 0 else { return false }
        guard let age = self.rule.recordingsAfter else { return true }
        return !self.rule.isOver(facts.innerModified, after: age)
    }
}
