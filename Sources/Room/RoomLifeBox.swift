import Stages
import Synchronization

/// The room's ``RoomLife`` and what waits to be told to it.
///
/// Any thread adds events and goes on; one thread takes them out, in order, and performs what follows. Commands hold the
/// same lock while they are performed, so that what is on air is what the value says.
final class RoomLifeBox: Sendable {
    /// Something that happened.
    struct Entry: Sendable {
        var event: RoomLife.Event
        /// When, in nanoseconds of ``Room/lifeTime``.
        var time: Int64
        /// Called before the event is handled, by the thread that handles it: so what it tells comes before what follows from the
        /// event, and behind what was added before. Must not block.
        var announce: (@Sendable () -> Void)?
    }

    private struct Inbox {
        var entries: [Entry] = []
        var isFinished = false
    }

    let life: Mutex<RoomLife>
    private let inbox = Mutex(Inbox())
    private let wake: any ClockSemaphore

    /// - Parameter machine: Whose time ``wait(_:)`` takes.
    init(_ life: RoomLife, machine: any SleepClock) {
        self.life = Mutex(life)
        self.wake = machine.makeSemaphore()
    }

    /// - Parameters:
    ///   - time: When it happened, in nanoseconds of ``Room/lifeTime``.
    ///   - announce: See ``Entry/announce``.
    func add(_ event: RoomLife.Event, at time: Int64, announce: (@Sendable () -> Void)? = nil) {
        self.inbox.withLock { $0.entries.append(Entry(event: event, time: time, announce: announce)) }
        self.wake.signal()
    }

    func takeAll() -> [Entry] {
        self.inbox.withLock { inbox in
            defer { inbox.entries.removeAll(keepingCapacity: true) }
            return inbox.entries
        }
    }

    var isFinished: Bool { self.inbox.withLock { $0.isFinished } }

    func finish() {
        self.inbox.withLock { $0.isFinished = true }
        self.wake.signal()
    }

    /// Blocks until something was added, at most so many nanoseconds.
    func wait(_ nanoseconds: Int64) { self.wake.wait(for: nanoseconds) }

    /// Looks again soon: a command has changed the next deadline.
    func nudge() { self.wake.signal() }
}
