package import MediaTypes

/// Differences between the room's current document and its pipeline file, as edits that a successor worker can apply to
/// its version of the file.
extension RoomDocument {
    /// Returns the edits that turn `file` into this document. They contain neither values set by command-line flags nor
    /// the revision.
    ///
    /// - Parameter seal: Returns the text to store instead of a stream key; see ``HashedStreamKey``.
    package func edits(from file: RoomDocument, seal: (String) -> String) -> [DocumentEdit] {
        DocumentEdit.between(file.written, self.written).filter { $0.path != [.key("revision")] }.map { edit in
            DocumentEdit(edit.path, edit.value?.sealingKeys(in: edit.path, seal))
        }
    }

    /// Returns the member at a path as written in the file; `nil` if it is missing.
    package func member(_ path: [DocumentEdit.Step]) -> JSONNode? { self.written[path: path] }

    /// Returns all text overlays, score bars or countdowns with this id in the file's scenes, as a JSON array.
    ///
    /// - Parameters:
    ///   - list: `texts`, `scoreBars` or `countdowns`.
    ///   - key: The member that contains the id: `textId`, `scoreId` or `countdownId`.
    package func decorations(in list: String, _ key: String, _ id: String) -> JSONNode {
        guard case .array(let scenes)? = self.written[key: "scenes"]?.content else { return .array([]) }
        return .array(
            scenes.flatMap { scene -> [JSONNode] in
                guard case .array(let elements)? = scene[key: list]?.content else { return [] }
                return elements.filter { $0[key: key]?.string == id }
            })
    }

    /// Returns the document with the edits applied, with the same command-line flags.
    ///
    /// All edits are applied together if the result is valid. Otherwise the first 64 are tried one by one, and each
    /// edit is kept if the document is still valid with it.
    ///
    /// - Parameter revision: The revision that the document had with these edits; a revision never decreases.
    /// - Returns: The document, and the edits that could not be applied, with the reason.
    package func applying(
        _ edits: [DocumentEdit], revision: Int, checks: SpecChecks = .none
    ) -> (document: RoomDocument, refused: [(edit: DocumentEdit, reason: String)]) {
        var document = self
        var refused: [(DocumentEdit, String)] = []
        switch self.with(edits, checks) {
        case .success(let whole): document = whole
        case .failure:
            for edit in edits.prefix(Self.mostTried) {
                switch document.with([edit], checks) {
                case .success(let next): document = next
                case .failure(let error): refused.append((edit, error.text))
                }
            }
            refused += edits.dropFirst(Self.mostTried).map { ($0, "there are too many edits to try one by one") }
        }
        document.revision = max(revision, self.revision, document.revision)
        return (document, refused)
    }

    /// Maximum number of edits that are tried one by one: each attempt parses the document, which takes milliseconds
    /// while viewers wait.
    private static let mostTried = 64

    private struct EditFailure: Error { var text: String }

    private func with(_ edits: [DocumentEdit], _ checks: SpecChecks) -> Result<RoomDocument, EditFailure> {
        if edits.isEmpty { return .success(self) }
        var tree = self.written
        for edit in edits where !tree.apply(edit) {
            return .failure(EditFailure(text: "the pipeline file no longer has a member at this path"))
        }
        switch self.next(Array(tree.text().utf8), checks: checks) {
        case .success(let read): return .success(read.document)
        case .failure(let refusal):
            return .failure(
                EditFailure(
                    text: refusal.mistakes.first.map { "\($0.path): \($0.what)" } ?? "the document cannot be parsed"))
        }
    }
}

extension JSONNode {
    /// Returns the value with every stream key of a source replaced by the text that `seal` returns for it. Stream keys
    /// of outputs stay.
    ///
    /// - Parameter path: Path of the value in a pipeline file.
    func sealingKeys(in path: [DocumentEdit.Step], _ seal: (String) -> String) -> JSONNode {
        guard path.first == .key("sources") else { return self }
        guard case .key(let name)? = path.last, path.count == 3, name == "streamKey" || name == "streamKeys" else {
            return self.sealingKeys(seal)
        }
        return self.sealed(seal)
    }

    private func sealingKeys(_ seal: (String) -> String) -> JSONNode {
        switch self.content {
        case .array(let elements): .array(elements.map { $0.sealingKeys(seal) })
        case .object(let members):
            .object(
                members.map { member in
                    let isKey = member.key == "streamKey" || member.key == "streamKeys"
                    return JSONMember(member.key, isKey ? member.value.sealed(seal) : member.value.sealingKeys(seal))
                })
        default: self
        }
    }

    private func sealed(_ seal: (String) -> String) -> JSONNode {
        switch self.content {
        case .string(let key): .string(seal(key))
        case .array(let elements): .array(elements.map { $0.sealed(seal) })
        default: self
        }
    }
}
