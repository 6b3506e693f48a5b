/// Decides how long the viewers' listener stays open after the end of a room, and what closes it earlier. A pure value
/// without sockets or clocks.
///
/// During this linger time players that are behind the live edge, or that request a file a moment too late, are still
/// served. The room's state, events, uploads and exit code are final before it begins.
///
/// States: running → closed (``closed()``) → lingering (``begin(_:now:)``) → over. ``stopAsked()`` leads to over from
/// every state. All times are in nanoseconds.
package struct ViewerLinger: Sendable, Hashable {
    /// The facts that determine the linger time.
    package struct Facts: Sendable, Hashable {
        /// Whether the room has ended. False if it was handed over to a successor or has failed.
        package var hasEnded: Bool
        package var isOffline: Bool
        /// `http.lingerSeconds`; `nil` if the pipeline does not set it.
        package var configuredSeconds: Int?
        /// Length of the playlist window in seconds; nil if the playlist lists everything since the start.
        package var windowSeconds: Int?
        /// Nanoseconds since a viewer last requested a playlist; nil if none has.
        package var sinceRequest: Int64?

        package init(
            hasEnded: Bool, isOffline: Bool = false, configuredSeconds: Int? = nil, windowSeconds: Int? = 60,
            sinceRequest: Int64? = nil
        ) {
            self.hasEnded = hasEnded
            self.isOffline = isOffline
            self.configuredSeconds = configuredSeconds
            self.windowSeconds = windowSeconds
            self.sinceRequest = sinceRequest
        }
    }

    private enum State: Sendable, Hashable {
        case running
        /// The room has ended, but not all of its events have been emitted.
        case closed
        case lingering(until: Int64)
        case over
    }

    /// The longest linger time without `http.lingerSeconds`, in seconds. The shortest (``shortestSeconds``) applies if
    /// no viewer has requested a playlist lately: one and a half reloads of a playlist with segments of two seconds.
    package static let longestSeconds = 60
    package static let shortestSeconds = 3
    /// Viewers count as present if one has requested a playlist within this time, in nanoseconds.
    package static let presence: Int64 = 30_000_000_000

    private var state = State.running
    private var isClosed = false

    package init() {}

    /// How long the listener stays open after the end, in nanoseconds; 0 if it closes at once.
    package static func length(_ facts: Facts) -> Int64 {
        guard facts.hasEnded else { return 0 }
        return Int64(self.seconds(facts)) &* 1_000_000_000
    }

    private static func seconds(_ facts: Facts) -> Int {
        if let configured = facts.configuredSeconds { return max(0, configured) }
        if facts.isOffline { return 0 }
        guard let since = facts.sinceRequest, since <= self.presence else { return self.shortestSeconds }
        return min(self.longestSeconds, max(self.shortestSeconds, facts.windowSeconds ?? self.longestSeconds))
    }

    /// Records that this worker has closed the room, so that its state and exit code are final.
    package mutating func closed() {
        self.isClosed = true
        if self.state == .running { self.state = .closed }
    }

    /// Begins the linger time after all events have been emitted.
    ///
    /// - Returns: When the listener must be closed; nil if it closes now.
    package mutating func begin(_ facts: Facts, now: Int64) -> Int64? {
        let length = Self.length(facts)
        guard self.state != .over, length > 0 else {
            self.state = .over
            return nil
        }
        self.state = .lingering(until: now &+ length)
        return now &+ length
    }

    /// When the listener must be closed; nil if the room does not linger.
    package var until: Int64? {
        if case .lingering(let until) = self.state { until } else { nil }
    }

    /// Whether the listener must be closed now.
    package func isOver(at now: Int64) -> Bool {
        switch self.state {
        case .running, .closed: false
        case .lingering(let until): now >= until
        case .over: true
        }
    }

    /// Handles `room:end` or SIGINT for a room that was asked to end before. While the room is still ending, such a
    /// repeated request changes nothing.
    ///
    /// - Returns: Whether the room is closed, so that only the linger time was left to end.
    @discardableResult
    package mutating func endAsked() -> Bool {
        guard self.isClosed else { return false }
        self.state = .over
        return true
    }

    /// Handles SIGTERM or `room:drain` for a room that was asked to end before: the orchestrator wants the worker to
    /// exit at once.
    package mutating func stopAsked() { self.state = .over }
}
