import MediaTypes

/// One `--set path=value` of the command line: a value that replaces the value in the file.
package struct SpecOverride: Sendable, Hashable {
    /// The path as given, such as `sources[0].streamKey`.
    package var path: String
    /// The value as given: JSON, or a string without quotes.
    package var value: String

    package init(path: String, value: String) {
        self.path = path
        self.value = value
    }

    /// Parses `path=value`, split at the first `=`; `nil` if there is no `=` or no path before it.
    package init?(argument: String) {
        guard let cut = argument.firstIndex(of: "="), cut != argument.startIndex else { return nil }
        self.init(path: String(argument[..<cut]), value: String(argument[argument.index(after: cut)...]))
    }

    /// Sets the value in the tree. Missing objects along the path are created; missing array elements are not.
    ///
    /// Unknown keys are reported later, when the tree is parsed, with the name of the flag.
    ///
    /// - Returns: Why the value cannot be set; `nil` if it was set.
    func apply(to root: inout JSONNode) -> SpecDiagnostic? {
        let position = SpecPosition.flag(path: self.path, text: self.value)
        guard let path = SpecPath(self.path) else {
            return SpecDiagnostic(
                path: self.path, at: position, what: "is not a path",
                fix: "write keys and indexes as in sources[0].volume")
        }
        let failure = Self.set(
            Self.node(for: self.value, at: position), in: &root, along: path.steps[...], at: position)
        return failure.map { SpecDiagnostic(path: self.path, at: position, what: $0.what, fix: $0.fix) }
    }

    private static func node(for text: String, at position: SpecPosition) -> JSONNode {
        let document = JSONParser.parse(Array(text.utf8))
        guard let root = document.root, document.mistakes.isEmpty else { return JSONNode(.string(text), at: position) }
        return self.moved(root, to: position)
    }

    /// Returns the value with every position replaced by that of the flag, because lines and columns within a flag's
    /// text are of no use to the reader.
    private static func moved(_ node: JSONNode, to position: SpecPosition) -> JSONNode {
        switch node.content {
        case .array(let elements):
            JSONNode(.array(elements.map { self.moved($0, to: position) }), at: position)
        case .object(let members):
            JSONNode(
                .object(members.map { JSONMember($0.key, self.moved($0.value, to: position), at: position) }),
                at: position)
        default: JSONNode(node.content, at: position)
        }
    }

    private static func set(
        _ value: JSONNode, in node: inout JSONNode, along steps: ArraySlice<SpecPath.Step>, at position: SpecPosition
    ) -> (what: String, fix: String)? {
        guard let step = steps.first else {
            node = value
            return nil
        }
        switch (step, node.content) {
        case (.key(let key), .object(var members)):
            if let index = members.firstIndex(where: { $0.key == key }) {
                if let failure = self.set(value, in: &members[index].value, along: steps.dropFirst(), at: position) {
                    return failure
                }
            } else {
                var child = JSONNode(.object([]), at: position)
                if let failure = self.set(value, in: &child, along: steps.dropFirst(), at: position) { return failure }
                members.append(JSONMember(key, child, at: position))
            }
            node.content = .object(members)
            return nil
        case (.index(let index), .array(var elements)):
            guard elements.indices.contains(index) else {
                return (
                    "the array in the file has \(elements.count) elements and no [\(index)]",
                    "count from 0, or add the element to the file"
                )
            }
            if let failure = self.set(value, in: &elements[index], along: steps.dropFirst(), at: position) {
                return failure
            }
            node.content = .array(elements)
            return nil
        case (.key(let key), _):
            return (
                "\(SpecText.quoted(key)) is a key, but the file has \(node.kind) there",
                "check the path against `tandem schema`"
            )
        case (.index(let index), _):
            return (
                "[\(index)] is an index, but the file has no array there",
                "check the path, or write the array in the file"
            )
        }
    }
}
