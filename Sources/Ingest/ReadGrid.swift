package import NIOCore

/// Looks after the publishers of one event loop whose bytes may wait, all at the same times: one timer for all of them.
///
/// Bound to its event loop. The timer runs only while there are any.
package final class ReadGrid {
    /// From one turn to the next; what the bytes of a publisher on air may wait longer than their ``ReadPatience/usual``.
    /// No multiple of it is near one of a usual distance of pictures: whoever is read by the clock would always be read as long
    /// after a picture as the last time, and what its way costs would never be seen.
    package static let interval = TimeAmount.milliseconds(19)

    /// What those are read with that are read by the clock.
    let reader = SocketReader(size: ReadPacer.readBytes)
    private var members: [(number: Int, look: (Int) -> Void)] = []
    private var task: RepeatedTask?
    private var turn = 0

    package init() {}

    /// Somebody is looked after.
    package var isRunning: Bool { self.task != nil }

    /// From now on `look` is called at every turn, with its number, until ``leave(_:)``.
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
        // Whoever looks may leave.
        for member in self.members { member.look(self.turn) }
    }
}
