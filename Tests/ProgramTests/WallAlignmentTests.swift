import MediaTypes
import Program
import Testing

@Suite("Wall clock times in a publisher's stream")
struct WallClockMeterTests {
    private static let second: Int64 = 1_000_000_000
    private static let now: Int64 = 1_790_000_000 * second

    private func stamp(_ wall: Int64) -> WallClockTime { WallClockTime(nanoseconds: wall, hasZone: true) }

    @Test("three wall clock stamps in a stream that agree give its clock offset, two do not")
    func needsThree() {
        var meter = WallClockMeter()
        for index in Int64(0)..<3 {
            #expect(meter.offset == nil)
            let time = index * Self.second
            let isBelieved = meter.note(
                self.stamp(Self.now + time), at: time, server: Self.now + time + 80_000_000)
            #expect(isBelieved)
        }
        #expect(meter.offset == Self.now)
    }

    @Test(
        "wall clock stamps more than ten seconds from the server's time are ignored",
        arguments: [0, -11, 11, -9_223_372_036, 9_223_372_036])
    func implausible(seconds: Int64) {
        var meter = WallClockMeter()
        let (far, _) = seconds == 0 ? (Int64(0), false) : Self.now.addingReportingOverflow(seconds &* Self.second)
        for time in Int64(0)..<20 {
            let isBelieved = meter.note(self.stamp(far), at: time, server: Self.now)
            #expect(!isBelieved)
        }
        #expect(meter.offset == nil)
    }

    @Test("wrong wall clock stamps between good ones change the clock offset by at most 5 ms, and none overflows")
    func garbage() {
        var meter = WallClockMeter()
        var noise = Noise(state: 5)
        for index in Int64(0)..<300 {
            let time = index * 33_000_000
            let error = index % 3 == 2 ? Int64(noise.next() * 8e9) - 4_000_000_000 : Int64(noise.next() * 4e6)
            meter.note(self.stamp(Self.now + time + error), at: time, server: Self.now + time)
            if index > 10 { #expect(abs((meter.offset ?? 0) - Self.now) <= 5_000_000, "sample \(index)") }
        }
        for time in [Int64.max, .min, 0] { meter.note(self.stamp(Self.now), at: time, server: Self.now) }
        #expect(abs((meter.offset ?? 0) - Self.now) <= 5_000_000)
    }

    @Test("when a publisher's clock is set, the new clock offset applies once most of its stamps agree")
    func clockSet() {
        var meter = WallClockMeter()
        var seen: [Int64] = []
        for index in Int64(0)..<60 {
            let time = index * 33_000_000
            let set: Int64 = index < 30 ? 0 : 700_000_000
            meter.note(self.stamp(Self.now + time + set), at: time, server: Self.now + time)
            if let offset = meter.offset, seen.last != offset { seen.append(offset) }
        }
        #expect(seen == [Self.now, Self.now + 700_000_000])
    }

    @Test(
        "a time of day without time zone is read in the zone nearest to the server's time",
        arguments: [0, 9, -3.5, 5.75])
    func zones(hours: Double) {
        let day = 86_400 * Self.second
        let local = (Self.now + Int64(hours * 3600) * Self.second) % day
        let time = WallClockTime(nanoseconds: local, hasZone: false)
        #expect(time.resolved(near: Self.now + 350_000_000) == Self.now)
        #expect(time.resolved(near: Self.now - 350_000_000) == Self.now)
        for extreme in [Int64.max, .min, 0] {
            _ = WallClockTime(nanoseconds: extreme, hasZone: false).resolved(near: Self.now)
        }
    }
}

@Suite("Sources aligned by the wall clock times in their streams")
struct WallAlignmentTests {
    private static let ms: Int64 = 1_000_000
    private static let ids = (0..<9).map { SourceID(uid: "\($0)") }

    private func extras(_ delays: [Int64], reach: Int64 = 1_300) -> [Int64?] {
        var alignment = WallAlignment()
        for (id, delay) in zip(Self.ids, delays) {
            alignment.note(id, delay: (delay - 1_790_000_000_000) * Self.ms, reach: reach * Self.ms, at: 0)
        }
        return delays.indices.map { alignment.extra(of: Self.ids[$0], at: 0).map { $0 / Self.ms } }
    }

    @Test("the source with the shorter delay waits for the other; a single source does not wait")
    func waits() {
        #expect(self.extras([250, 650]) == [400, 0])
        #expect(self.extras([300]) == [nil])
        #expect(self.extras([250, 650, 400]) == [400, 0, 250])
    }

