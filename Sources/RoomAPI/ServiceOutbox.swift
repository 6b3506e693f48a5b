/// Messages about a worker to its service manager, kept until the manager accepts them: a value that receives the send
/// function.
///
/// While messages wait, no new ones are made; later ones describe the state at that time. The messages that the worker
/// is ready, or stops, are delivered however long the manager accepts nothing, and no more messages wait than one call
/// makes.
///
/// Spec: sd_notify(3).
package struct ServiceOutbox: Sendable {
    private var notices: ServiceNotices
    /// The oldest first.
    private var waiting: [String] = []

    /// - Parameter watchdog: As in ``ServiceNotices/init(watchdog:)``.
    package init(watchdog: Int64?) { self.notices = ServiceNotices(watchdog: watchdog) }

    /// Sends waiting messages, then those that are due now.
    ///
    /// - Parameters:
    ///   - now: Monotonic, in nanoseconds; never less than before.
    ///   - send: Sends one datagram, and returns whether it was accepted; if not, then it is not called again in this
    ///     call.
    package mutating func deliver(_ view: ServiceNotices.View, now: Int64, _ send: (String) -> Bool) {
        guard self.flush(send) else { return }
        self.waiting = self.notices.next(view, now: now)
        _ = self.flush(send)
    }

    /// - Returns: Whether no message waits.
    private mutating func flush(_ send: (String) -> Bool) -> Bool {
        while let datagram = self.waiting.first {
            guard send(datagram) else { return false }
            self.waiting.removeFirst()
        }
        return true
    }
}
