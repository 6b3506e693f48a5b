/// Decides what a room leaves out while its machine cannot keep up, and when it tries to undo a step: a value that
/// receives the room's lag and returns actions.
///
/// The *level* is the number of steps taken; level 0 leaves nothing out.
///
/// Taking steps: one step is taken when the lag has been above ``Rules/limit`` for ``Rules/observation`` without
/// falling. The next step waits until the effect of the previous one can be seen: until the change is in force
/// (``noted(lag:at:isPending:)``) and the lag has been observed again since then. A falling lag takes no step. If the
/// lag grows by ``Rules/runaway`` or more, which happens if the machine has less than 40 percent of the power that the
/// room needs, then every step but the hold is taken at once, since the playlists would be late before the steps were
/// taken one by one. The hold follows half a second later if the lag still grows, and the frames that wait for an
/// encoder are dropped with it. In a room that has just started (``Rules/start``), what makes the lag grow may be work
/// that comes only once, such as the opening of encoders and filters: there the backlog alone is dropped, once per
/// second, and the hold follows if that does not lower the lag. A lag of ``Rules/backlog`` beyond the limit is dropped
/// at most once per ``Rules/dropDistance``: of the dropped frames, viewers see six to eight per second at the usual
/// frame rates (see `EncoderControl`), and the next observation starts with little lag.
///
/// Undoing steps: one attempt at a time. The first comes ``Rules/firstDistance`` after the last step. An attempt fails
/// if the lag grows beyond half of the limit before the next attempt is due; the previous level is then restored at
/// once, and the distance to the next attempt at the same level doubles. After a successful attempt, the next one
/// undoes twice as many steps. Two attempts are at least ``Rules/attemptDistance`` apart. For a hold, the first attempt
/// comes after ``Rules/firstHoldDistance``, the next after ``Rules/holdDistance``, and then the distance doubles each
/// time; ``Rules/attemptDistance`` does not apply, since a still frame is worse than an attempt.
///
/// Invariants:
/// 1. Steps are taken in order and undone in reverse order, so ``Step/hold`` is taken only if every other step is.
/// 2. A step is taken only while the lag is above the limit; an attempt is given up when the lag is above half of it.
/// 3. A step is undone only after the lag was within half of the limit for ``Rules/shortObservation``.
package struct Overload: Sendable, Equatable {
    package enum Step: Sendable, Hashable {
        /// Hidden sources, and sources that are shown much smaller than their size, are decoded more cheaply.
        case decoding
        /// Outputs that no player waits for pause: raw output, stills and thumbnail sheets.
        case outputs
        /// The encoder of a rendition, by its index, is replaced by a cheaper one.
        case encoder(Int)
        /// Every second frame repeats the previous one; the frame rate stays.
        case halfPictures
        /// The frame is held; the audio continues.
        case hold
    }

    package enum Action: Sendable, Equatable {
        /// A step is taken or undone. `lag` in nanoseconds.
        case change(Step, isTaken: Bool, lag: Int64)
        /// Frames that wait for an encoder are replaced by the previous frame, which removes the lag. `lag` in
        /// nanoseconds. `keepsMotion`: every few frames one is encoded, so that the lag takes a moment to go.
        case dropBacklog(lag: Int64, keepsMotion: Bool)
    }

    /// The limits; all in nanoseconds, unless stated.
    package struct Rules: Sendable, Equatable {
        /// Lag up to which nothing is left out.
        package var limit: Int64
        /// Time after a step in which samples are ignored: frames that were decoded or composed before still have to be
        /// encoded.
        package var settling: Int64 = 300_000_000
        /// A change that is not in force after this long counts as in force: its encoder may have stopped, or be
        /// bypassed.
        package var longestPending: Int64 = 5_000_000_000
        /// Time above the limit after which a step is taken. Samples come every 50 ms; 20 of them distinguish a fall of
        /// 3 % from noise.
        package var observation: Int64 = 1_000_000_000
        /// The same if the lag grows by ``steepGrowth`` or more: 10 samples distinguish that from noise.
        package var shortObservation: Int64 = 500_000_000
        /// Time above the limit after which the backlog is dropped if no step but the hold is left.
        package var lastObservation: Int64 = 3_000_000_000
        /// If three drops occur within this time, then viewers see as many repeated frames as new ones, and the hold is
        /// taken.
        package var rareDrops: Int64 = 8_000_000_000
        /// Milliseconds per second.
        package var steepGrowth: Int64 = 200
        /// Growth of the lag at which taking the steps one by one would take too long, in milliseconds per second.
        package var runaway: Int64 = 600
        /// Time over which that growth is observed.
        package var runawayObservation: Int64 = 600_000_000
        /// If the lag falls by more than this, then no step is taken. Milliseconds per second.
        package var fall: Int64 = 10
        /// Lag beyond the limit that is dropped. Less than the 3 s of frames that can wait for the encoders.
        package var backlog: Int64 = 800_000_000
        /// Time above ``backlog`` after which it is dropped.
        package var dropObservation: Int64 = 300_000_000
        package var dropDistance: Int64 = 2_000_000_000
        /// Time from the first sample in which a room counts as just started.
        package var start: Int64 = 5_000_000_000
        /// Time from a step to the first attempt to undo it.
        package var firstDistance: Int64 = 30_000_000_000
        /// Least time from a hold to the first attempt to undo it; with ``settling`` and ``observation``, it is 1.3 s. A
        /// room that starts, or whose machine was busy for a moment, has caught up by then: the backlog was dropped
        /// with the hold.
        package var firstHoldDistance: Int64 = 1_000_000_000
        /// Time from a hold to the next attempt, if the previous one failed.
        package var holdDistance: Int64 = 5_000_000_000
        /// Least time between two attempts.
        package var attemptDistance: Int64 = 60_000_000_000
        /// Distances double up to this: 32 minutes.
        package var longestDistance: Int64 = 1_920_000_000_000
        /// If a step is taken again within this time after an attempt to undo it, then the next distance is longer.
        package var memory: Int64 = 600_000_000_000
        /// An attempt that has lasted this long counts as successful for the room's state.
        package var proof: Int64 = 10_000_000_000

        package init(limit: Int64) { self.limit = limit }
    }

    /// The level that a successor starts with; see ``OverloadRecord``.
    package struct Held: Sendable, Equatable {
        /// The steps, in order, without ``Step/hold``.
        package var steps: [Step]
        /// Time from a step to the next attempt to undo the last of them.
        package var distance: Int64

        package init(steps: [Step], distance: Int64) {
            self.steps = steps
            self.distance = distance
        }
    }

    private struct Attempt: Equatable {
        var began: Int64
        /// The level before the attempt.
        var from: Int
        var to: Int
    }

    package let rules: Rules
    package let steps: [Step]
    /// Number of ``steps`` that are taken, from the first on.
    package private(set) var taken = 0
    /// The last lag, in nanoseconds.
    package private(set) var lag: Int64 = 0
    private var history = LagHistory()
    private var startedAt: Int64?
    /// Samples before this time do not count for the current level.
    private var observedFrom = Int64.min / 2
    /// When the last change was made, if it is not in force yet; `nil`: it is in force.
    private var pendingSince: Int64?
    private var aboveLimitSince: Int64?
    private var aboveHalfSince: Int64?
    private var aboveHalfAt: Int64?
    private var aboveBacklogSince: Int64?
    /// When all steps but the hold were taken at once, or the backlog was dropped after that; `nil` once it is known
    /// whether that suffices.
    private var leapedAt: Int64?
    /// The lag at that drop.
    private var droppedAfterLeap: Int64?
    /// When backlogs were dropped since the last step; the last three.
    private var drops: [Int64] = []
    private var attempt: Attempt?
    private var attemptedAt: Int64?
    /// Number of steps that the next attempt undoes; more than one after a successful attempt.
    private var stride = 1
    /// By step: when an attempt may undo it, the distance of that time from the step, and when an attempt last undid
    /// it.
    private var dueAt: [Int64]
    private var distances: [Int64]
    private var givenBackAt: [Int64?]

    /// - Parameter held: The level of the previous worker. It counts as in force, and the first attempt waits for its
    ///   distance.
    package init(steps: [Step], rules: Rules, held: Held? = nil, at now: Int64 = 0) {
        self.steps = steps
        self.rules = rules
        self.dueAt = Array(repeating: 0, count: steps.count)
        self.givenBackAt = Array(repeating: nil, count: steps.count)
        self.distances = steps.map { $0 == .hold ? rules.firstHoldDistance : rules.firstDistance }
        guard let held else { return }
        let common = zip(steps, held.steps).prefix { $0 == $1 && $0 != .hold }
        self.taken = common.count
        guard self.taken > 0 else { return }
        self.distances[self.taken - 1] = min(max(held.distance, rules.firstDistance), rules.longestDistance)
        self.dueAt[self.taken - 1] = now &+ self.distances[self.taken - 1]
    }

    /// The steps that are taken now, in order.
    package var active: ArraySlice<Step> { self.steps.prefix(self.taken) }

    /// Whether the room counts as overloaded: also at level 0, until it has lasted for ``Rules/proof``.
    package func isOverloaded(at now: Int64) -> Bool {
        self.taken > 0 || self.attempt.map { now &- $0.began < self.rules.proof } ?? false
    }

    /// The level that a successor starts with; `nil` at level 0.
    package var held: Held? {
        let level = self.attempt?.from ?? self.taken
        let steps = self.steps.prefix(level).filter { $0 != .hold }
        guard let last = steps.indices.last else { return nil }
        return Held(steps: Array(steps), distance: self.distances[last])
    }

    /// Records the lag of the room.
    ///
    /// - Parameters:
    ///   - lag: In nanoseconds, without the usual time that a frame takes.
    ///   - now: Nanoseconds of one clock, never falling.
    ///   - isPending: Whether an earlier change is not in force yet, for instance because an encoder waits for its IDR
    ///     frame.
    /// - Returns: What changes, in order.
    package mutating func noted(lag: Int64, at now: Int64, isPending: Bool = false) -> [Action] {
        self.lag = max(0, lag)
        self.startedAt = self.startedAt ?? now
        self.history.note(self.lag, at: now)
        self.follow(now, isPending)
        let leap = self.leap(now)
        if !leap.isEmpty { return leap + self.dropped(now) }
        let needsStep = self.needsStep(now)
        if let attempt = self.attempt, needsStep || self.hasFailed(now) {
            return self.giveUp(attempt, now) + self.dropped(now)
        }
        if needsStep { return self.takeStep(now) + self.dropped(now) }
        let dropped = self.dropped(now)
        return dropped.isEmpty ? self.tryLess(now) : dropped
    }

    /// Forgets the samples, because the machine was suspended.
    package mutating func forget(at now: Int64) {
        self.history = LagHistory()
        // A step that was taken a moment ago keeps its settling time.
        self.observedFrom = max(self.observedFrom, now)
        (self.aboveLimitSince, self.aboveHalfSince, self.aboveBacklogSince) = (nil, nil, nil)
    }

    // MARK: Observation

    private mutating func follow(_ now: Int64, _ isPending: Bool) {
        if let since = self.pendingSince {
            if isPending, now &- since < self.rules.longestPending {
                self.observedFrom = max(self.observedFrom, now)
            } else {
                self.pendingSince = nil
            }
        }
        func follow(_ since: inout Int64?, _ limit: Int64) { since = self.lag > limit ? since ?? now : nil }
        follow(&self.aboveLimitSince, self.rules.limit)
        follow(&self.aboveHalfSince, self.rules.limit / 2)
        if self.aboveHalfSince != nil { self.aboveHalfAt = now }
        follow(&self.aboveBacklogSince, self.rules.limit &+ self.rules.backlog)
    }

    /// Milliseconds per second by which the lag has grown since `since`, and the observed time in nanoseconds.
    private func growth(since: Int64?, _ now: Int64) -> (slope: Int64, time: Int64)? {
        guard let since else { return nil }
        let from = max(since, self.observedFrom)
        guard let slope = self.history.slope(since: max(from, now &- self.rules.lastObservation)) else { return nil }
        return (slope, now &- from)
    }

    private func needsStep(_ now: Int64) -> Bool {
        guard self.taken < self.steps.count, let (slope, time) = self.growth(since: self.aboveLimitSince, now) else {
            return false
        }
        if self.steps[self.taken] == .hold { return self.dropsOften }
        if slope >= self.rules.steepGrowth { return time >= self.rules.shortObservation }
        return time >= self.rules.observation && slope > -self.rules.fall
    }

    /// Whether no step but the hold is left.
    private var isLastLevel: Bool { self.taken >= self.steps.count - (self.steps.last == .hold ? 1 : 0) }

    private var dropsOften: Bool {
        guard self.drops.count >= 3, let first = self.drops.first, let last = self.drops.last else { return false }
        return last &- first < self.rules.rareDrops
    }

    private func hasFailed(_ now: Int64) -> Bool {
        guard let (slope, time) = self.growth(since: self.aboveHalfSince, now) else { return false }
        return time >= self.rules.shortObservation && slope > -self.rules.fall
    }

    // MARK: Actions

    private mutating func changed(_ now: Int64) {
        self.drops = []
        self.pendingSince = now
        self.observedFrom = now &+ self.rules.settling
    }

    /// If the lag runs away: takes all steps but the hold at once, then the hold.
    private mutating func leap(_ now: Int64) -> [Action] {
        guard self.taken < self.steps.count, self.aboveLimitSince != nil else { return [] }
        guard self.isLastLevel else {
            guard self.runsAway(now) else { return [] }
            (self.leapedAt, self.droppedAfterLeap) = (now, nil)
            var actions: [Action] = []
            while !self.isLastLevel { actions += self.takeStep(now) }
            return actions
        }
        // A backlog that is being dropped takes some time to go.
        let observation = self.droppedAfterLeap == nil ? self.rules.shortObservation : self.rules.observation
        guard let leapedAt = self.leapedAt, now &- leapedAt >= observation else { return [] }
        self.leapedAt = nil
        guard let slope = self.history.slope(since: now &- self.rules.shortObservation, atLeast: 2),
            slope >= self.rules.steepGrowth
        else { return [] }
        let isStarting = self.startedAt.map { now &- $0 < self.rules.start } ?? true
        if isStarting, self.lag < self.droppedAfterLeap ?? .max {
            (self.leapedAt, self.droppedAfterLeap) = (now, self.lag)
            return [self.drop(now, keepsMotion: true)]
        }
        // Frames that already wait for an encoder are not held ones; encoding them would take seconds.
        let hold = self.takeStep(now)
        return hold + [self.drop(now, keepsMotion: false)]
    }

    /// Whether the lag grows by ``Rules/runaway`` or more in both halves of ``Rules/runawayObservation``. If the
    /// machine is suspended for a moment, then the lag grows in one half only.
    private func runsAway(_ now: Int64) -> Bool {
        let (start, middle) = (now &- self.rules.runawayObservation, now &- self.rules.runawayObservation / 2)
        guard let first = self.history.slope(since: start, until: middle, atLeast: 2),
            let second = self.history.slope(since: middle, atLeast: 2)
        else { return false }
        return min(first, second) >= self.rules.runaway
    }

    private mutating func takeStep(_ now: Int64) -> [Action] {
        let step = self.steps[self.taken]
        self.lengthen(self.taken, now)
        self.taken += 1
        self.stride = 1
        self.attempt = nil
        self.changed(now)
        return [.change(step, isTaken: true, lag: self.lag)]
    }

    /// Restores the level before the attempt.
    private mutating func giveUp(_ attempt: Attempt, _ now: Int64) -> [Action] {
        for step in attempt.to..<attempt.from { self.lengthen(step, now) }
        let steps = self.steps[self.taken..<attempt.from]
        self.taken = attempt.from
        self.stride = 1
        self.attempt = nil
        self.changed(now)
        return steps.map { .change($0, isTaken: true, lag: self.lag) }
    }

    /// Sets the time of the next attempt to undo a step that is taken: twice the distance if the last attempt was
    /// recent.
    private mutating func lengthen(_ step: Int, _ now: Int64) {
        let isHold = self.steps[step] == .hold
        let first = isHold ? self.rules.firstHoldDistance : self.rules.firstDistance
        let shortest = isHold ? self.rules.holdDistance : self.rules.attemptDistance
        let last = self.distances[step]
        let isLately = self.givenBackAt[step].map { now &- $0 < max(self.rules.memory, last &* 2) } ?? false
        self.distances[step] =
            isLately ? min(self.rules.longestDistance, max(shortest, last &* 2)) : first
        self.dueAt[step] = now &+ self.distances[step]
    }

    private mutating func dropped(_ now: Int64) -> [Action] {
        guard self.taken > 0, self.drops.last.map({ now &- $0 >= self.rules.dropDistance }) ?? true else { return [] }
        let isLarge = self.aboveBacklogSince.map { now &- $0 >= self.rules.dropObservation } ?? false
        let isLast =
            self.isLastLevel
            && self.growth(since: self.aboveLimitSince, now).map {
                $0.time >= self.rules.lastObservation && $0.slope > -self.rules.fall
            } ?? false
        guard isLarge || isLast else { return [] }
        return [self.drop(now, keepsMotion: true)]
    }

    private mutating func drop(_ now: Int64, keepsMotion: Bool) -> Action {
        self.drops = self.drops.suffix(2) + [now]
        self.forget(at: now)
        return .dropBacklog(lag: self.lag, keepsMotion: keepsMotion)
    }

    private mutating func tryLess(_ now: Int64) -> [Action] {
        if let attempt = self.attempt, now &- attempt.began >= self.rules.attemptDistance {
            // The attempt has succeeded.
            self.attempt = nil
            self.stride = min(self.steps.count, self.stride * 2)
            if self.taken == 0 { self.stride = 1 }
        }
        guard self.taken > 0, self.attempt == nil, self.pendingSince == nil, self.isCalm(now),
            now >= self.dueAt[self.taken - 1]
        else { return [] }
        let isHeld = self.steps[self.taken - 1] == .hold
        if !isHeld, let attemptedAt = self.attemptedAt, now &- attemptedAt < self.rules.attemptDistance { return [] }
        let from = self.taken
        var changes: [Action] = []
        for _ in 0..<(isHeld ? 1 : self.stride) where self.taken > 0 && now >= self.dueAt[self.taken - 1] {
            self.taken -= 1
            self.givenBackAt[self.taken] = now
            changes.append(.change(self.steps[self.taken], isTaken: false, lag: self.lag))
        }
        self.attempt = Attempt(began: now, from: from, to: self.taken)
        self.attemptedAt = now
        self.changed(now)
        return changes
    }

    private func isCalm(_ now: Int64) -> Bool {
        let isLow = self.aboveHalfAt.map { now &- $0 >= self.rules.shortObservation } ?? true
        return isLow && now &- self.observedFrom >= self.rules.observation
    }
}

