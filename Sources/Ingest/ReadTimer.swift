package import NIOCore

/// A timer, one per event loop, that checks the sockets of all publishers whose received bytes may wait to be read
/// together.
///
/// Bound to its event loop. The timer runs only while there are such publishers.
package final class ReadTimer {
    /// Time between two ticks of the timer. Bytes of a publisher on air may wait this much longer than
    /// ``ReadDelayLimits/usual``. No multiple of it is close to a common frame interval. Otherwise a source read on the
    /// timer would always be read at the same offset after a frame, and its network delay could not be measured.
    package static let interval = TimeAmount.milliseconds(19)

    /// Reads the sockets of publishers that are read on the timer.
    let reader = SocketReader(size: ReadScheduler.readBytes)
    private var members: [(number: Int, look: (Int) -> Void)] = []
    private var task: RepeatedTask?
    private var turn = 0

    package init() {}

    /// True while at least one publisher is checked.
    package var isRunning: Bool { self.task != nil }

    /// Calls `look` at every tick with the number of the tick, until ``leave(_:)`` is called with the same `number`.
    package func join(_ number: Int, on loop: any EventLoop, _ look: @escaping (Int) -> Void) {
        self.members.removeAll { $0.number == number }
        self.members.append((number, look))
        guard self.task == nil else { return }
        let grid = NIOLoopBound(self, eventLoop: loop)
        self.task = loop.scheduleRepeatedTask(initialDelay: Self.interval, delay: Self.interval) { _ in
            grid.value.look()
        }
    }

    package func leave(_ number: Int) {
        self.members.removeAll { $0.number == number }
        guard self.members.isEmpty else { return }
        self.task?.cancel()
        self.task = nil
    }

    private func look() {
        self.turn = self.turn == .max ? 0 : self.turn + 1
        // A member may leave while it is called.
        for member in self.members { member.look(self.turn) }
    }
}
