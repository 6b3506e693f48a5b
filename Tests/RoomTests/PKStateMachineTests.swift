import Room
import RoomScenes
import Testing

@Suite("The phases of a PK: countdown, pk, punish, end")
struct PKStateMachineTests {
    private static let plan = PKStateMachine.Durations(countdown: 3, pk: 10, punish: 5)

    @Test("each PK phase starts at the end time of the one before, however late the poll is")
    func timers() throws {
        var life = PKStateMachine(durations: Self.plan)
        #expect(try life.start(Self.plan, now: 100).map(\.to) == [.countdown])
        #expect(life.endsAt == 103)
        #expect(life.poll(now: 102).isEmpty)
        let first = life.poll(now: 105)
        #expect(first.map(\.to) == [.pk] && first.map(\.at) == [103] && life.endsAt == 113)
        let rest = life.poll(now: 200)
        #expect(rest.map(\.to) == [.punish, .idle] && rest.map(\.at) == [113, 118])
        #expect(rest.last?.reason == .timer && !life.isRunning && life.endsAt == nil)
    }

    @Test("a countdown or punishment of length zero is skipped; a PK of length zero lasts until a command")
    func zero() throws {
        let plan = PKStateMachine.Durations(countdown: 0, pk: 0, punish: 0)
        var life = PKStateMachine(durations: plan)
        #expect(try life.start(plan, now: 1).map(\.to) == [.pk])
        #expect(life.poll(now: 1_000_000).isEmpty && life.phase == .pk)
        #expect(try life.punish(lasting: 7, now: 10).map(\.endsAt) == [17])
        #expect(life.poll(now: 17).map(\.to) == [.idle])
        let short = PKStateMachine.Durations(countdown: 0, pk: 4, punish: 0)
        _ = try life.start(short, now: 20)
        #expect(life.poll(now: 24).map(\.reason) == [.timer])
    }

    @Test("PK commands that do not fit the phase are refused and change nothing; ending is always allowed")
    func refusals() throws {
        var life = PKStateMachine(durations: Self.plan)
        #expect(throws: PKStateMachine.Refusal.self) { try life.punish(lasting: nil, now: 0) }
        #expect(life.end(.command, now: 0).isEmpty)
        _ = try life.start(Self.plan, now: 0)
        let before = life
        #expect(throws: PKStateMachine.Refusal.self) { try life.start(Self.plan, now: 1) }
        #expect(throws: PKStateMachine.Refusal.self) { try life.punish(lasting: nil, now: 1) }
        #expect(life == before)
        #expect(life.end(.sourceGone("2002"), now: 2).map(\.reason) == [.sourceGone("2002")])
        #expect(try life.start(Self.plan, now: 3).count == 1, "a new PK can start")
    }
}
