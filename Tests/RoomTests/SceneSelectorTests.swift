import MediaTypes
import PipelineSpec
import Room
import RoomScenes
import RoomSources
import Testing

@Suite("SceneSelector: which scene is on air as sources come and go")
struct SceneSelectorTests {
    private static let second = Kit.second

    @Test(
        "with leavePane, a lost source's pane leaves the scene after the hold time, and returns with the source's first frame"
    )
    func leavePane() {
        var room = Kit.room((.placeholder, .leavePane), first: "pk")
        room.everybodyComes(now: 0)
        #expect(room.loses(Kit.b, now: 0).shows.isEmpty, "its last frame is held")
        #expect(room.passes(to: 2 * Self.second - 1).shows.isEmpty)
        #expect(room.passes(to: 2 * Self.second).shows == ["pk-2002"])
        #expect(room.passes(to: 9 * Self.second).shows.isEmpty)
        #expect(room.comes(Kit.b, now: 10 * Self.second).shows == ["pk"])
    }

    @Test("the hold time of a lost source starts when its queued media has been shown")
    func leavesWhenDrained() {
        var room = Kit.room((.placeholder, .leavePane), first: "pk")
        room.everybodyComes(now: 0)
        _ = room.receive(.source(Kit.b, .left(reason: "reset")), now: 0)
        #expect(room.passes(to: 10 * Self.second).shows.isEmpty, "it is still seen moving")
        _ = room.receive(.source(Kit.b, .drained), now: 10 * Self.second)
        #expect(room.passes(to: 12 * Self.second - 1).shows.isEmpty)
        #expect(room.passes(to: 12 * Self.second).shows == ["pk-2002"])
    }

    @Test(
        "when all sources of a scene with leavePane are lost, all its panes are shown; when one returns, only the other's leaves"
    )
    func lastPane() {
        var room = Kit.room((.leavePane, .leavePane), first: "pk")
        room.everybodyComes(now: 0)
        _ = room.loses(Kit.b, now: 0)
        #expect(room.passes(to: 2 * Self.second).shows == ["pk-2002"])
        _ = room.loses(Kit.a, now: 3 * Self.second)
        #expect(room.passes(to: 5 * Self.second).shows == ["pk"])
        #expect(room.comes(Kit.a, now: 6 * Self.second).shows == ["pk-2002"])
    }

    @Test("while a source is away its fallback scene is on air, if the commanded scene shows that source")
    func fallback() {
        var room = Kit.room((.placeholder, .fallbackScene("solo")), first: "pk")
        room.everybodyComes(now: 0)
        _ = room.loses(Kit.b, now: 0)
        #expect(room.passes(to: 2 * Self.second).shows == ["solo"])
        #expect(room.comes(Kit.b, now: 5 * Self.second).shows == ["pk"])
        var other = Kit.room((.placeholder, .fallbackScene("pk")), first: "solo")
        other.everybodyComes(now: 0)
        _ = other.loses(Kit.b, now: 0)
        #expect(other.passes(to: 60 * Self.second).shows.isEmpty, "solo does not show it")
    }

    @Test("a commanded scene replaces the fallback scene, and stays on air when the source returns")
    func commandOverFallback() {
        var room = Kit.room((.placeholder, .fallbackScene("solo")), first: "pk")
        room.everybodyComes(now: 0)
        _ = room.loses(Kit.b, now: 0)
        _ = room.passes(to: 2 * Self.second)
        #expect(room.receive(.commanded(Kit.guest), now: 3 * Self.second).shows == ["guest"])
        #expect(room.passes(to: 4 * Self.second).shows.isEmpty)
        #expect(room.comes(Kit.b, now: 5 * Self.second).shows.isEmpty)
        #expect(room.planned.scene == Kit.guest)
    }

    private static let c = SourceID(uid: "3003", streamType: .main)

