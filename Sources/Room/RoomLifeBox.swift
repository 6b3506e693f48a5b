import Dispatch
import Synchronization

/// The room's ``RoomLife`` and what waits to be told to it.
///
/// Any thread adds events and goes on; one thread takes them out, in order, and performs what follows. Commands hold the
/// same lock while they are performed, so that what is on air is what the value says.
final class RoomLifeBox: Sendable {
    private struct Inbox {
        var events: [(event: RoomLife.Event, time: Int64)] = []
        var isFinished = false
    }

    let life: Mutex<RoomLife>
    private let inbox = Mutex(Inbox())
    private let wake = DispatchSemaphore(value: 0)

    init(_ life: RoomLife) { self.life = Mutex(life) }

    /// - Parameter time: When it happened, in nanoseconds of ``Room/lifeTime``.
    func add(_ event: RoomLife.Event, at time: Int64) {
        self.inbox.withLock { $0.events.append((event, time)) }
        self.wake.signal()
    }

    func takeAll() -> [(event: RoomLife.Event, time: Int64)] {
        self.inbox.withLock { inbox in
            defer { inbox.events.removeAll(keepingCapacity: true) }
            return inbox.events
        }
    }

    var isFinished: Bool { self.inbox.withLock { $0.isFinished } }

    func finish() {
        self.inbox.withLock { $0.isFinished = true }
        self.wake.signal()
    }

    /// Blocks until something was added, at most so many nanoseconds.
    func wait(_ nanoseconds: Int64) { _ = self.wake.wait(timeout: .now() + .nanoseconds(Int(max(0, nanoseconds)))) }

    /// Looks again soon: a command has changed the next deadline.
    func nudge() { self.wake.signal() }
}
