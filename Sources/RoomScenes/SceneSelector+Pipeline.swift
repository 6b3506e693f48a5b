package import PipelineSpec
import RoomSources

extension SceneSelector {
    /// Makes the initial state from a pipeline.
    package init(_ pipeline: Pipeline) {
        self.init(
            sources: pipeline.sources.map { Source($0, in: pipeline) },
            scenes: pipeline.scenes, first: pipeline.program.scene, pk: pipeline.pk.map(PK.init))
    }
}

extension SceneSelector.Source {
    /// Makes the rules of a source from the pipeline.
    package init(_ source: Pipeline.Source, in pipeline: Pipeline) {
        var isFile = false
        if case .file = source.input { isFile = true }
        // A static image may give only one frame per second and no audio: three seconds without a frame are not a
        // stall.
        let stall = max(source.stallMs, source.expected?.variableFrameRate == true ? 3000 : 0)
        var rules = SourceStateMachine.Rules(
            stall: isFile ? nil : Int64(stall) * 1_000_000,
            grace: Int64(pipeline.ingest.rtmp.reconnectGraceMs) * 1_000_000,
            hold: Int64(source.onLost.resolvedHoldMs) * 1_000_000,
            stalledHold: isFile ? nil : source.stalledHoldMs.map { Int64($0) * 1_000_000 })
        rules.awaitsVideo = !pipeline.isAudioOnly
        self.init(
            id: source.id, rules: rules, absence: SceneSelector.Absence(source.onLost),
            leavesWithoutVideo: source.onNoVideo == .leavePane)
    }
}

extension SceneSelector.Absence {
    init(_ rule: Pipeline.OnLost) {
        switch (rule.then, rule.fallbackScene) {
        case (.leavePane, _): self = .leavePane
        case (.fallbackScene, let scene?): self = .fallbackScene(scene)
        case (.placeholder, _), (.fallbackScene, nil): self = .placeholder
        }
    }
}

extension SceneSelector.PK {
    /// The default PK settings of a room whose pipeline has no `pk`; the command must name the scene.
    static let unwritten = SceneSelector.PK(Pipeline.PK(scene: ""))

    /// Makes the PK settings from the pipeline.
    package init(_ pk: Pipeline.PK) {
        self.init(
            scene: pk.scene, countdownScene: pk.countdownScene, punishScene: pk.punishScene, endScene: pk.endScene,
            durations: PKStateMachine.Durations(
                countdown: Int64(pk.countdownMs) * 1_000_000, pk: Int64(pk.durationMs) * 1_000_000,
                punish: Int64(pk.punishMs) * 1_000_000), startsWhenReady: pk.start == .whenReady)
    }
}
