import Foundation

/// `commands.json` as another program reads and writes it.
struct CommandedFile {
    private static let mark = "laterMember"
    /// Objects whose members are named entries.
    private static let entries: Set<String> = [
        "texts", "scores", "scenes", "countdowns", "fileMembers", "ends", "trackVolumes",
    ]
    /// Values that the program does not interpret.
    private static let opaque: Set<String> = ["value", "body"]
    /// Arrays that the room itself changes.
    private static let lively: Set<String> = ["alarms", "clips"]

    private var root: [String: Any]

    init(_ path: String) throws {
        self.root =
            try JSONSerialization.jsonObject(with: Data(contentsOf: URL(fileURLWithPath: path))) as? [String: Any]
            ?? [:]
    }

    func write(_ path: String) throws {
        let bytes = try JSONSerialization.data(withJSONObject: self.root, options: [.withoutEscapingSlashes])
        try bytes.write(to: URL(fileURLWithPath: path))
    }

    var minor: Int? { self.root["minor"] as? Int }

    /// Locations of unknown members: the names of the enclosing objects, with what identifies those in an array.
    var unknownMembers: Set<String> {
        var found: Set<String> = []
        _ = Self.visit(self.root, "") { object, path in
            if let mark = object[Self.mark] { found.insert("\(path): \(mark)") }
            return object
        }
        return found
    }

    /// Adds a member to each object whose members have a fixed meaning, as a later minor version may do.
    ///
    /// - Returns: Their locations; see ``unknownMembers``.
    mutating func addUnknownMembers(minor: Int) -> Set<String> {
        var count = 0
        let marked = Self.visit(self.root, "") { object, _ in
            count += 1
            var object = object
            object[Self.mark] = ["number \(count)"]
            return object
        }
        self.root = marked as? [String: Any] ?? [:]
        self.root["minor"] = minor
        return self.unknownMembers
    }

    /// Removes the members that minor version 1 has added.
    mutating func makeMinorZero() {
        var pk = self.root["pk"] as? [String: Any] ?? [:]
        for name in ["scene", "countdownScene", "punishScene", "endScene"] { pk[name] = nil }
        self.root["pk"] = pk
        self.root["minor"] = 0
    }

    /// Changes each object whose members have a fixed meaning.
    private static func visit(
        _ value: Any, _ path: String, isEntries: Bool = false, _ change: ([String: Any], String) -> [String: Any]
    ) -> Any {
        if let list = value as? [Any] {
            return list.map { self.visit($0, "\(path)[\(self.identity($0))]", change) }
        }
        guard var object = value as? [String: Any] else { return value }
        for (key, member) in object.sorted(by: { $0.key < $1.key })
        where !self.opaque.contains(key) && !self.lively.contains(key) {
            // The entries of a document's edits have paths, which are arrays of strings.
            object[key] = self.visit(
                member, "\(path).\(key)", isEntries: self.entries.contains(key) && !isEntries, change)
        }
        return isEntries ? object : change(object, path)
    }

    private static func identity(_ value: Any) -> String {
        guard let object = value as? [String: Any] else { return "" }
        return ["uid", "id", "key", "scene", "path"].compactMap { object[$0].map { "\($0)" } }.joined(separator: " ")
    }
}
