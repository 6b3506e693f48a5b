import MediaTypes

extension ValueRule where Value == Int {
    /// Quarter turns in degrees: 0, 90, 180 or 270.
    static var rotation: ValueRule {
        let allowed: [Int64] = [0, 90, 180, 270]
        return ValueRule(
            schema: [JSONMember("enum", .array(allowed.map { .integer(Int($0)) }))],
            read: { node, path, log in
                if case .integer(let number) = node.content, allowed.contains(number) { return Int(number) }
                let what =
                    if case .integer(let number) = node.content { "\(number) is not a multiple of a quarter turn" } else
                    {
                        "is \(node.kind), not a number"
                    }
                log.mistake(path, what, fix: "write 0, 90, 180 or 270", at: node.position)
                return nil
            },
            write: { .integer($0) })
    }
}
