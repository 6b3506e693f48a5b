package import Events
import MediaTypes

/// The API's description of a room's PK, in the reply to `GET /v1/room` and as the reply to PK commands.
package struct PKReply: NamedReply {
    package static let schemaName = "PK"

    let pk: SceneSelector.PK
    let phase: PKStateMachine.Phase
    /// When the current phase ends, as a date-time; null if only a command ends it, and in idle.
    let endsAt: JSONValue
    /// Time until the current phase ends, in milliseconds; nil if ``endsAt`` is null.
    let remainingMs: Int64?
    /// How much later than the PK's clock the sources are shown, in milliseconds.
    let delayMs: Int

    package static let members: [ReplyMember<Self>] = [
        ReplyMember("phase") { $0.phase },
        ReplyMember("scene", "sceneId during the PK; its sources take part in the PK") { $0.pk.scene },
        ReplyMember("countdownScene", "sceneId; null: the scene on air stays") { $0.pk.countdownScene },
        ReplyMember("punishScene") { $0.pk.punishScene ?? $0.pk.scene },
        ReplyMember("endScene", "sceneId after the PK") { $0.pk.endScene },
        ReplyMember("endsAt", "when the phase ends", as: .orNull(.date)) { $0.endsAt },
        ReplyMember("remainingMs") { $0.remainingMs },
        ReplyMember(
            "delayMs", "how much later than this clock the streamers' media is shown, because of program.delayMs"
        ) {
            $0.delayMs
        },
    ]
}

extension PKStateMachine.Phase: ReplyValue {}
