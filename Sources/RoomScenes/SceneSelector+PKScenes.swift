package import PipelineSpec

extension SceneSelector.PK {
    /// The scenes that a command names when it starts a PK. For a scene that is nil, the pipeline's scene applies.
    package struct Scenes: Sendable, Equatable {
        package var scene: String?
        package var countdownScene: String?
        package var punishScene: String?
        package var endScene: String?

        package init(
            scene: String? = nil, countdownScene: String? = nil, punishScene: String? = nil, endScene: String? = nil
        ) {
            self.scene = scene
            self.countdownScene = countdownScene
            self.punishScene = punishScene
            self.endScene = endScene
        }

        package var isEmpty: Bool { self == Scenes() }

        /// The scenes that are set, with the names that their members have in the API.
        package var members: [(name: String, id: String)] {
            [
                ("scene", self.scene), ("countdownScene", self.countdownScene), ("punishScene", self.punishScene),
                ("endScene", self.endScene),
            ].compactMap { name, id in id.map { (name, $0) } }
        }

        package var ids: [String] { self.members.map(\.id) }

        /// A copy without the scenes for which `isKnown` returns false.
        func filter(_ isKnown: (String) -> Bool) -> Scenes {
            func known(_ id: String?) -> String? { id.flatMap { isKnown($0) ? $0 : nil } }
            return Scenes(
                scene: known(self.scene), countdownScene: known(self.countdownScene),
                punishScene: known(self.punishScene), endScene: known(self.endScene))
        }
    }

    /// Makes the PK from that of the pipeline and the scenes that a command has named; nil if neither names the scene
    /// during the PK.
    ///
    /// - Parameter pk: The PK of the pipeline; nil if the pipeline has none, so that the default durations apply.
    init?(_ pk: SceneSelector.PK?, _ scenes: Scenes) {
        guard let scene = scenes.scene ?? pk?.scene else { return nil }
        self = pk ?? .unwritten
        self.scene = scene
        self.countdownScene = scenes.countdownScene ?? self.countdownScene
        self.punishScene = scenes.punishScene ?? self.punishScene
        self.endScene = scenes.endScene ?? self.endScene
    }
}

extension SceneSelector {
    /// The PK as the API shows it; nil if the pipeline has none and no command has started one.
    package var shownPK: PK? {
        let pk = PK(self.pk, self.commandedScenes)
        guard self.phases.isRunning, let plan = self.plan else { return pk }
        guard var pk else { return plan }
        pk.scene = plan.scene
        return pk
    }

    /// The scene whose sources take part in the current or last PK; without sources if the scene was removed, and nil
    /// if there was no PK.
    package var pkScene: Scene? {
        self.plan.map { self.scene($0.scene) ?? Scene($0.scene, .panes([])) }
    }

    /// The ids of the scenes that a running PK may still put on air: the scene of the PK itself and those of its
    /// punishment and its end. Empty if no PK is running.
    ///
    /// - Parameter pk: The PK of the pipeline from now on.
    package func scenesNeeded(by pk: PK?) -> Set<String> {
        guard self.phases.isRunning, let plan = PK(pk, self.commandedScenes) else { return [] }
        return [plan.scene, plan.punishScene ?? plan.scene, plan.endScene]
    }
}
