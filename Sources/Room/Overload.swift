/// Decides what a room leaves out while its machine cannot keep up, and when it tries to do without a step again: a value that
/// is given the room's lag and returns actions.
///
/// The *level* is the number of steps taken; level 0 leaves nothing out.
///
/// Downwards: one step is taken when the lag has been above ``Rules/limit`` for ``Rules/observation`` without falling. The next
/// step waits until the effect of the one before can be seen: until the change is in force (``noted(lag:at:isPending:)``) and the
/// lag has been observed again since then. Lag that falls takes no step. If the lag grows by ``Rules/runaway`` or more, which a
/// machine with less than 40 percent of what the room needs makes, then every step but the hold is taken at once, since playlists
/// would be late before one step after the other was taken. The hold follows half a second later if the lag still grows, and
/// the frames that wait for an encoder are dropped with it. A lag of
/// ``Rules/backlog`` beyond the limit is dropped once per ``Rules/dropDistance``: viewers see one frame for that time, and the next observation starts without lag.
///
/// Upwards: one attempt at a time. The first comes ``Rules/firstDistance`` after the last step. An attempt fails if the lag grows
/// beyond half of the limit before the next attempt is due; the level that held is then taken again at once, and the distance to the
/// next attempt at the same level doubles. An attempt that succeeds lets the next one take back twice as many steps. Two
/// attempts are ``Rules/attemptDistance`` apart at least. A hold is tried after ``Rules/firstHoldDistance``, then after
/// ``Rules/holdDistance``, and then after twice the distance each time; ``Rules/attemptDistance`` does not apply, since a still frame is worse than an attempt.
///
/// Invariants:
/// 1. Steps are taken in their order and taken back in reverse order, so ``Step/hold`` is taken only if every other step is.
/// 2. A step is taken only while the lag is above the limit; an attempt that fails is given up above half of it.
/// 3. A step is taken back only after the lag was within half of the limit for ``Rules/shortObservation``.
package struct Overload: Sendable, Equatable {
    package enum Step: Sendable, Hashable {
        /// Sources nobody sees, and those that are shown much smaller than they come, are decoded more cheaply.
        case decoding
        /// Outputs no player waits for pause: raw pictures, and stills with their sheets.
        case outputs
        /// The encoder of a rendition, by its place in the ladder, is replaced by its cheaper sibling.
        case encoder(Int)
        /// Every second picture is the one before; the frame rate stays.
        case halfPictures
        /// The picture is held; the sound goes on.
        case hold
    }

    package enum Action: Sendable, Equatable {
        /// A step is taken, or taken back. `lag` in nanoseconds.
        case change(Step, isTaken: Bool, lag: Int64)
        /// Frames that wait for an encoder repeat the frame before, so that the lag is gone. `lag` in nanoseconds.
        case dropBacklog(lag: Int64)
    }

    /// All in nanoseconds, unless stated.
    package struct Rules: Sendable, Equatable {
        /// Lag that is no reason to leave anything out.
        package var limit: Int64
        /// Time without samples after a step that is in force at once: what was decoded or composed before still has to be coded.
        package var settling: Int64 = 300_000_000
        /// A change that is not in force after this long counts as in force: its encoder may be gone, or bypassed.
        package var longestPending: Int64 = 5_000_000_000
        /// Time above the limit that decides on a step. Samples come every 50 ms; 20 of them tell a fall of 3 % from noise.
        package var observation: Int64 = 1_000_000_000
        /// The same where the lag grows by ``steepGrowth`` or more: 10 samples tell that from noise.
        package var shortObservation: Int64 = 500_000_000
        /// Time above the limit after which the backlog is dropped where no step but the hold is left.
        package var lastObservation: Int64 = 3_000_000_000
        /// Three drops within this show as many still frames as moving ones: then the hold is taken.
        package var rareDrops: Int64 = 8_000_000_000
        /// Milliseconds per second.
        package var steepGrowth: Int64 = 200
        /// Growth at which one step after the other would take too long. Milliseconds per second.
        package var runaway: Int64 = 600
        /// Time for which the growth is observed.
        package var runawayObservation: Int64 = 600_000_000
        /// A lag that falls by more than this is let fall. Milliseconds per second.
        package var fall: Int64 = 10
        /// Lag beyond the limit that is dropped. Below the 3 s that wait before the encoders.
        package var backlog: Int64 = 800_000_000
        /// Time above ``backlog`` after which it is dropped.
        package var dropObservation: Int64 = 300_000_000
        package var dropDistance: Int64 = 2_000_000_000
        /// From a step to the first attempt to do without it.
        package var firstDistance: Int64 = 30_000_000_000
        /// From a hold to the first attempt to do without it. A room that starts, or one whose machine was taken away for a moment, has
        /// caught up by then: the backlog was dropped with the hold.
        package var firstHoldDistance: Int64 = 1_000_000_000
        /// From a hold to the next attempt, if the one before failed.
        package var holdDistance: Int64 = 5_000_000_000
        /// Between two attempts, at least.
        package var attemptDistance: Int64 = 60_000_000_000
        /// Distances double up to this: 32 minutes.
        package var longestDistance: Int64 = 1_920_000_000_000
        /// A step that is taken again within this time of an attempt to do without it makes the next distance longer.
        package var memory: Int64 = 600_000_000_000
        /// An attempt that has held for this long counts as held for the room's state.
        package var proof: Int64 = 10_000_000_000

        package init(limit: Int64) { self.limit = limit }
    }

    /// What a successor is told: see ``OverloadRecord``.
    package struct Held: Sendable, Equatable {
        /// In their order; ``Step/hold`` is not handed on.
        package var steps: [Step]
        /// From a step to the next attempt to do without the last of them.
        package var distance: Int64

        package init(steps: [Step], distance: Int64) {
            self.steps = steps
            self.distance = distance
        }
    }

    private struct Attempt: Equatable {
        var began: Int64
        /// The level that held before.
        var from: Int
        var to: Int
    }

    package let rules: Rules
    package let steps: [Step]
    /// How many of ``steps`` are taken, from the first on.
    package private(set) var taken = 0
    /// The lag that was noted last, in nanoseconds.
    package private(set) var lag: Int64 = 0
    private var history = LagHistory()
    /// Samples before this say nothing about the level.
    private var observedFrom = Int64.min / 2
    /// When the last change was made, while it is not in force; `nil`: it is.
    private var pendingSince: Int64?
    private var aboveLimitSince: Int64?
    private var aboveHalfSince: Int64?
    private var aboveHalfAt: Int64?
    private var aboveBacklogSince: Int64?
    /// When all steps but the hold were taken at once, until it is known whether that suffices.
    private var leapedAt: Int64?
    /// When the last three backlogs since the last step were dropped.
    private var drops: [Int64] = []
    private var attempt: Attempt?
    private var attemptedAt: Int64?
    /// Steps that the next attempt takes back; more than one after one that succeeded.
    private var stride = 1
    /// By step: when an attempt may do without it, how long after it was taken that is, and when an attempt last did without it.
    private var dueAt: [Int64]
    private var distances: [Int64]
    private var givenBackAt: [Int64?]

    /// - Parameter held: What the worker before left out; it counts as in force, and the first attempt waits for its distance.
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

    /// Steps that are taken now, in their order.
    package var active: ArraySlice<Step> { self.steps.prefix(self.taken) }

    /// Whether the room counts as overloaded: at level 0 too, until that has held for ``Rules/proof``.
    package func isOverloaded(at now: Int64) -> Bool {
        self.taken > 0 || self.attempt.map { now &- $0.began < self.rules.proof } ?? false
    }

    /// What a successor is to begin with; `nil` at level 0.
    package var held: Held? {
        let level = self.attempt?.from ?? self.taken
        let steps = self.steps.prefix(level).filter { $0 != .hold }
        guard let last = steps.indices.last else { return nil }
        return Held(steps: Array(steps), distance: self.distances[last])
    }

    /// Notes how far the room is behind.
    ///
    /// - Parameters:
    ///   - lag: In nanoseconds; a frame that is on its way at its usual pace is no lag.
    ///   - now: Nanoseconds of one clock, never falling.
    ///   - isPending: A change that was returned before is not in force yet, such as an encoder that waits for its IDR frame.
    /// - Returns: What changes, in order.
    package mutating func noted(lag: Int64, at now: Int64, isPending: Bool = false) -> [Action] {
        self.lag = max(0, lag)
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

    /// The machine stood still: what was observed before says nothing.
    package mutating func forget(at now: Int64) {
        self.history = LagHistory()
        self.observedFrom = now
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

    /// Milliseconds per second by which the lag grows since `since`, and nanoseconds that this was observed for.
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

    /// No step but the hold is left.
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

    /// The lag runs away: all steps but the hold at once, then the hold.
    private mutating func leap(_ now: Int64) -> [Action] {
        guard self.taken < self.steps.count, self.aboveLimitSince != nil else { return [] }
        guard self.isLastLevel else {
            guard self.runsAway(now) else { return [] }
            self.leapedAt = now
            var actions: [Action] = []
            while !self.isLastLevel { actions += self.takeStep(now) }
            return actions
        }
        guard let leapedAt = self.leapedAt, now &- leapedAt >= self.rules.shortObservation else { return [] }
        self.leapedAt = nil
        guard let slope = self.history.slope(since: leapedAt, atLeast: 2), slope >= self.rules.steepGrowth else {
            return []
        }
        // Frames that already wait for an encoder are moving pictures, and encoding them would take seconds.
        let lag = self.lag
        let hold = self.takeStep(now)
        self.history = LagHistory()
        (self.aboveLimitSince, self.aboveHalfSince, self.aboveBacklogSince) = (nil, nil, nil)
        return hold + [.dropBacklog(lag: lag)]
    }

    /// Whether the lag grows by ``Rules/runaway`` or more in both halves of ``Rules/runawayObservation``. A machine that stands still for
    /// a moment makes it grow in one half only.
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

    /// Returns to the level that held.
    private mutating func giveUp(_ attempt: Attempt, _ now: Int64) -> [Action] {
        for step in attempt.to..<attempt.from { self.lengthen(step, now) }
        let steps = self.steps[self.taken..<attempt.from]
        self.taken = attempt.from
        self.stride = 1
        self.attempt = nil
        self.changed(now)
        return steps.map { .change($0, isTaken: true, lag: self.lag) }
    }

    /// A step is taken: the next attempt waits for twice as long if the last one was lately.
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
        self.drops = self.drops.suffix(2) + [now]
        let lag = self.lag
        self.forget(at: now)
        return [.dropBacklog(lag: lag)]
    }

    private mutating func tryLess(_ now: Int64) -> [Action] {
        if let attempt = self.attempt, now &- attempt.began >= self.rules.attemptDistance {
            // It has held.
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

    /// By how many milliseconds per second the lag grows since a time: the least squares' line through its samples; `nil` for too few
    /// samples.
    ///
    /// - Parameter least: Samples that are needed, at least 2.
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
