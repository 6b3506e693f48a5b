import MediaTypes

/// What the reading of one document has found so far, and where its values stand.
struct SpecLog {
    private(set) var mistakes: [SpecMistake] = []
    private(set) var warnings: [SpecMistake] = []
    private var positions: [String: SpecPosition] = [:]
    private var broken: Set<String> = []

    /// Remembers that the document has a value at `path`.
    mutating func note(_ path: String, at position: SpecPosition) {
        self.positions[path] = position
    }

    /// Adds what was found before the tree was read.
    mutating func add(_ mistake: SpecMistake) {
        self.broken.insert(mistake.path)
        self.mistakes.append(mistake)
    }

    /// - Parameter position: `nil`: where the value, or else the nearest thing around it, stands.
    mutating func mistake(_ path: String, _ what: String, fix: String, at position: SpecPosition? = nil) {
        self.add(SpecMistake(path: path, at: position ?? self.position(of: path), what: what, fix: fix))
    }

    mutating func warning(_ path: String, _ what: String, fix: String) {
        self.warnings.append(SpecMistake(path: path, at: self.position(of: path), what: what, fix: fix))
    }

    /// Whether the document itself has a value at `path`; otherwise it is a default.
    func isWritten(_ path: String) -> Bool {
        self.positions[path] != nil
    }

    /// Whether no mistake was found at any of the paths or around them, so that a rule that looks at them says
    /// something new.
    func isSound(_ paths: String...) -> Bool {
        if self.broken.isEmpty { return true }
        return paths.allSatisfy { path in
            var place: String? = path
            while let current = place {
                if self.broken.contains(current) { return false }
                place = SpecPath.parent(of: current)
            }
            return true
        }
    }

    /// Checks that a secret is given by one of its two members, `…Env` and `…File`.
    ///
    /// - Parameters:
    ///   - key: The members' name up to there, such as `secret`.
    ///   - what: What it is, to follow "where", if it must be given.
    mutating func checkSecret(_ key: String, at path: String, required what: String? = nil) {
        switch (self.isWritten("\(path).\(key)Env"), self.isWritten("\(path).\(key)File")) {
        case (true, true):
            self.mistake("\(path).\(key)File", "stands beside \(key)Env", fix: "keep one of the two")
        case (false, false):
            guard let what else { break }
            self.mistake("\(path).\(key)Env", "is missing", fix: "add \"\(key)Env\" or \"\(key)File\": where \(what)")
        default: break
        }
    }

    private func position(of path: String) -> SpecPosition {
        var place: String? = path
        while let current = place {
            if let position = self.positions[current] { return position }
            place = SpecPath.parent(of: current)
        }
        return .none
    }
}
