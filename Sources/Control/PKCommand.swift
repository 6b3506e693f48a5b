/// A command for the PK (a timed battle of streamers): `POST /v1/pk:start`, `:punish` or `:end`.
package enum PKCommand: Sendable, Hashable {
    /// The body of `pk:start`. If a member is nil, then the value of the pipeline's `pk` applies.
    package struct Start: Sendable, Hashable {
        /// Id of the scene during the PK; the next members are those of the countdown, the punishment and the time
        /// after the PK.
        package var scene: String?
        package var countdownScene: String?
        package var punishScene: String?
        package var endScene: String?
        /// Durations of the phases in milliseconds. 0 has the same meaning as in the pipeline: no countdown, no
        /// automatic end, no punishment.
        package var countdownMs: Int?
        package var durationMs: Int?
        package var punishMs: Int?

        package init() {}
    }

    case start(Start)
    /// Begins the punishment phase.
    ///
    /// - Parameter punishMs: Its duration in milliseconds; nil for the planned duration; 0 if only a command ends it.
    case punish(punishMs: Int?)
    case end
}
