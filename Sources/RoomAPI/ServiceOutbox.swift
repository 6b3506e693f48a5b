/// Queue of notifications for the service manager that keeps them until the manager accepts them. A value that is given
/// the send function.
///
/// While notifications wait, no new ones are made; later ones describe the state at that time. Therefore the
/// notifications that the worker is ready or stopping are never lost, and the queue never contains more than one call
/// to ``ServiceNotices/next(_:now:)`` makes.
///
/// Spec: sd_notify(3).
package struct ServiceOutbox: Sendable {
    private var notices: ServiceNotices
    /// Datagrams that were not accepted yet, the oldest first.
    private var waiting: [String] = []

    /// - Parameter watchdog: The manager's watchdog timeout in nanoseconds; nil if it has none.
    package init(watchdog: Int64?) { self.notices = ServiceNotices(watchdog: watchdog) }

    /// Sends the waiting notifications, then those that are due now.
    ///
    /// - Parameters:
    ///   - now: Monotonic time in nanoseconds; never less than in the previous call.
    ///   - send: Sends one datagram, and returns whether it was accepted. After false it is not called again in this
    ///     call.
    package mutating func deliver(_ view: ServiceNotices.View, now: Int64, _ send: (String) -> Bool) {
        guard self.flush(send) else { return }
        self.waiting = self.notices.next(view, now: now)
        _ = self.flush(send)
    }

    /// Sends the waiting notifications until one is not accepted.
    ///
    /// - Returns: Whether no notification waits any more.
    private mutating func flush(_ send: (String) -> Bool) -> Bool {
        while let datagram = self.waiting.first {
            guard send(datagram) else { return false }
            self.waiting.removeFirst()
        }
        return true
    }
}
