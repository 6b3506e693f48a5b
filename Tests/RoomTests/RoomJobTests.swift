import Foundation
import HLS
import MediaTypes
import PipelineSpec
import Room
import Testing

extension InProcess {
    @Suite("Offline jobs")
    struct JobTests {
        @Test("in an offline job, a PK's countdown and PK phase last exactly as long as set, in program time")
        func pk() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let files = ("\(directory.path)/a.flv", "\(directory.path)/b.flv")
            for path in [files.0, files.1] { try ScriptedFile.write(path, seconds: 4) }
            let pk = #""pk": { "scene": "scene", "start": "whenReady", "countdownMs": 500, "durationMs": 1000 },"#
            let (outcome, events) = try await RoomJob.run(
                RoomJob.pipeline(directory.path, files: files, seconds: 4, members: pk))
            guard case .ended = outcome else {
                Issue.record("the job has not ended: \(outcome)")
                return
            }
            let types = ["pk.countdown", "pk.started", "pk.ended"]
            #expect(events.types().filter { types.contains($0) } == types)
            let dates = types.compactMap { events.all($0).first?.text("at").flatMap { ProgramDate.parse($0) } }
            #expect(zip(dates, dates.dropFirst()).map { ($1 - $0) / 1_000_000 } == [500, 1_000])
        }

        @Test(
            "in an offline job, an automatic scene changes its layout after a file's last frame, at the same frame in every run"
        )
        func automatic() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let files = ("\(directory.path)/a.flv", "\(directory.path)/b.flv")
            try ScriptedFile.write(files.0, seconds: 3)
            try ScriptedFile.write(files.1, seconds: 1, .light)
            var ticks: [Int64?] = []
            for run in 0..<3 {
                let output = #", { "type": "raw", "path": "\#(directory.path)/canvas.y4m" }"#
                let pipeline = RoomJob.pipeline(
                    "\(directory.path)/\(run)", files: files, seconds: 3, scene: #""layout": "auto""#, output: output)
                let (_, events) = try await RoomJob.run(pipeline)
                let change = events.all("scene.layout").last { $0.texts("live") == ["1001"] }
                ticks.append(change?.integer("tick"))
                let tick = try #require(change?.integer("tick"))
                let frames = try CanvasFrames(directory)
                #expect(frames.view(tick - 1) == .darkLeftLightRight && frames.view(tick) == .dark, "run \(run)")
            }
            #expect(Set(ticks).count == 1 && ticks.allSatisfy { (10...11).contains($0 ?? 0) }, "\(ticks)")
        }

        /// Number of runs. The full test is `TANDEM_RUNS=200`, beside `stress --cpu 2` or another load.
        private static let runs = max(2, ProcessInfo.processInfo.environment["TANDEM_RUNS"].flatMap { Int($0) } ?? 3)

        @Test(
            "an offline job shorter than its files writes the same playlists and segments in every run, whatever offline.threads is"
        )
        func everyRun() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let files = ("\(directory.path)/a.mp4", "\(directory.path)/b.flv")
            for (path, picture, hertz, bFrames) in [(files.0, "testsrc2", 440, 2), (files.1, "smptebars", 660, 0)] {
                try await FFmpegFile.make([
                    "-f", "lavfi", "-i", "\(picture)=s=160x90:r=30:d=4", "-f", "lavfi", "-i",
                    "sine=frequency=\(hertz):sample_rate=48000:d=4", "-c:v", "libx264", "-preset", "veryfast", "-bf",
                    "\(bFrames)", "-g", "30", "-pix_fmt", "yuv420p", "-c:a", "aac", path,
                ])
            }
            var first: [String: [UInt8]] = [:]
            for run in 0..<Self.runs {
                let output = RoomDirectory(at: "\(directory.path)/\(run)/out")
                // Without the key, with one thread, with two, and so on.
                let set = run % 4 == 0 ? [] : ["offline.threads=\(run % 4)"]
                let (outcome, _) = try await RoomJob.run(
                    RoomJob.pipeline("\(directory.path)/\(run)", files: files, seconds: 2.5), set: set)
                if case .ended = outcome {} else { Issue.record("run \(run) has not ended: \(outcome)") }
                var made: [String: [UInt8]] = [:]
                for name in try output.names() where [".m3u8", ".m4s", ".mp4"].contains(where: { name.hasSuffix($0) }) {
                    made[name] = try output.bytes(of: name)
                }
                if run == 0 { first = made }
                let differing = Set(made.keys).union(first.keys).filter { made[$0] != first[$0] }.sorted()
                #expect(differing.isEmpty, "run \(run)")
                output.remove()
            }
            #expect(first.count { $0.key.hasSuffix(".m4s") } >= 4)
        }
    }
}
