/// How long the viewers' listener stays open behind a room's end, and what ends that: a value without sockets or clocks.
///
/// Players that are behind the live edge, and those that ask a moment too late, still get what they want. Everything else is final
/// before: state, events, uploads, and the exit code.
///
/// States: running → closed (``closed()``) → lingering (``begin(_:now:)``) → over. ``stopAsked()`` leads to over from each of them.
/// All times in nanoseconds.
package struct ViewerLinger: Sendable, Hashable {
    /// What the length follows from.
    package struct Facts: Sendable, Hashable {
        /// The room is over; not handed over to a successor, and not failed.
        package var hasEnded: Bool
        package var isOffline: Bool
        /// `http.lingerSeconds`; `nil`: the pipeline does not say.
        package var configuredSeconds: Int?
        /// What the playlists list, in seconds; `nil`: everything since the start.
        package var windowSeconds: Int?
        /// Since a viewer asked for a playlist; `nil`: nobody has.
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
        /// The room is over and not everything is told.
        case closed
        case lingering(until: Int64)
        case over
    }

    /// The longest by itself, in seconds, and how long if nobody has asked lately: one and a half reloads of a playlist of two
    /// seconds.
    package static let longestSeconds = 60
    package static let shortestSeconds = 3
    /// A viewer who asked within this is taken to be there, in nanoseconds.
    package static let presence: Int64 = 30_000_000_000

    private var state = State.running
    private var isClosed = false

    package init() {}

    /// How long the listener stays open, in nanoseconds.
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

    /// The room is over: its state and its exit code are what they stay.
    package mutating func closed() {
        self.isClosed = true
        if self.state == .running { self.state = .closed }
    }

    /// All that is to be told is told.
    ///
    /// - Returns: Until when the listener stays open; `nil`: it closes now.
    package mutating func begin(_ facts: Facts, now: Int64) -> Int64? {
        let length = Self.length(facts)
        guard self.state != .over, length > 0 else {
            self.state = .over
            return nil
        }
        self.state = .lingering(until: now &+ length)
        return now &+ length
    }

    /// Until when the listener stays open; `nil`: it does not linger.
    package var until: Int64? {
        if case .lingering(let until) = self.state { until } else { nil }
    }

    /// Whether the listener is to be closed.
    package func isOver(at now: Int64) -> Bool {
        switch self.state {
        case .running, .closed: false
        case .lingering(let until): now >= until
        case .over: true
        }
    }

    /// `room:end` or SIGINT for a room that was told to end before. While the room is still ending this is a request that was
    /// repeated, and changes nothing.
    ///
    /// - Returns: Whether the room is over, so that nothing is left to end but this.
    @discardableResult
    package mutating func endAsked() -> Bool {
        guard self.isClosed else { return false }
        self.state = .over
        return true
    }

    /// SIGTERM or `room:drain` for a room that was told to end before: an orchestrator wants the worker gone.
    package mutating func stopAsked() { self.state = .over }
}
