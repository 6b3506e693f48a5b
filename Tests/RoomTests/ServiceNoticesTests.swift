import Room
import RoomAPI
import Testing

@Suite("Messages to systemd: sd_notify(3)")
struct ServiceNoticesTests {
    private static let second: Int64 = 1_000_000_000

    private static func view(
        _ phase: ServiceNotices.Phase, _ status: String = "s", isAlive: Bool = true
    ) -> ServiceNotices.View {
        ServiceNotices.View(phase: phase, status: status, isAlive: isAlive)
    }

    /// A class, so that changes to it can be part of an expectation.
    private final class Manager {
        private var notices: ServiceNotices

        init(watchdog: Int64? = nil) { self.notices = ServiceNotices(watchdog: watchdog) }

        func next(_ view: ServiceNotices.View, now: Int64) -> [String] { self.notices.next(view, now: now) }

        /// Polls a number of times, a tenth of a second apart. Returns the notifications with their times in tenths of a
        /// second.
        func looks(
            _ count: Int64, at view: ServiceNotices.View, from first: Int64 = 0
        ) -> [(tenth: Int64, datagram: String)] {
            (first..<first + count).flatMap { tenth in
                self.next(view, now: tenth * ServiceNoticesTests.second / 10).map { (tenth, $0) }
            }
        }
    }

    @Test("apart from reloads, READY and STOPPING are sent once, and STATUS whenever it changes")
    func phases() {
        let notices = Manager()
        #expect(notices.next(Self.view(.starting), now: 0).isEmpty)
        #expect(notices.next(Self.view(.ready, "waiting"), now: 1) == ["READY=1\nSTATUS=waiting"])
        #expect(notices.next(Self.view(.ready, "waiting"), now: 2).isEmpty)
        #expect(notices.next(Self.view(.ready, "live,\n2 of 2"), now: 3) == ["STATUS=live, 2 of 2"])
        #expect(
            notices.next(Self.view(.stopping(until: 100), "ending"), now: 4) == [
                "STOPPING=1\nEXTEND_TIMEOUT_USEC=5000000\nSTATUS=ending"
            ])
        #expect(notices.next(Self.view(.over, "closed"), now: 5) == ["STATUS=closed"])
    }

    @Test("a worker that is ending or has ended at the first poll sends READY and STOPPING in separate datagrams")
    func brief() {
        #expect(Manager().next(Self.view(.over, "closed"), now: 0) == ["READY=1", "STOPPING=1\nSTATUS=closed"])
        let stopping = Manager().next(Self.view(.stopping(until: 9), "draining"), now: 0)
        #expect(stopping == ["READY=1", "STOPPING=1\nEXTEND_TIMEOUT_USEC=5000000\nSTATUS=draining"])
    }

    @Test("a worker that fails before it is ready never sends READY")
    func failing() {
        let notices = Manager()
        #expect(notices.next(Self.view(.starting), now: 0).isEmpty)
        let failed = ServiceNotices.View(phase: .over, status: "failed", isAlive: true, hasFailed: true)
        #expect(notices.next(failed, now: 1) == ["STOPPING=1\nSTATUS=failed"])
        #expect(notices.next(failed, now: 2).isEmpty)
    }

    @Test("while stopping, EXTEND_TIMEOUT_USEC is sent once a second until the end is overdue")
    func extending() {
        let notices = Manager()
        _ = notices.next(Self.view(.ready), now: 0)
        let stopping = Self.view(.stopping(until: 3 * Self.second + 1))
        let told = notices.looks(600, at: stopping)
        let asked = told.filter { $0.datagram.contains("EXTEND_TIMEOUT_USEC=5000000") }.map(\.tenth)
        #expect(asked == [0, 10, 20, 30], "a worker stuck at its end is left to the manager")
    }

    @Test("a worker that finishes an ended room sends EXTEND_TIMEOUT_USEC, not READY, while it makes progress")
    func settling() {
        let notices = Manager()
        let working = Self.view(.settling, "finishing the recording")
        let told = notices.looks(25, at: working)
        #expect(told.map(\.tenth) == [0, 10, 20])
        #expect(told.first?.datagram == "EXTEND_TIMEOUT_USEC=5000000\nSTATUS=finishing the recording")
        #expect(told.last?.datagram == "EXTEND_TIMEOUT_USEC=5000000")
        let hanging = Self.view(.settling, "finishing the recording", isAlive: false)
        #expect(notices.looks(100, at: hanging, from: 25).isEmpty)
        let done = notices.next(Self.view(.over, "finishing the recording"), now: 20 * Self.second)
        #expect(done == ["READY=1", "STOPPING=1"], "after the recovery it has started, and ends")
    }

    @Test("WATCHDOG is sent twice per watchdog interval while the worker is alive, and not at all while it hangs")
    func watchdog() {
        let notices = Manager(watchdog: 2 * Self.second)
        let ready = Self.view(.ready)
        let signs = notices.looks(35, at: ready).filter { $0.datagram.contains("WATCHDOG=1") }
        #expect(signs.map(\.tenth) == [0, 10, 20, 30])
        let hanging = Self.view(.ready, isAlive: false)
        #expect(notices.looks(100, at: hanging, from: 35).isEmpty)
        #expect(notices.next(ready, now: 14 * Self.second) == ["WATCHDOG=1"], "back at once")
    }

    @Test("RELOADING is sent when a reload is requested, READY when it is done")
    func reloading() {
        let notices = Manager()
        func next(_ asked: Int, _ done: Int, at second: Int64, phase: ServiceNotices.Phase = .ready) -> [String] {
            notices.next(
                ServiceNotices.View(
                    phase: phase, status: "s", isAlive: true, reloads: .init(asked: asked, done: done)),
                now: second * Self.second)
        }
        #expect(next(1, 0, at: 1) == ["READY=1\nSTATUS=s"], "once it is ready itself")
        #expect(next(1, 0, at: 2) == ["RELOADING=1\nMONOTONIC_USEC=2000000"])
        #expect(next(1, 0, at: 3).isEmpty)
        #expect(next(2, 1, at: 4) == ["READY=1"], "requested again meanwhile, which is another reload")
        #expect(next(2, 1, at: 5) == ["RELOADING=1\nMONOTONIC_USEC=5000000"])
        #expect(next(2, 2, at: 6) == ["READY=1"])
        #expect(next(3, 3, at: 7) == ["RELOADING=1\nMONOTONIC_USEC=7000000", "READY=1"], "between two polls")
        #expect(next(4, 3, at: 8, phase: .over) == ["STOPPING=1"], "there is no file to read")
    }
}
