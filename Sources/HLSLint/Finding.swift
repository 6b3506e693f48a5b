package import MediaTypes

/// A finding of the linter: the rule that is violated, what is wrong and where.
package struct Finding: Sendable, Hashable {
    package let rule: Rule
    /// Description of what is wrong, in one sentence without trailing period.
    package let what: String
    /// URL or path of the playlist that has the error, or that lists the object with the error.
    package let playlist: String
    /// Media sequence number of the segment; `nil` if the finding is about the playlist as a whole.
    package let mediaSequence: Int64?
    /// Index of the part in its segment; `nil` if the finding is not about a part.
    package let part: Int?
    /// Time of the finding: nanoseconds of the driver's clock.
    package let at: Int64

    /// Returns two lines of text: what is wrong and where, then the remedy.
    ///
    /// - Parameter start: Time of the driver's clock when the run began, in nanoseconds.
    package func text(since start: Int64) -> String {
        let name = self.playlist.split(separator: "/").last.map(String.init) ?? self.playlist
        let place = self.mediaSequence.map { " segment \($0)" } ?? ""
        let part = self.part.map { " part \($0)" } ?? ""
        let seconds = JSONValue.thousandths((self.at &- start) / 1_000_000).text
        return
            "\(self.rule.rawValue) (\(self.rule.entry.clause)) \(name)\(place)\(part) at \(seconds) s: \(self.what)\n"
            + "    fix: \(self.rule.entry.remedy)\n"
    }

    package func json(since start: Int64) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("rule", .string(self.rule.rawValue)), .init("clause", .string(self.rule.entry.clause)),
            .init("playlist", .string(self.playlist)),
        ]
        if let number = self.mediaSequence { members.append(.init("mediaSequence", .integer(number))) }
        if let part = self.part { members.append(.init("part", JSONValue(part))) }
        members.append(.init("atSeconds", .thousandths((self.at &- start) / 1_000_000)))
        members.append(.init("what", .string(self.what)))
        members.append(.init("remedy", .string(self.rule.entry.remedy)))
        return .object(members)
    }
}

/// Collects findings. For each rule and playlist it keeps the first ten and only counts the others, so that a long run
/// does not need more memory.
struct FindingLog: Sendable {
    /// Maximum number of findings that are kept for each rule and playlist.
    private static let keptPerRule = 10

    private struct Key: Hashable {
        let rule: Rule
        let playlist: String
    }

    private(set) var findings: [Finding] = []
    private(set) var total = 0
    private var counts: [Key: Int] = [:]

    mutating func add(
        _ rule: Rule, _ what: String, in playlist: String, segment: Int64? = nil, part: Int? = nil, at now: Int64
    ) {
        self.total += 1
        let key = Key(rule: rule, playlist: playlist)
        let count = (self.counts[key] ?? 0) + 1
        self.counts[key] = count
        guard count <= Self.keptPerRule else { return }
        self.findings.append(
            Finding(rule: rule, what: what, playlist: playlist, mediaSequence: segment, part: part, at: now))
    }
}
