/// What a room leaves out while its machine cannot keep up, step by step, and when it takes each step back: a value that is
/// told how far the room is behind.
///
/// States: whole (nothing is left out) → any number of steps taken, always the first so many in their order → whole. Above
/// ``Rules/limit`` the next step is taken, after a pause that lets the one before show what it does, unless the lag grows
/// meanwhile; far above it, or when the lag got there at a pace that says the machine has less than half of what the room needs,
/// all of them: at that pace all but the hold are taken from half of the limit on, because what the encoders hold by then has
/// to be coded too. The same pace since the last step was taken says so as well. Below half of the limit for a while the last step is taken back. A step that had to be taken again soon
/// after it was taken back is taken from half of the limit on, and kept longer the next time; no other step is.
///
/// It keeps these:
/// 1. Steps are taken and taken back one after the other in their order, and no step twice.
/// 2. None is taken while the lag is within half of the limit, none taken back while it is above that; within the limit, only
///    while it grows steeply or soon after the step was taken back.
/// 3. Without lag everything is taken back within ``Rules/longestPatience`` and ``Rules/patience`` for each further step.
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

    package struct Change: Sendable, Equatable {
        package var step: Step
        package var isTaken: Bool
        /// How far the room was behind, in nanoseconds.
        package var lag: Int64
    }

    /// All in nanoseconds.
    package struct Rules: Sendable, Equatable {
        /// As far behind as this is no reason to leave anything out.
        package var limit: Int64
        /// Between two steps, or four times that behind an encoder, whose replacement waits for an IDR picture.
        package var pause: Int64 = 400_000_000
        /// How long the room must be in time before a step is taken back.
        package var patience: Int64 = 800_000_000
        /// The same for a step that had to be taken again and again.
        package var longestPatience: Int64 = 3_000_000_000
        /// A step that is taken again within this time was taken back too soon.
        package var relapse: Int64 = 5_000_000_000
        /// Growth since the last step of more than the limit divided by this is not waited for.
        package var growth: Int64 = 4
        /// So many times the limit, and every step is taken at once.
        package var panic: Int64 = 3
        /// A lag that has grown by its time divided by this since it was a quarter of the limit grows steeply.
        package var steep: Int64 = 2

        package init(limit: Int64) { self.limit = limit }
    }

    private struct Onset: Equatable {
        var time: Int64
        var lag: Int64
    }

    package let rules: Rules
    package let steps: [Step]
    /// How many of ``steps`` are taken, from the first on.
    package private(set) var taken = 0
    /// The lag that was noted last, in nanoseconds.
    package private(set) var lag: Int64 = 0
    private var notBefore: Int64 = .min
    private var inTime: Int64 = 0
    /// The same, whatever was taken back meanwhile.
    private var calm: Int64 = 0
    /// The lag at which the last step was taken, and when that was.
    private var lagAtStep: Int64 = 0
    private var timeOfStep: Int64 = .min / 2
    /// When the lag was last within a quarter of the limit, and what it was.
    private var onset: Onset?
    private var noted: Int64?
    /// By place in ``steps``: when it was taken back, and what it takes to do that again.
    private var takenBack: [Int64?]
    private var patience: [Int64]

    package init(steps: [Step], rules: Rules) {
        self.steps = steps
        self.rules = rules
        self.takenBack = Array(repeating: nil, count: steps.count)
        self.patience = Array(repeating: rules.patience, count: steps.count)
    }

    /// Steps that are taken now, in their order.
    package var active: ArraySlice<Step> { self.steps.prefix(self.taken) }

    /// Notes how far the room is behind.
    ///
    /// - Parameters:
    ///   - lag: In nanoseconds; a picture that is on its way at its usual pace is no lag.
    ///   - now: Nanoseconds of one clock, never falling.
    /// - Returns: What changes, in order.
    package mutating func noted(lag: Int64, at now: Int64) -> [Change] {
        let passed = max(0, now &- (self.noted ?? now))
        self.noted = now
        self.lag = lag
        if lag <= self.rules.limit / 4 { self.onset = Onset(time: now, lag: lag) }
        if lag > self.rules.limit || lag > self.rules.limit / 2 && self.isUrgent(now) {
            self.inTime = 0
            self.calm = 0
            return self.take(now)
        }
        guard lag <= self.rules.limit / 2, self.taken > 0 else { return [] }
        self.inTime += passed
        self.calm += passed
        // One step that was tried in vain is proof enough for those before it.
        let isProven = self.calm >= self.rules.longestPatience
        let patience = self.patience[self.taken - 1]
        guard self.inTime >= (isProven ? min(patience, self.rules.patience) : patience) else { return [] }
        self.taken -= 1
        self.inTime = 0
        self.takenBack[self.taken] = now
        self.notBefore = .min
        return [Change(step: self.steps[self.taken], isTaken: false, lag: lag)]
    }

    /// Whether the machine has less than half of what the room needs, as far as the lag shows.
    private func isSteep(_ now: Int64) -> Bool {
        guard let onset = self.onset, self.lag > self.rules.limit / 2 else { return false }
        return (self.lag &- onset.lag) >= (now &- onset.time) / max(1, self.rules.steep)
    }

    /// Whether the next step is taken within the limit already.
    private func isUrgent(_ now: Int64) -> Bool {
        guard self.taken < self.steps.count else { return false }
        if let back = self.takenBack[self.taken], now &- back < self.rules.relapse { return true }
        return self.steps[self.taken] != .hold && self.isSteep(now)
    }

    private mutating func take(_ now: Int64) -> [Change] {
        let isSteep = self.isSteep(now)
        let growth = self.lag &- self.lagAtStep
        let isGrowing = growth > self.rules.limit / max(1, self.rules.growth)
        // A lag that grew slowly at first may be steep by now.
        let isRunningAway =
            self.taken > 0 && isGrowing && growth >= (now &- self.timeOfStep) / max(1, self.rules.steep)
        let isPanic = self.lag / max(1, self.rules.limit) >= self.rules.panic || isSteep || isRunningAway
        guard isPanic || now >= self.notBefore || self.taken > 0 && isGrowing else { return [] }
        self.lagAtStep = self.lag
        self.timeOfStep = now
        var changes: [Change] = []
        while self.taken < self.steps.count {
            let step = self.steps[self.taken]
            if step == .hold, self.lag <= self.rules.limit, self.takenBack[self.taken] == nil { break }
            if let back = self.takenBack[self.taken], now &- back < self.rules.relapse {
                self.patience[self.taken] = min(self.rules.longestPatience, self.patience[self.taken] * 2)
            } else {
                self.patience[self.taken] = self.rules.patience
            }
            self.taken += 1
            changes.append(Change(step: step, isTaken: true, lag: self.lag))
            guard isPanic else { break }
        }
        self.notBefore = now &+ self.rules.pause
        if case .encoder? = changes.last?.step { self.notBefore = now &+ 4 * self.rules.pause }
        return changes
    }
}
