import Foundation
import Push
import Testing

extension EndToEnd {
    @Suite("Lip sync, measured by flashes and beeps in the output")
    struct LipSyncTests {
        private func expectTogether(_ result: LipSyncResult, events: Int, mean: Double, _ name: String) {
            EndToEnd.report("lip-sync \(name): \(result) (limit: mean ±\(mean), each ±40)")
            print("  each, in ms: \(result.offsets.map { String(format: "%.1f", $0) }.joined(separator: " "))")
            #expect(result.offsets.count >= events, "\(name)")
            expectTiming(abs(result.mean), atMost: mean, "ms of lip-sync \(name) on average")
            expectTiming(result.offsets.map { abs($0) }.max() ?? 0, atMost: 40, "ms of lip-sync \(name) at worst")
        }

        // One phase for the whole room: half a frame of offset comes from the grid and is not a fault.
        @Test(
            "in a PK of 20 s, beeps are within 40 ms of flashes, and both panes' counters advance in at least 99 % of frames"
        )
        func steady() throws {
            let media = try Media.require()
            let work = try WorkDirectory()
            let directory = work.path("out")
            let room = try RunningRoom(
                Rooms.live(directory, renditions: Rooms.large, scene: "pk", volumes: (100, 0)))
            let publishers = [
                try Publisher.pattern("ANNA", to: room.url("a")), try Publisher.pattern("BEN", to: room.url("b")),
            ]
            try room.event("source.live", uid: "1001")
            try room.event("source.live", uid: "2002")
            try room.segments(10)
            #expect(try room.end() == 0)
            for publisher in publishers { publisher.stop() }
            let decoded = try Decoded("\(directory)/720p.m3u8", [.left, .right], media)
            let beeps = try Beeps.onsets("\(directory)/audio.m3u8", media)
            self.expectTogether(
                LipSyncResult(flashes: decoded.flashes(0), beeps: beeps), events: 17, mean: 20, "steady")
            for (index, name) in ["left", "right"].enumerated() {
                let (steps, good) = decoded.steps(index, from: 1.5)
                let ratio = Double(good) / Double(max(1, steps))
                EndToEnd.report("\(name) counter advances in \(good) of \(steps) steps (limit: 99 %)")
                #expect(steps > 250, "\(name)")
                expectTiming(ratio, atLeast: 0.99, "share of steps in which the \(name) counter advances")
            }
        }

        @Test(
            "beeps of two publishers that reconnect at varying phases of the frame clock stay within 40 ms of their flashes"
        )
        func everyPhase() throws {
            let media = try Media.require()
            let work = try WorkDirectory()
            let directory = work.path("out")
            // Half the volume each, so that two beeps at once are not limited.
            let room = try RunningRoom(
                Rooms.live(directory, renditions: Rooms.large, scene: "pk", volumes: (50, 50)))
            // Ten are enough to see a bias; a measurement needs more: TANDEM_LIPSYNC_PHASES=40.
            let phases = ProcessInfo.processInfo.environment["TANDEM_LIPSYNC_PHASES"].flatMap { Int($0) } ?? 10
            let users = [("ANNA", "a", "1001"), ("BEN", "b", "2002")]
            for attempt in 0..<max(1, phases / 2) {
                let start = room.now
                // Flashes after one and two seconds count. How this length and the start of a process fall on the
                // room's ticks is the random phase.
                let publishers = try users.map { name, key, _ in
                    try Publisher.pattern(name, to: room.url(key), seconds: 2.3 + Double(attempt) * 0.013)
                }
                for (_, _, uid) in users { try room.event("source.live", uid: uid, from: start) }
                for publisher in publishers {
                    #expect(try publisher.child.wait(timeout: 15) == 0, "\(publisher.child.errors)")
                }
                for (_, _, uid) in users { try room.event("source.lost", uid: uid, from: start) }
            }
            try room.segments(1)
            #expect(try room.end() == 0)
            let decoded = try Decoded("\(directory)/720p.m3u8", [.left, .right], media)
            let tones = try Tones("\(directory)/audio.m3u8", media)
            let results = users.indices.map { index in
                let hertz = TestPattern(name: users[index].0, width: 1280, height: 720).beepHertz
                return LipSyncResult(flashes: decoded.flashes(index), beeps: tones.onsets(hertz))
            }
            for (user, result) in zip(users, results) {
                EndToEnd.report("lip-sync of \(user.0): \(result)")
                #expect(result.offsets.count >= phases * 5 / 6, "\(user.0)")
            }
            var all = results[0]
            all.offsets += results[1].offsets
            self.expectTogether(all, events: phases * 5 / 3, mean: 12, "at \(phases) phases")
        }
    }
}
