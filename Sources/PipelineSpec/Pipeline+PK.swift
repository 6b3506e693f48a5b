extension Pipeline {
    /// The phases of a PK: countdown → pk → punish → end, each with a scene of its own and a timer.
    package struct PK: Sendable, Equatable {
        /// What starts the first phase.
        package enum Start: String, Sendable, CaseIterable {
            /// A command.
            case manual
            /// Every source of ``PK/scene`` is live; once in the life of the worker.
            case whenReady
        }

        /// Id of the scene of the PK itself. Its sources are those of the PK.
        package var scene: String
        /// Default ``Start/manual``.
        package var start = Start.manual
        /// Milliseconds of countdown before it (0…600,000). Default 0: none.
        package var countdownMs = 0
        /// Id of the scene of the countdown. `nil`: what is on air stays.
        package var countdownScene: String?
        /// Milliseconds it lasts (0…86,400,000); 0: until a command. Default 300,000.
        package var durationMs = 300_000
        /// Milliseconds of punishment after it (0…86,400,000). Default 0: none, but by command.
        package var punishMs = 0
        /// Id of the scene of the punishment. `nil`: ``scene``.
        package var punishScene: String?
        /// Id of the scene after all. Default: the one that is on air first.
        package var endScene = ""

        package init(scene: String) { self.scene = scene }
    }
}

extension Pipeline.PK {
    private static let id: ValueRule<String> = .name(64, marks: "_.-")

    static let rule = ObjectRule(
        "the phases of a PK: countdown, pk, punish, end", Pipeline.PK(scene: ""),
        [
            Field(required: "scene", \.scene, Self.id, "sceneId of the PK; its sources are those of the PK"),
            Field(
                "start", \.start, .choice, "what starts it: a command, or the sources of its scene being live (once)"),
            Field(
                "countdownMs", \.countdownMs, .integer(0...600_000), "milliseconds of countdown before it; 0: none"),
            Field(optional: "countdownScene", \.countdownScene, Self.id, "sceneId; default: what is on air stays"),
            Field(
                "durationMs", \.durationMs, .integer(0...86_400_000), "milliseconds it lasts; 0: until a command"),
            Field(
                "punishMs", \.punishMs, .integer(0...86_400_000),
                "milliseconds of punishment after it; 0: none, but by command"),
            Field(optional: "punishScene", \.punishScene, Self.id, "sceneId of the punishment; default scene"),
            Field(
                "endScene", \.endScene, Self.id, "sceneId after all; default the scene that is on air first",
                derived: true),
        ])
}
