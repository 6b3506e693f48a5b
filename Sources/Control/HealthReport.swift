/// The health of a worker: the answers for the three probe endpoints, and the details on which they are based.
package struct HealthReport: Sendable, Hashable {
    /// `/livez`: whether the worker makes progress. Never depends on publishers.
    package var live: Bool
    /// `/readyz`: whether publishers may be sent to this worker.
    package var ready: Bool
    /// `/startupz`: whether the listeners are bound and the encoders were opened.
    package var started: Bool
    /// State of the room, such as `live`.
    package var state: String
    /// Details as text, by part of the worker, such as `tick`: `12 ms behind the clock`.
    package var checks: [String: String]

    package init(live: Bool, ready: Bool, started: Bool, state: String, checks: [String: String] = [:]) {
        self.live = live
        self.ready = ready
        self.started = started
        self.state = state
        self.checks = checks
    }
}
