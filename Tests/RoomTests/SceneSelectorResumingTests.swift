import MediaTypes
import PipelineSpec
import Room
import RoomScenes
import RoomSources
import Testing

@Suite("SceneSelector: state resumed by a successor")
struct SceneSelectorResumingTests {
    private static let second = Kit.second
    private static let durations = PKStateMachine.Durations(countdown: 0, pk: 120 * Kit.second, punish: 0)

    private static func room(phase: PKStateMachine.Phase = .pk, endsAt: Int64?) -> SceneSelector {
        var room = SceneSelector(
            sources: [
                SceneSelector.Source(id: Kit.a, rules: Self.rules, absence: .placeholder),
                SceneSelector.Source(id: Kit.b, rules: Self.rules, absence: .placeholder),
            ],
            scenes: [
                Scene(id: "solo", sources: [Kit.a]), Scene(id: "pk", sources: [Kit.a, Kit.b]),
            ], first: "solo",
            pk: SceneSelector.PK(
                scene: "pk", countdownScene: nil, punishScene: nil, endScene: "solo", durations: Self.durations,
                startsWhenReady: true))
        let hasScene = room.resume("pk")
        let hasPK = room.resumePK(
            phase, since: 0, endsAt: endsAt, durations: Self.durations, hasStartedItself: true)
        #expect(hasScene && hasPK)
        return room
    }

    private static let rules = SourceStateMachine.Rules(stall: nil, grace: 30 * Kit.second, hold: 0)

    @Test("a resumed PK continues in its scene to its original end, before any publisher is back")
    func goesOn() {
        var room = Self.room(endsAt: 50 * Self.second)
        #expect(room.planned.scene.sceneID == "pk")
        #expect(room.receive(.poll([:]), now: 10 * Self.second).isEmpty)
        #expect(room.phases.endsAt == 50 * Self.second)
        let actions = room.receive(.poll([:]), now: 50 * Self.second)
        guard case .phase(let change)? = actions.first else { return #expect(Bool(false), "\(actions)") }
        #expect(change.to == .idle && change.at == 50 * Self.second && change.reason == .timer)
        #expect(room.planned.scene.sceneID == "solo")
    }

    @Test("a resumed PK whose end has passed ends at the first poll, with the time at which it was due")
    func hasEnded() {
        var room = Self.room(endsAt: 50 * Self.second)
        let actions = room.receive(.poll([:]), now: 90 * Self.second)
        guard case .phase(let change)? = actions.first else { return #expect(Bool(false), "\(actions)") }
        #expect(change.to == .idle && change.at == 50 * Self.second && change.reason == .timer)
    }

    @Test("in a successor, a PK that has started automatically does not start again when all publishers are back")
    func startsOnce() {
        var room = Self.room(phase: .idle, endsAt: nil)
        for id in [Kit.a, Kit.b] {
            for event in [SourceStateMachine.Event.published, .arrived, .firstFrameDecoded] {
                let actions = room.receive(.source(id, event), now: Self.second)
                #expect(!actions.contains { if case .phase = $0 { true } else { false } })
            }
        }
        #expect(!room.phases.isRunning)
    }

    @Test("resuming a scene that no longer exists is refused and does not change the scene on air")
    func noScene() {
        var room = Self.room(endsAt: nil)
        let isRestored = room.resume("gone")
        #expect(!isRestored)
        #expect(room.planned.scene.sceneID == "pk")
    }
}
