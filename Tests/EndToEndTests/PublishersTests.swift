import Foundation
import Glibc
import Testing

extension Unhurried.Doors {
    /// Honest publishers by the hundred (`benchmarks/load/publishers.c`), none of them on air: what is measured is what it costs
    /// to take them in. Twenty of them for some seconds by default; `TANDEM_PUBLISHERS=full` is a hundred for 30 s, and judged.
    @Suite("A hundred publishers at the door", .serialized, .steadyMachine)
    struct PublishersTests {
        private static let isFull = ProcessInfo.processInfo.environment["TANDEM_PUBLISHERS"] == "full"

        @Test("publishers at 2 Mbit/s from twenty addresses are all taken in, and cost the network's threads little")
        func hundred() throws {
            guard let media = Media.find() else { return }
            let compiler = "/usr/bin/cc"
            guard access(compiler, X_OK) == 0 else {
                print("SKIPPED a hundred publishers: there is no \(compiler)")
                return
            }
            let (count, seconds) = Self.isFull ? (100, 30) : (20, 5)
            let work = try WorkDirectory()
            let program = work.path("publishers")
            let build = try Command.run(
                compiler, ["-O2", "-o", program, "\(EndToEnd.root)/benchmarks/load/publishers.c"])
            try #require(build.code == 0, "\(build.errors)")
            // Noise is what fills 2 Mbit/s in a small picture.
            let made = try Command.run(
                media.ffmpeg,
                [
                    "-nostdin", "-v", "error", "-f", "lavfi", "-i", "nullsrc=s=320x180:r=30,geq=random(1)*255:128:128",
                    "-f", "lavfi", "-i", "sine=sample_rate=48000", "-t", "4", "-c:v", "libx264", "-preset", "ultrafast",
                    "-tune", "zerolatency", "-g", "60", "-b:v", "1936k", "-minrate", "1936k", "-maxrate", "1936k",
                    "-bufsize", "500k", "-x264-params", "nal-hrd=cbr", "-pix_fmt", "yuv420p", "-c:a", "aac", "-b:a",
                    "64k", work.path("noise.flv"),
                ])
            try #require(made.code == 0, "\(made.errors)")
            let sources = (0..<count).map { #"{ "uid": "\#($0)", "streamKey": "publisher_\#($0)" }"# }
            // Whoever is on air never comes.
            let pipeline = """
                {
                  "room": { "roomId": "hundred" }, "limits": { "maxSources": \(count + 1) },
                  "ingest": { "rtmp": { "listen": "127.0.0.1:0" } },
                  "sources": [{ "uid": "nobody", "streamKey": "nobodys_key" }, \(sources.joined(separator: ", "))],
                  "canvas": { "width": 320, "height": 180, "fps": 10 },
                  "scenes": [{ "sceneId": "solo", "layout": "solo", "uids": ["nobody"] }],
                  "renditions": \(Rooms.small),
                  "outputs": [{ "type": "hls", "path": "\(work.path("out"))" }]
                }
                """
            let room = try RunningRoom(pipeline)
            let port = try #require(room.rtmp.split(separator: ":").last.map(String.init))
            let load = try Child(
                program,
                [
                    port, work.path("noise.flv"), "publisher_", "publishers=\(count)", "addresses=20",
                    "seconds=\(seconds)",
                ])
            guard load.line(from: 0, timeout: 30, matches: { $0.contains("afterSeconds") }) != nil else {
                throw Missing("the publishers were not let in: \(load.errors) \(load.outputLines)")
            }
            // The first pictures of all of them at once are another matter.
            Thread.sleep(forTimeInterval: 1)
            let (before, began) = (Self.networkTime(room.child.pid), Date())
            Thread.sleep(forTimeInterval: Double(seconds) - 2)
            let cores = (Self.networkTime(room.child.pid) - before) / Date().timeIntervalSince(began)
            let lost = room.events("ingest.lost").count
            try #require(try load.wait(timeout: 20) == 0, "\(load.errors) \(load.outputLines)")
            let said = try #require(load.outputLines.last.flatMap { Event($0) })
            EndToEnd.report(
                String(
                    format: "%d publishers, %@ Mbit/s in all: %.3f cores in the network's threads (bar: %.3f)", count,
                    said.text("megabitPerSecond") ?? "\(said.integer("megabitPerSecond") ?? 0)", cores,
                    0.04 * Double(count) / 100))
            #expect(said.integer("onAir") == count)
            #expect((said.integer("megabitPerSecond") ?? 0) > count * 3 / 2)
            #expect(room.events("ingest.publishing").count == count)
            #expect(lost == 0, "while they publish")
            if Self.isFull { #expect(cores <= 0.04) }
            #expect(try room.end() == 0)
        }

        /// Seconds of CPU of the threads that read the network.
        private static func networkTime(_ pid: pid_t) -> Double {
            let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task")) ?? []
            var ticks = 0.0
            for task in tasks {
                let text = (try? String(contentsOfFile: "/proc/\(pid)/task/\(task)/stat", encoding: .utf8)) ?? ""
                let parts = text.split(separator: ")", maxSplits: 1)
                guard parts.count == 2, parts[0].contains("(NIO") else { continue }
                let fields = parts[1].split(separator: " ")
                guard fields.count > 12 else { continue }
                ticks += (Double(fields[11]) ?? 0) + (Double(fields[12]) ?? 0)
            }
            return ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
        }
    }
}
