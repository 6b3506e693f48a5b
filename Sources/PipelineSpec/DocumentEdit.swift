package import MediaTypes

/// One difference between a room's current document and its pipeline file.
///
/// Elements of lists with ids (sources, outputs, scenes, renditions, audio renditions) are addressed by id, so that an
/// edit still applies after another element was inserted before them in the file.
package struct DocumentEdit: Sendable, Equatable {
    package enum Step: Sendable, Hashable {
        case key(String)
        /// The element of a list with this id.
        case element(String)
    }

    package var path: [Step]
    /// New value of the member or element; `nil`: it is removed.
    package var value: JSONNode?

    package init(_ path: [Step], _ value: JSONNode?) {
        self.path = path
        self.value = value
    }
}

extension DocumentEdit.Step {
    /// The step as text: an element begins with `#`; a key that begins with `#` or `\` is prefixed with `\`.
    package var text: String {
        switch self {
        case .element(let id): "#\(id)"
        case .key(let key): key.hasPrefix("#") || key.hasPrefix("\\") ? "\\\(key)" : key
        }
    }

    package init(text: String) {
        if text.hasPrefix("#") {
            self = .element(String(text.dropFirst()))
        } else {
            self = .key(text.hasPrefix("\\") ? String(text.dropFirst()) : text)
        }
    }
}

extension DocumentEdit {
    /// The path of the edit in readable form, such as `sources[1001/main].volume`.
    package var name: String { Self.name(of: self.path) }

    package static func name(of path: [Step]) -> String {
        path.reduce(into: "") { text, step in
            switch step {
            case .key(let key): text += text.isEmpty ? key : ".\(key)"
            case .element(let id): text += "[\(id)]"
            }
        }
    }

    /// Returns the edits that turn `base` into `node`, in the order of `node`; empty if both are equal.
    package static func between(_ base: JSONNode, _ node: JSONNode) -> [DocumentEdit] {
        var edits: [DocumentEdit] = []
        self.compare(base, node, [], &edits)
        return edits
    }

    private static func compare(
        _ base: JSONNode, _ node: JSONNode, _ path: [Step], _ edits: inout [DocumentEdit]
    ) {
        if base.isSame(as: node) { return }
        switch (base.content, node.content) {
        case (.object(let old), .object(let new)):
            for member in new {
                let step = path + [.key(member.key)]
                if let before = old.first(where: { $0.key == member.key }) {
                    self.compare(before.value, member.value, step, &edits)
                } else {
                    edits.append(DocumentEdit(step, member.value.bare))
                }
            }
            for member in old where !new.contains(where: { $0.key == member.key }) {
                edits.append(DocumentEdit(path + [.key(member.key)], nil))
            }
        case (.array(let old), .array(let new)):
            guard let before = JSONNode.identities(of: old, in: path.last),
                let after = JSONNode.identities(of: new, in: path.last),
                // If the common elements have another order, then the list itself has changed.
                before.filter({ after.contains($0) }) == after.filter({ before.contains($0) })
            else {
                edits.append(DocumentEdit(path, node.bare))
                return
            }
            for (index, id) in after.enumerated() {
                let step = path + [.element(id)]
                if let place = before.firstIndex(of: id) {
                    self.compare(old[place], new[index], step, &edits)
                } else {
                    edits.append(DocumentEdit(step, new[index].bare))
                }
            }
            for id in before where !after.contains(id) { edits.append(DocumentEdit(path + [.element(id)], nil)) }
        default: edits.append(DocumentEdit(path, node.bare))
        }
    }
}

extension JSONNode {
    /// The value without source positions.
    package var bare: JSONNode {
        switch self.content {
        case .array(let elements): .array(elements.map(\.bare))
        case .object(let members): .object(members.map { JSONMember($0.key, $0.value.bare) })
        default: JSONNode(self.content)
        }
    }

