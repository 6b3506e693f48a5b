import MediaTypes
import Room
import RoomScenes
import RoomSources
import TestSupport

/// A month of one operator's rooms, simulated with ``SceneSelector``, ``SourceRefusals``, ``RoomIdle`` and
/// ``CommandedState``.
///
/// Events do not come at fixed intervals: time advances to the next deadline of these values or the next action of
/// publishers, operators or the machine. All times are room time, in nanoseconds since the Unix epoch; each worker's
/// SceneSelector uses a clock of its own.
struct Month {
    static let second = Kit.second
    static let idleRules = RoomIdle.Rules(firstSource: 1_800 * Kit.second, idle: 900 * Kit.second)
    /// 2026-01-01T00:00:00Z.
    static let beginning: Int64 = 1_767_225_600 * Kit.second

    /// A planned action.
    struct Plan {
        enum Kind {
            case connect(SourceID)
            case arrive(SourceID)
            case picture(SourceID)
            case silence(SourceID)
            case resume(SourceID)
            case leave(SourceID)
            case drain(SourceID)
            case command
            /// A series of commands.
            case commands
            case death
        }

        var time: Int64
        var kind: Kind
        /// The publication it belongs to. The action is dropped if another publication runs.
        var publication: Int
    }

    /// State of a source's publisher.
    struct Publisher {
        /// Number of the current publication, or the last one.
        var publication = 0
        var isConnected = false
        var hasArrived = false
        /// Time of the last packet; nil: packets keep arriving.
        var silentSince: Int64?
        /// When the decoder finishes what it has received.
        var drainedAt: Int64 = 0
        /// When the last publication ended; nil: not known to this worker.
        var leftAt: Int64?
    }

    /// Counts of what happened, which show that the month was eventful.
    struct Tally {
        var starts = 0
        var timerEnds = 0
        var lossEnds = 0
        var commandEnds = 0
        var refusedCommands = 0
        var admitted = 0
        var refusedPublishers = 0
        var stalls = 0
        var givenUp = 0
        var gone = 0
        var successors = 0
        var phasesOverDeaths = 0
        var endsBehindDeaths = 0
        var coversOverDeaths = 0
        var rooms = 1
        var latePolls = 0
        /// PKs that ended with their room.
        var roomEnds = 0
    }

    var random: TestRandom
    var now = Self.beginning
    /// Room time minus the time of this worker's clock.
    var offset: Int64
    var life: SceneSelector
    var refusals = SourceRefusals()
    var idle = RoomIdle(hasHadSource: false)
    var state = CommandedState(roomID: "month", salt: "00")
    var publishers: [SourceID: Publisher] = [Kit.a: Publisher(), Kit.b: Publisher()]
    var plans: [Plan] = []
    var tally = Tally()
    /// The first violations found.
    var faults: [String] = []
    /// Until when each source must be refused, counted independently of ``refusals``.
    var promised: [SourceID: (until: Int64, isQuarantine: Bool)] = [:]
    /// The phase reported last.
    var phase = PKStateMachine.Phase.idle
    /// The end of that phase; nil: none.
    var phaseEnd: Int64?
    var shown: SceneSelector.Show
    /// Since when no source has a publisher; nil: one has.
    var emptySince: Int64?
    var polledAt: Int64?
    /// True once a publisher was there, under any worker of this room.
    var hasHadSource = false
    /// Number of the newest publication.
    var nextPublication = 0
    /// Number of the first publication of this worker.
    var firstPublication = 1
    /// Number of sources given up at the last poll.
    var lastGivenUp = 0
    private let seed: Int

    init(seed: Int) {
        self.seed = seed
        self.random = TestRandom(seed: UInt64(seed) &+ 7)
        self.offset = Self.beginning - 1_000 * Kit.second
        self.life = Self.room(seed: seed)
        self.shown = self.life.planned
        for source in [Kit.a, Kit.b] { self.plan(.connect(source), in: 1...60) }
        self.plan(.commands, in: 5...60)
        self.plan(.death, in: 60...6_000)
    }

    /// The room as in the pipeline file.
    func freshLife() -> SceneSelector { Self.room(seed: self.seed) }

