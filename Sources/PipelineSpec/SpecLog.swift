import MediaTypes

/// The mistakes and warnings found so far while one document is parsed, and the positions of its values.
struct SpecLog {
    private(set) var mistakes: [SpecDiagnostic] = []
    private(set) var warnings: [SpecDiagnostic] = []
    private var positions: [String: SpecPosition] = [:]
    private var broken: Set<String> = []
    private var misspelt: Set<String> = []

    /// Records that the document has a value at `path`.
    mutating func note(_ path: String, at position: SpecPosition) {
        self.positions[path] = position
    }

    /// Records that the document has a value under a similar key instead of at `path`. The misspelt key is reported
    /// elsewhere; further mistakes at `path` are not, but those in the parts of the value are.
    mutating func noteMisspelt(_ path: String, at position: SpecPosition) {
        self.misspelt.insert(path)
        self.note(path, at: position)
    }

    /// Adds a mistake that already has a position.
    mutating func add(_ mistake: SpecDiagnostic) {
        self.broken.insert(mistake.path)
        self.mistakes.append(mistake)
    }

    /// Reports a mistake.
    ///
    /// - Parameter position: Position of the mistake; `nil`: the position of the value at `path` or, if that value is
    ///   missing, of the nearest enclosing value.
    mutating func mistake(_ path: String, _ what: String, fix: String, at position: SpecPosition? = nil) {
        guard !self.misspelt.contains(path) else {
            self.broken.insert(path)
            return
        }
        self.add(SpecDiagnostic(path: path, at: position ?? self.position(of: path), what: what, fix: fix))
    }

    mutating func warning(_ path: String, _ what: String, fix: String) {
        self.warnings.append(SpecDiagnostic(path: path, at: self.position(of: path), what: what, fix: fix))
    }

    /// Whether the document itself has a value at `path`; otherwise the value is a default.
    func isWritten(_ path: String) -> Bool {
        self.positions[path] != nil
    }

    /// Whether none of the paths and none of the values that enclose them has a mistake. Rules check this first, so
    /// that they do not report consequences of another mistake.
    func isValid(_ paths: String...) -> Bool {
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

    /// Checks that a secret is given by only one of its two members, `…Env` and `…File`, and, if it is required, by
    /// one.
    ///
    /// - Parameters:
    ///   - key: The common beginning of the names of both members, such as `secret`.
    ///   - what: If the secret is required, the text that follows "where" in the `fix`; `nil`: the secret is optional.
    mutating func checkSecret(_ key: String, at path: String, required what: String? = nil) {
        switch (self.isWritten("\(path).\(key)Env"), self.isWritten("\(path).\(key)File")) {
        case (true, true):
            self.mistake("\(path).\(key)File", "cannot be combined with \(key)Env", fix: "remove one of the two")
        case (false, false):
            guard let what else { break }
            self.mistake("\(path).\(key)Env", "is missing", fix: "add \"\(key)Env\" or \"\(key)File\": where \(what)")
        default: break
        }
    }

    /// Reports an id that an earlier element already has; otherwise records the id for this element.
    ///
    /// - Parameters:
    ///   - element: The element with the id, as messages name it.
    ///   - ids: Earlier elements by id, each as messages name it.
    mutating func checkUnique(
        _ id: String, _ path: String, of element: String, _ ids: inout [String: String], fix: String
    ) {
        guard self.isValid(path) else { return }
        if let first = ids[id] {
            self.mistake(path, "\(SpecText.quoted(id)) is already used by \(first)", fix: fix)
        } else {
            ids[id] = element
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
