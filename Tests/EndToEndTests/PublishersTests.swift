import Foundation
import Glibc
import TestSupport
import Testing

extension Unhurried.Access {
    /// Well-behaved publishers (`benchmarks/load/publishers.c`), none of them on air: this measures the cost of reading
    /// them. By default twenty for 5 s; `TANDEM_PUBLISHERS=full` is a hundred for 30 s, with a limit of CPU time.
    @Suite("Twenty publishers, or a hundred with TANDEM_PUBLISHERS=full", .serialized)
    struct PublishersTests {
        private static let isFull = ProcessInfo.processInfo.environment["TANDEM_PUBLISHERS"] == "full"

        @Test(
            "twenty publishers of 2 Mbit/s are all read and none is lost; a hundred (full test) cost network threads at most 0.04 CPU cores"
        )
        func hundred() throws {
            let load = try Load.make()
            let (count, seconds) = Self.isFull ? (100, 30) : (20, 5)
            let outcome = try load.run(publishers: count, seconds: seconds, kilobits: 1_936, size: "320x180")
            EndToEnd.report(
                String(
                    format: "%d publishers, %.1f Mbit/s in all: %.3f cores in the network's threads (bar: %.3f)", count,
                    outcome.megabits, outcome.cores, 0.04 * Double(count) / 100))
            expectTiming(outcome.megabits, atLeast: Double(count) * 3 / 2, "Mbit/s sent")
            if Self.isFull { expectTiming(outcome.cores, atMost: 0.04, "cores of the network threads") }
        }

        @Test(
            "a full receive window blocks none of four publishers for more than 33 ms: longer waits would make OBS drop frames",
            arguments: [(2_000, "320x180"), (8_000, "640x360"), (20_000, "640x360")])
        func window(kilobits: Int, size: String) throws {
            let load = try Load.make()
            let outcome = try load.run(publishers: 4, seconds: 5, kilobits: kilobits, size: size)
            EndToEnd.report("4 publishers of \(kilobits) kbit/s: \(outcome.waited) ms behind a full window at most")
            expectTiming(outcome.megabits, atLeast: Double(kilobits) / 1_000 * 3, "Mbit/s sent")
            // Less than a frame's time, which an encoder does not notice: the machine may be busy for a moment.
            expectTiming(outcome.waited, atMost: 33, "ms behind a full window")
        }

        /// The publishing program, and the directory it is built in.
        private struct Load {
            /// Measurements of it.
            struct Outcome {
                /// Megabits sent in total.
                var megabits: Double
                /// CPU cores used by the threads that read the network.
                var cores: Double
                /// Longest time for which the receive window blocked any publisher, in milliseconds.
                var waited: Double
            }

            let ffmpeg: String
            let work: WorkDirectory
            var program: String { self.work.path("publishers") }

            /// Builds the publishers. If there is no C compiler or no ffmpeg, then the current test ends as skipped.
            static func make() throws -> Load {
                let (media, compiler) = (try Media.require(), try TestTool.require("cc"))
                let load = Load(ffmpeg: media.ffmpeg, work: try WorkDirectory())
                let build = try Command.run(
                    compiler, ["-O2", "-o", load.program, "\(EndToEnd.root)/benchmarks/load/publishers.c"])
                try #require(build.code == 0, "\(build.errors)")
                return load
            }

            /// - Parameters:
            ///   - kilobits: Video bit rate of each publisher, in kbit/s.
            ///   - size: Frame size: noise fills the bit rate.
            func run(publishers count: Int, seconds: Int, kilobits: Int, size: String) throws -> Outcome {
                let file = self.work.path("noise.flv")
                let made = try Command.run(
                    self.ffmpeg,
                    [
                        "-nostdin", "-v", "error", "-y", "-f", "lavfi", "-i",
                        "nullsrc=s=\(size):r=30,geq=random(1)*255:128:128", "-f", "lavfi", "-i",
                        "sine=sample_rate=48000", "-t", "4", "-c:v", "libx264", "-preset", "ultrafast", "-tune",
                        "zerolatency", "-g", "60", "-b:v", "\(kilobits)k", "-minrate", "\(kilobits)k", "-maxrate",
                        "\(kilobits)k", "-bufsize", "\(kilobits / 4)k", "-x264-params", "nal-hrd=cbr", "-pix_fmt",
                        "yuv420p", "-c:a", "aac", "-b:a", "64k", file,
                    ])
                try #require(made.code == 0, "\(made.errors)")
                let sources = (0..<count).map { #"{ "uid": "\#($0)", "streamKey": "publisher_\#($0)" }"# }
                // The source on air never connects.
                let pipeline = """
                    {
                      "room": { "roomId": "hundred" }, "limits": { "maxSources": \(count + 1) },
                      "ingest": { "rtmp": { "listen": "127.0.0.1:0" } },
                      "sources": [{ "uid": "nobody", "streamKey": "nobodys_key" }, \(sources.joined(separator: ", "))],
                      "canvas": { "width": 320, "height": 180, "fps": 10 },
                      "scenes": [{ "sceneId": "solo", "layout": "solo", "uids": ["nobody"] }],
                      "renditions": \(Rooms.small),
                      "outputs": [{ "type": "hls", "path": "\(self.work.path("out"))" }]
                    }
                    """
                let room = try RunningRoom(pipeline)
                let port = try #require(room.rtmp.split(separator: ":").last.map(String.init))
                let load = try Child(
                    self.program,
                    [port, file, "publisher_", "publishers=\(count)", "addresses=20", "seconds=\(seconds)"])
                guard load.line(from: 0, timeout: 30, matches: { $0.contains("afterSeconds") }) != nil else {
                    throw Missing("the publishers were not admitted: \(load.errors) \(load.outputLines)")
                }
                // The first frames of all publishers at once are not part of the measurement.
                Thread.sleep(forTimeInterval: 1)
                let (before, began) = (PublishersTests.networkTime(room.child.pid), Date())
                Thread.sleep(forTimeInterval: Double(seconds) - 2)
                let cores =
                    (PublishersTests.networkTime(room.child.pid) - before) / Date().timeIntervalSince(began)
                let lost = room.events("ingest.lost").count
                let complaints = room.events("source.health").filter { $0.strings("causes") != ["workerLag"] }
                try #require(try load.wait(timeout: 20) == 0, "\(load.errors) \(load.outputLines)")
                let said = try #require(load.outputLines.last.flatMap { Event($0) })
                #expect(said.integer("onAir") == count)
                #expect(room.events("ingest.publishing").count == count)
                #expect(lost == 0, "while they publish")
                expectTiming(
                    complaints.count, atMost: 0, "alerts about the publishers' network: \(complaints.map(\.line))")
                #expect(try room.end() == 0)
                return Outcome(
                    megabits: Self.number(said, "megabitPerSecond"), cores: cores,
                    waited: Self.number(said, "windowLimitedMs"))
            }

            /// Integers and fractions; NaN for a missing value.
            private static func number(_ event: Event, _ name: String) -> Double {
                event.text(name).flatMap(Double.init) ?? event.integer(name).map(Double.init) ?? .nan
            }
        }

        /// CPU time of the threads that read the network, in seconds.
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
