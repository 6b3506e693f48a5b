import MediaTypes
import Room
import RoomScenes
import Testing

@Suite("A room's PK: its scenes, by the pipeline and by command")
struct RoomLifePKTests {
    private static let second = Kit.second

    /// A room whose pipeline has no PK, with both sources live.
    private static func bare() -> RoomLife {
        var room = Kit.room()
        room.setPK(nil)
        room.everybodyComes(now: 0)
        return room
    }

    private static func live() -> RoomLife {
        var room = Kit.room()
        room.everybodyComes(now: 0)
        return room
    }

    /// As the PK of ``Kit/room(_:first:startsWhenReady:)``, changed.
    private static func pk(_ change: (inout RoomLife.PK) -> Void) -> RoomLife.PK? {
        guard var pk = Kit.room().pk else { return nil }
        change(&pk)
        return pk
    }

    // MARK: Without a PK in the pipeline

    @Test("a room without a PK starts one whose scene a command names; the scene on air before comes after it")
    func bareRoom() throws {
        var room = Self.bare()
        #expect(room.shownPK == nil)
        #expect(throws: PKLife.Refusal.self) { try room.startPK(duration: Self.second, now: 0) }
        _ = room.receive(.commanded(Kit.guest), now: Self.second)
        let start = try room.startPK(.init(scene: "pk"), duration: 20 * Self.second, now: Self.second)
        #expect(start.phases == [.pk] && start.shows == ["pk"])
        #expect(room.shownPK?.scene == "pk" && room.shownPK?.endScene == "guest")
        let end = room.passes(to: 21 * Self.second)
        #expect(end.phases == [.idle] && end.shows == ["guest"])
        #expect(room.shownPK?.scene == "pk", "the last one is shown")
    }

    @Test("a second PK has another scene, another length and a countdown, and nothing of the first")
    func secondPK() throws {
        var room = Self.bare()
        _ = try room.startPK(.init(scene: "pk", punishScene: "guest"), duration: 5 * Self.second, now: 0)
        #expect(room.passes(to: 5 * Self.second).phases == [.idle])
        let second = RoomLife.PK.Scenes(scene: "punish", countdownScene: "guest", endScene: "pk")
        let start = try room.startPK(
            second, countdown: Self.second, duration: 2 * Self.second, punish: Self.second, now: 6 * Self.second)
        #expect(start.phases == [.countdown] && start.shows == ["guest"])
        #expect(room.passes(to: 7 * Self.second).shows == ["punish"])
        let punish = room.passes(to: 9 * Self.second)
        #expect(punish.phases == [.punish] && punish.shows.isEmpty, "without a scene of its own the PK's stays")
        #expect(room.passes(to: 10 * Self.second).shows == ["pk"])
    }

    @Test("a PK that no pipeline describes lasts 300 seconds, without countdown and punishment")
    func unwrittenDurations() throws {
        var room = Self.bare()
        _ = try room.startPK(.init(scene: "pk"), now: 0)
        #expect(room.phases.phase == .pk && room.phases.endsAt == 300 * Self.second)
        #expect(room.passes(to: 300 * Self.second).phases == [.idle])
    }

    @Test("a source of the commanded scene that is finally lost ends the PK")
    func lostSource() throws {
        var room = Self.bare()
        _ = try room.startPK(.init(scene: "pk"), duration: 0, now: 0)
        _ = room.loses(Kit.b, now: 0)
        let end = room.passes(to: 15 * Self.second)
        #expect(end.phases == [.idle] && end.shows == ["solo"])
    }

    @Test("punish and end are refused where no PK has been, and are not after a command")
    func bareCommands() throws {
        var room = Self.bare()
        #expect(throws: PKLife.Refusal.self) { try room.endPK(now: 0) }
        #expect(throws: PKLife.Refusal.self) { try room.punishPK(now: 0) }
        _ = try room.startPK(.init(scene: "pk"), now: 0)
        #expect(try room.punishPK(duration: Self.second, now: Self.second).phases == [.punish])
        #expect(try room.endPK(now: Self.second).phases == [.idle])
    }

    // MARK: Scenes of a command over those of the pipeline

    @Test("scenes that the command names come before the pipeline's, for that PK alone")
    func overrides() throws {
        var room = Self.live()
        let start = try room.startPK(.init(scene: "punish", endScene: "guest"), countdown: 0, now: 0)
        #expect(start.shows == ["punish"] && room.shownPK?.punishScene == "punish")
        #expect(try room.endPK(now: Self.second).shows == ["guest"])
        #expect(room.shownPK?.scene == "pk" && room.shownPK?.endScene == "solo")
        #expect(try room.startPK(countdown: 0, now: 2 * Self.second).shows == ["pk"])
        #expect(try room.endPK(now: 3 * Self.second).shows == ["solo"])
    }

    @Test("a scene that the command names and that is not there refuses it, and nothing has changed")
    func unknownScene() throws {
        var room = Self.live()
        let refusal = #expect(throws: PKLife.Refusal.self) { try room.startPK(.init(endScene: "gone"), now: 0) }
        #expect(refusal?.what.contains("gone") == true)
        #expect(!room.phases.isRunning && room.commandedScenes.isEmpty)
    }

    // MARK: A pipeline that changes

