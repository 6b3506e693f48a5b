/// A change of a session's state.
package enum SessionChange: Sendable, Equatable {
    /// A valid connectivity check arrived from this address; reported for each check.
    case known(ICEAddress)
    /// The handshake is complete: media can be sent and received.
    case connected
    /// Publishers only: no media has arrived for some time.
    case silent
    /// Publishers only: media arrives again after ``silent``.
    case resumed
    case ended(SessionEnd)
}
