import MediaTypes
import Room
import RoomScenes
import Testing

@Suite("SceneSelector: PK scenes and durations from the pipeline and from commands")
struct SceneSelectorPKTests {
    private static let second = Kit.second

    /// A room whose pipeline has no PK, with both sources live.
    private static func bare() -> SceneSelector {
        var room = Kit.room()
        room.setPK(nil)
        room.everybodyComes(now: 0)
        return room
    }

    private static func live() -> SceneSelector {
        var room = Kit.room()
        room.everybodyComes(now: 0)
        return room
    }

    /// The PK of ``Kit/room(_:first:startsWhenReady:)`` with changes.
    private static func pk(_ change: (inout SceneSelector.PK) -> Void) -> SceneSelector.PK? {
        guard var pk = Kit.room().pk else { return nil }
        change(&pk)
        return pk
    }

    // MARK: Without a PK in the pipeline

    @Test("a room without `pk` starts a PK in a scene named by command, and returns to the scene before it")
    func bareRoom() throws {
        var room = Self.bare()
        #expect(room.shownPK == nil)
        #expect(throws: PKStateMachine.Refusal.self) { try room.startPK(duration: Self.second, now: 0) }
        _ = room.receive(.commanded(Kit.guest), now: Self.second)
        let start = try room.startPK(.init(scene: "pk"), duration: 20 * Self.second, now: Self.second)
        #expect(start.phases == [.pk] && start.shows == ["pk"])
        #expect(room.shownPK?.scene == "pk" && room.shownPK?.endScene == "guest")
        let end = room.passes(to: 21 * Self.second)
        #expect(end.phases == [.idle] && end.shows == ["guest"])
        #expect(room.shownPK?.scene == "pk", "the last one is shown")
    }

    @Test("a second PK has its own scenes and durations, and nothing from the first")
    func secondPK() throws {
        var room = Self.bare()
        _ = try room.startPK(.init(scene: "pk", punishScene: "guest"), duration: 5 * Self.second, now: 0)
        #expect(room.passes(to: 5 * Self.second).phases == [.idle])
        let second = SceneSelector.PK.Scenes(scene: "punish", countdownScene: "guest", endScene: "pk")
        let start = try room.startPK(
            second, countdown: Self.second, duration: 2 * Self.second, punish: Self.second, now: 6 * Self.second)
        #expect(start.phases == [.countdown] && start.shows == ["guest"])
        #expect(room.passes(to: 7 * Self.second).shows == ["punish"])
        let punish = room.passes(to: 9 * Self.second)
        #expect(punish.phases == [.punish] && punish.shows.isEmpty, "without a scene of its own the PK's stays")
        #expect(room.passes(to: 10 * Self.second).shows == ["pk"])
    }

    @Test(
        "in a room without `pk`, a PK lasts 300 s unless its command says otherwise, without countdown and punishment"
    )
    func unwrittenDurations() throws {
        var room = Self.bare()
        _ = try room.startPK(.init(scene: "pk"), now: 0)
        #expect(room.phases.phase == .pk && room.phases.endsAt == 300 * Self.second)
        #expect(room.passes(to: 300 * Self.second).phases == [.idle])
    }

    @Test("in a room without `pk`, a PK ends when a source of its commanded scene has been lost for the grace period")
    func lostSource() throws {
        var room = Self.bare()
        _ = try room.startPK(.init(scene: "pk"), duration: 0, now: 0)
        _ = room.loses(Kit.b, now: 0)
        let end = room.passes(to: 15 * Self.second)
        #expect(end.phases == [.idle] && end.shows == ["solo"])
    }

    @Test(
        "in a room without `pk`, pk:punish and pk:end are refused before the first PK, and accepted once a command started one"
    )
    func bareCommands() throws {
        var room = Self.bare()
        #expect(throws: PKStateMachine.Refusal.self) { try room.endPK(now: 0) }
        #expect(throws: PKStateMachine.Refusal.self) { try room.punishPK(now: 0) }
        _ = try room.startPK(.init(scene: "pk"), now: 0)
        #expect(try room.punishPK(duration: Self.second, now: Self.second).phases == [.punish])
        #expect(try room.endPK(now: Self.second).phases == [.idle])
    }

