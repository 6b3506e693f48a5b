import Foundation

/// Validates JSON values against the schemas of an OpenAPI 3.1 document, for the keywords that Tandem's document uses.
///
/// Spec: JSON Schema 2020-12.
struct SchemaCheck {
    private let document: [String: Any]

    init(_ document: [String: Any]) { self.document = document }

    /// The schema of the reply to `method path` with `status`; nil if the document has none.
    func schema(_ method: String, _ path: String, status: Int) -> [String: Any]? {
        let operation = (self.document["paths"] as? [String: Any])?[path] as? [String: Any]
        let responses = (operation?[method.lowercased()] as? [String: Any])?["responses"] as? [String: Any]
        let response = responses?["\(status)"] as? [String: Any]
        let content = (self.resolved(response)?["content"] as? [String: Any])
        let media = content?["application/json"] ?? content?["application/problem+json"]
        return (media as? [String: Any])?["schema"] as? [String: Any]
    }

    /// All differences, each with its path.
    func faults(_ value: Any, _ schema: [String: Any], at place: String = "$") -> [String] {
        guard let schema = self.resolved(schema) else { return ["\(place): the reference leads nowhere"] }
        if let options = schema["anyOf"] as? [[String: Any]] {
            let all = options.map { self.faults(value, $0, at: place) }
            return all.contains { $0.isEmpty } ? [] : all.first ?? []
        }
        let types = (schema["type"] as? [String]) ?? (schema["type"] as? String).map { [$0] } ?? []
        if !types.isEmpty, !types.contains(where: { Self.isA(value, $0) }) {
            return ["\(place): \(value) is no \(types.joined(separator: " or "))"]
        }
        var faults: [String] = []
        if let words = schema["enum"] as? [Any], !words.contains(where: { Self.same($0, value) }) {
            faults.append("\(place): \(value) is none of \(words)")
        }
        if let pattern = schema["pattern"] as? String, let text = value as? String,
            text.range(of: pattern, options: .regularExpression) == nil
        {
            faults.append("\(place): \(text) does not match \(pattern)")
        }
        if let items = schema["items"] as? [String: Any], let list = value as? [Any] {
            for (index, item) in list.enumerated() { faults += self.faults(item, items, at: "\(place)[\(index)]") }
        }
        guard let object = value as? [String: Any] else { return faults }
        let properties = schema["properties"] as? [String: Any] ?? [:]
        for name in schema["required"] as? [String] ?? [] where object[name] == nil {
            faults.append("\(place).\(name) is missing")
        }
        for (name, member) in object {
            if let property = properties[name] as? [String: Any] {
                faults += self.faults(member, property, at: "\(place).\(name)")
            } else if let others = schema["additionalProperties"] as? [String: Any] {
                faults += self.faults(member, others, at: "\(place).\(name)")
            } else if schema["additionalProperties"] as? Bool == false {
                faults.append("\(place).\(name) is not in the document")
            }
        }
        return faults
    }

    private func resolved(_ schema: [String: Any]?) -> [String: Any]? {
        guard let reference = schema?["$ref"] as? String else { return schema }
        var node: Any = self.document
        for part in reference.split(separator: "/").dropFirst() {
            guard let next = (node as? [String: Any])?[String(part)] else { return nil }
            node = next
        }
        return node as? [String: Any]
    }

    private static func same(_ one: Any, _ other: Any) -> Bool { (one as? NSObject) == (other as? NSObject) }

    private static func isA(_ value: Any, _ type: String) -> Bool {
        let number = value as? NSNumber
        let isBool = number.map { isTruth($0) } ?? false
        switch type {
        case "null": return value is NSNull
        case "string": return value is String
        case "boolean": return isBool
        case "integer": return !isBool && number.map { $0.doubleValue == $0.doubleValue.rounded() } ?? false
        case "number": return !isBool && number != nil
        case "array": return value is [Any]
        case "object": return value is [String: Any]
        default: return false
        }
    }

    /// Whether a number of JSON was `true` or `false`.
    private static func isTruth(_ number: NSNumber) -> Bool { String(cString: number.objCType) == "c" }
}
