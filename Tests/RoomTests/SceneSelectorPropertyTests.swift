import MediaTypes
import PipelineSpec
import Room
import RoomScenes
import RoomSources
import TestSupport
import Testing

/// Random orders of events, with checks after each.
@Suite("SceneSelector invariants under random events")
struct SceneSelectorPropertyTests {
    private static let absences: [SceneSelector.Absence] = [
        .placeholder, .leavePane, .fallbackScene("solo"), .fallbackScene("guest"),
    ]

    @Test(
        "4,000 random events violate no invariant of SceneSelector, and afterwards the commanded scene comes back",
        arguments: 0..<16)
    func promises(seed: Int) throws {
        var random = TestRandom(state: UInt64(seed) &+ 99)
        let absences = (Self.absences[seed / 4], Self.absences[seed % 4])
        var witness = Witness(room: Kit.room(absences, first: "pk", startsWhenReady: seed.isMultiple(of: 2)))
        for _ in 0..<4000 {
            witness.now += Int64.random(in: 0...3 * Kit.second, using: &random)
            witness.step(&random)
        }
        #expect(
            witness.starts > 20 && witness.automaticEnds > 3 && witness.returns > 50, "the steps reached every state")
        try witness.everybodyComesBack()
    }
}

/// Performs random steps and checks the results.
private struct Witness {
    var room: SceneSelector
    var now: Int64 = 0
    var starts = 0
    var automaticEnds = 0
    var returns = 0
    private var phase = PKStateMachine.Phase.idle
    private var states: [SourceID: SourceStateMachine.State] = [Kit.a: .idle, Kit.b: .idle]
    private var shown: SceneSelector.Show

    init(room: SceneSelector) {
        self.room = room
        self.shown = room.planned
    }

    mutating func step(_ random: inout TestRandom) {
        let source = Bool.random(using: &random) ? Kit.a : Kit.b
        let now = self.now
        switch Int.random(in: 0..<22, using: &random) {
        case 0...3: self.note(self.room.comes(source, now: now))
        case 4...5: self.note(self.room.loses(source, now: now))
        case 6: self.note(self.room.receive(.source(source, .left(reason: "x")), now: now))
        case 7: self.note(self.room.receive(.source(source, .takenOver), now: now))
        case 8:
            // A decoder always finishes at some point.
            for _ in 0..<4 { self.note(self.room.receive(.source(source, .drained), now: now)) }
        case 9: self.note(self.room.receive(.source(source, .published), now: now))
        case 10: self.note(self.room.receive(.source(source, .firstFrameDecoded), now: now))
        case 11: self.note(self.room.receive(.source(source, .firstAudioDecoded), now: now))
        case 12:
            let scene = self.room.scenes.randomElement(using: &random) ?? Kit.solo
            self.note(self.room.receive(.commanded(scene), now: now))
        case 13...14: self.note((try? self.room.startPK(now: now)) ?? [])
        case 15: self.note((try? self.room.punishPK(now: now)) ?? [])
        case 16: self.note((try? self.room.endPK(now: now)) ?? [])
        case 17:
            for _ in 0..<Int.random(in: 0...60, using: &random) {
                self.now += 400_000_000
                self.note(self.room.looks(at: self.now, silent: source, since: now))
            }
        default:
            let silent = Bool.random(using: &random)
            self.note(silent ? self.room.receive(.poll([:]), now: now) : self.room.passes(to: now))
        }
    }

    private mutating func note(_ actions: [SceneSelector.Action]) {
        var hasChosen = false
        for action in actions {
            switch action {
            case .tell(let source, let change):
                #expect(change.from == self.states[source] && change.to != change.from, "exactly one event per change")
                if change.from == .reconnecting, change.to == .live { self.returns += 1 }
                self.states[source] = change.to
            case .pkReady:
                #expect([Kit.a, Kit.b].allSatisfy { self.room.sources[$0]?.isPresent == true })
            case .phase(let change):
                self.note(change)
                // A PK that ends by timer ends before the event of a source is handled, which may then be lost.
                hasChosen = hasChosen || change.reason != nil && change.reason != .timer
            case .show(let show):
                #expect(show.scene != self.shown.scene || show.without != self.shown.without)
                self.shown = show
            }
        }
        #expect(self.shown.text == self.room.planned.text, "the scene reported last is on air")
        #expect(self.room.phases.phase == self.phase)
        #expect(self.room.sources.allSatisfy { $0.value.state == self.states[$0.key] })
        self.expectSomebody()
        if hasChosen {
            #expect(
                self.hasSomebody(self.room.wanted) || !self.room.scenes.contains { self.hasSomebody($0) },
                "the scene after a PK shows a source that is not absent")
        }
        if self.room.phases.isRunning {
            #expect(!self.states.values.contains(.gone), "a PK with a finally lost source has ended")
            #expect(!self.room.sources.values.contains { $0.isGivenUp }, "and so has one with a silent source")
        }
    }

    private mutating func note(_ change: PKStateMachine.Change) {
        let allowed: [PKStateMachine.Phase: Set<PKStateMachine.Phase>] = [
            .idle: [.countdown, .pk], .countdown: [.pk, .idle], .pk: [.punish, .idle], .punish: [.idle],
        ]
        #expect(change.from == self.phase && allowed[change.from]?.contains(change.to) == true)
        #expect((change.to == .idle) == (change.reason != nil))
        if change.from == .idle { self.starts += 1 }
        if case .sourceGone? = change.reason { self.automaticEnds += 1 }
        self.phase = change.to
    }

    private func hasSomebody(_ scene: Scene) -> Bool {
        scene.sources.contains { self.room.sources[$0]?.isAbsent == false }
    }

    /// A scene with only absent sources is on air only if it is the requested one, or if all sources are absent.
    private func expectSomebody() {
        let scene = self.shown.scene
        #expect(self.shown.without.count < Set(scene.sources).count, "a pane is left")
        #expect(
            self.shown.without.allSatisfy {
                self.room.sources[$0]?.isPresent == false || self.room.sources[$0]?.isAway(now: self.now) == true
            })
        let isAsked = scene == self.room.wanted
        #expect(self.hasSomebody(scene) || isAsked || self.room.sources.values.allSatisfy(\.isAbsent))
    }

    /// At any time: once all sources are present, the commanded scene is on air, complete.
    mutating func everybodyComesBack() throws {
        for source in [Kit.a, Kit.b] {
            self.note(self.room.loses(source, now: self.now))
            for _ in 0..<4000 { _ = self.room.receive(.source(source, .drained), now: self.now) }
        }
        self.note((try? self.room.endPK(now: self.now)) ?? [])
        for source in [Kit.a, Kit.b] { self.note(self.room.comes(source, now: self.now)) }
        self.note(self.room.passes(to: self.now))
        #expect(self.shown.scene == self.room.wanted && self.shown.without.isEmpty)
        #expect(self.states.values.allSatisfy { $0 == .live })
    }
}