    private static func room(seed: Int) -> SceneSelector {
        let absences: [SceneSelector.Absence] = [
            .placeholder, .leavePane, .fallbackScene("solo"), .fallbackScene("guest"),
        ]
        return Kit.room(
            (absences[seed % 4], absences[seed / 4 % 4]), first: "solo", startsWhenReady: seed.isMultiple(of: 3))
    }

    var lifeTime: Int64 { self.now - self.offset }

    /// A random time in this range of seconds, in nanoseconds.
    mutating func span(_ seconds: ClosedRange<Int64>) -> Int64 {
        Int64.random(in: seconds.lowerBound * Self.second...seconds.upperBound * Self.second, using: &self.random)
    }

    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self.random) < percent }

    mutating func plan(_ kind: Plan.Kind, in seconds: ClosedRange<Int64>, of source: SourceID? = nil) {
        self.plan(kind, at: self.now + self.span(seconds), of: source)
    }

    mutating func plan(_ kind: Plan.Kind, at time: Int64, of source: SourceID? = nil) {
        let publication = source.flatMap { self.publishers[$0]?.publication } ?? -1
        self.plans.append(Plan(time: time, kind: kind, publication: publication))
    }

    mutating func fault(_ text: String) {
        if self.faults.count < 10 { self.faults.append("at \(self.now - Self.beginning): \(text)") }
    }

    // MARK: Time

    /// Simulates a number of days.
    mutating func pass(days: Int64) {
        let end = Self.beginning + days * 86_400 * Self.second
        while self.now < end, self.faults.isEmpty {
            let plan = self.plans.indices.min { self.plans[$0].time < self.plans[$1].time }
            let deadline = self.deadline
            if let plan, self.plans[plan].time <= deadline ?? .max {
                let next = self.plans.remove(at: plan)
                self.now = max(self.now, next.time)
                self.carryOut(next)
            } else if let deadline {
                self.poll(at: deadline)
            } else {
                return self.fault("nothing comes any more")
            }
        }
    }

    /// The next time at which the values have work to do, or must watch a silent publisher.
    private var deadline: Int64? {
        var deadlines = [self.life.deadline(after: self.lifeTime).map { $0 + self.offset }]
        if self.publishers.values.contains(where: { $0.isConnected && $0.silentSince != nil }) {
            // A silence counts only while it is watched: polls must be less than half a second apart.
            deadlines.append((self.polledAt ?? self.now) + 400_000_000)
        }
        if let since = self.emptySince { deadlines.append(self.idleLimit.map { since + $0 }) }
        return deadlines.compactMap { $0 }.min()
    }

    /// How long the room may be without publishers.
    var idleLimit: Int64? { self.hasHadSource ? Self.idleRules.idle : Self.idleRules.firstSource }

    /// Polls, mostly on time and sometimes late.
    private mutating func poll(at deadline: Int64) {
        var late: Int64 = 0
        if self.chance(10) { late = Int64.random(in: 1...50_000_000, using: &self.random) }
        if self.chance(1) { late = self.span(0...3) }
        if late > 50_000_000 { self.tally.latePolls += 1 }
        let time = max(self.now, deadline) + late
        // A late poll is interesting only if something happens before it.
        if late > 0, self.chance(30) {
            let source = self.chance(50) ? Kit.a : Kit.b
            let between = time - Int64.random(in: 0..<late, using: &self.random)
            self.plan(self.chance(80) ? .command : .leave(source), at: between, of: source)
        }
        // Actions before that time happen first.
        while let next = self.plans.indices.min(by: { self.plans[$0].time < self.plans[$1].time }),
            self.plans[next].time <= time
        {
            let plan = self.plans.remove(at: next)
            self.now = max(self.now, plan.time)
            self.carryOut(plan)
        }
        self.now = time
        self.look()
    }

    /// The room's poll.
    mutating func look() {
        let arrivals = self.publishers.compactMapValues { publisher -> SourceStateMachine.Arrivals? in
            guard publisher.isConnected, publisher.hasArrived else { return nil }
            let newest = (publisher.silentSince ?? self.now) - self.offset
            return SourceStateMachine.Arrivals(video: newest, audio: newest)
        }
        self.polledAt = self.now
        self.note(self.life.receive(.poll(arrivals), now: self.lifeTime))
        if let due = self.life.deadline(after: self.lifeTime), due <= self.lifeTime {
            self.fault("a deadline that is due is not handled when the clock is read")
        }
        self.checkAfterLook()
        self.watchIdle()
    }
}
