import Foundation
import Glibc
import Testing

extension EndToEnd {
    @Suite("Scenes change without a seam")
    struct SwitchTests {
        /// Numbers that look random and are the same in every run.
        private struct Dice {
            var state: UInt64

            mutating func roll(_ range: Range<Int>) -> Int {
                self.state = self.state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return range.lowerBound + Int((self.state >> 33) % UInt64(range.count))
            }
        }

        // A measurement wants more: TANDEM_SWITCHES=200.
        @Test("switches at random: every picture is one layout or the other, from the tick the answer names on")
        func switches() throws {
            guard let media = Media.find() else { return }
            let work = try WorkDirectory()
            let directory = work.path("out")
            let room = try RunningRoom(Rooms.live(directory, renditions: Rooms.large, scene: "solo"))
            let publishers = [
                try Publisher.pattern("ANNA", to: room.url("a")), try Publisher.pattern("BEN", to: room.url("b")),
            ]
            try room.event("source.live", uid: "1001")
            try room.event("source.live", uid: "2002")
            usleep(1_000_000)
            let count = ProcessInfo.processInfo.environment["TANDEM_SWITCHES"].flatMap { Int($0) } ?? 30
            var dice = Dice(state: 3)
            var plan: [(tick: Int, scene: String)] = []
            for index in 0..<count {
                let scene = index.isMultiple(of: 2) ? "pk" : "solo"
                let reply = try room.put(scene: scene)
                plan.append((try #require(try reply.json()["tick"] as? Int), scene))
                usleep(UInt32(dice.roll(40..<560)) * 1000)
            }
            try room.segments(1)
            let ticks = try room.state()["ticks"] as? [String: Any] ?? [:]
            #expect(try room.end() == 0)
            for publisher in publishers { publisher.stop() }
            let start = try #require(room.events("program.started").first?.integer("firstTick"))
            let decoded = try Decoded("\(directory)/720p.m3u8", [.solo, .left, .right], media)
            // What lies under a reader's eye in the other layout may look like a counter by chance, but not like the one that
            // belongs to this tick: the left publisher's counter goes with the ticks.
            let leads = decoded.times.indices.flatMap { index in
                decoded.panes[0...1].compactMap { $0[index].counter.map { $0 &- UInt16(truncatingIfNeeded: index) } }
            }
            let lead = Dictionary(grouping: leads) { $0 }.max { $0.value.count < $1.value.count }?.key ?? 0
            func shows(_ pane: Int, _ index: Int) -> Bool {
                guard let counter = decoded.panes[pane][index].counter else { return false }
                return abs(Int(Int16(bitPattern: counter &- lead &- UInt16(truncatingIfNeeded: index)))) <= 2
            }
            var wrong: [Int] = []
            for index in decoded.times.indices where start + index >= plan[0].tick {
                let expected = plan.last { $0.tick <= start + index }?.scene
                if shows(0, index) != (expected == "solo") || shows(1, index) != (expected == "pk") {
                    wrong.append(start + index)
                }
            }
            let last = try #require(room.events("segment.published").last)
            let whole = try #require(last.integer("firstTick")) + #require(last.integer("ticks")) - start
            EndToEnd.report(
                "\(count) switches: \(decoded.times.count) of \(whole) pictures, \(wrong.count) not as planned, late "
                    + "\(ticks["late"] ?? "?"), lost \(ticks["lost"] ?? "?"), longest swap \(ticks["longestSwapUs"] ?? "?") µs"
            )
            #expect(wrong.isEmpty, "ticks whose picture is not the planned one: \(wrong)")
            #expect(decoded.times.count == whole)
            #expect(ticks["lost"] as? Int == 0)
            #expect((ticks["longestSwapUs"] as? Int ?? .max) <= 2000)
            #expect(try media.complaints("\(directory)/720p.m3u8") == "")
        }
    }
}
