package import Events

/// The API's description of how well a source's media arrives.
package struct HealthReply: NamedReply {
    package static let schemaName = "Health"

    let findings: [HealthFinding]

    /// - Parameter findings: Problems of the source, the worst first.
    package init(_ findings: [HealthFinding] = []) { self.findings = findings }

    var level: HealthFinding.Level { self.findings.first?.level ?? .normal }

    package static let members: [ReplyMember<Self>] = [
        ReplyMember("level") { $0.level },
        ReplyMember("causes", "causes of any level, the worst first") { $0.findings.map(\.cause) },
        ReplyMember("findings", "the causes, each with its level and the measured value") { $0.findings },
    ]
}
