import Foundation
import Testing

extension EndToEnd {
    @Suite("Sound and picture belong together: flash and beep, seen from outside")
    struct LipSyncTests {
        private func expectTogether(_ result: LipSyncResult, events: Int, mean: Double, _ name: String) {
            EndToEnd.report("lip-sync \(name): \(result) (bar: mean ±8, each ±40)")
            print("  each, in ms: \(result.offsets.map { String(format: "%.1f", $0) }.joined(separator: " "))")
            #expect(result.offsets.count >= events, "\(name)")
            #expect(abs(result.mean) <= mean, "\(name)")
            #expect(result.offsets.allSatisfy { abs($0) <= 40 }, "\(name)")
        }

        // One phase for the whole room: half a picture of offset is the grid's, not a fault.
        @Test("a PK of 20 s, the one who is heard on the left")
        func steady() throws {
            guard let media = Media.find() else { return }
            let work = try WorkDirectory()
            let directory = work.path("out")
            let room = try RunningRoom(
                Rooms.live(directory, renditions: Rooms.large, scene: "pk", volumes: (100, 0)))
            let publishers = [
                try Publisher.pattern("ANNA", to: room.url("a")), try Publisher.pattern("BEN", to: room.url("b")),
            ]
            try room.event("source.live", uid: "1001")
            try room.segments(10)
            #expect(try room.end() == 0)
            for publisher in publishers { publisher.stop() }
            let decoded = try Decoded("\(directory)/720p.m3u8", [.left], media)
            let beeps = try Beeps.onsets("\(directory)/audio.m3u8", media)
            self.expectTogether(
                LipSyncResult(flashes: decoded.flashes(0), beeps: beeps), events: 17, mean: 20, "steady")
        }

        @Test("one who comes again and again, each time at another phase to the room's pictures")
        func everyPhase() throws {
            guard let media = Media.find() else { return }
            let work = try WorkDirectory()
            let directory = work.path("out")
            let room = try RunningRoom(
                Rooms.live(directory, renditions: Rooms.large, scene: "guest", volumes: (0, 100)))
            // Nine are enough to see a bias; a measurement wants more: TANDEM_LIPSYNC_PHASES=40.
            let phases = ProcessInfo.processInfo.environment["TANDEM_LIPSYNC_PHASES"].flatMap { Int($0) } ?? 9
            for attempt in 0..<phases {
                let start = room.now
                // Flashes after one and two seconds count. How this length and the start of a process fall on the room's
                // ticks is the random phase.
                let publisher = try Publisher.pattern("BEN", to: room.url("b"), seconds: 2.3 + Double(attempt) * 0.013)
                try room.event("source.live", uid: "2002", from: start)
                #expect(try publisher.child.wait(timeout: 15) == 0, "\(publisher.child.errors)")
                try room.event("source.lost", uid: "2002", from: start)
            }
            try room.segments(1)
            #expect(try room.end() == 0)
            let decoded = try Decoded("\(directory)/720p.m3u8", [.solo], media)
            let beeps = try Beeps.onsets("\(directory)/audio.m3u8", media)
            self.expectTogether(
                LipSyncResult(flashes: decoded.flashes(0), beeps: beeps), events: phases * 5 / 3, mean: 12,
                "at \(phases) phases")
        }
    }
}
