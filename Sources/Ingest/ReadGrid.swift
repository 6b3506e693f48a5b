import NIOCore

/// Looks after the publishers of one event loop whose bytes may wait, all at the same times: one timer for all of them.
///
/// Bound to its event loop. The timer runs only while there are any.
final class ReadGrid {
    /// Between two looks; what a publisher's bytes may wait longer than their ``ReadPacer/patience``.
    static let interval = TimeAmount.milliseconds(20)

    private var members: [Int: () -> Void] = [:]
    private var task: RepeatedTask?

    var isRunning: Bool { self.task != nil }

    /// From now on `look` is called at each of the times, until ``leave(_:)``.
    func join(_ number: Int, on loop: any EventLoop, _ look: @escaping () -> Void) {
        self.members[number] = look
        guard self.task == nil else { return }
        let grid = NIOLoopBound(self, eventLoop: loop)
        self.task = loop.scheduleRepeatedTask(initialDelay: Self.interval, delay: Self.interval) { _ in
            for look in grid.value.members.values { look() }
        }
    }

    func leave(_ number: Int) {
        self.members[number] = nil
        guard self.members.isEmpty else { return }
        self.task?.cancel()
        self.task = nil
    }
}
