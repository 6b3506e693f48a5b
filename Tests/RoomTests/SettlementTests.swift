import MediaTypes
import Room
import Synchronization
import Testing

@Suite("A worker that finishes what an ended room left behind, as others see it")
struct SettlementTests {
    private final class SetClock: MonotonicClock {
        private let time = Atomic<Int64>(0)
        func now() -> Int64 { self.time.load(ordering: .relaxed) }
        func set(seconds: Int64) { self.time.store(seconds * Kit.second, ordering: .relaxed) }
    }

    @Test("it lives as long as its steps follow one another, however long all of them take")
    func steps() {
        let clock = SetClock()
        let settlement = Settlement("finishing the recording", patience: 60 * Kit.second, clock: clock)
        for minute in Int64(1)...30 {
            clock.set(seconds: minute * 59)
            #expect(settlement.health.live && settlement.serviceView.isAlive)
            settlement.advanced()
        }
        #expect(settlement.health.checks == ["settlement": "finishing the recording, last step 0 ms ago"])
        clock.set(seconds: 30 * 59 + 60)
        #expect(!settlement.health.live && !settlement.serviceView.isAlive)
        settlement.begin("sending", patience: 61 * Kit.second)
        clock.set(seconds: 30 * 59 + 120)
        #expect(settlement.health.live, "another part, with its own patience")
        #expect(settlement.serviceView.status == "sending")
    }

    @Test("to a service manager it is a start until all is done, and then an end")
    func phases() {
        let settlement = Settlement("finishing the recording", patience: 1, clock: SetClock())
        #expect(settlement.serviceView.phase == .settling)
        settlement.begin("sending", patience: 1)
        #expect(settlement.serviceView.phase == .settling)
        settlement.finish()
        #expect(settlement.serviceView.phase == .over && !settlement.serviceView.hasFailed)
    }

    @Test("its start is over, and no publisher is to be sent to it")
    func probes() {
        let health = Settlement("sending", patience: 1, clock: SetClock()).health
        #expect(health.started && !health.ready && health.live && health.state == "closed")
    }
}
