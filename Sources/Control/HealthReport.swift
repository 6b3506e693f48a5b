/// The answers to three different health questions about one worker, with the details that they are based on.
package struct HealthReport: Sendable, Hashable {
    /// `/livez`: every loop advances. Never depends on publishers.
    package var live: Bool
    /// `/readyz`: publishers may be sent here.
    package var ready: Bool
    /// `/startupz`: the listeners are bound and the encoders have been opened once.
    package var started: Bool
    /// State of the room, such as `live`.
    package var state: String
    /// Details by part of the worker, such as `tick: advanced 12 ms ago`.
    package var checks: [String: String]

    package init(live: Bool, ready: Bool, started: Bool, state: String, checks: [String: String] = [:]) {
        self.live = live
        self.ready = ready
        self.started = started
        self.state = state
        self.checks = checks
    }
}