    // MARK: Scenes of a command override those of the pipeline

    @Test("scenes named by pk:start replace the pipeline's, for that PK only")
    func overrides() throws {
        var room = Self.live()
        let start = try room.startPK(.init(scene: "punish", endScene: "guest"), countdown: 0, now: 0)
        #expect(start.shows == ["punish"] && room.shownPK?.punishScene == "punish")
        #expect(try room.endPK(now: Self.second).shows == ["guest"])
        #expect(room.shownPK?.scene == "pk" && room.shownPK?.endScene == "solo")
        #expect(try room.startPK(countdown: 0, now: 2 * Self.second).shows == ["pk"])
        #expect(try room.endPK(now: 3 * Self.second).shows == ["solo"])
    }

    @Test("a pk:start that names an unknown scene is refused and changes nothing")
    func unknownScene() throws {
        var room = Self.live()
        let refusal = #expect(throws: PKStateMachine.Refusal.self) { try room.startPK(.init(endScene: "gone"), now: 0) }
        #expect(refusal?.what.contains("gone") == true)
        #expect(!room.phases.isRunning && room.commandedScenes.isEmpty)
    }

    // MARK: A pipeline that changes

    @Test(
        "if `pk` changes, a running PK keeps its end, and changed scenes apply from the next phase, unless a command set them"
    )
    func changedBlock() throws {
        var room = Self.live()
        _ = try room.startPK(.init(endScene: "guest"), countdown: 0, now: 0)
        room.setPK(
            Self.pk {
                ($0.scene, $0.punishScene, $0.endScene) = ("guest", nil, "pk")
                $0.durations = PKStateMachine.Durations(countdown: 0, pk: Self.second, punish: 0)
            })
        let meanwhile = room.passes(to: 10 * Self.second - 1)
        #expect(meanwhile.phases.isEmpty && meanwhile.shows.isEmpty && room.shownPK?.scene == "pk")
        let punish = room.passes(to: 10 * Self.second)
        #expect(punish.phases == [.punish] && punish.shows == ["guest"])
        let end = room.passes(to: 15 * Self.second)
        #expect(end.phases == [.idle] && end.shows.isEmpty && room.wanted.sceneID == "guest", "as the command has said")
        #expect(room.shownPK?.endScene == "pk")
    }

    @Test(
        "if `pk` is changed to another scene while a PK runs, losing a source of the new scene alone does not end the PK"
    )
    func lossOfANewScene() throws {
        var room = Self.live()
        _ = try room.startPK(.init(scene: "solo"), countdown: 0, duration: 0, now: 0)
        room.setPK(Self.pk { $0.scene = "guest" })
        _ = room.loses(Kit.b, now: 0)
        #expect(room.passes(to: 20 * Self.second).phases.isEmpty)
    }

    @Test("if the end scene in `pk` changes while a PK runs, the new end scene is on air after the PK")
    func endScene() throws {
        var room = Self.live()
        _ = try room.startPK(countdown: 0, now: Self.second)
        room.setPK(Self.pk { $0.endScene = "guest" })
        #expect(try room.endPK(now: 2 * Self.second).shows == ["guest"])
    }

    @Test(
        "a `pk` with automatic start, added while its sources are live, starts at the next poll, but not again if added again"
    )
    func laterWhenReady() throws {
        var room = Self.bare()
        room.setPK(Self.pk { $0.startsWhenReady = true })
        let start = room.passes(to: Self.second)
        #expect(start.contains(.pkReady) && start.phases == [.countdown])
        _ = try room.endPK(now: 2 * Self.second)
        room.setPK(nil)
        room.setPK(Self.pk { $0.startsWhenReady = true })
        #expect(room.passes(to: 3 * Self.second).phases.isEmpty)
    }