    /// The value with the members of each object sorted by key, so that equal values have the same text.
    package var canonical: JSONNode {
        switch self.content {
        case .array(let elements): .array(elements.map(\.canonical))
        case .object(let members):
            .object(members.map { JSONMember($0.key, $0.value.canonical) }.sorted { $0.key < $1.key })
        default: JSONNode(self.content)
        }
    }

    /// The value at a path; `nil` if there is none.
    package subscript(path path: [DocumentEdit.Step]) -> JSONNode? {
        var node = self
        var list: DocumentEdit.Step?
        for step in path {
            switch step {
            case .key(let key):
                guard let next = node[key: key] else { return nil }
                node = next
            case .element(let id):
                guard case .array(let elements) = node.content,
                    let place = Self.identities(of: elements, in: list)?.firstIndex(of: id)
                else { return nil }
                node = elements[place]
            }
            list = step
        }
        return node
    }

    /// Applies an edit. Missing objects and lists on the path to a new value are created, and a new element is appended
    /// to its list. Removing a member or an element that is missing has no effect.
    ///
    /// - Returns: False if the path does not fit this value; the value is then unchanged.
    package mutating func apply(_ edit: DocumentEdit) -> Bool { self.apply(edit.path[...], edit.value, in: nil) }

    private mutating func apply(
        _ path: ArraySlice<DocumentEdit.Step>, _ value: JSONNode?, in list: DocumentEdit.Step?
    ) -> Bool {
        guard let step = path.first else {
            guard let value else { return false }
            self = value
            return true
        }
        let rest = path.dropFirst()
        switch (step, self.content) {
        case (.key(let key), .object(var members)):
            let place = members.firstIndex { $0.key == key }
            if rest.isEmpty, value == nil {
                members.removeAll { $0.key == key }
            } else if let place {
                guard members[place].value.apply(rest, value, in: step) else { return false }
            } else {
                var made: JSONNode
                if case .element? = rest.first { made = .array([]) } else { made = .object([]) }
                guard value != nil, made.apply(rest, value, in: step) else { return false }
                members.append(JSONMember(key, made))
            }
            self.content = .object(members)
            return true
        case (.element(let id), .array(var elements)):
            guard let place = Self.identities(of: elements, in: list)?.firstIndex(of: id) else {
                guard rest.isEmpty else { return false }
                if let value { elements.append(value) }
                self.content = .array(elements)
                return true
            }
            if rest.isEmpty, value == nil {
                elements.remove(at: place)
            } else {
                guard elements[place].apply(rest, value, in: step) else { return false }
            }
            self.content = .array(elements)
            return true
        default: return false
        }
    }

    /// Returns the ids of a list's elements.
    ///
    /// - Parameter list: The step that leads to the list; only some lists have ids.
    /// - Returns: `nil` if the list has no ids, an element has no id, or two elements have the same id.
    static func identities(of elements: [JSONNode], in list: DocumentEdit.Step?) -> [String]? {
        guard case .key(let name)? = list else { return nil }
        var ids: [String] = []
        for element in elements {
            guard let id = element.identity(in: name), !ids.contains(id) else { return nil }
            ids.append(id)
        }
        return ids
    }

    private func identity(in list: String) -> String? {
        switch list {
        case "sources": return self.sourceIdentity
        case "outputs":
            if let id = self[key: "outputId"]?.string { return id }
            return self[key: "type"]?.string.map { "type \($0)" }
        case "scenes": return self[key: "sceneId"]?.string
        case "renditions", "audioRenditions": return self[key: "name"]?.string
        default: return nil
        }
    }

    private var sourceIdentity: String? {
        guard let uid = self[key: "uid"] else { return nil }
        let streamType = self[key: "streamType"]?.string ?? "main"
        if let text = uid.string { return "\(text)/\(streamType)" }
        guard let number = uid.integer else { return nil }
        return "\(number)/\(streamType)"
    }
}
