/// Changes the room's pipeline document while the room runs.
extension ControlResponder {
    func setDocument(
        _ body: [UInt8], isPatch: Bool, _ query: [(name: String, value: String)]
    ) throws(ControlFailure) -> DocumentReply {
        try Self.refuseUnknown(query, known: ["dryRun"])
        let isDryRun: Bool
        switch query.last?.value ?? "false" {
        case "true": isDryRun = true
        case "false": isDryRun = false
        case let other:
            throw .invalidFormat("\"dryRun\" is \"\(other.prefix(32))\", not true or false", fix: "use true or false")
        }
        return try self.room.setDocument(body, isPatch: isPatch, isDryRun: isDryRun)
    }
}