    @Test(
        "a source with leavePane that is added while the room runs has its own state, and its pane appears with its first frame"
    )
    func newcomer() {
        var room = Kit.room(first: "pk")
        room.everybodyComes(now: 0)
        let early = room.receive(.source(Self.c, .published), now: 0)
        #expect(early.isEmpty, "it is unknown")
        room.add(SceneSelector.Source(id: Self.c, rules: Kit.rules, absence: .leavePane, leavesWithoutVideo: true))
        let trio = Scene(id: "trio", sources: [Kit.a, Kit.b, Self.c])
        room.replace(trio)
        #expect(room.receive(.commanded(trio), now: 1).shows == ["trio-3003"])
        #expect(room.receive(.source(Self.c, .published), now: 2).states == [.connected])
        #expect(room.receive(.source(Self.c, .firstFrameDecoded), now: 3).shows == ["trio"])
        // Adding the same id again changes nothing.
        room.add(SceneSelector.Source(id: Self.c, rules: Kit.rules, absence: .placeholder))
        #expect(room.sources[Self.c]?.state == .live)
        _ = room.loses(Self.c, now: 4)
        #expect(room.passes(to: 4 + 2 * Self.second).shows == ["trio-3003"], "it leaves as it came")
    }

    @Test("a removed source's fallback scene ends, and its later events are ignored")
    func leaver() {
        var room = Kit.room((.placeholder, .fallbackScene("solo")), first: "pk")
        room.everybodyComes(now: 0)
        _ = room.loses(Kit.b, now: 0)
        #expect(room.passes(to: 2 * Self.second).shows == ["solo"])
        room.replace(Scene(id: "pk", sources: [Kit.a]))
        for scene in ["guest", "punish"] { room.remove(scene) }
        room.remove(Kit.b)
        #expect(room.passes(to: 3 * Self.second).shows == ["pk"], "the commanded scene is on air again")
        let stale = room.loses(Kit.b, now: 4 * Self.second) + room.comes(Kit.b, now: 5 * Self.second)
        #expect(stale.isEmpty)
        #expect(room.deadline(after: 3 * Self.second) == nil, "no source is waited for")
        room.add(SceneSelector.Source(id: Kit.b, rules: Kit.rules, absence: .placeholder))
        #expect(room.sources[Kit.b]?.state == .idle, "a new source with its name starts anew")
    }

    @Test("a thousand sources that come and go leave no state behind")
    func manyNewcomers() {
        var room = Kit.room(first: "pk")
        for number in 0..<1_000 {
            let id = SourceID(uid: "guest \(number)")
            room.add(SceneSelector.Source(id: id, rules: Kit.rules, absence: .leavePane, leavesWithoutVideo: true))
            _ = room.comes(id, now: 0)
            _ = room.loses(id, now: 1)
            room.remove(id)
        }
        #expect(Set(room.sources.keys) == [Kit.a, Kit.b] && room.deadline(after: 2) == nil)
    }

    @Test("sources that fall silent at the same time are reported in order of their ids")
    func silentTogether() {
        var room = Kit.room()
        let ids = (10..<40).map { SourceID(uid: "guest \($0)") }
        for id in ids.reversed() {
            room.add(SceneSelector.Source(id: id, rules: Kit.rules, absence: .placeholder))
            _ = room.comes(id, now: 0)
        }
        let arrivals = Dictionary(
            uniqueKeysWithValues: ids.map { ($0, SourceStateMachine.Arrivals(video: 0, audio: 0)) })
        let told = room.receive(.poll(arrivals), now: 2 * Self.second)
        #expect(told.states == ids.map { _ in .stalled })
        let order = told.compactMap { if case .tell(let id, _) = $0 { id } else { nil } }
        #expect(order == ids)
    }

    @Test("a removed scene is not shown again when a fallback or a PK ends: another scene is on air")
    func removedScene() throws {
        var room = Kit.room((.placeholder, .fallbackScene("solo")), first: "pk")
        room.everybodyComes(now: 0)
        _ = room.loses(Kit.b, now: 0)
        #expect(room.passes(to: 2 * Self.second).shows == ["solo"])
        room.remove("pk")
        #expect(room.comes(Kit.b, now: 5 * Self.second).shows.isEmpty, "the scene on air is now the wanted one")
        #expect(room.wanted == Kit.solo && room.scene("pk") == nil)

        var other = Kit.room(first: "punish")
        other.everybodyComes(now: 0)
        _ = try other.startPK(countdown: 0, now: Self.second)
        #expect(other.planned.scene == Kit.duel)
        other.remove("solo")
        let end = try other.endPK(now: 2 * Self.second)
        #expect(end.shows == ["guest"], "the PK's end scene was removed")
    }

    @Test("starting a PK whose scene was removed is refused, and works again once the scene is back")
    func removedPKScene() throws {
        var room = Kit.room()
        room.everybodyComes(now: 0)
        room.remove("pk")
        let refusal = #expect(throws: PKStateMachine.Refusal.self) { try room.startPK(now: Self.second) }
        #expect(refusal?.what.contains("\"pk\"") == true && !room.phases.isRunning)
        room.replace(Kit.duel)
        let start = try room.startPK(countdown: 0, now: 2 * Self.second)
        #expect(start.shows == ["pk"])
    }