    @Test(
        "wall clock alignment leaves out a source that would need more than the maximum wait, and delays no other source for it"
    )
    func outOfReach() {
        #expect(self.extras([250, 650, 5_000]) == [400, 0, nil])
        #expect(self.extras([-5_000, 250, 650]) == [nil, 400, 0])
        #expect(self.extras([250, 2_000]) == [nil, nil])
        #expect(self.extras([250, 650], reach: 399) == [nil, nil])
    }

    @Test("random sources that are aligned show the same moment and wait at most the maximum", arguments: 0..<200)
    func property(seed: Int) {
        var noise = Noise(state: UInt64(seed + 1))
        let delays = (0..<2 + seed % 8).map { _ in Int64(noise.next() * 3_000) }
        let extras = self.extras(delays, reach: 1_000)
        let shown = zip(delays, extras).compactMap { delay, extra in extra.map { delay + $0 } }
        #expect(Set(shown).count <= 1 && shown.count != 1)
        #expect(extras.allSatisfy { (0...1_000).contains($0 ?? 0) })
    }

    /// The rule in its plain form: each source's delay against all others.
    private struct Plain {
        var members: [(delay: Int64, held: Int64, reach: Int64, time: Int64)] = []

        func extra(of index: Int, at time: Int64) -> Int64? {
            func canWait(_ member: (delay: Int64, held: Int64, reach: Int64, time: Int64), for delay: Int64) -> Bool {
                delay >= member.delay && delay - member.delay <= member.reach
            }
            let own = self.members[index]
            let present = self.members.filter { time - $0.time <= 3_000_000_000 }
            var best: (count: Int, delay: Int64, held: Int64)?
            for latest in present {
                let count = present.count { canWait($0, for: latest.delay) }
                if let best {
                    if count < best.count || count == best.count && latest.delay > best.delay { continue }
                    if count == best.count, latest.delay == best.delay, latest.held <= best.held { continue }
                }
                best = (count, latest.delay, latest.held)
            }
            guard let best, best.count >= 2, canWait(own, for: best.delay) else { return nil }
            return own.delay == best.delay ? 0 : best.delay + best.held - own.delay
        }
    }

    @Test(
        "for random sources, alignment by wall clock gives the same delays as a plain implementation",
        arguments: 0..<300)
    func sameAsPlain(seed: Int) {
        var noise = Noise(state: UInt64(seed + 1))
        // Few values, so that many are equal.
        let steps: Double = seed % 3 == 0 ? 6 : 3_000
        let ids = (0..<1 + seed % 40).map { SourceID(uid: "\($0)") }
        var alignment = WallAlignment()
        var plain = Plain()
        for id in ids {
            let delay = Int64(noise.next() * steps) - 2
            let held = Int64(noise.next() * 4) * 7
            let reach = Int64(noise.next() * steps / 2) - 1
            let time = Int64(noise.next() * 5) * 1_000_000_000
            alignment.note(id, delay: delay, held: held, reach: reach, at: time)
            plain.members.append((delay, held, max(0, reach), time))
        }
        for (index, id) in ids.enumerated() {
            #expect(alignment.extra(of: id, at: 5_000_000_000) == plain.extra(of: index, at: 5_000_000_000), "\(id)")
        }
    }

    @Test("wall clock alignment does not wait for a source that has been silent for four seconds or was removed")
    func silence() {
        var alignment = WallAlignment()
        alignment.note(Self.ids[0], delay: 0, reach: 1_000, at: 0)
        alignment.note(Self.ids[1], delay: 500, reach: 1_000, at: 0)
        #expect(alignment.extra(of: Self.ids[0], at: 0) == 500)
        alignment.note(Self.ids[0], delay: 0, reach: 1_000, at: 4_000_000_000)
        #expect(alignment.extra(of: Self.ids[0], at: 4_000_000_000) == nil)
        alignment.note(Self.ids[1], delay: 500, reach: 1_000, at: 4_000_000_000)
        #expect(alignment.extra(of: Self.ids[0], at: 4_000_000_000) == 500)
        alignment.remove(Self.ids[1])
        #expect(alignment.extra(of: Self.ids[0], at: 4_000_000_000) == nil)
    }

    /// Two publishers of one scene, handled like by their decode threads.
    private struct Pair {
        var timelines = [SourceTimeline(jitterBuffer: 200_000_000), SourceTimeline(jitterBuffer: 200_000_000)]
        var alignment = WallAlignment()
        /// When the frame taken at a moment was shown, by source.
        var shown: [[Int64: Int64]] = [[:], [:]]
        var bases: [Int64] = [0, 0]
        var ways: [Int64] = [30, 430]
        var noise = Noise(state: 3)
        var worstHold: Int64 = 0

