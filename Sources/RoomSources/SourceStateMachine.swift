/// The state of one source. A value that receives events with their times, and returns changes of the state.
///
/// States: idle (no publisher yet) → connected (a publisher was admitted) → publishing (its media arrives) → live (a
/// frame was decoded, or audio of a source without video) ⇄ stalled (connected, but silent for too long) → lost (the
/// publisher has left) → reconnecting (it may come back within its grace period) → live, or gone (it did not come back
/// in time) → connected … A file is idle → connected → publishing → live → ended. Every event is allowed in every state; an
/// event that does not fit the state changes nothing.
///
/// Unless ``Rules/stalledHold`` is nil, silence counts as absence from the last packet on: the last frame of a stalled
/// source is repeated for that time, and the grace period begins with that packet, even if the connection ends later.
///
/// Times are monotonic, in nanoseconds.
package struct SourceStateMachine: Sendable, Equatable {
    package enum State: String, Sendable, CaseIterable {
        case idle, connected, publishing, live, stalled, lost, reconnecting, gone, ended
    }

    /// The time limits of the source from the pipeline, in nanoseconds.
    package struct Rules: Sendable, Equatable {
        /// A live source without any packet for this time is stalled; nil for a file, which is never stalled. A source
        /// that sends only audio, because its image does not move, is not stalled.
        package var stall: Int64?
        /// Grace period: how long a lost publisher may take to come back.
        package var grace: Int64
        /// How long the last frame of a lost source is repeated, counted from the loss or, if that is later, from when the
        /// decoder reached the end of the publication.
        package var hold: Int64
        /// How long the last frame of a stalled source is repeated after it was shown. nil if it is repeated as long as
        /// the source is stalled, so that silence does not count as absence (an image that does not move).
        package var stalledHold: Int64?
        /// Whether a publication with audio first waits for a frame before it counts as one without video; false in a room
        /// that has only audio.
        package var awaitsVideo = true

        package init(stall: Int64?, grace: Int64, hold: Int64, stalledHold: Int64? = nil) {
            self.stall = stall
            self.grace = grace
            self.hold = hold
            self.stalledHold = stalledHold
        }
    }

    /// An event that concerns the source.
    package enum Event: Sendable, Equatable {
        /// A publisher was admitted.
        case published
        /// The first video packet or the first audio packet of a publication has arrived.
        case arrived
        /// The decoder has decoded the first frame of a publication.
        case firstFrameDecoded
        /// The decoder has decoded the first audio of a publication.
        case firstAudioDecoded
        /// The publisher has left: it has unpublished, or its connection was lost.
        case left(reason: String)
        /// A newer connection with the same key has taken over the source; ``published`` follows.
        case takenOver
        /// The decoder has reached the end of a publication.
        case drained
        /// A file was read to its end.
        case finished
    }

    /// A change from one state to another.
    package struct Change: Sendable, Equatable {
        package var from: State
        package var to: State
        package var reason: String

        /// Whether the room waits for a publisher from this change on. After a takeover the source is
        /// ``State/reconnecting``, too, but its new publisher is connected already.
        package var awaitsPublisher: Bool { self.to == .reconnecting && self.from == .lost }
    }

    /// When media of the current publication last arrived; nil before the first packet.
    package struct Arrivals: Sendable, Equatable {
        package var video: Int64?
        package var audio: Int64?
        /// Media that arrived later than this may not have been read yet; nil if everything was read.
        package var readUntil: Int64?
        /// How long after its arrival media is shown, in nanoseconds: the jitter buffer plus an offset.
        package var shownAfter: Int64 = 0

        package init(video: Int64? = nil, audio: Int64? = nil, readUntil: Int64? = nil, shownAfter: Int64 = 0) {
            self.video = video
            self.audio = audio
            self.readUntil = readUntil
            self.shownAfter = shownAfter
        }

        /// The time up to which all arrivals are known.
        package func known(at now: Int64) -> Int64 { min(now, self.readUntil ?? now) }
    }

    /// How long a publication may have only audio before it counts as one without video.
    static let audioPatience: Int64 = 1_000_000_000
    /// If ``poll(now:arrivals:)`` was not called for this long, then the process is assumed to have been stopped (SIGSTOP) or
    /// to have got no CPU time. A publisher then counts as silent only after the full time of a stall since that moment.
    static let absence: Int64 = 500_000_000

    /// Longest time for which media of a publisher that has left may still be shown: 30 s that it sent ahead of time,
    /// 10 s of an offset, 10 s of the program's delay, and the jitter buffer. A decoder that does not reach the end of the
    /// publication by then is not waited for.
    static let longestDrain: Int64 = 55_000_000_000

    package let rules: Rules
    package private(set) var state = State.idle
    /// When the current state began.
    package private(set) var since: Int64 = 0
    /// When the source was last lost; nil while it is live, and before a publisher has left for the first time.
    package private(set) var lostAt: Int64?
    /// When the last grace period began.
    private var awaitedSince: Int64?
    /// When the last packet arrived before a silence that counts as absence; nil if there is no such silence, and when the
    /// source is live again.
    package private(set) var silentSince: Int64?
    /// How long after its arrival the media of the packet that arrived at ``silentSince`` was shown.
    private var silentShownAfter: Int64 = 0
    /// When the last packet before the stall arrived.
    private var stalledAfter: Int64 = 0
    /// Whether the source was silent for the whole grace period although a publisher is connected.
    package private(set) var isGivenUp = false
    /// Number of publications, up to the one that ended at ``lostAt``, whose end the decoder has not reached. Until it
    /// does, media that was sent ahead of time or is delayed by an offset is still on air.
    private var endsToDrain = 0
    /// When the decoder reached the end of the publication that was lost at ``lostAt``; nil before that.
    private var drainedAt: Int64?
    /// Whether a publisher is connected.
    package private(set) var hasPublisher = false
    /// When the first audio was decoded of a publication that has no video yet; nil if there is none.
    private var audioSince: Int64?
    /// Number of publications that have ended at the socket but not yet in the decoder. Events of the decoder belong to
    /// the oldest of them.
    private var pendingEnds = 0
    /// Time of the last call of ``poll(now:arrivals:)``; nil before the first.
    private var polled: Int64?
    /// Since when no two calls of ``poll(now:arrivals:)`` have been more than ``absence`` apart.
    private var watchedSince: Int64 = 0

    package init(rules: Rules) { self.rules = rules }

    /// Whether the source has video or audio to play.
    package var isPresent: Bool { self.isPublished && !self.isGivenUp }

    /// Whether there is a publication of which a frame or audio was decoded.
    private var isPublished: Bool { self.state == .live || self.state == .stalled }

    /// Whether the source has no publisher and the room does not wait for one, or a connected publisher was given up.
    package var isAbsent: Bool { self.state == .gone || self.state == .idle || self.isGivenUp }

    /// Whether the source is lost or silent, and its last frame has been repeated for as long as the pipeline allows.
    package func isAway(now: Int64) -> Bool { self.awayAt.map { now >= $0 } ?? false }

    /// When the last frame has been repeated for long enough; nil while the source is live.
    private var awayAt: Int64? {
        if let silentSince = self.silentSince, let hold = self.rules.stalledHold {
            return silentSince &+ self.silentShownAfter &+ hold
        }
        guard let lostAt = self.lostAt else { return nil }
        let shownUntil: Int64 = self.endsToDrain > 0 ? .max : max(lostAt, self.drainedAt ?? lostAt)
        return min(shownUntil, lostAt &+ Self.longestDrain) &+ self.rules.hold
    }

    /// When the grace period of a lost publisher ends; nil if none is running.
    package var graceUntil: Int64? {
        guard self.state == .reconnecting, !self.hasPublisher, let since = self.awaitedSince else { return nil }
        return since &+ self.rules.grace
    }

    /// When a stalled source is given up because it was silent for the whole grace period; nil if it is not stalled or
    /// was given up already. If the whole process was stopped in the meantime, then a publisher first gets the time of
    /// a stall to send a packet.
    private var givesUpAt: Int64? {
        guard self.state == .stalled, !self.isGivenUp, let since = self.silentSince else { return nil }
        return max(since &+ self.rules.grace, self.watchedSince &+ (self.rules.stall ?? 0) &+ 1)
    }

    /// The next time at which a grace period ends, the last frame has been repeated long enough, a stalled source is given
    /// up, or a publication with only audio becomes live; nil if there is none. A stall of a live source is not included.
    package func deadline(after now: Int64) -> Int64? {
        var deadlines: [Int64] = []
        if let grace = self.graceUntil { deadlines.append(grace) }
        if let away = self.awayAt, now < away { deadlines.append(away) }
        if let givesUp = self.givesUpAt { deadlines.append(givesUp) }
        if let audio = self.audioSince { deadlines.append(audio &+ Self.audioPatience) }
        return deadlines.min()
    }

    /// Restores a source that was lost while an earlier worker served the room. The room waits for it until `end`; nil
    /// if the room no longer waits for it.
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
        case .firstFrameDecoded:
            self.hasPublisher && self.pendingEnds <= 0 ? self.becomeLive(now, "first frame") : []
        case .firstAudioDecoded: self.firstAudioDecoded(now)
        case .left(let reason): self.left(now, reason)
        case .takenOver: self.takenOver(now)
        case .drained: self.drained(now)
        case .finished: self.state == .ended ? [] : [self.enter(.ended, now, "the file is over")]
        }
    }

    /// Applies the time that has passed: the end of a grace period, the beginning or the end of a stall, or a publication
    /// without video.
    package mutating func poll(now: Int64, arrivals: Arrivals) -> [Change] {
        if let polled = self.polled, now &- polled > Self.absence { self.watchedSince = now }
        self.polled = now
        if let grace = self.graceUntil, now >= grace {
            return [self.enter(.gone, now, "the publisher did not come back in time")]
        }
        if let audio = self.audioSince, now &- audio >= Self.audioPatience { return self.becomeLive(now, "audio only") }
        guard self.isPublished, let stall = self.rules.stall,
            let newest = [arrivals.video, arrivals.audio].compactMap({ $0 }).max()
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
        // After the process was stopped, it is unknown how long the silence was. Only a newer packet ends the stall.
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
        // A new publication without an end of the previous one: the previous one has ended.
        if self.hasPublisher, self.isPublished {
            self.lose(now)
            changes.append(self.enter(.reconnecting, now, "another connection took over"))
        }
        self.hasPublisher = true
        self.audioSince = nil
        self.isGivenUp = false
        switch self.state {
        case .idle, .gone, .ended: changes.append(self.enter(.connected, now, "a publisher was admitted"))
        case .connected, .publishing, .live, .stalled, .lost, .reconnecting: break
        }
        return changes
    }

    private mutating func firstAudioDecoded(_ now: Int64) -> [Change] {
        guard self.hasPublisher, self.pendingEnds <= 0, !self.isPublished, self.audioSince == nil else { return [] }
        guard self.rules.awaitsVideo else { return self.becomeLive(now, "audio") }
        self.audioSince = now
        return []
    }

    private mutating func becomeLive(_ now: Int64, _ reason: String) -> [Change] {
        self.audioSince = nil
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
            // If a publisher came back and leaves again before its first frame, then the time for which the earlier
            // last frame is repeated does not restart.
            if self.lostAt == nil || self.isPublished { self.lose(now) } else { self.awaitedSince = now }
            var changes = [self.enter(.lost, now, reason)]
            changes.append(
                self.rules.grace > 0
                    ? self.enter(.reconnecting, now, "waiting for the publisher")
                    : self.enter(.gone, now, "no grace period is configured"))
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

    /// Records that the live source was lost, as of the socket. A silence before that counts towards the hold time and
    /// the grace period.
    private mutating func lose(_ now: Int64) {
        self.lostAt = now
        self.awaitedSince = self.silentSince ?? now
        self.endsToDrain = self.pendingEnds
        self.drainedAt = nil
    }

    private mutating func endPublication() {
        self.hasPublisher = false
        self.audioSince = nil
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