    @Test("a fallback scene whose sources are all gone is replaced by the requested scene")
    func emptyFallback() {
        var room = Kit.room((.placeholder, .fallbackScene("solo")), first: "pk")
        room.everybodyComes(now: 0)
        _ = room.loses(Kit.b, now: 0)
        #expect(room.passes(to: 2 * Self.second).shows == ["solo"])
        _ = room.loses(Kit.a, now: 3 * Self.second)
        _ = room.receive(.source(Kit.b, .published), now: 16 * Self.second)
        #expect(room.passes(to: 20 * Self.second).shows == ["pk"], "b is connecting, a is gone")
    }

    @Test("the phases of a PK follow one another by timer, and each phase that has a scene shows it")
    func phases() throws {
        var room = Kit.room()
        room.everybodyComes(now: 0)
        let start = try room.startPK(now: Self.second)
        #expect(start.phases == [.countdown] && start.shows.isEmpty)
        let pk = room.passes(to: 4 * Self.second)
        #expect(pk.phases == [.pk] && pk.shows == ["pk"])
        let punish = room.passes(to: 14 * Self.second)
        #expect(punish.phases == [.punish] && punish.shows == ["punish"])
        let end = room.passes(to: 19 * Self.second)
        #expect(end.phases == [.idle] && end.shows == ["solo"])
    }

