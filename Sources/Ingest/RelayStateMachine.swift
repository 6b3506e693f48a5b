import Threading

/// State machine of one relay: events of its source and its connection in, actions out. No sockets, timers or clocks.
///
/// States: waiting (the source sends nothing, or the last connection is too recent) → connecting → live (the remote
/// server takes packets); connecting or live → waiting, as soon as the source ends; connecting or live → failed (until
/// the back-off ends) → connecting or waiting; any → stopped, which is final.
///
/// The end of the source ends the connection at once. So the remote room learns of the loss when it happens, and only
/// its own grace period runs. If the source returns, the relay connects again, but at most once every ``interval``: a
/// publisher that reconnects all the time must not make its relay do the same to another room.
///
/// Times are nanoseconds of one monotonic clock.
package struct RelayStateMachine: Sendable {
    package enum State: Sendable, Hashable { case waiting, connecting, live, failed, stopped }

    package enum Event: Sendable, Hashable {
        /// The source has begun to send; ``sourceEnded`` follows when its publisher is gone.
        case sourceBegan
        case sourceEnded
        /// The remote server has accepted the publication.
        case accepted
        /// The connection ended or could not be made.
        ///
        /// - Parameter random: A random number that varies the back-off.
        case disconnected(reason: String, random: UInt64)
        /// The time set by ``Action/setTimer(nanoseconds:)`` has passed.
        case timerFired
        /// The relay was removed.
        case removed(reason: String)
    }

    package enum Action: Sendable, Hashable {
        /// Connect to the remote server.
        ///
        /// - Parameter isRetry: True at the end of the back-off after a failed connection.
        case connect(isRetry: Bool)
        /// Subscribe to the source again and send its packets.
        case stream
        /// End the publication on the remote server, after everything written so far, and close the connection.
        case finish
        /// Start a timer of this many nanoseconds, in place of a running one.
        case setTimer(nanoseconds: Int64)
        case cancelTimer
        case tell(RelayEvent)
    }

    /// Minimum time between two connection attempts, apart from retries after a failure, which wait for the back-off.
    package static let interval: Int64 = 1_000_000_000
    /// A connection that was live for longer than this resets the back-off.
    package static let steady: Int64 = 10_000_000_000

    package private(set) var state = State.waiting
    package private(set) var hasSource = false
    private var backoff = Backoff()
    private var connectedAt: Int64?
    private var liveSince: Int64 = 0
    private var isTimerSet = false

    package init() {}

    package mutating func receive(_ event: Event, now: Int64) -> [Action] {
        guard self.state != .stopped else { return [] }
        switch event {
        case .sourceBegan:
            self.hasSource = true
            return self.state == .waiting ? self.connectSoon(now) : []
        case .sourceEnded: return self.sourceEnded()
        case .accepted: return self.accepted(now)
        case .disconnected(let reason, let random): return self.disconnected(reason, random, now)
        case .timerFired: return self.timerFired(now)
        case .removed(let reason):
            self.state = .stopped
            return self.cancelTimer() + [.finish, .tell(.stopped(reason: reason))]
        }
    }

    private mutating func sourceEnded() -> [Action] {
        self.hasSource = false
        switch self.state {
        // A running timer finds no source when it fires, and does nothing.
        case .waiting, .failed, .stopped: return []
        case .connecting, .live:
            self.state = .waiting
            return [.finish, .tell(.stopped(reason: "the source is gone"))]
        }
    }

    private mutating func accepted(_ now: Int64) -> [Action] {
        guard self.state == .connecting else { return [] }
        self.state = .live
        self.liveSince = now
        return [.stream, .tell(.live)]
    }

    private mutating func disconnected(_ reason: String, _ random: UInt64, _ now: Int64) -> [Action] {
        guard self.state == .connecting || self.state == .live else { return [] }
        if self.state == .live, now &- self.liveSince > Self.steady { self.backoff.reset() }
        self.state = .failed
        let wait = self.backoff.next(random: random)
        self.isTimerSet = true
        return [.setTimer(nanoseconds: wait), .tell(.failed(reason: reason, retryMs: Int(wait / 1_000_000)))]
    }

    private mutating func timerFired(_ now: Int64) -> [Action] {
        guard self.isTimerSet else { return [] }
        self.isTimerSet = false
        let isRetry = self.state == .failed
        self.state = .waiting
        return self.hasSource ? self.connect(now, isRetry: isRetry) : []
    }

    /// Connects now, or at ``interval`` after the last attempt.
    private mutating func connectSoon(_ now: Int64) -> [Action] {
        guard let connectedAt = self.connectedAt, now &- connectedAt < Self.interval else { return self.connect(now) }
        guard !self.isTimerSet else { return [] }
        self.isTimerSet = true
        return [.setTimer(nanoseconds: max(0, connectedAt &+ Self.interval &- now))]
    }

    private mutating func connect(_ now: Int64, isRetry: Bool = false) -> [Action] {
        self.state = .connecting
        self.connectedAt = now
        return self.cancelTimer() + [.connect(isRetry: isRetry), .tell(.connecting)]
    }

    private mutating func cancelTimer() -> [Action] {
        guard self.isTimerSet else { return [] }
        self.isTimerSet = false
        return [.cancelTimer]
    }
}
