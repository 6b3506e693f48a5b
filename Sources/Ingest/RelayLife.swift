import Stages

/// What one relay does, as a value: what happens to its source and its connection in, what to do out. No sockets, timers or
/// clocks.
///
/// States: waiting (the source sends nothing, or the last connection is too young) → connecting → live (the far side takes
/// packets) → waiting, as soon as the source ends; connecting or live → failed (until the back-off is over) → connecting or
/// waiting; any → stopped, for ever.
///
/// The end of the source ends the connection at once. The far side so learns of the loss when it happens, and its own grace is
/// the only one that runs. A source that returns is connected again, but not more often than every ``interval``: a
/// publisher that comes and goes all the time must not make its relay do the same to another room.
///
/// Times are nanoseconds of one monotonic clock.
package struct RelayLife: Sendable {
    package enum State: Sendable, Hashable { case waiting, connecting, live, failed, stopped }

    package enum Event: Sendable, Hashable {
        /// The source sends, or has ended.
        case sourceBegan
        case sourceEnded
        /// The far side has agreed.
        case accepted
        /// The connection could not be made, or is over.
        ///
        /// - Parameter random: Any number, for the back-off.
        case disconnected(reason: String, random: UInt64)
        /// The time that ``Action/setTimer(nanoseconds:)`` asked for is over.
        case timerFired
        /// The relay was removed.
        case removed(reason: String)
    }

    package enum Action: Sendable, Hashable {
        /// - Parameter isRetry: The connection before it failed.
        case connect(isRetry: Bool)
        /// Subscribe to the source anew, and send what comes.
        case stream
        /// Tell the far side that the publication is over, behind what was written, and close.
        case finish
        /// Fire after so many nanoseconds, instead of any timer that runs.
        case setTimer(nanoseconds: Int64)
        case cancelTimer
        case tell(RelayEvent)
    }

    /// From one connection to the next, at least.
    package static let interval: Int64 = 1_000_000_000
    /// A connection that held for longer than this was a good one: the back-off begins anew.
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
        // A timer that runs finds no source, and does nothing.
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

    /// Connects now, or when the last connection is old enough.
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