    @Test(
        "a connected but silent source causes the fallback scene after its hold time, and ends the PK after the grace period"
    )
    func silentOpponent() throws {
        var room = Kit.room((.placeholder, .fallbackScene("solo")))
        room.everybodyComes(now: 0)
        _ = try room.startPK(countdown: 0, duration: 0, now: 0)
        var told: [(at: Int64, actions: [SceneSelector.Action])] = []
        for now in stride(from: Int64(0), through: 15 * Self.second, by: 50_000_000) {
            let actions = room.looks(at: now, silent: Kit.b, since: 0, shownAfter: 200_000_000)
            if !actions.isEmpty { told.append((now / 1_000_000, actions)) }
            if now == 3 * Self.second { #expect(room.planned.reason == "source 2002 is silent") }
        }
        #expect(told.map(\.at) == [1050, 2200, 15_000])
        #expect(told.map(\.actions.states) == [[.stalled], [], []])
        #expect(told.map(\.actions.shows) == [[], ["solo"], []])
        #expect(told.last?.actions.phases == [.idle] && room.phases.phase == .idle)
        #expect(room.sources[Kit.b]?.state == .stalled, "nothing is closed")
        #expect(throws: PKStateMachine.Refusal.self) { try room.startPK(now: 16 * Self.second) }
        // Its socket is finally closed: there is no second end and no second grace.
        let closed = room.receive(.source(Kit.b, .left(reason: "idle")), now: 90 * Self.second)
        #expect(closed.phases.isEmpty && closed.states == [.lost, .reconnecting])
        #expect(room.passes(to: 90 * Self.second).states == [.gone])
    }

    @Test("a stall shorter than the hold time changes nothing on air")
    func shortStall() {
        var room = Kit.room((.placeholder, .fallbackScene("solo")), first: "pk")
        room.everybodyComes(now: 0)
        var actions: [SceneSelector.Action] = []
        for now in stride(from: Int64(0), through: 1_900_000_000, by: 50_000_000) {
            actions += room.looks(at: now, silent: Kit.b, since: 0)
        }
        actions += room.passes(to: 1_950_000_000)
        #expect(actions.states == [.stalled, .live] && actions.shows.isEmpty)
    }

    @Test(
        "a source lost past its grace period ends the PK; if it returns it is live, but no scene shows it until a command"
    )
    func automaticEnd() throws {
        var room = Kit.room()
        room.everybodyComes(now: 0)
        _ = try room.startPK(countdown: 0, duration: 0, now: 0)
        _ = room.loses(Kit.b, now: 5 * Self.second)
        #expect(room.passes(to: 20 * Self.second - 1).phases.isEmpty)
        let end = room.passes(to: 20 * Self.second)
        #expect(end.states == [.gone] && end.phases == [.idle] && end.shows == ["solo"])
        let back = room.comes(Kit.b, now: 30 * Self.second)
        #expect(back.states == [.connected, .publishing, .live] && back.shows.isEmpty)
        #expect(room.receive(.commanded(Kit.duel), now: 31 * Self.second).shows == ["pk"])
    }

    @Test("if the PK's end scene has only lost sources, a scene with a present source goes on air")
    func endSceneOfTheLost() throws {
        var room = Kit.room()
        room.everybodyComes(now: 0)
        _ = try room.startPK(countdown: 0, now: 0)
        _ = room.loses(Kit.a, now: 0)
        #expect(room.passes(to: 15 * Self.second).shows == ["guest"])
    }

    @Test("a PK is ready when all its sources are live; with automatic start it starts then, but only the first time")
    func whenReady() throws {
        var room = Kit.room(startsWhenReady: true)
        #expect(!room.comes(Kit.a, now: 0).contains(.pkReady))
        let ready = room.comes(Kit.b, now: 1)
        #expect(ready.contains(.pkReady) && ready.phases == [.countdown])
        _ = try room.endPK(now: 2)
        _ = room.loses(Kit.b, now: 3)
        let again = room.comes(Kit.b, now: 4)
        #expect(again.contains(.pkReady) && again.phases.isEmpty)
    }

    @Test("a source that is only stalled counts as live for a PK that starts when it is ready")
    func readyWhileStalled() {
        var room = Kit.room(startsWhenReady: true)
        _ = room.comes(Kit.a, now: 0)
        for now in stride(from: Int64(0), through: 2 * Self.second, by: 50_000_000) {
            _ = room.looks(at: now, silent: Kit.a, since: 0)
        }
        #expect(room.sources[Kit.a]?.state == .stalled)
        let ready = room.comes(Kit.b, now: 2 * Self.second)
        #expect(ready.contains(.pkReady) && ready.phases == [.countdown])
    }

    /// A PK without countdown that ended at 16 s, its punishment included; the last poll was at 1 s.
    private static func unpolled() throws -> SceneSelector {
        var room = Kit.room()
        room.everybodyComes(now: 0)
        _ = try room.startPK(countdown: 0, now: 1 * Self.second)
        return room
    }

    @Test("a PK command or loss between a phase's end and the next poll finds the phase ended at its due time")
    func unpolledEnd() throws {
        let late = 17 * Self.second
        var punished = try Self.unpolled()
        #expect(throws: PKStateMachine.Refusal.self) { try punished.punishPK(now: late) }
        #expect(punished.passes(to: late).phases == [.punish, .idle], "a refused command changes nothing")

        var started = try Self.unpolled()
        let again = try started.startPK(countdown: 0, now: late)
        #expect(again.phases == [.punish, .idle, .pk])
        #expect(started.phases.since == late && started.planned.scene.sceneID == "pk")

        var lost = try Self.unpolled()
        let end = lost.receive(.source(Kit.b, .left(reason: "reset")), now: late)
        guard case .phase(let change)? = end.last(where: { if case .phase = $0 { true } else { false } }) else {
            return #expect(Bool(false), "\(end)")
        }
        #expect(change.to == .idle && change.at == 16 * Self.second && change.reason == .timer)
    }

    @Test("a scene commanded between the end of a PK and the next poll is not replaced by the scene after the PK")
    func commandedAfterEnd() throws {
        var room = try Self.unpolled()
        let actions = room.receive(.commanded(Kit.guest), now: 17 * Self.second)
        #expect(actions.phases == [.punish, .idle])
        #expect(room.planned.scene == Kit.guest)
        #expect(room.passes(to: 18 * Self.second).shows.isEmpty)
    }

    @Test(
        "pk:start is refused without a source of the PK, while a PK runs, and in a room without `pk` if it names no scene"
    )
    func refusals() throws {
        var room = Kit.room()
        _ = room.comes(Kit.a, now: 0)
        let refusal = #expect(throws: PKStateMachine.Refusal.self) { try room.startPK(now: 1) }
        #expect(refusal?.what.contains("2002") == true)
        _ = room.comes(Kit.b, now: 1)
        _ = try room.startPK(now: 2)
        #expect(throws: PKStateMachine.Refusal.self) { try room.startPK(now: 3) }
        var plain = SceneSelector(sources: [], scenes: [Kit.solo], first: "solo", pk: nil)
        #expect(throws: PKStateMachine.Refusal.self) { try plain.startPK(now: 0) }
        #expect(throws: PKStateMachine.Refusal.self) { try plain.endPK(now: 0) }
    }
}