    @Test("if automatic start is enabled in `pk` while both sources are live, the PK starts at the next poll")
    func becomesWhenReady() throws {
        var room = Self.live()
        #expect(room.passes(to: 0).phases.isEmpty)
        room.setPK(Self.pk { $0.startsWhenReady = true })
        #expect(room.passes(to: Self.second).phases == [.countdown])
    }

    @Test("after `pk` is removed no PK is reported; a `pk` added later overrides scenes of the last command")
    func removedBlock() throws {
        var room = Self.live()
        room.setPK(nil)
        #expect(room.shownPK == nil && room.passes(to: Self.second).isEmpty)
        _ = try room.startPK(.init(scene: "guest"), now: Self.second)
        _ = try room.endPK(now: 2 * Self.second)
        room.setPK(Self.pk { _ in })
        #expect(room.shownPK?.scene == "pk" && room.commandedScenes.isEmpty)
    }

    @Test("the scenes needed by a running PK are its commanded ones, and otherwise those of `pk`")
    func neededScenes() throws {
        var room = Self.live()
        #expect(room.scenesNeeded(by: room.pk).isEmpty)
        _ = try room.startPK(.init(endScene: "guest"), now: 0)
        #expect(room.scenesNeeded(by: room.pk) == ["pk", "punish", "guest"])
        #expect(room.scenesNeeded(by: Self.pk { ($0.scene, $0.punishScene) = ("solo", nil) }) == ["solo", "guest"])
        _ = try room.endPK(now: 1)
        #expect(room.scenesNeeded(by: room.pk).isEmpty)
    }

    // MARK: Another worker

    /// A PK started by command, resumed by the next worker.
    private static func resumed(
        _ room: SceneSelector, _ scenes: SceneSelector.PK.Scenes, phase: PKStateMachine.Phase = .pk
    ) -> (room: SceneSelector, isThere: Bool) {
        var room = room
        let isThere = room.resumePK(
            phase, since: 0, endsAt: phase == .idle ? nil : 30 * Self.second,
            durations: PKStateMachine.Durations(countdown: 0, pk: 30 * Self.second, punish: 0), hasStartedItself: false,
            scenes: scenes)
        return (room, isThere)
    }

    @Test("a successor continues the PK with its commanded scenes, with and without `pk` in its pipeline")
    func resumedScenes() {
        let scenes = SceneSelector.PK.Scenes(scene: "punish", endScene: "guest")
        for before in [Self.bare(), Self.live()] {
            let resumed = Self.resumed(before, scenes)
            var room = resumed.room
            #expect(resumed.isThere && room.shownPK?.scene == "punish" && room.pkScene == Kit.punish)
            let end = room.passes(to: 30 * Self.second)
            #expect(end.phases.last == .idle && end.shows.last == "guest")
        }
    }

    @Test(
        "a successor without `pk` does not resume a PK whose commanded scene is gone or unknown; with `pk`, its scene is used"
    )
    func resumedBare() {
        #expect(!Self.resumed(Self.bare(), .init()).isThere)
        let gone = Self.resumed(Self.bare(), .init(scene: "gone", endScene: "solo"))
        #expect(!gone.isThere && !gone.room.phases.isRunning)
        let other = Self.resumed(Self.live(), .init(scene: "gone", endScene: "guest"))
        #expect(other.isThere && other.room.shownPK?.scene == "pk" && other.room.shownPK?.endScene == "guest")
    }

    @Test("a successor reports the commanded scenes of an ended PK only if its pipeline has no `pk`")
    func resumedIdle() {
        let scenes = SceneSelector.PK.Scenes(scene: "punish", endScene: "guest")
        #expect(Self.resumed(Self.bare(), scenes, phase: .idle).room.shownPK?.scene == "punish")
        #expect(Self.resumed(Self.live(), scenes, phase: .idle).room.shownPK?.scene == "pk")
        let nothing = Self.resumed(Self.bare(), .init(), phase: .idle)
        #expect(nothing.isThere && nothing.room.shownPK == nil)
    }
}
