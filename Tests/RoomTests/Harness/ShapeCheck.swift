import Control
import Events
import MediaTypes
import PipelineSpec
import Room

/// Compares JSON values with their declared shapes.
enum ShapeCheck {
    private static let defined = Dictionary(APISchema.all.map { ($0.name, $0.shape) }) { first, _ in first }

    /// Differences between an event and its declaration. Members must be in the declared order.
    static func faults(_ type: String, _ event: JSONNode) -> [String] {
        guard let declaration = EventDeclaration.of(type) else { return ["\(type) is not declared"] }
        guard case .object(let fields) = declaration.shape, case .object(let members) = event.content else {
            return ["\(type) is no object"]
        }
        let names = members.map(\.key)
        let order = fields.map(\.name).filter { names.contains($0) }
        return self.faults(event, declaration.shape, at: type)
            + (order == names ? [] : ["\(type): the order is \(names)"])
    }

    /// Differences between a reply and the schema with this name.
    static func faults(reply: JSONNode?, _ schema: String) -> [String] {
        reply.map { self.faults($0, .named(schema), at: schema) } ?? ["the reply is no JSON"]
    }

    /// All differences, each with its path.
    static func faults(_ node: JSONNode, _ shape: JSONShape, at place: String) -> [String] {
        let fits: Bool
        switch (shape, node.content) {
        case (.orNull, .null): return []
        case (.orNull(let inner), _): return self.faults(node, inner, at: place)
        case (.named(let name), _):
            guard let shape = self.defined[name] else { return ["\(place): \(name) is not defined"] }
            return self.faults(node, shape, at: place)
        case (.list(let element), .array(let nodes)):
            return nodes.enumerated().flatMap { self.faults($1, element, at: "\(place)[\($0)]") }
        case (.map(let value), .object(let members)):
            return members.flatMap { self.faults($0.value, value, at: "\(place).\($0.key)") }
        case (.object(let fields), .object(let members)): return self.faults(members, fields, at: place)
        case (.string, .string), (.boolean, .boolean), (.integer, .integer), (.number, .integer), (.number, .number),
            (.open, .object):
            fits = true
        case (.range(let range), .integer(let value)): fits = range.contains(value)
        case (.date, .string(let text)): fits = text.count == 24 && text.hasSuffix("Z")
        case (.always(let value), _): fits = node.text() == value.text
        case (.words(let words), .string(let text)): fits = words.contains(text)
        default: fits = false
        }
        return fits ? [] : ["\(place): \(node.text()) is no \(shape)"]
    }

    /// Members must be declared and complete.
    private static func faults(_ members: [JSONMember], _ fields: [JSONField], at place: String) -> [String] {
        let names = members.map(\.key)
        var faults = fields.filter { !$0.isOptional && !names.contains($0.name) }.map {
            "\(place).\($0.name) is missing"
        }
        for member in members {
            guard let field = fields.first(where: { $0.name == member.key }) else {
                faults.append("\(place).\(member.key) is not declared")
                continue
            }
            faults += self.faults(member.value, field.shape, at: "\(place).\(member.key)")
        }
        return faults
    }
}
