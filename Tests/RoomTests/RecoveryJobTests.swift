import Room
import Testing

@Suite("A worker that finishes the pending work of an ended room: health and service state")
struct RecoveryJobTests {
    @Test(
        "with a patience of 60 s, a recovery worker is alive while steps come every 59 s, even for half an hour, and not after 60 s"
    )
    func steps() {
        var job = RecoveryJob("finishing the recording", patience: 60 * Kit.second, at: 0)
        var now: Int64 = 0
        for minute in Int64(1)...30 {
            now = minute * 59 * Kit.second
            #expect(job.health(at: now).live && job.serviceView(at: now).isAlive)
            job.advanced(at: now)
        }
        #expect(job.health(at: now).checks == ["settlement": "finishing the recording, last step 0 ms ago"])
        now += 60 * Kit.second
        #expect(!job.health(at: now).live && !job.serviceView(at: now).isAlive)
        job = RecoveryJob("sending", patience: 61 * Kit.second, at: now)
        now += 60 * Kit.second
        #expect(job.health(at: now).live, "another part, with its own patience")
        #expect(job.serviceView(at: now).status == "sending")
    }

    @Test("a recovery worker's phase for systemd is settling until its work is done, then over")
    func phases() {
        var job = RecoveryJob("finishing the recording", patience: 1, at: 0)
        #expect(job.serviceView(at: 0).phase == .settling)
        job = RecoveryJob("sending", patience: 1, at: 0)
        #expect(job.serviceView(at: 0).phase == .settling)
        job.finish()
        #expect(job.serviceView(at: 0).phase == .over && !job.serviceView(at: 0).hasFailed)
    }

    @Test("a recovery worker's startup and liveness probes succeed; its readiness probe fails, to keep publishers away")
    func probes() {
        let health = RecoveryJob("sending", patience: 1, at: 0).health(at: 0)
        #expect(health.started && !health.ready && health.live && health.state == "closed")
    }
}
