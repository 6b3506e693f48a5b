package import NIOCore

/// A timer, one per event loop, that checks the sockets of all publishers whose received bytes may wait to be read
/// together.
///
/// Bound to its event loop. The timer runs only while there are such publishers, and it skips ticks at which none of them has
/// anything to do.
package final class ReadTimer {
    /// Time between two ticks of the timer. Bytes of a publisher on air may wait this much longer than
    /// ``ReadDelayLimits/usual``. No multiple of it is close to a common frame interval. Otherwise a source read on the
    /// timer would always be read at the same offset after a frame, and its network delay could not be measured.
    package static let interval = TimeAmount.milliseconds(19)
    /// Longest time between two ticks, in ticks.
    private static let mostTicks = 16

    /// Reads the sockets of publishers that are read on the timer.
    let reader = SocketReader(size: ReadScheduler.readBytes)
    private var members: [(number: Int, look: (Int) -> Int)] = []
    /// Calls ``look()``; nil if no publisher has joined since the timer stopped.
    private var caller: Caller?
    /// The next call; nil while the timer is stopped and during ``look()``.
    private var next: NIOScheduledCallback?
    /// Number of ticks from the last one to ``next``.
    private var ahead = 1
    private var turn = 0

    package init() {}

    /// True while at least one publisher is checked.
    package var isRunning: Bool { self.caller != nil }

    /// Calls `look` with the number of the tick, until ``leave(_:)`` is called with the same `number`. `look` returns after how
    /// many ticks it must be called again, at least 1; it may be called earlier.
    package func join(_ number: Int, on loop: any EventLoop, _ look: @escaping (Int) -> Int) {
        self.members.removeAll { $0.number == number }
        self.members.append((number, look))
        guard self.caller == nil else { return }
        self.caller = Caller(self, on: loop)
        self.schedule(after: 1)
    }

    package func leave(_ number: Int) {
        self.members.removeAll { $0.number == number }
        guard self.members.isEmpty else { return }
        self.next?.cancel()
        self.next = nil
        self.caller = nil
    }

    private func look() {
        self.next = nil
        let (turn, overflow) = self.turn.addingReportingOverflow(self.ahead)
        self.turn = overflow ? 0 : turn
        var ahead = Self.mostTicks
        // A member may leave while it is called.
        for member in self.members { ahead = min(ahead, member.look(self.turn)) }
        if self.next == nil { self.schedule(after: ahead) }
    }

    /// Schedules the next tick, unless the timer is stopped.
    private func schedule(after ticks: Int) {
        guard let caller = self.caller else { return }
        self.ahead = min(Self.mostTicks, max(1, ticks))
        // Fails only when the loop shuts down.
        self.next = try? caller.loop.scheduleCallback(in: Self.interval * self.ahead, handler: caller)
    }

    /// Calls the timer from its event loop. One object for all ticks: the repeated tasks of NIO allocate several for each.
    private final class Caller: NIOScheduledCallbackHandler, Sendable {
        let loop: any EventLoop
        private let timer: NIOLoopBound<ReadTimer>

        init(_ timer: ReadTimer, on loop: any EventLoop) {
            self.loop = loop
            self.timer = NIOLoopBound(timer, eventLoop: loop)
        }

        func handleScheduledCallback(eventLoop: some EventLoop) { self.timer.value.look() }
    }
}
