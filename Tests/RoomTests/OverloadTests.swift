import PipelineSpec
import Room
import Testing

@Suite("Overload: quality is reduced in steps, and restored at growing intervals")
struct OverloadTests {
    private static let ms: Int64 = 1_000_000
    private static let poll: Int64 = 50 * Self.ms
    private static let steps: [Overload.Step] = [
        .decoding, .outputs, .encoder(0), .encoder(1), .encoder(2), .halfPictures, .hold,
    ]

    private static func make(limit: Int64 = 400) -> Overload {
        Overload(steps: Self.steps, rules: Overload.Rules(limit: limit * Self.ms))
    }

    /// Pseudorandom numbers from a fixed seed.
    private struct Numbers: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            self.state = self.state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return self.state ^ self.state >> 29
        }
    }

    @Test(
        "if a room writes stills, thumbnail sheets or raw frames, its overload steps include one that pauses these outputs",
        arguments: [
            ("", false), (#", { "type": "image", "path": "still.jpg" }"#, true),
            (#", { "type": "image", "path": "still.jpg", "sprites": {} }"#, true),
            (#", { "type": "raw", "path": "canvas.y4m" }"#, true),
        ])
    func optionalOutputs(output: String, arePaused: Bool) throws {
        let text = """
            {
              "room": { "roomId": "r" }, "sources": [ { "uid": "1001", "streamKey": "k1" } ],
              "scenes": [ { "sceneId": "solo", "layout": "solo", "uids": ["1001"] } ],
              "renditions": [ { "name": "720p", "width": 1280, "height": 720, "video": { "bitrate": 2000000 } } ],
              "outputs": [ { "path": "out" }\(output) ]
            }
            """
        let steps = Overload.steps(for: try Pipeline.parse(text).result.get(), renditions: [0])
        #expect(steps == [.decoding] + (arePaused ? [.outputs] : []) + [.encoder(0), .halfPictures, .hold])
    }

    @Test("while the lag is within the limit no overload step is taken")
    func withinLimit() {
        var overload = Self.make()
        for time in 0..<2_000 {
            let actions = overload.noted(lag: Int64(time % 401) * Self.ms, at: Int64(time) * Self.poll)
            #expect(actions.isEmpty)
        }
        #expect(overload.taken == 0 && overload.active.isEmpty && !overload.isOverloaded(at: 0))
    }

    @Test(
        "a lag that jumps over the limit and then falls causes no overload step",
        arguments: [450, 1_000, 3_000])
    func burst(milliseconds: Int64) {
        var overload = Self.make()
        for time in 0..<400 {
            // A machine with a tenth of spare capacity works off the lag.
            let lag = time < 20 ? 0 : max(0, milliseconds - Int64(time - 20) * 5)
            #expect(overload.noted(lag: lag * Self.ms, at: Int64(time) * Self.poll).isEmpty)
        }
    }

    @Test(
        "a lag just above the limit causes overload steps in order: the first after 1 s, then one every 1.3 s, holding frames after 17 s"
    )
    func oneByOne() {
        var overload = Self.make()
        var times: [Int64] = []
        for time in 0..<400 {
            for action in overload.noted(lag: 450 * Self.ms, at: Int64(time) * Self.poll) {
                guard case .change(let step, true, 450_000_000) = action else { continue }
                #expect(step == Self.steps[times.count])
                times.append(Int64(time) * Self.poll / Self.ms)
            }
        }
        // The hold comes only after backlogs were dropped three times without success.
        #expect(times == [1_000, 2_300, 3_600, 4_900, 6_200, 7_500, 17_150])
    }

    @Test("the overload step after one that replaces an encoder waits for the new encoder, five seconds at most")
    func pending() {
        for (pending, least) in [(2_000, 2_900), (60_000, 5_900)] as [(Int64, Int64)] {
            var overload = Self.make()
            var times: [Int64] = []
            for time in 0..<400 {
                let now = Int64(time) * Self.poll
                let isPending = times.count == 3 && now < times[2] + pending * Self.ms
                for action in overload.noted(lag: 450 * Self.ms, at: now, isPending: isPending) {
                    if case .change = action { times.append(now) }
                }
            }
            #expect((least..<least + 200).contains((times[3] - times[2]) / Self.ms))
        }
    }

    @Test(
        "if lag grows by half a second per second, the first overload step is taken 0.5 s after it passes the limit, the second 0.8 s later"
    )
    func steep() {
        var overload = Self.make()
        var taken: [Int64] = []
        for time in 0..<60 {
            for action in overload.noted(lag: Int64(time) * 25 * Self.ms, at: Int64(time) * Self.poll) {
                if case .change(_, _, let lag) = action { taken.append(lag / Self.ms) }
            }
        }
        #expect(taken == [675, 1_075])
    }

    /// A room whose threads share a machine. The need of a level is a fraction of what the whole room needs.
    private struct Machine {
        /// Capacity of the machine, as a fraction of the whole room's need.
        var capacity: Double
        /// By level.
        let needs: [Double]
        /// Random variation of the need of each twentieth of a second.
        var noise = 0.0
        /// Whether the machine stops for up to 350 ms, every 25 s on average.
        var stalls = false
        /// In seconds.
        private(set) var lag = 0.0
        private(set) var frozen = 0.0
        /// Seconds of video in which a dropped backlog shows a quarter of the frames.
        private(set) var thinned = 0.0
        /// Seconds of the dropped backlog that are left.
        private var waiting = 0.0
        private var wanted = 0
        private var inForce = 0
        private var exchangeAt: Double?

        init(capacity: Double, needs: [Double], noise: Double = 0, stalls: Bool = false) {
            (self.capacity, self.needs, self.noise, self.stalls) = (capacity, needs, noise, stalls)
        }

        var isPending: Bool { self.exchangeAt != nil }

        /// Encoders are replaced at an IDR frame, after the frames queued before it are encoded.
        mutating func run(_ seconds: Double, at time: Double, _ overload: Overload, _ numbers: inout Numbers) {
            if overload.taken != self.wanted {
                let steps = overload.steps[min(overload.taken, self.wanted)..<max(overload.taken, self.wanted)]
                let hasEncoder = steps.contains { if case .encoder = $0 { true } else { false } }
                self.wanted = overload.taken
                self.exchangeAt = hasEncoder ? time + 1.067 + self.lag : time
            }
            if let at = self.exchangeAt, time >= at { (self.inForce, self.exchangeAt) = (self.wanted, nil) }
            var need = self.needs[self.inForce] * (1 + Double.random(in: -self.noise...self.noise, using: &numbers))
            // A repeated frame costs a fifth of a new one.
            if self.waiting > 0 { need = min(need, max(need * 0.4, self.needs[self.needs.count - 1])) }
            let done = seconds * self.capacity / need
            (self.thinned, self.waiting) = (self.thinned + min(done, self.waiting), max(0, self.waiting - done))
            self.lag = max(0, self.lag + seconds - done)
            if overload.active.contains(.hold) { self.frozen += seconds }
            if self.stalls, Double.random(in: 0..<1, using: &numbers) < 0.002 {
                self.lag += Double.random(in: 0.1..<0.35, using: &numbers)
            }
        }

        mutating func dropBacklog(_ keepsMotion: Bool) {
            if keepsMotion {
                self.waiting = self.lag
            } else {
                self.frozen += self.lag
                self.lag = 0.05
            }
            (self.inForce, self.exchangeAt) = (self.wanted, nil)
        }
    }

    /// The results of a run on a machine.
    private struct Run {
        var overload: Overload
        var attempts: [Double] = []
        var longestLag = 0.0
        var held = false
        /// Times at which the room became overloaded, or ceased to be.
        var stateChanges: [Double] = []
        /// Seconds spent in each level.
        var times: [Double]
        var frozen = 0.0
        var thinned = 0.0
    }

    /// Needs by level, as fractions of the whole room's need: six steps and the hold.
    private static let needs: [[Double]] = [
        [1, 0.92, 0.92, 0.68, 0.57, 0.53, 0.38, 0.10], [1, 0.97, 0.95, 0.71, 0.65, 0.57, 0.44, 0.10],
        [1, 1, 1, 0.58, 0.46, 0.42, 0.35, 0.1],
    ]

    private static func run(
        _ machine: Machine, seconds: Double, seed: UInt64, from overload: Overload? = nil,
        capacity: (Double) -> Double? = { _ in nil }
    ) -> Run {
        var machine = machine
        var run = Run(overload: overload ?? Self.make(), times: Array(repeating: 0, count: machine.needs.count))
        var numbers = Numbers(state: seed)
        var wasOverloaded = false
        for poll in 0..<Int64(seconds * 20) {
            let time = Double(poll) * 0.05
            if let capacity = capacity(time) { machine.capacity = capacity }
            machine.run(0.05, at: time, run.overload, &numbers)
            run.longestLag = max(run.longestLag, machine.lag)
            run.times[run.overload.taken] += 0.05
            // A frame in transit.
            let lag = machine.lag + Double.random(in: 0..<0.033, using: &numbers)
            let now = poll * Self.poll
            let actions = run.overload.noted(lag: Int64(lag * 1e9), at: now, isPending: machine.isPending)
            for action in actions {
                if case .change(.hold, true, _) = action { run.held = true }
                if case .dropBacklog(_, let keepsMotion) = action { machine.dropBacklog(keepsMotion) }
            }
            if actions.contains(where: { if case .change(_, false, _) = $0 { true } else { false } }) {
                run.attempts.append(time)
            }
            if run.overload.isOverloaded(at: now) != wasOverloaded {
                wasOverloaded.toggle()
                run.stateChanges.append(time)
            }
        }
        (run.frozen, run.thinned) = (machine.frozen, machine.thinned)
        return run
    }

    @Test(
        "at 1.3 to 2 times the load a machine can carry, lag stays below 1.7 s, no frame is held, and attempts to undo steps are rare",
        arguments: [1.3, 1.6, 2.0], [0.0, 0.1, 0.3])
    func constantLoad(load: Double, noise: Double) {
        for (needs, stalls) in [(0, false), (1, false), (2, false), (0, true), (1, true), (2, true)] {
            for seed in UInt64(1)...8 {
                let machine = Machine(capacity: 1 / load, needs: Self.needs[needs], noise: noise, stalls: stalls)
                let run = Self.run(machine, seconds: 480, seed: seed)
                let what = "\(load), needs \(needs), stalls \(stalls), seed \(seed): \(run.attempts)"
                #expect(!run.held, "\(what)")
                // A backlog is dropped at 1.2 s (the limit and `backlog`) and what the lag grows in `dropObservation`:
                // up to 1.5 s of video. No run drops more than six, while the first steps are taken and when attempts
                // fail, so at most 9 s of the 480 are thinned.
                #expect(
                    run.longestLag < 1.7 && run.frozen == 0 && run.thinned < 9,
                    "\(what): \(run.longestLag) s, \(run.thinned) s")
                #expect(run.stateChanges.count == 1 && run.stateChanges[0] < 5, "\(what): \(run.stateChanges)")
                let distances = zip(run.attempts.dropFirst(), run.attempts).map { $0 - $1 }
                #expect(run.attempts.first ?? 0 >= 30 && distances.allSatisfy { $0 > 59.9 }, "\(what)")
                // A level other than the last may be tried: each has its own interval.
                #expect(run.attempts.count <= 7, "\(what)")
                // Without a limit reached, the level that suffices is in force, except during attempts.
                guard !stalls, noise < 0.3, let enough = Self.needs[needs].firstIndex(where: { $0 <= 0.95 / load }),
                    Self.needs[needs].dropLast(Self.needs[needs].count - enough).allSatisfy({ $0 >= 1.05 / load })
                else { continue }
                #expect(run.times[enough] > 440, "\(what): \(run.times)")
                #expect(
                    distances.map { Int($0) / 60 } == [1, 2].prefix(distances.count)
                        + distances.dropFirst(2).map { _ in 4 }, "\(what)")
            }
        }
    }

    @Test(
        "if the load rises to three times the capacity, the first overload step is taken within 1.6 s, and the lag stays below 1.5 s",
        arguments: [0.0, 0.1, 0.3])
    func runaway(noise: Double) {
        for needs in Self.needs.indices {
            for seed in UInt64(1)...8 {
                let machine = Machine(capacity: 1.2, needs: Self.needs[needs], noise: noise)
                let run = Self.run(machine, seconds: 60, seed: seed) { $0 < 10 ? nil : 1.0 / 3 }
                #expect(run.longestLag < 1.5, "needs \(needs), seed \(seed): \(run.longestLag) s, \(run.times)")
                #expect(run.times[0] < 11.6, "\(run.times)")
            }
        }
    }

    @Test(
        "failed attempts to undo an overload step are repeated at intervals of 60, 120, 240 s and so on, up to 32 minutes"
    )
    func distances() {
        let machine = Machine(capacity: 1 / 1.6, needs: Self.needs[0])
        let run = Self.run(machine, seconds: 12_000, seed: 1)
        let distances = zip(run.attempts.dropFirst(), run.attempts).map { Int($0 - $1) }
        // The two or three seconds until an attempt has failed are not part of the interval.
        let expected = [60, 120, 240, 480, 960, 1_920, 1_920]
        #expect(zip(distances, expected).allSatisfy { (0..<10).contains($0 - $1) }, "\(distances)")
        #expect(distances.count >= expected.count)
    }

    @Test(
        "after a successful attempt to undo an overload step, the next undoes two; if it fails, both are taken again at once"
    )
    func returns() {
        let held = Overload.InheritedLevel(steps: Array(Self.steps.prefix(4)), distance: 30_000 * Self.ms)
        var overload = Overload(steps: Self.steps, rules: Overload.Rules(limit: 400 * Self.ms), held: held)
        var now: Int64 = 0
        func pass(_ seconds: Int64, lag: Int64) -> [Overload.Action] {
            var actions: [Overload.Action] = []
            for _ in 0..<seconds * 20 {
                now += Self.poll
                actions += overload.noted(lag: lag * Self.ms, at: now)
            }
            return actions
        }
        #expect(pass(29, lag: 0).isEmpty)
        #expect(pass(2, lag: 0) == [.change(.encoder(1), isTaken: false, lag: 0)])
        // The attempt succeeds for a minute, so the next one undoes two steps.
        #expect(
            pass(60, lag: 0) == [
                .change(.encoder(0), isTaken: false, lag: 0), .change(.outputs, isTaken: false, lag: 0),
            ])
        #expect(
            overload.held == Overload.InheritedLevel(steps: Array(Self.steps.prefix(3)), distance: 30_000 * Self.ms))
        let failed = pass(2, lag: 250)
        #expect(
            failed == [
                .change(.outputs, isTaken: true, lag: 250 * Self.ms),
                .change(.encoder(0), isTaken: true, lag: 250 * Self.ms),
            ])
        #expect(overload.taken == 3)
    }

    @Test(
        "after 20 s with too little CPU, all steps are undone and the overload is over within 190 s"
    )
    func recovers() {
        for load in [1.3, 2.0, 3.0, 8.0] {
            let run = Self.run(Machine(capacity: 1.25, needs: Self.needs[0], noise: 0.1), seconds: 300, seed: 3) {
                (10..<30).contains($0) ? 1 / load : 1.25
            }
            #expect(run.overload.taken == 0 && run.stateChanges.count == 2, "\(load): \(run.stateChanges)")
            #expect((run.stateChanges.last ?? .infinity) < 30 + 190, "\(load): \(run.stateChanges)")
        }
    }

    @Test(
        "if no other overload step suffices, frames are held, the lag stays below 2.5 s, and attempts to end the hold become rarer"
    )
    func hold() {
        let run = Self.run(Machine(capacity: 0.15, needs: Self.needs[0]), seconds: 300, seed: 1)
        #expect(run.held && run.longestLag < 2.5)
        let distances = zip(run.attempts.dropFirst(), run.attempts).map { $0 - $1 }
        #expect((5...7).contains(run.attempts.count), "\(run.attempts)")
        // The lag must be gone for a second before the first attempt.
        #expect(distances.first.map { $0 < 9 } ?? false, "\(run.attempts)")
        #expect(zip(distances.dropFirst(), distances).allSatisfy { $0 > 1.8 * $1 - 5 }, "\(run.attempts)")
    }

    @Test(
        "with a fifth of its CPU need for its first two seconds a room holds no frame; with a tenth it holds frames for less than 3.5 s",
        arguments: [(0.2, false), (0.1, true)])
    func start(capacity: Double, isHeld: Bool) {
        for seed in UInt64(1)...8 {
            let run = Self.run(Machine(capacity: 0.75, needs: Self.needs[0], noise: 0.1), seconds: 60, seed: seed) {
                $0 < 2 ? capacity : 0.75
            }
            #expect(run.held == isHeld && run.times[7] < 3.5, "seed \(seed): \(run.times)")
            #expect(isHeld || run.frozen == 0, "seed \(seed): \(run.frozen) s")
        }
    }

    @Test(
        "if the lag is zero once frames are held, the hold ends after 1.3 s: 300 ms to settle and one second of observation"
    )
    func settling() {
        var overload = Self.make()
        var heldAt: Int64?
        var undoneAt: Int64?
        for time in 0..<200 where undoneAt == nil {
            let now = Int64(time) * Self.poll
            // One second of lag per second, even after every other step; nothing once the frame is held.
            let lag = heldAt == nil ? now : 0
            for action in overload.noted(lag: lag, at: now) {
                if case .change(.hold, true, _) = action { heldAt = now }
                if case .change(.hold, false, _) = action { undoneAt = now }
            }
        }
        // The drop that comes with the hold restarts the observation of one second, but keeps the settling of 300 ms.
        #expect(heldAt != nil && undoneAt.map { $0 - (heldAt ?? 0) } == 1_300 * Self.ms)
    }

    @Test("a machine with a tenth of the CPU for fifteen seconds holds the frame, for less than 20 s")
    func shortHold() {
        let run = Self.run(Machine(capacity: 1.25, needs: Self.needs[0]), seconds: 120, seed: 1) {
            (10..<25).contains($0) ? 0.1 : 1.25
        }
        #expect(run.held && run.times[7] < 20, "\(run.times)")
    }

    @Test(
        "for any lag, overload steps are in order; none is taken within the limit unless an undo failed, none undone above half of it"
    )
    func anyLag() {
        for seed in UInt64(1)...200 {
            var numbers = Numbers(state: seed)
            var overload = Self.make(limit: Int64.random(in: 100...2_000, using: &numbers))
            let limit = overload.rules.limit
            var now: Int64 = 0, taken: [Overload.Step] = [], attempted = 0
            var lag: Int64 = 0
            for _ in 0..<4_000 {
                now += Int64.random(in: 10...100, using: &numbers) * Self.ms
                if Int.random(in: 0..<40, using: &numbers) == 0 {
                    lag = Bool.random(using: &numbers) ? 0 : Int64.random(in: 0...4 * limit, using: &numbers)
                }
                for action in overload.noted(lag: lag, at: now, isPending: Bool.random(using: &numbers)) {
                    switch action {
                    case .change(let step, true, _):
                        #expect(lag > limit || attempted > 0 && lag > limit / 2)
                        #expect(step == Self.steps[taken.count])
                        taken.append(step)
                    case .change(let step, false, _):
                        #expect(lag <= limit / 2)
                        let last = taken.popLast()
                        #expect(last == step)
                        attempted += 1
                    case .dropBacklog: #expect(lag > limit && !taken.isEmpty)
                    }
                }
                #expect(Array(overload.active) == taken)
            }
        }
    }

    @Test(
        "a lag of Int64.min, -1 or Int64.max does not trap, and a negative one counts as 0",
        arguments: [Int64.min, -1, .max])
    func extremes(lag: Int64) {
        var overload = Self.make()
        for time in 0..<200 { _ = overload.noted(lag: lag, at: Int64(time) * Self.poll) }
        #expect(overload.lag == max(0, lag))
    }

    // MARK: Handover

    @Test(
        "a successor starts with its predecessor's steps, except holding frames, and undoes none for 59 s")
    func handedOn() throws {
        let machine = Machine(capacity: 1 / 1.6, needs: Self.needs[0], noise: 0.1)
        let before = Self.run(machine, seconds: 100, seed: 1).overload
        let held = try #require(before.held)
        #expect(held.steps == [.decoding, .outputs, .encoder(0), .encoder(1)] && held.distance == 60_000 * Self.ms)
        let next = Overload(steps: Self.steps, rules: before.rules, held: held)
        #expect(next.taken == 4 && next.isOverloaded(at: 0) && next.held == held)
        let run = Self.run(machine, seconds: 59, seed: 2, from: next)
        #expect(run.attempts.isEmpty && run.overload.taken == 4 && run.longestLag < 0.9)
        let still = Overload(steps: Self.steps, rules: before.rules, held: .init(steps: Self.steps, distance: .max))
        #expect(still.active.last == .halfPictures)
        #expect(Self.make().held == nil)
    }

    @Test("a successor takes over its predecessor's steps up to the first one that it does not have")
    func otherSteps() {
        let held = Overload.InheritedLevel(steps: [.decoding, .encoder(7), .halfPictures], distance: 0)
        let overload = Overload(steps: Self.steps, rules: Overload.Rules(limit: 400 * Self.ms), held: held)
        #expect(Array(overload.active) == [.decoding])
    }

    @Test(
        "the record of the overload level is equal after it is written and read, and ignored if its time is over five minutes off"
    )
    func record() {
        let record = OverloadRecord(level: "encoder 720p", distanceMs: 60_000, writtenAt: 1_700_000_000_000)
        #expect(OverloadRecord(Array(record.json.utf8), now: record.writtenAt + 299_000) == record)
        #expect(OverloadRecord(Array(record.json.utf8), now: record.writtenAt + 301_000) == nil, "too old")
        #expect(OverloadRecord(Array(record.json.utf8), now: record.writtenAt - 301_000) == nil, "from the future")
    }

    @Test(
        "a damaged record of the overload level, or one of another version, is ignored",
        arguments: [
            "", "{}", "null", "{\"version\":2,\"level\":\"decoding\",\"distanceMs\":1,\"writtenAt\":1}",
            "{\"version\":1,\"level\":7,\"distanceMs\":1,\"writtenAt\":1}",
            "{\"version\":1,\"level\":\"decoding\",\"distanceMs\":-1,\"writtenAt\":1}",
            "{\"version\":1,\"level\":\"decoding\",\"distanceMs\":1}", "{\"version\":1,\"level\":\"deco",
        ])
    func damagedRecord(text: String) { #expect(OverloadRecord(Array(text.utf8), now: 1) == nil) }
}