/// Samples of the lag of the last seconds.
struct LagHistory: Sendable, Equatable {
    private struct Sample: Equatable {
        /// Nanoseconds.
        var time: Int64
        /// Microseconds, 0…100 s, so that no sum overflows.
        var lag: Int64
    }

    private static let capacity = 128
    private static let kept: Int64 = 4_000_000_000
    /// Closer samples replace one another.
    private static let closest: Int64 = 20_000_000
    private static let mostLag: Int64 = 100_000_000

    private var samples: [Sample] = []

    mutating func note(_ lag: Int64, at now: Int64) {
        let sample = Sample(time: now, lag: min(Self.mostLag, max(0, lag / 1000)))
        if let last = self.samples.last, now &- last.time < Self.closest {
            self.samples[self.samples.count - 1].lag = sample.lag
            return
        }
        self.samples.append(sample)
        let old = self.samples.firstIndex { now &- $0.time <= Self.kept } ?? self.samples.count
        self.samples.removeFirst(max(old, self.samples.count - Self.capacity))
    }

    /// The growth of the lag since a time, in milliseconds per second: the slope of the least-squares line through the
    /// samples; `nil` for too few samples.
    ///
    /// - Parameter least: Number of samples required, at least 2.
    func slope(since time: Int64, until end: Int64 = .max, atLeast least: Int = 5) -> Int64? {
        let used = self.samples.drop { $0.time < time }.prefix { $0.time < end }
        guard let first = used.first, used.count >= least else { return nil }
        var (sumOfTimes, sumOfLags, sumOfProducts, sumOfSquares) = (Int64(0), Int64(0), Int64(0), Int64(0))
        for sample in used {
            let time = (sample.time &- first.time) / 1_000_000
            sumOfTimes += time
            sumOfLags += sample.lag
            sumOfProducts += time * sample.lag
            sumOfSquares += time * time
        }
        let count = Int64(used.count)
        let divisor = count * sumOfSquares - sumOfTimes * sumOfTimes
        // Microseconds per millisecond are milliseconds per second.
        return divisor > 0 ? (count * sumOfProducts - sumOfTimes * sumOfLags) / divisor : nil
    }
}
