/// What a service manager is told of a worker, kept until it takes it: a value that is given the sending.
///
/// While something waits nothing more is asked for: what is told next is how the worker is by then. So that it is ready, or stops, is
/// told however long the manager took nothing, and no more waits than one look has to say.
///
/// Spec: sd_notify(3).
package struct ServiceOutbox: Sendable {
    private var notices: ServiceNotices
    /// The oldest first.
    private var waiting: [String] = []

    /// - Parameter watchdog: As in ``ServiceNotices/init(watchdog:)``.
    package init(watchdog: Int64?) { self.notices = ServiceNotices(watchdog: watchdog) }

    /// Sends what waits, and behind it what there is to be told now.
    ///
    /// - Parameters:
    ///   - now: Monotonic, in nanoseconds; never less than before.
    ///   - send: Sends one datagram, and returns whether it was taken; not called again in this look when it was not.
    package mutating func deliver(_ view: ServiceNotices.View, now: Int64, _ send: (String) -> Bool) {
        guard self.flush(send) else { return }
        self.waiting = self.notices.next(view, now: now)
        _ = self.flush(send)
    }

    /// - Returns: Whether nothing waits any more.
    private mutating func flush(_ send: (String) -> Bool) -> Bool {
        while let datagram = self.waiting.first {
            guard send(datagram) else { return false }
            self.waiting.removeFirst()
        }
        return true
    }
}
