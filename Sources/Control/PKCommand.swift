/// A command to the PK: `POST /v1/pk:start`, `:punish` or `:end`.
package enum PKCommand: Sendable, Hashable {
    /// The body of `pk:start`. For members that are `nil` the values of the pipeline's `pk` apply.
    package struct Start: Sendable, Hashable {
        /// Ids of scenes.
        package var scene: String?
        package var countdownScene: String?
        package var punishScene: String?
        package var endScene: String?
        /// Milliseconds; 0 as in the pipeline: no countdown, no automatic end, no punishment phase.
        package var countdownMs: Int?
        package var durationMs: Int?
        package var punishMs: Int?

        package init() {}
    }

    case start(Start)
    /// - Parameter punishMs: Milliseconds; `nil`: as planned; 0: until the next command.
    case punish(punishMs: Int?)
    case end
}
