extension Pipeline {
    /// The phases of a PK (a contest between two streamers): countdown → pk → punish → end, each with its own scene and
    /// timer.
    package struct PK: Sendable, Equatable {
        /// What starts the first phase.
        package enum Start: String, Sendable, CaseIterable {
            /// A command of the control API.
            case manual
            /// The moment when all sources of ``PK/scene`` are live or only stalled. This starts the PK only once while
            /// the worker runs.
            case whenReady
        }

        /// Id of the scene for the pk phase. The sources of this scene take part in the PK.
        package var scene: String
        /// What starts the first phase. Default ``Start/manual``.
        package var start = Start.manual
        /// Duration of the countdown phase in milliseconds (0…600,000). Default 0: no countdown.
        package var countdownMs = 0
        /// Id of the scene of the countdown. `nil`: the scene on air does not change.
        package var countdownScene: String?
        /// Duration of the pk phase in milliseconds (0…86,400,000); 0: until a command. Default 300,000.
        package var durationMs = 300_000
        /// Duration of the punish phase in milliseconds (0…86,400,000). Default 0: only if a command starts it.
        package var punishMs = 0
        /// Id of the scene of the punishment. `nil`: ``scene``.
        package var punishScene: String?
        /// Id of the scene after the last phase. Default: the first scene on air.
        package var endScene = ""

        package init(scene: String) { self.scene = scene }
    }
}

extension Pipeline.PK {
    private static let id: ValueRule<String> = .id

    static let rule = ObjectRule(
        "the phases of a PK: countdown, pk, punish, end", Pipeline.PK(scene: ""),
        [
            Field(required: "scene", \.scene, Self.id, "sceneId of the PK; its sources are those of the PK"),
            Field(
                "start", \.start, .choice,
                "manual: a command starts it; whenReady: it starts once, when all sources of its scene are live"),
            Field(
                "countdownMs", \.countdownMs, .integer(0...600_000),
                "duration of the countdown phase in milliseconds; 0: no countdown"),
            Field(
                optional: "countdownScene", \.countdownScene, Self.id,
                "sceneId of the countdown phase; without it the scene on air does not change"),
            Field(
                "durationMs", \.durationMs, .integer(0...86_400_000),
                "duration of the pk phase in milliseconds; 0: until a command"),
            Field(
                "punishMs", \.punishMs, .integer(0...86_400_000),
                "duration of the punish phase in milliseconds; 0: only if a command starts it"),
            Field(optional: "punishScene", \.punishScene, Self.id, "sceneId of the punish phase; default scene"),
            Field(
                "endScene", \.endScene, Self.id, "sceneId after the last phase; default the first scene on air",
                derived: true),
        ])
}