    @Test("a running PK keeps its end; changed scenes count from the next phase on, but not against its command")
    func changedBlock() throws {
        var room = Self.live()
        _ = try room.startPK(.init(endScene: "guest"), countdown: 0, now: 0)
        room.setPK(
            Self.pk {
                ($0.scene, $0.punishScene, $0.endScene) = ("guest", nil, "pk")
                $0.durations = PKLife.Durations(countdown: 0, pk: Self.second, punish: 0)
            })
        let meanwhile = room.passes(to: 10 * Self.second - 1)
        #expect(meanwhile.phases.isEmpty && meanwhile.shows.isEmpty && room.shownPK?.scene == "pk")
        let punish = room.passes(to: 10 * Self.second)
        #expect(punish.phases == [.punish] && punish.shows == ["guest"])
        let end = room.passes(to: 15 * Self.second)
        #expect(end.phases == [.idle] && end.shows.isEmpty && room.wanted.sceneID == "guest", "as the command has said")
        #expect(room.shownPK?.endScene == "pk")
    }

    @Test("a loss that has nothing to do with the scene of the running phase does not end it")
    func lossOfANewScene() throws {
        var room = Self.live()
        _ = try room.startPK(.init(scene: "solo"), countdown: 0, duration: 0, now: 0)
        room.setPK(Self.pk { $0.scene = "guest" })
        _ = room.loses(Kit.b, now: 0)
        #expect(room.passes(to: 20 * Self.second).phases.isEmpty)
    }

    @Test("another scene may come after a PK that is running")
    func endScene() throws {
        var room = Self.live()
        _ = try room.startPK(countdown: 0, now: Self.second)
        room.setPK(Self.pk { $0.endScene = "guest" })
        #expect(try room.endPK(now: 2 * Self.second).shows == ["guest"])
    }

    @Test("a PK that comes later and starts when its sources are live starts at the next look, once")
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

    @Test("a PK that waited for a command starts when the pipeline lets it start by itself, and its sources are live")
    func becomesWhenReady() throws {
        var room = Self.live()
        #expect(room.passes(to: 0).phases.isEmpty)
        room.setPK(Self.pk { $0.startsWhenReady = true })
        #expect(room.passes(to: Self.second).phases == [.countdown])
    }

    @Test("a PK that leaves the pipeline is not shown any more; one that comes is shown instead of the last command's")
    func removedBlock() throws {
        var room = Self.live()
        room.setPK(nil)
        #expect(room.shownPK == nil && room.passes(to: Self.second).isEmpty)
        _ = try room.startPK(.init(scene: "guest"), now: Self.second)
        _ = try room.endPK(now: 2 * Self.second)
        room.setPK(Self.pk { _ in })
        #expect(room.shownPK?.scene == "pk" && room.commandedScenes.isEmpty)
    }

    @Test("a running PK needs the scenes that come, by its command or by the pipeline that is to hold")
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

    /// What the next worker makes of a PK that was commanded to the last one.
    private static func resumed(
        _ room: RoomLife, _ scenes: RoomLife.PK.Scenes, phase: PKLife.Phase = .pk
    ) -> (room: RoomLife, isThere: Bool) {
        var room = room
        let isThere = room.resumePK(
            phase, since: 0, endsAt: phase == .idle ? nil : 30 * Self.second,
            durations: PKLife.Durations(countdown: 0, pk: 30 * Self.second, punish: 0), hasStartedItself: false,
            scenes: scenes)
        return (room, isThere)
    }

    @Test("a successor goes on with the scenes of the command, whether its pipeline has a PK or none")
    func resumedScenes() {
        let scenes = RoomLife.PK.Scenes(scene: "punish", endScene: "guest")
        for before in [Self.bare(), Self.live()] {
            let resumed = Self.resumed(before, scenes)
            var room = resumed.room
            #expect(resumed.isThere && room.shownPK?.scene == "punish" && room.pkScene == Kit.punish)
            let end = room.passes(to: 30 * Self.second)
            #expect(end.phases.last == .idle && end.shows.last == "guest")
        }
    }

    @Test("without a PK in the pipeline one goes on by its command's scene, or not at all")
    func resumedBare() {
        #expect(!Self.resumed(Self.bare(), .init()).isThere)
        let gone = Self.resumed(Self.bare(), .init(scene: "gone", endScene: "solo"))
        #expect(!gone.isThere && !gone.room.phases.isRunning)
        let other = Self.resumed(Self.live(), .init(scene: "gone", endScene: "guest"))
        #expect(other.isThere && other.room.shownPK?.scene == "pk" && other.room.shownPK?.endScene == "guest")
    }

    @Test("a PK that is over leaves its scenes to a room without one, and none to a room whose pipeline has one")
    func resumedIdle() {
        let scenes = RoomLife.PK.Scenes(scene: "punish", endScene: "guest")
        #expect(Self.resumed(Self.bare(), scenes, phase: .idle).room.shownPK?.scene == "punish")
        #expect(Self.resumed(Self.live(), scenes, phase: .idle).room.shownPK?.scene == "pk")
        let nothing = Self.resumed(Self.bare(), .init(), phase: .idle)
        #expect(nothing.isThere && nothing.room.shownPK == nil)
    }
}
