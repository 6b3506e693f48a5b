import PipelineSpec
import Room
import Testing

@Suite("Overload: what is left out, in which order, and when it comes back")
struct OverloadTests {
    private static let ms: Int64 = 1_000_000
    private static let poll: Int64 = 50 * Self.ms
    private static let steps: [Overload.Step] = [
        .decoding, .outputs, .encoder(0), .encoder(1), .encoder(2), .halfPictures, .hold,
    ]

    private static func make(limit: Int64 = 400) -> Overload {
        Overload(steps: Self.steps, rules: Overload.Rules(limit: limit * Self.ms))
    }

    /// Numbers that look random and are the same every time.
    private struct Numbers: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            self.state = self.state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return self.state ^ self.state >> 29
        }
    }

    @Test(
        "a room with stills, with sheets of them or with raw pictures pauses those behind the decoding; one without has no such step",
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

    @Test("within the limit nothing is left out, however long")
    func withinLimit() {
        var overload = Self.make()
        for time in 0..<2_000 {
            let changes = overload.noted(lag: Int64(time % 401) * Self.ms, at: Int64(time) * Self.poll)
            #expect(changes.isEmpty)
        }
        #expect(overload.taken == 0 && overload.active.isEmpty)
    }

    /// Which is why a decoder that works off what its source's timeline has made due at once must not be told as behind.
    @Test("a lag of 300 ms that comes at once and goes leaves out every other picture for 0.85 s: 25 at 30 a second")
    func burst() {
        var overload = Self.make()
        let lags = Array(stride(from: Int64(0), through: 300, by: 50)) + Array(repeating: Int64(0), count: 40)
        var halved = 0
        for (index, lag) in lags.enumerated() {
            _ = overload.noted(lag: lag * Self.ms, at: Int64(index) * Self.poll)
            if overload.active.contains(.halfPictures) { halved += 1 }
        }
        #expect(halved == 17)
    }

    @Test("just above the limit one step after the other is taken, with time to see what each does")
    func oneByOne() {
        var overload = Self.make()
        var times: [Int64] = []
        for time in 0..<400 {
            let changes = overload.noted(lag: 450 * Self.ms, at: Int64(time) * Self.poll)
            #expect(changes.count <= 1)
            if let change = changes.first {
                #expect(change.isTaken && change.step == Self.steps[times.count] && change.lag == 450 * Self.ms)
                times.append(Int64(time) * Self.poll / Self.ms)
            }
        }
        #expect(times == [0, 400, 800, 2_400, 4_000, 5_600, 6_000], "an encoder waits for its IDR picture")
    }

    @Test("while the lag grows nothing is waited for")
    func growing() {
        var overload = Self.make()
        var taken: [Int64] = []
        for time in 0..<100 {
            let lag = Int64(time) * 15
            for _ in overload.noted(lag: lag * Self.ms, at: Int64(time) * Self.poll) { taken.append(lag) }
        }
        #expect(taken == [405, 510, 615, 720, 825, 930, 1_035])
    }

    @Test(
        "a lag that grows as on a machine three times too slow: all but the hold at half of the limit, that at the limit"
    )
    func steep() {
        var overload = Self.make()
        var taken: [Int64] = []
        for time in 0..<40 {
            let lag = max(0, Int64(time - 10)) * 33
            for _ in overload.noted(lag: lag * Self.ms, at: Int64(time) * Self.poll) { taken.append(lag) }
        }
        #expect(taken == [231, 231, 231, 231, 231, 231, 429])
    }

    @Test(
        "a lag that grew slowly at first, and then as on a machine three times too slow, takes everything with the next step"
    )
    func runningAway() {
        var overload = Self.make()
        var taken: [Int64] = []
        var lag: Int64 = 0
        for time in 0..<60 {
            lag += time < 36 ? 12 : 45
            for _ in overload.noted(lag: lag * Self.ms, at: Int64(time) * Self.poll) { taken.append(lag) }
        }
        #expect(taken == [408, 522, 522, 522, 522, 522, 522])
    }

    @Test("a hold that was taken back too soon comes again at half of the limit")
    func holdAgain() {
        var overload = Self.make()
        _ = overload.noted(lag: 2_000 * Self.ms, at: 0)
        var now: Int64 = 0
        while overload.taken == Self.steps.count {
            now += Self.poll
            _ = overload.noted(lag: 0, at: now)
        }
        #expect(overload.noted(lag: 200 * Self.ms, at: now + Self.poll).isEmpty)
        #expect(overload.noted(lag: 201 * Self.ms, at: now + 2 * Self.poll).map(\.step) == [.hold])
    }

    @Test("far behind everything is left out at once, in order")
    func panic() {
        var overload = Self.make()
        let changes = overload.noted(lag: 2_000 * Self.ms, at: 0)
        #expect(changes.map(\.step) == Self.steps && changes.map(\.isTaken).allSatisfy { $0 })
        #expect(overload.noted(lag: 2_500 * Self.ms, at: Self.poll).isEmpty)
    }

    @Test("between half of the limit and the limit nothing changes")
    func hysteresis() {
        var overload = Self.make()
        _ = overload.noted(lag: 2_000 * Self.ms, at: 0)
        for time in 1..<1_000 {
            let changes = overload.noted(lag: Int64(201 + time % 200) * Self.ms, at: Int64(time) * Self.poll)
            #expect(changes.isEmpty)
        }
        #expect(overload.taken == Self.steps.count)
    }

    @Test("a step that is taken back too soon is kept longer the next time, and no other is")
    func relapse() {
        var overload = Self.make()
        var now: Int64 = 0
        func polls(until condition: (Overload) -> Bool, lag: Int64, _ overload: inout Overload) -> Int64 {
            let start = now
            while !condition(overload), now &- start < 20_000 * Self.ms {
                now += Self.poll
                _ = overload.noted(lag: lag * Self.ms, at: now)
            }
            return (now - start) / Self.ms
        }
        _ = overload.noted(lag: 2_000 * Self.ms, at: now)
        var waits: [Int64] = []
        for _ in 0..<4 {
            waits.append(polls(until: { $0.taken < 7 }, lag: 0, &overload))
            _ = polls(until: { $0.taken == 7 }, lag: 450, &overload)
        }
        #expect(waits == [800, 1_600, 3_000, 3_000])
        #expect(polls(until: { $0.taken == 6 }, lag: 0, &overload) == 3_000)
        #expect(polls(until: { $0.taken == 5 }, lag: 0, &overload) == 800)
    }

    @Test("whatever the lag does: steps in order, none taken within half of the limit, none taken back above that")
    func anyLag() {
        for seed in UInt64(1)...200 {
            var numbers = Numbers(state: seed)
            var overload = Self.make(limit: Int64.random(in: 100...2_000, using: &numbers))
            let limit = overload.rules.limit
            var now: Int64 = 0, taken: [Overload.Step] = []
            for _ in 0..<500 {
                now += Int64.random(in: 0...400, using: &numbers) * Self.ms
                let lag = Bool.random(using: &numbers) ? 0 : Int64.random(in: 0...4 * limit, using: &numbers)
                for change in overload.noted(lag: lag, at: now) {
                    if change.isTaken {
                        #expect(lag > limit / 2 && change.step == Self.steps[taken.count])
                        taken.append(change.step)
                    } else {
                        #expect(lag <= limit / 2)
                        let last = taken.popLast()
                        #expect(last == change.step)
                    }
                }
                #expect(Array(overload.active) == taken)
            }
            // The overload ends.
            let ended = now
            while overload.taken > 0, now - ended < 20_000 * Self.ms {
                now += Self.poll
                _ = overload.noted(lag: 0, at: now)
            }
            #expect(now - ended <= 10_000 * Self.ms, "seed \(seed): whole again after \((now - ended) / Self.ms) ms")
        }
    }

    /// A room whose encoders, decoders and filters share a machine.
    private struct Machine {
        /// Of what the whole room needs, a second.
        var capacity = 1.25
        /// Seconds behind.
        var lag = 0.0
        /// Encoders are replaced a GOP later.
        var replaced: [(time: Double, count: Int)] = []

        mutating func run(_ seconds: Double, at time: Double, _ active: ArraySlice<Overload.Step>) {
            var encoders = [0.50, 0.17, 0.10]
            var (decode, compose) = (0.15, 0.08)
            let wanted = active.count { if case .encoder = $0 { true } else { false } }
            if self.replaced.last?.count != wanted { self.replaced.append((time, wanted)) }
            let count = self.replaced.last { $0.time <= time - 1.07 }?.count ?? 0
            for index in 0..<count { encoders[index] *= 0.5 }
            if active.contains(.decoding) { decode *= 0.8 }
            if active.contains(.halfPictures) { (compose, encoders) = (compose / 2, encoders.map { $0 * 0.7 }) }
            if active.contains(.hold) { (decode, compose, encoders) = (0.01, 0, encoders.map { $0 * 0.6 }) }
            let need = decode + compose + encoders.reduce(0, +)
            self.lag = max(0, self.lag + seconds * (1 - self.capacity / need))
        }
    }

    @Test("a machine three times too slow for a minute: never a second behind, whole again within ten")
    func machine() {
        for share in [3.0, 2.0, 1.5, 1.1] {
            var overload = Self.make()
            var machine = Machine()
            var longest = 0.0, changes = 0, whole: Double?
            for poll in 0..<1_800 {
                let time = Double(poll) * 0.05
                machine.capacity = (5..<65).contains(time) ? 1 / share : 1.25
                machine.run(0.05, at: time, overload.active)
                longest = max(longest, machine.lag)
                changes += overload.noted(lag: Int64(machine.lag * 1e9), at: Int64(poll) * Self.poll).count
                if time >= 65, overload.taken == 0 { whole = whole ?? time - 65 }
            }
            #expect(longest > 0.2 && longest < 1, "\(share): \(longest) s")
            #expect((whole ?? .infinity) <= 10, "\(share): \(String(describing: whole)) s")
            #expect(changes >= 2 && changes < 120, "\(share): \(changes)")
        }
    }
}
