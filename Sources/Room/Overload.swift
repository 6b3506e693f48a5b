/// Decides what a room leaves out while its machine cannot keep up, and when it tries to restore it. A pure value: it
/// receives the room's lag and returns actions.
///
/// The *level* is the number of steps taken. At level 0 nothing is left out. ``Rules`` has the limits and times.
///
/// Taking steps: one step at a time, while the lag is above the limit and does not fall. The next step waits until the
/// previous one is in force and its effect has been observed. At a level above 0, frames that wait for an encoder are
/// dropped if the lag stays high. ``Step/hold`` is taken if that happens often.
///
/// Runaway lag: if the lag grows very fast, then all steps except ``Step/hold`` are taken at once. If it still grows
/// after that, then ``Step/hold`` is taken too. In a room that has just started, the cause may be work that occurs only
/// once, such as the opening of encoders, so waiting frames are dropped first.
///
/// Undoing steps: one attempt at a time. An attempt fails if the lag then stays above half of the limit without falling.
/// In that case the previous level is restored, and the time to the next attempt doubles. After a successful attempt,
/// the next one undoes twice as many steps. ``Step/hold`` has shorter times, since a frozen frame is worse than an
/// attempt.
///
/// Invariants:
/// 1. Steps are taken in order and undone in reverse order, so ``Step/hold`` is taken only if every other step is.
/// 2. A step is taken only while the lag is above the limit; an attempt is given up when the lag is above half of it.
/// 3. A step is undone only after the lag was within half of the limit for ``Rules/shortObservation``.
package struct Overload: Sendable, Equatable {
    /// One measure that reduces the room's work.
    package enum Step: Sendable, Hashable {
        /// Noise is not suppressed, sources that are scaled down are decoded without the loop filter, and a hidden source that
        /// becomes visible may wait for its next key frame.
        case decoding
        /// Outputs that no player waits for pause: raw output, stills and thumbnail sheets.
        case outputs
        /// The encoder of a rendition, by its index, is replaced by a cheaper one.
        case encoder(Int)
        /// Every second frame repeats the previous one; the frame rate does not change.
        case halfPictures
        /// The last frame is repeated (the video freezes); the audio continues.
        case hold
    }

    /// A change that the room must carry out.
    package enum Action: Sendable, Equatable {
        /// A step is taken or undone. `lag`: the room's lag in nanoseconds.
        case change(Step, isTaken: Bool, lag: Int64)
        /// Frames that wait for an encoder are replaced by the previous frame, which removes the lag. `lag` is in
        /// nanoseconds. If `keepsMotion` is true, then every few frames one is still encoded, so the lag falls more
        /// slowly.
        case dropBacklog(lag: Int64, keepsMotion: Bool)
    }

    /// Limits of lag and times of observation, in nanoseconds unless stated otherwise.
    package struct Rules: Sendable, Equatable {
        /// Lag up to which no further step is taken.
        package var limit: Int64
        /// Time after a step in which the lag is no reason for the next one, because frames that were decoded or composed
        /// before the step still have to be encoded. It does not apply to a ``runaway`` lag.
        package var settling: Int64 = 300_000_000
        /// A change that is not in force after this time counts as in force. Its encoder may have stopped, or may be
        /// bypassed.
        package var longestPending: Int64 = 5_000_000_000
        /// Time with the lag above the limit after which a step is taken. Samples are taken every 50 ms; 20 samples
        /// distinguish a fall of 3 % from noise.
        package var observation: Int64 = 1_000_000_000
        /// Time with the lag above the limit after which a step is taken if the lag grows by ``steepGrowth`` or more:
        /// 10 samples distinguish such growth from noise.
        package var shortObservation: Int64 = 500_000_000
        /// Time with the lag above the limit after which the backlog is dropped if at most ``Step/hold`` is left to take.
        package var lastObservation: Int64 = 3_000_000_000
        /// If the backlog is dropped three times within this time, then ``Step/hold`` is taken.
        package var rareDrops: Int64 = 8_000_000_000
        /// Growth of the lag from which ``shortObservation`` suffices, in milliseconds per second.
        package var steepGrowth: Int64 = 200
        /// Growth of the lag, in milliseconds per second, at which all steps except ``Step/hold`` are taken at once.
        package var runaway: Int64 = 600
        /// Time over which a growth of ``runaway`` is observed.
        package var runawayObservation: Int64 = 600_000_000
        /// No step is taken if the lag falls by more than this, in milliseconds per second.
        package var fall: Int64 = 10
        /// Lag beyond ``limit`` at which waiting frames are dropped. It is less than the 3 s of frames that can wait
        /// for the encoders.
        package var backlog: Int64 = 800_000_000
        /// Time with the lag above ``limit`` + ``backlog`` after which waiting frames are dropped.
        package var dropObservation: Int64 = 300_000_000
        /// Least time between two drops of waiting frames. It does not apply after all steps were taken at once.
        package var dropDistance: Int64 = 2_000_000_000
        /// Time from the first sample of the lag during which a room counts as just started.
        package var start: Int64 = 5_000_000_000
        /// Time from a step to the first attempt to undo it.
        package var firstDistance: Int64 = 30_000_000_000
        /// Least time from taking ``Step/hold`` to the first attempt to undo it; ``settling`` and ``observation`` make it
        /// 1.3 s. By then a room that has just started, or whose machine was busy for a moment, has caught up, because
        /// the backlog was dropped when the step was taken.
        package var firstHoldDistance: Int64 = 1_000_000_000
        /// Time from taking ``Step/hold`` to the next attempt to undo it, if the previous attempt failed.
        package var holdDistance: Int64 = 5_000_000_000
        /// Least time from an attempt to undo steps to the next attempt to undo one other than ``Step/hold``.
        package var attemptDistance: Int64 = 60_000_000_000
        /// Limit of the time between a step and an attempt to undo it, which doubles with each failure: 32 minutes.
        package var longestDistance: Int64 = 1_920_000_000_000
        /// If a step is taken again within this time after it was undone, or within twice the last time to an attempt if
        /// that is longer, then the time to the next attempt doubles.
        package var memory: Int64 = 600_000_000_000
        /// An attempt to undo steps that has lasted this long counts as successful for the room's state.
        package var proof: Int64 = 10_000_000_000

        package init(limit: Int64) { self.limit = limit }
    }

    /// The level that a successor starts with; see ``OverloadRecord``.
    package struct InheritedLevel: Sendable, Equatable {
        /// The steps, in order, without ``Step/hold``.
        package var steps: [Step]
        /// Time from taking an overload step to the next attempt to undo the last of ``steps``, in nanoseconds.
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

    /// The limits and times of the room.
    package let rules: Rules
    /// The room's steps in the order in which they are taken.
    package let steps: [Step]
    /// Number of overload ``steps`` in force, counted from the first.
    package private(set) var taken = 0
    /// The lag received last, in nanoseconds.
    package private(set) var lag: Int64 = 0
    private var history = LagHistory()
    private var startedAt: Int64?
    /// Samples of the lag before this time do not count for the current level.
    private var observedFrom = Int64.min / 2
    /// When steps were last taken or undone; nil once that is in force or has taken too long.
    private var pendingSince: Int64?
    private var aboveLimitSince: Int64?
    private var aboveHalfSince: Int64?
    private var aboveHalfAt: Int64?
    private var aboveBacklogSince: Int64?
    /// When all steps except ``Step/hold`` were taken at once, or when the backlog was dropped after that; nil when it
    /// has been decided whether that suffices.
    private var leapedAt: Int64?
    /// The lag when the backlog was dropped after all steps had been taken at once; nil if it was not dropped.
    private var droppedAfterLeap: Int64?
    /// Times of the last three drops of the backlog since the last step.
    private var drops: [Int64] = []
    private var attempt: Attempt?
    private var attemptedAt: Int64?
    /// Number of steps that the next attempt undoes; it doubles after each successful attempt.
    private var stride = 1
    /// For each step, the earliest time of an attempt to undo it.
    private var dueAt: [Int64]
    /// For each step, the time in nanoseconds from taking it to the first attempt to undo it.
    private var distances: [Int64]
    /// For each step, when an attempt last undid it; nil if no attempt has.
    private var givenBackAt: [Int64?]

    /// - Parameter held: The overload level of the previous worker; nil to start at level 0. The level counts as in
    ///   force. The first attempt to undo it waits for its `distance`.
    package init(steps: [Step], rules: Rules, held: InheritedLevel? = nil, at now: Int64 = 0) {
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

    /// The steps that are in force now, in the order in which they were taken.
    package var active: ArraySlice<Step> { self.steps.prefix(self.taken) }

    /// Whether the room counts as overloaded: above level 0, and for ``Rules/proof`` after the last step was undone.
    package func isOverloaded(at now: Int64) -> Bool {
        self.taken > 0 || self.attempt.map { now &- $0.began < self.rules.proof } ?? false
    }

    /// The overload level that a successor starts with; nil at level 0.
    package var held: InheritedLevel? {
        let level = self.attempt?.from ?? self.taken
        let steps = self.steps.prefix(level).filter { $0 != .hold }
        guard let last = steps.indices.last else { return nil }
        return InheritedLevel(steps: Array(steps), distance: self.distances[last])
    }

    /// Records the room's lag and decides what to change.
    ///
    /// - Parameters:
    ///   - lag: In nanoseconds, without the time that a frame usually takes.
    ///   - now: Monotonic time in nanoseconds.
    ///   - isPending: Whether an earlier change is not in force yet, for instance because an encoder waits for its key
    ///     frame.
    /// - Returns: The changes to make, in order.
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

    /// Forgets the samples of the lag, for example because the process was stopped for a moment.
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

    /// Growth of the lag since `since`, in milliseconds per second, and the time over which it was observed, in
    /// nanoseconds; nil if `since` is nil or there are too few samples.
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

    /// Whether every step except ``Step/hold`` is taken.
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

    /// Takes all steps except ``Step/hold`` at once if the lag runs away; takes ``Step/hold`` if the lag still grows
    /// later.
    private mutating func leap(_ now: Int64) -> [Action] {
        guard self.taken < self.steps.count, self.aboveLimitSince != nil else { return [] }
        guard self.isLastLevel else {
            guard self.runsAway(now) else { return [] }
            (self.leapedAt, self.droppedAfterLeap) = (now, nil)
            var actions: [Action] = []
            while !self.isLastLevel { actions += self.takeStep(now) }
            return actions
        }
        // A backlog that is being dropped takes some time to disappear.
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
        // The frames that already wait for an encoder are new frames, not repeated ones; encoding them would take
        // seconds.
        let hold = self.takeStep(now)
        return hold + [self.drop(now, keepsMotion: false)]
    }

    /// Whether the lag grows by ``Rules/runaway`` or more in both halves of ``Rules/runawayObservation``. If the process
    /// is stopped or gets no CPU time for a moment, then the lag grows in only one half.
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

    /// Restores the level that applied before a failed attempt.
    private mutating func giveUp(_ attempt: Attempt, _ now: Int64) -> [Action] {
        for step in attempt.to..<attempt.from { self.lengthen(step, now) }
        let steps = self.steps[self.taken..<attempt.from]
        self.taken = attempt.from
        self.stride = 1
        self.attempt = nil
        self.changed(now)
        return steps.map { .change($0, isTaken: true, lag: self.lag) }
    }

    /// Sets when the next attempt may undo a step that is being taken. The time doubles if the last attempt to undo
    /// this step was recent.
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

/// Samples of the room's lag over the last four seconds.
struct LagHistory: Sendable, Equatable {
    /// One sample of the lag.
    private struct Sample: Equatable {
        /// Monotonic time in nanoseconds.
        var time: Int64
        /// Lag in microseconds, limited to 100 s so that no sum overflows.
        var lag: Int64
    }

    private static let capacity = 128
    private static let kept: Int64 = 4_000_000_000
    /// Samples closer than this, in nanoseconds, replace each other.
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

    /// The growth of the lag in a time range, in milliseconds per second: the slope of the least-squares line through
    /// its samples; nil if there are too few samples.
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
        // Microseconds per millisecond equal milliseconds per second.
        return divisor > 0 ? (count * sumOfProducts - sumOfTimes * sumOfLags) / divisor : nil
    }
}
