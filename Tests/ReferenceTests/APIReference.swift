import MediaTypes

/// The routes, their parameters, bodies and replies, from `openapi.json`.
struct APIReference {
    let document: JSONNode

    private struct Operation {
        let method: String
        let path: String
        let node: JSONNode
        var heading: String { "\(self.method) \(self.path)" }
        var tag: String { self.node[key: "tags"]?.array?.first?.string ?? "" }
        var summary: String { self.node[key: "summary"]?.string ?? "" }
        /// Which of the two tokens it needs.
        var token: String {
            if let security = self.node[key: "security"]?.array, security.allSatisfy({ $0.text() == "{}" }) {
                return "none"
            }
            return self.method == "GET" ? "read" : "command"
        }
    }

    private static let methods = ["get", "put", "patch", "post", "delete"]

    private var operations: [Operation] {
        guard case .object(let paths)? = self.document[key: "paths"]?.content else { return [] }
        return paths.flatMap { path -> [Operation] in
            guard case .object(let methods) = path.value.content else { return [] }
            return methods.filter { Self.methods.contains($0.key) }.map {
                Operation(method: $0.key.uppercased(), path: path.key, node: $0.value)
            }
        }
    }

    /// Every route with its method.
    var routes: [String] { self.operations.map(\.heading) }

    /// Every error status that an operation declares.
    var errorStatuses: Set<String> {
        let own = self.operations.flatMap { operation -> [String] in
            guard case .object(let replies)? = operation.node[key: "responses"]?.content else { return [] }
            return replies.map(\.key)
        }
        return Set(own.filter { $0 >= "400" })
    }

    var routeTable: String {
        "\n"
            + Markdown.table(
                ["method", "path", "token", "what it does"],
                self.operations.map {
                    [$0.method, Markdown.code($0.path), $0.token, Markdown.cell($0.summary)]
                }) + "\n"
    }

    /// Follows a reference to a component.
    private func resolved(_ node: JSONNode) -> JSONNode {
        guard let path = node[key: "$ref"]?.string else { return node }
        var found: JSONNode? = self.document
        for step in path.split(separator: "/").dropFirst() { found = found?[key: String(step)] }
        return found ?? node
    }

    // MARK: Operations

    /// A section for each operation, grouped by tags.
    var operationText: String {
        let tags = self.document[key: "tags"]?.array ?? []
        return tags.map { tag in
            let name = tag[key: "name"]?.string ?? ""
            return "\n## \(name)\n\n\(Markdown.cell(tag[key: "description"]?.string ?? "")).\n"
                + self.operations.filter { $0.tag == name }.map { self.section($0) }.joined()
        }.joined() + "\n"
    }

    private func section(_ operation: Operation) -> String {
        var text = "\n### \(operation.heading)\n\n\(Markdown.cell(operation.summary)). Token: \(operation.token).\n"
        let parameters = (operation.node[key: "parameters"]?.array ?? []).map { self.resolved($0) }
        if !parameters.isEmpty { text += "\n" + self.parameterTable(parameters) }
        if let body = operation.node[key: "requestBody"] {
            let isRequired = body[key: "required"]?.boolean == true
            for (type, media) in self.contents(body) {
                text += "\nBody (\(Markdown.code(type))\(isRequired ? "" : ", optional")): "
                text += self.bodyText(media)
            }
        }
        return text + "\nReplies:\n\n" + self.replies(operation)
    }

    private func parameterTable(_ parameters: [JSONNode]) -> String {
        Markdown.table(
            ["parameter", "in", "type", "meaning"],
            parameters.map { parameter in
                let isOptional = parameter[key: "required"]?.boolean != true
                return [
                    Markdown.code(parameter[key: "name"]?.string ?? "") + (isOptional ? " (optional)" : ""),
                    parameter[key: "in"]?.string ?? "",
                    parameter[key: "schema"].map { SchemaText.typeAndRange($0) } ?? "",
                    Markdown.cell(parameter[key: "description"]?.string ?? ""),
                ]
            })
    }

    private func contents(_ node: JSONNode) -> [(type: String, media: JSONNode)] {
        guard case .object(let contents)? = node[key: "content"]?.content else { return [] }
        return contents.map { ($0.key, $0.value) }
    }

    private func bodyText(_ media: JSONNode) -> String {
        guard let schema = media[key: "schema"] else { return "any\n" }
        var text = SchemaText.typeAndRange(schema)
        if let meaning = schema[key: "description"]?.string { text += "; \(Markdown.cell(meaning))" }
        text += "\n"
        let table = SchemaText.memberTable(schema)
        if !table.isEmpty { text += "\n" + table }
        if let example = media[key: "example"] { text += "\n```json\n\(example.text())\n```\n" }
        return text
    }

    private func replies(_ operation: Operation) -> String {
        guard case .object(let replies)? = operation.node[key: "responses"]?.content else { return "" }
        var lines = ""
        var errors: [String] = []
        for reply in replies {
            let node = self.resolved(reply.value)
            let types = self.contents(node)
            if reply.value[key: "$ref"] != nil {
                errors.append(reply.key)
                continue
            }
            let bodies = types.map { type, media in
                let schema = media[key: "schema"].map { SchemaText.type($0) } ?? "any"
                return "\(schema) (\(Markdown.code(type)))"
            }
            let body = bodies.isEmpty ? "no body" : bodies.joined(separator: ", ")
            lines += "- \(reply.key): \(body)\(self.headers(node))\n"
        }
        return lines + (errors.isEmpty ? "" : "- Errors: \(errors.joined(separator: ", "))\n")
    }

    private func headers(_ node: JSONNode) -> String {
        guard case .object(let headers)? = node[key: "headers"]?.content, !headers.isEmpty else { return "" }
        return "; headers: " + headers.map { Markdown.code($0.key) }.joined(separator: ", ")
    }

    // MARK: Shared parts

    /// The error replies that operations share.
    var errors: String {
        guard case .object(let replies)? = self.document[key: "components"]?[key: "responses"]?.content else {
            return ""
        }
        return "\n"
            + Markdown.table(
                ["status", "meaning"],
                replies.map { [$0.key, Markdown.cell($0.value[key: "description"]?.string ?? "")] }) + "\n"
    }

    /// The named schemas, without those of events, which have a page of their own.
    ///
    /// - Parameter known: Names of the schemas on the page of events.
    func schemas(except known: Set<String>) -> String {
        guard case .object(let schemas)? = self.document[key: "components"]?[key: "schemas"]?.content else { return "" }
        return schemas.filter { !known.contains($0.key) }.map { schema in
            "\n### \(schema.key)\n\n" + SchemaText.shapeText(schema.value)
        }.joined() + "\n"
    }
}

extension EventReference {
    /// Names of all schemas in the document of events.
    var schemaNames: Set<String> {
        guard case .object(let definitions)? = self.schema[key: "$defs"]?.content else { return [] }
        return Set(definitions.map(\.key))
    }
}
