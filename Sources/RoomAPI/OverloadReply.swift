package import Events

/// The API's description of what a room leaves out because its machine cannot keep up.
package struct OverloadReply: NamedReply {
    package static let schemaName = "Overload"

    let lagMs: Int64
    let steps: [String]

    /// - Parameters:
    ///   - lag: Lag of the room, in nanoseconds.
    ///   - steps: Names of the overload steps in force, in order.
    package init(lag: Int64, steps: [String]) {
        self.lagMs = lag / 1_000_000
        self.steps = steps
    }

    package static let members: [ReplyMember<Self>] = [
        ReplyMember("lagMs") { $0.lagMs }, ReplyMember("steps") { $0.steps },
    ]
}