        /// Sends the frames of a range of time, in milliseconds.
        mutating func run(_ range: Range<Int64>, stamped: Bool = true) {
            let world: Int64 = 1_790_000_000_000
            for at in range where at % 33 == 0 {
                for index in 0..<2 where at >= self.bases[index] {
                    let arrival = (at + self.ways[index] + Int64(self.noise.next() * 10)) * 1_000_000
                    let stamp = (at - self.bases[index]) * 1_000_000
                    let noted = self.timelines[index].note(kind: .video, pts: stamp, dts: stamp, arrival: arrival)
                    if stamped {
                        self.timelines[index].note(
                            WallClockTime(nanoseconds: (world + at) * 1_000_000, hasZone: true), of: noted.pts,
                            server: world * 1_000_000 + arrival)
                    }
                    let id = WallAlignmentTests.ids[index]
                    if let delay = self.timelines[index].wallDelay {
                        self.alignment.note(
                            id, delay: delay, held: self.timelines[index].wallHeld,
                            reach: self.timelines[index].wallReach, at: arrival)
                    }
                    self.timelines[index].follow(self.alignment.extra(of: id, at: arrival), at: arrival)
                    // Shown a little after its arrival, like by the decode thread.
                    if at - self.bases[index] > 130 { self.timelines[index].begin() }
                    let time = self.timelines[index].program(of: noted.pts)
                    self.worstHold = max(self.worstHold, time - arrival)
                    self.shown[index][at] = time
                }
            }
        }

        func apart(_ range: Range<Int64>) -> Int64 {
            range.compactMap { at in
                self.shown[0][at].flatMap { left in self.shown[1][at].map { abs($0 - left) / 1_000_000 } }
            }.max() ?? .max
        }
    }

    @Test("two sources whose network delay differs by 400 ms are shown within 50 ms of each other")
    func longerWay() {
        var pair = Pair()
        pair.run(0..<30_000)
        #expect(pair.apart(2_000..<30_000) <= 50)
        #expect(pair.timelines.allSatisfy { $0.reanchors <= 1 })
        #expect(pair.timelines.allSatisfy { $0.isWallAligned })
        #expect(pair.timelines.map { $0.wallExtra / 1_000_000 }.allSatisfy { (0...420).contains($0) })
        #expect(pair.worstHold <= 700_000_000)
    }

    @Test("without wall clock stamps, sources whose network delay differs by 400 ms stay 400 ms apart")
    func withoutStamps() {
        var pair = Pair()
        pair.run(0..<10_000, stamped: false)
        #expect((380...420).contains(pair.apart(2_000..<10_000)))
        #expect(pair.timelines.allSatisfy { !$0.isWallAligned && $0.reanchors == 0 })
    }

    @Test(
        "a source that returns with new timestamps is aligned within 50 ms after a second, without a step of the other source"
    )
    func returns() {
        var pair = Pair()
        pair.run(0..<10_000)
        for index in 0..<2 {
            let at = Int64(index + 1) * 10_000
            pair.timelines[index].reset()
            pair.alignment.remove(Self.ids[index])
            pair.bases[index] = at
            let before = pair.timelines[1 - index].reanchors
            pair.run(at..<at + 10_000)
            #expect(pair.apart(at + 1_000..<at + 10_000) <= 50)
            #expect(pair.timelines[1 - index].reanchors == before)
        }
    }

    @Test(
        "a source with delayed first packets is aligned after two seconds",
        arguments: [300, 700, 1_500, 4_000])
    func slowBeginning(until: Int64) {
        for later in [0, 1] {
            var pair = Pair()
            pair.ways[later] += 70
            pair.run(0..<until)
            pair.ways[later] -= 70
            pair.run(until..<30_000)
            let apart = pair.apart(2_000..<30_000)
            #expect(apart <= 50, "source \(later) until \(until) ms: \(apart) ms apart")
            #expect(pair.timelines.allSatisfy { $0.reanchors <= 2 })
        }
    }

    @Test(
        "when one source's network delay grows by 400 ms, both are aligned again within 10 s, with at most two steps each"
    )
    func wayChanges() {
        var pair = Pair()
        pair.run(0..<10_000)
        let before = pair.timelines.map(\.reanchors)
        pair.ways[1] = 830
        pair.run(10_000..<30_000)
        #expect(pair.apart(20_000..<30_000) <= 50)
        #expect(zip(pair.timelines, before).allSatisfy { $0.reanchors - $1 <= 2 })
    }

    @Test("if the delays of two sources differ by 3 s, like with a wrong clock, both are shown by arrival time")
    func wrongClock() {
        var pair = Pair()
        pair.ways = [30, 3_000]
        pair.run(0..<10_000)
        #expect(pair.timelines.allSatisfy { !$0.isWallAligned && $0.wallExtra == 0 })
        #expect(pair.timelines.allSatisfy { $0.reanchors == 0 })
    }
}
