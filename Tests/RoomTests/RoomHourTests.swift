import Foundation
import MediaTypes
import PipelineSpec
import Testing

extension InProcess {
    @Suite("PKs one after another through all threads of a room, with scripted encoders")
    struct HourTests {
        /// Seconds of program time: 3,600 with `TANDEM_HOUR_SECONDS=3600`.
        private static let seconds =
            ProcessInfo.processInfo.environment["TANDEM_HOUR_SECONDS"].flatMap { Double($0) } ?? 900

        private static func pipeline(_ directory: String) -> String {
            HarnessRooms.duel(
                directory,
                members: #""pk": { "scene": "pk", "durationMs": 30000, "punishMs": 5000, "endScene": "solo" },"#,
                fps: 5, hls: #", "windowSeconds": 60, "deleteGraceSeconds": 10"#
            ).replacingOccurrences(of: #""preset": "ultrafast""#, with: #""preset": "ultrafast", "bFrames": 0"#)
        }

        @Test(
            "each PK ends by timer, no tick is late or lost, the playlist keeps its window, and 20 s of program use at most 1 s of CPU"
        )
        func pks() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let threads = RoomThreads()
            let room = try await RoomHarness.open(Self.pipeline(directory.path)) { $0.encoders = ScriptedEncoders.all }
            try await room.goLive(HarnessRooms.first, HarnessRooms.second)
            let (begin, used) = (room.clock.now(), threads.cpuSeconds())
            func passed() -> Double { Double(room.clock.now() - begin) / Double(RoomHarness.second) }
            var pks = 0
            var losses = 0
            while passed() < Self.seconds {
                let mark = room.events.count
                try await room.command(.post, "/v1/pk:start")
                try await room.run(seconds: 10)
                if pks % 4 == 3 {
                    // It returns within the grace: the PK continues.
                    try await room.drop(HarnessRooms.second)
                    try await room.run(seconds: 3)
                    try await room.goLive(HarnessRooms.second)
                    losses += 1
                }
                let punish = try await room.run(until: "pk.punish", from: mark, within: 30)
                let started = try #require(room.events.all("pk.started", from: mark).first)
                #expect(punish.text("at") == started.text("endsAt"), "PK \(pks)")
                let ended = try await room.run(until: "pk.ended", from: mark, within: 10)
                #expect(ended.text("reason") == "timer" && ended.text("at") == punish.text("endsAt"), "PK \(pks)")
                pks += 1
                try await room.run(seconds: 5)
                #expect(try directory.playlist("90p.m3u8").duration < 70, "PK \(pks)")
            }
            let (lasted, cpu) = (passed(), threads.cpuSeconds() - used)
            print("MEASURED: \(pks) PKs in \(Int(lasted)) s of program time, \(cpu) s of CPU time")
            #expect(cpu < lasted / 20, "\(cpu) s of CPU time")
            let state = try await room.state()
            #expect(state.member("ticks", "late")?.integer == 0 && state.member("ticks", "lost")?.integer == 0)
            try await room.end()
            #expect(room.events.all("pk.ended").count == pks && room.events.all("source.lost").count == losses)
            // The PK's scene, the same in the punishment, and the one after it.
            #expect(room.events.all("program.scene").map { $0.text("scene") }.filter { $0 == "solo" }.count >= pks)
            for (one, next) in zip(room.segments, room.segments.dropFirst()) {
                let end = try #require(one.integer("firstTick")) + #require(one.integer("ticks"))
                #expect(next.integer("firstTick") == end, "\(next)")
            }
            #expect(Double(room.publishedTicks) >= lasted * 5 - 20)
            #expect(try directory.names().count < 200, "what has left the window is deleted")
            directory.lint()
        }
    }
}
