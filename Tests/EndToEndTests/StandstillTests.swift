import Foundation
import Glibc
import Testing

extension EndToEnd {
    @Suite("The worker is suspended with SIGSTOP for a while")
    struct StandstillTests {
        /// Longer durations are a manual measurement: TANDEM_STANDSTILL=0.5,20.
        private static let durations: [Double] =
            ProcessInfo.processInfo.environment["TANDEM_STANDSTILL"]?.split(separator: ",").compactMap { Double($0) }
            ?? [3]

        @Test(
            "after a suspended worker resumes, every tick has a frame, the playlist is valid, and beeps match flashes again",
            arguments: Self.durations
        )
        func stopped(seconds: Double) throws {
            let media = try Media.require()
            let work = try WorkDirectory()
            let directory = work.path("out")
            let room = try RunningRoom(Rooms.live(directory, renditions: Rooms.large, scene: "solo", volumes: (100, 0)))
            let publisher = try Publisher.pattern("ANNA", to: room.url("a"))
            try room.event("source.live", uid: "1001")
            try room.segments(2)
            let before = room.now
            room.child.signal(SIGSTOP)
            Thread.sleep(forTimeInterval: seconds)
            room.child.signal(SIGCONT)
            let resumed = Date().timeIntervalSince1970
            try room.segments(Int(seconds / (64.0 / 30)) + 5, timeout: seconds + 40)
            let moves = room.events("source.reanchored").filter { $0.time >= resumed }
            let story = moves.map { "\($0.text("reason") ?? "?") at \(String(format: "%.2f", $0.time - resumed)) s" }
            #expect(try room.end() == 0)
            publisher.stop()
            // The tick counts in the summary are those at the end.
            let closed = try room.event("room.closed", from: before)
            let ticks = closed.object("summary")["ticks"] as? [String: Any] ?? [:]
            #expect(ticks["lost"] as? Int == 0)
            let playlist = try Playlist(contentsOf: "\(directory)/720p.m3u8")
            #expect(playlist.mistakes.isEmpty, "\(playlist.mistakes)")
            #expect(moves.count <= 1, "\(story)")
            let decoded = try Decoded("\(directory)/720p.m3u8", [.solo], media)
            let steps = zip(decoded.times, decoded.times.dropFirst()).map { $1 - $0 }
            #expect(steps.allSatisfy { abs($0 - 1 / 30.0) < 0.002 }, "a tick without a frame")
            #expect(decoded.times.count == ticks["frames"] as? Int)
            let beeps = try Beeps.onsets("\(directory)/audio.m3u8", media)
            let after = (playlist.segments.first?.date).map { resumed - $0 + 1 } ?? 0
            let first = decoded.times.first ?? 0
            let lips = LipSyncResult(flashes: decoded.flashes(0).filter { $0 - first > after }, beeps: beeps)
            EndToEnd.report("stopped \(seconds) s: lips \(lips), re-anchored \(story) (bar: mean ±20, each ±40)")
            #expect(lips.offsets.count >= 3)
            expectTiming(abs(lips.mean), atMost: 20, "ms of lip-sync on average")
            expectTiming(lips.offsets.map { abs($0) }.max() ?? 0, atMost: 40, "ms of lip-sync at worst")
        }
    }
}
