import MediaTypes
import PipelineSpec
import Room
import RoomScenes
import RoomSources
import Threading

/// Sources, scenes and times shared by the tests of SceneSelector.
enum Kit {
    static let a = SourceID(uid: "1001", streamType: .main)
    static let b = SourceID(uid: "2002", streamType: .main)
    static let second: Int64 = 1_000_000_000

    static let solo = Scene(id: "solo", sources: [Self.a])
    static let guest = Scene(id: "guest", sources: [Self.b])
    static let duel = Scene(id: "pk", sources: [Self.a, Self.b])
    static let punish = Scene(id: "punish", sources: [Self.b, Self.a])

    static let rules = SourceStateMachine.Rules(
        stall: Self.second, grace: 15 * Self.second, hold: 2 * Self.second, stalledHold: 2 * Self.second)

    /// Two sources, four scenes; the PK has 3 s of countdown, 10 s of PK, 5 s of punishment.
    static func room(
        _ absence: (a: SceneSelector.Absence, b: SceneSelector.Absence) = (.placeholder, .placeholder),
        first: String = "solo",
        startsWhenReady: Bool = false
    ) -> SceneSelector {
        SceneSelector(
            sources: [
                SceneSelector.Source(id: Self.a, rules: Self.rules, absence: absence.a),
                SceneSelector.Source(id: Self.b, rules: Self.rules, absence: absence.b),
            ], scenes: [Self.solo, Self.guest, Self.duel, Self.punish], first: first,
            pk: SceneSelector.PK(
                scene: "pk", countdownScene: nil, punishScene: "punish", endScene: "solo",
                durations: PKStateMachine.Durations(
                    countdown: 3 * Self.second, pk: 10 * Self.second, punish: 5 * Self.second),
                startsWhenReady: startsWhenReady))
    }
}

extension Scene {
    /// A scene with a pane for each source.
    init(id: String, sources: [SourceID]) {
        self.init(id, .panes(sources.map { Pane($0, x: 0, y: 0, width: 2, height: 2) }))
    }
}

/// A wall clock that never advances.
struct StandingWall: WallClock {
    var time: Int64 = 0
    func now() -> Int64 { self.time }
}

extension SceneSelector {
    /// Both sources publish and have frames.
    mutating func everybodyComes(now: Int64) {
        for source in [Kit.a, Kit.b] { _ = self.comes(source, now: now) }
    }

    mutating func comes(_ source: SourceID, now: Int64) -> [Action] {
        [SourceStateMachine.Event.published, .arrived, .firstFrameDecoded].flatMap {
            self.receive(.source(source, $0), now: now)
        }
    }

    /// The connection ends, and the decoder has finished its packets.
    mutating func loses(_ source: SourceID, now: Int64) -> [Action] {
        self.receive(.source(source, .left(reason: "reset")), now: now)
            + self.receive(.source(source, .drained), now: now)
    }

    /// Polls at `now`: `silent` has sent nothing since `last`, and the other source sends.
    mutating func looks(at now: Int64, silent: SourceID, since last: Int64, shownAfter: Int64 = 0) -> [Action] {
        let arrivals = [Kit.a, Kit.b].reduce(into: [SourceID: SourceStateMachine.Arrivals]()) {
            let newest = $1 == silent ? last : now
            $0[$1] = .init(video: newest, audio: newest, shownAfter: shownAfter)
        }
        return self.receive(.poll(arrivals), now: now)
    }

    /// Time passes while every present source sends.
    mutating func passes(to now: Int64) -> [Action] {
        self.receive(.poll([Kit.a, Kit.b].reduce(into: [:]) { $0[$1] = .init(video: now, audio: now) }), now: now)
    }
}

extension [SceneSelector.Action] {
    var shows: [String] { self.compactMap { if case .show(let show) = $0 { show.text } else { nil } } }
    var states: [SourceStateMachine.State] {
        self.compactMap { if case .tell(_, let change) = $0 { change.to } else { nil } }
    }
    var phases: [PKStateMachine.Phase] {
        self.compactMap { if case .phase(let change) = $0 { change.to } else { nil } }
    }
}

extension SceneSelector.Show {
    /// `pk` or `pk-2002`.
    var text: String { self.scene.sceneID + self.without.map { "-\($0)" }.sorted().joined() }
}
