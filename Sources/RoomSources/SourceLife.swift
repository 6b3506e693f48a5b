import MediaTypes

/// What one source is doing, as a value: events with their time in, changes of state out.
///
/// States: idle (nobody has come) → connected (a publisher was let in) → publishing (its media arrives) → live (there is a
/// picture, or sound of a source that has no picture) ⇄ stalled (connected, and silent for too long) → lost (the
/// publisher is gone) → reconnecting (it has the grace to come back) → live, or gone (it did not come back in time) →
/// connected … A file is idle → live → ended. Any event may come in any state; one that does not fit changes nothing.
///
/// Silence counts as absence from the last packet on: the last picture of a stalled source is held for
/// ``Rules/stalledHold``, and the grace runs from there, whether the connection stays open, ends later, or is told as ended
/// by a relay. So the time until a source is given up is one grace, never two.
///
/// Times are nanoseconds of one clock, the same for all calls.
package struct SourceLife: Sendable, Equatable {
    package enum State: String, Sendable, CaseIterable {
        case idle, connected, publishing, live, stalled, lost, reconnecting, gone, ended
    }

    /// What the pipeline says of the source, in nanoseconds.
    package struct Rules: Sendable, Equatable {
        /// Without any packet for this long a live source is stalled; `nil`: never (files). A still screen that sends sound
        /// alone is live.
        package var stall: Int64?
        /// How long a lost publisher has to come back.
        package var grace: Int64
        /// How long the last picture of a lost source stays, from when it was decoded.
        package var hold: Int64
        /// How long the last picture of a stalled source stays, from when it was shown; `nil`: as long as it is stalled, and its
        /// silence is no absence (a still screen).
        package var stalledHold: Int64?

        package init(stall: Int64?, grace: Int64, hold: Int64, stalledHold: Int64? = nil) {
            self.stall = stall
            self.grace = grace
            self.hold = hold
            self.stalledHold = stalledHold
        }
    }

    package enum Event: Sendable, Equatable {
        /// A publisher was let in.
        case published
        /// The first packet of a publication has come.
        case arrived
        /// The decoder has the first picture of a publication, or its first sound.
        case pictured
        case sounded
        /// The publisher is gone, by leave or without.
        case left(reason: String)
        /// A newer connection with its key took the source over; ``published`` follows.
        case takenOver
        /// The decoder has come to the end of a publication.
        case drained
        /// A file has been read to its end.
        case finished
    }

    /// One step from a state to another.
    package struct Change: Sendable, Equatable {
        package var from: State
        package var to: State
        package var reason: String
    }

    /// When media of the publication that runs last came; `nil` before the first.
    package struct Arrivals: Sendable, Equatable {
        package var picture: Int64?
        package var sound: Int64?
        /// What came later may not have been read yet; `nil`: all is read.
        package var readUntil: Int64?
        /// How long after its arrival media is shown: the jitter buffer and an offset, in nanoseconds.
        package var shownAfter: Int64 = 0

        package init(picture: Int64? = nil, sound: Int64? = nil, readUntil: Int64? = nil, shownAfter: Int64 = 0) {
            self.picture = picture
            self.sound = sound
            self.readUntil = readUntil
            self.shownAfter = shownAfter
        }

        /// Until when it is known what came.
        package func known(at now: Int64) -> Int64 { min(now, self.readUntil ?? now) }
    }

    /// How long a publication may have sound alone before it counts as one that has no picture.
    static let soundPatience: Int64 = 1_000_000_000
    /// A watcher that was not asked for this long was stopped itself, with the whole process: nothing can be said about a
    /// publisher's silence until it has had its time again.
    static let absence: Int64 = 500_000_000

    /// The most that may still be to be seen of one who has gone: half a minute that it sent ahead of time, ten seconds of an offset,
    /// and the jitter buffer. Nobody waits any longer for a decoder that does not come to an end.
    static let longestDrain: Int64 = 45_000_000_000

    package let rules: Rules
    package private(set) var state = State.idle
    /// When the state began.
    package private(set) var since: Int64 = 0
    /// When its last live time ended; `nil` while it is live and before it ever was.
    package private(set) var lostAt: Int64?
    /// Since when a publisher that is gone is waited for: one that came back after its grace has a grace of its own.
    private var awaitedSince: Int64?
    /// When the last packet before a silence that counts as absence came; kept until there is a picture again.
    package private(set) var silentSince: Int64?
    /// How long after that its media ended on air.
    private var silentShownAfter: Int64 = 0
    /// When the last packet before the stall came.
    private var stalledAfter: Int64 = 0
    /// It has been silent for the whole grace, although a publisher is connected.
    package private(set) var isGivenUp = false
    /// Ends the decoder has still to come to until it has come to the one of ``lostAt``: what came ahead of time, or is shown
    /// later by an offset, is on air until then.
    private var endsToDrain = 0
    /// When the decoder came to the end of its last live time, behind ``lostAt``.
    private var drainedAt: Int64?
    /// A publisher is connected.
    package private(set) var hasPublisher = false
    /// First sound of a publication that has no picture yet.
    private var soundSince: Int64?
    /// Publications that ended at the socket and not yet in the decoder: what it reports belongs to the oldest of them.
    private var pendingEnds = 0
    /// The last look at the clock, and since when there was one at least every ``absence``.
    private var polled: Int64?
    private var watchedSince: Int64 = 0

    package init(rules: Rules) { self.rules = rules }

    /// There is something to see or to hear.
    package var isPresent: Bool { self.isPublished && !self.isGivenUp }

    /// A publication has had a picture or sound and goes on.
    private var isPublished: Bool { self.state == .live || self.state == .stalled }

    /// Nobody is there and nobody is waited for.
    package var isAbsent: Bool { self.state == .gone || self.state == .idle || self.isGivenUp }

    /// It was lost or is silent, and its last picture has been held for as long as the pipeline says.
    package func isAway(now: Int64) -> Bool { self.awayAt.map { now >= $0 } ?? false }

    /// When its last picture has been held long enough; `nil` while it is live.
    private var awayAt: Int64? {
        if let silentSince = self.silentSince, let hold = self.rules.stalledHold {
            return silentSince &+ self.silentShownAfter &+ hold
        }
        guard let lostAt = self.lostAt else { return nil }
        let shownUntil: Int64 = self.endsToDrain > 0 ? .max : max(lostAt, self.drainedAt ?? lostAt)
        return min(shownUntil, lostAt &+ Self.longestDrain) &+ self.rules.hold
    }

    /// When the grace of a lost publisher ends; `nil` when none runs.
    package var graceUntil: Int64? {
        guard self.state == .reconnecting, !self.hasPublisher, let since = self.awaitedSince else { return nil }
        return since &+ self.rules.grace
    }

    /// When a stalled source has been silent for the whole grace; `nil` if it is not stalled or was given up already. A watcher that was
    /// stopped itself gives it up only when it has looked for a packet as long as before a stall.
    private var givesUpAt: Int64? {
        guard self.state == .stalled, !self.isGivenUp, let since = self.silentSince else { return nil }
        return max(since &+ self.rules.grace, self.watchedSince &+ (self.rules.stall ?? 0) &+ 1)
    }

    /// When ``poll(now:arrivals:)`` has something to do, if nothing arrives until then.
    package func deadline(after now: Int64) -> Int64? {
        var deadlines: [Int64] = []
        if let grace = self.graceUntil { deadlines.append(grace) }
        if let away = self.awayAt, now < away { deadlines.append(away) }
        if let givesUp = self.givesUpAt { deadlines.append(givesUp) }
        if let sound = self.soundSince { deadlines.append(sound &+ Self.soundPatience) }
        return deadlines.min()
    }

    /// It was lost under a worker before this one, and is waited for until `end`; `nil`: nobody waits for it any more.
    package mutating func resumeLost(until end: Int64?, now: Int64) {
        guard self.state == .idle else { return }
        let lost = (end ?? now) &- self.rules.grace
        self.state = end == nil ? .gone : .reconnecting
        (self.since, self.lostAt, self.awaitedSince) = (now, lost, lost)
    }

    // MARK: Events

    package mutating func receive(_ event: Event, now: Int64) -> [Change] {
        switch event {
        case .published: self.published(now)
        case .arrived: self.state == .connected ? [self.enter(.publishing, now, "media arrives")] : []
        case .pictured:
            self.hasPublisher && self.pendingEnds <= 0 ? self.becomeLive(now, "first picture") : []
        case .sounded: self.sounded(now)
        case .left(let reason): self.left(now, reason)
        case .takenOver: self.takenOver(now)
        case .drained: self.drained(now)
        case .finished: self.state == .ended ? [] : [self.enter(.ended, now, "the file is over")]
        }
    }

    /// Looks at the clock.
    package mutating func poll(now: Int64, arrivals: Arrivals) -> [Change] {
        if let polled = self.polled, now &- polled > Self.absence { self.watchedSince = now }
        self.polled = now
        if let grace = self.graceUntil, now >= grace {
            return [self.enter(.gone, now, "did not come back in time")]
        }
        if let sound = self.soundSince, now &- sound >= Self.soundPatience { return self.becomeLive(now, "sound only") }
        guard self.isPublished, let stall = self.rules.stall,
            let newest = [arrivals.picture, arrivals.sound].compactMap({ $0 }).max()
        else { return [] }
        let heard = max(newest, self.watchedSince)
        let isSilent = arrivals.known(at: now) &- heard > stall
        if isSilent, self.state == .live {
            self.stalledAfter = newest
            if self.rules.stalledHold != nil {
                self.silentSince = heard
                self.silentShownAfter = min(max(0, arrivals.shownAfter), Self.longestDrain)
            }
            return [self.enter(.stalled, now, "connected and silent")]
        }
        // A watcher that was stopped itself knows nothing of the silence meanwhile; that alone is no packet.
        if !isSilent, self.state == .stalled, newest > self.stalledAfter {
            self.endSilence()
            return [self.enter(.live, now, "media again")]
        }
        if isSilent, let givesUp = self.givesUpAt, now >= givesUp { self.isGivenUp = true }
        return []
    }

    private mutating func endSilence() {
        self.silentSince = nil
        self.isGivenUp = false
    }

    private mutating func published(_ now: Int64) -> [Change] {
        var changes: [Change] = []
        // Two publications without an end between them: the older one has ended all the same.
        if self.hasPublisher, self.isPublished {
            self.lose(now)
            changes.append(self.enter(.reconnecting, now, "another connection took over"))
        }
        self.hasPublisher = true
        self.soundSince = nil
        self.isGivenUp = false
        switch self.state {
        case .idle, .gone, .ended: changes.append(self.enter(.connected, now, "a publisher was let in"))
        case .connected, .publishing, .live, .stalled, .lost, .reconnecting: break
        }
        return changes
    }

    private mutating func sounded(_ now: Int64) -> [Change] {
        guard self.hasPublisher, self.pendingEnds <= 0, !self.isPublished, self.soundSince == nil else { return [] }
        self.soundSince = now
        return []
    }

    private mutating func becomeLive(_ now: Int64, _ reason: String) -> [Change] {
        self.soundSince = nil
        self.endSilence()
        self.lostAt = nil
        self.endsToDrain = 0
        self.drainedAt = nil
        return self.state == .live ? [] : [self.enter(.live, now, reason)]
    }

    private mutating func left(_ now: Int64, _ reason: String) -> [Change] {
        guard self.hasPublisher else { return [] }
        self.endPublication()
        switch self.state {
        case .connected, .publishing, .live, .stalled:
            // Who was gone, and leaves again before a first picture, does not bring back the picture of before to be held.
            if self.lostAt == nil || self.isPublished { self.lose(now) } else { self.awaitedSince = now }
            var changes = [self.enter(.lost, now, reason)]
            changes.append(
                self.rules.grace > 0
                    ? self.enter(.reconnecting, now, "waiting for the publisher")
                    : self.enter(.gone, now, "there is no grace"))
            return changes
        case .idle, .lost, .reconnecting, .gone, .ended: return []
        }
    }

    private mutating func takenOver(_ now: Int64) -> [Change] {
        guard self.hasPublisher else { return [] }
        self.endPublication()
        guard self.isPublished else { return [] }
        self.lose(now)
        return [self.enter(.reconnecting, now, "another connection took over")]
    }

    /// Its live time is over, at the socket. A silence before that counts towards hold and grace.
    private mutating func lose(_ now: Int64) {
        self.lostAt = now
        self.awaitedSince = self.silentSince ?? now
        self.endsToDrain = self.pendingEnds
        self.drainedAt = nil
    }

    private mutating func endPublication() {
        self.hasPublisher = false
        self.soundSince = nil
        self.pendingEnds += 1
    }

    private mutating func drained(_ now: Int64) -> [Change] {
        self.pendingEnds -= 1
        if self.endsToDrain > 0 {
            self.endsToDrain -= 1
            if self.endsToDrain == 0 { self.drainedAt = now }
        }
        return []
    }

    private mutating func enter(_ state: State, _ now: Int64, _ reason: String) -> Change {
        defer {
            self.state = state
            self.since = now
        }
        return Change(from: self.state, to: state, reason: reason)
    }
}
