import Room
import RoomAPI
import Testing

@Suite("Messages that wait while systemd's socket is full: sd_notify(3)")
struct ServiceOutboxTests {
    private static let second: Int64 = 1_000_000_000

    private static func view(_ phase: ServiceNotices.Phase, _ status: String) -> ServiceNotices.View {
        ServiceNotices.View(phase: phase, status: status, isAlive: true)
    }

    @Test(
        "READY, which could not be sent for 1,000 polls, and STOPPING are delivered once systemd's socket accepts them"
    )
    func nothingIsLost() {
        var outbox = ServiceOutbox(watchdog: 2 * Self.second)
        var looks = 0
        for second in 0..<1_000 as Range<Int64> {
            outbox.deliver(Self.view(.ready, "on air for \(second) s"), now: second * Self.second) { _ in
                looks += 1
                return false
            }
        }
        #expect(looks == 1_000, "one attempt per poll")
        var taken: [String] = []
        outbox.deliver(Self.view(.stopping(until: 2_000 * Self.second), "draining"), now: 1_000 * Self.second) {
            taken.append($0)
            return true
        }
        #expect(
            taken == [
                "READY=1\nSTATUS=on air for 0 s\nWATCHDOG=1",
                "STOPPING=1\nEXTEND_TIMEOUT_USEC=5000000\nSTATUS=draining\nWATCHDOG=1",
            ])
    }

    @Test("if systemd's socket accepts one datagram per poll, each is sent once and in order")
    func partly() {
        var outbox = ServiceOutbox(watchdog: nil)
        var taken: [String] = []
        for look in 0..<3 as Range<Int64> {
            var room = 1
            outbox.deliver(Self.view(.over, "closed"), now: look) {
                guard room > 0 else { return false }
                room -= 1
                taken.append($0)
                return true
            }
        }
        #expect(taken == ["READY=1", "STOPPING=1\nSTATUS=closed"])
    }
}
