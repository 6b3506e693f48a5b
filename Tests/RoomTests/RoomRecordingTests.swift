import Foundation
import HLS
import MediaTypes
import PipelineSpec
import Testing

extension InProcess {
    @Suite("Recordings contain what was on air")
    struct RecordingTests {
        private static func record(_ path: String) -> String { #", { "type": "record", "path": "\#(path)" }"# }

        @Test("a room that ends before anyone publishes makes no recording")
        func nobody() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let room = try await RoomHarness.open(
                HarnessRooms.duel("\(directory.path)/out", outputs: Self.record("\(directory.path)/recording")))
            try await room.end()
            let closed = try #require(room.events.all("room.closed").first)
            #expect(closed.text("outcome") == "ended" && closed.text("recording") == nil)
            #expect(closed.text("unfinished") == nil)
            #expect(room.events.all("recording.finishing").isEmpty && room.events.all("recording.failed").isEmpty)
        }

        @Test(
            "a stop and a start give two recordings without a common frame; the second recording continues in a killed worker's successor"
        )
        func takes() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let record = "\(directory.path)/recording"
            let pipeline = HarnessRooms.duel("\(directory.path)/out", outputs: Self.record(record))
            func output(_ room: RoomHarness) async throws -> JSONNode {
                try #require(try await room.state().element("outputs", "type", "record"))
            }
            let first = try await RoomHarness.open(pipeline)
            try await first.goLive(HarnessRooms.first)
            try await first.publish(seconds: 5)
            #expect(try await output(first)[key: "state"]?.string == "recording")
            #expect(try await output(first)[key: "take"]?.integer == 1)
            let started = try await first.command(.post, "/v1/outputs/record:start", status: 202)
            #expect(started.member("state")?.string == "recording", "it is already recording")
            for _ in 0..<2 { try await first.command(.post, "/v1/outputs/record:stop", status: 202) }
            try await first.publish(seconds: 3)
            let ready = try await first.told("recording.ready")
            #expect(ready.text("path") == record && ready.member("onAir")?.content == .boolean(true))
            #expect(try await output(first)[key: "state"]?.string == "stopped")
            try await first.publish(seconds: 4)
            for _ in 0..<2 { try await first.command(.post, "/v1/outputs/record:start", status: 202) }
            #expect(first.events.all("output.started").map { $0.text("path") } == ["\(record)/take-2"])
            #expect(first.events.all("output.stopped").map { $0.text("outputId") } == ["record"])
            try await first.publish(seconds: 5)
            try await first.command(.post, "/v1/outputs/hls:stop", status: 409)
            try await first.command(.post, "/v1/outputs/x:stop", status: 404)
            first.kill()

            let second = try await RoomHarness.open(
                pipeline, at: first.wall.now() + 3 * RoomHarness.second, .slate)
            try await second.goLive(HarnessRooms.first)
            try await second.publish(seconds: 5)
            #expect(try await output(second)[key: "state"]?.string == "recording")
            #expect(try await output(second)[key: "take"]?.integer == 2)
            try await second.end()
            #expect(second.events.all("recording.ready").map { $0.text("path") } == ["\(record)/take-2"])
            #expect(second.events.all("room.closed").first?.text("recording") == "ready")

            let segments = first.segments + second.segments
            let origin = try #require(
                second.events.all("program.started").first?.text("origin").flatMap { ProgramDate.parse($0) })
            var end: Int64 = 0
            for take in [RoomDirectory(at: record), RoomDirectory(at: "\(record)/take-2")] {
                let manifest = try #require(JSONParser.parse(try take.bytes(of: "recording.json")).root)
                if take.path == record { #expect(manifest[key: "complete"]?.content == .boolean(true)) }
                let frames = try #require(manifest[key: "frames"]?.integer)
                #expect(try await MediaFile.frames("\(take.path)/90p.mp4") == Int(frames))
                take.lint()
                let start = try #require(manifest[key: "start"]?.string.flatMap { ProgramDate.parse($0) })
                let tick = (start - origin + 50_000_000) / 100_000_000
                // Whole published segments, from the first one of the recording on.
                let listed = segments.filter { ($0.integer("firstTick") ?? -1) >= tick }.compactMap {
                    $0.integer("ticks")
                }
                #expect(listed.indices.contains { listed[...$0].reduce(0, +) == frames }, "\(frames) of \(listed)")
                #expect(tick > end || end == 0, "frames between the two are in neither")
                end = tick + frames
                if take.path != record { #expect(listed.reduce(0, +) == frames, "to the end of the room") }
            }
        }

        @Test(
            "an encrypted room makes unencrypted recordings and clips; it refuses a recording directory inside the served one"
        )
        func encrypted() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let served = "\(directory.path)/out"
            func pipeline(_ record: String) -> String {
                HarnessRooms.duel(served, hls: #", "encryption": {}"#, outputs: Self.record(record))
                    .replacingOccurrences(
                        of: #""http": { "listen": null }"#, with: #""http": { "listen": "127.0.0.1:0" }"#)
            }
            try FileManager.default.createDirectory(atPath: "\(served)/inside", withIntermediateDirectories: true)
            try FileManager.default.createSymbolicLink(
                atPath: "\(directory.path)/link", withDestinationPath: "\(served)/inside")
            let refusals = [
                ("\(served)/rec", "would be inside"),
                ("\(directory.path)/link", "is for unencrypted files, but lies in"),
            ]
            for (record, said) in refusals {
                let refusal = await #expect(throws: (any Error).self) {
                    _ = try await RoomHarness.open(pipeline(record))
                }
                #expect(refusal.map { "\($0)".contains(said) } == true, "\(String(describing: refusal))")
            }
            let record = "\(directory.path)/rec"
            let room = try await RoomHarness.open(pipeline(record))
            try await room.goLive(HarnessRooms.first)
            try await room.publish(seconds: 7)
            let origin = try #require(
                room.events.all("program.started").first?.text("origin").flatMap { ProgramDate.parse($0) })
            let dates = [1, 3].map { ProgramDate.format(origin + $0 * RoomHarness.second) }
            try await room.command(
                .post, "/v1/clips", #"{"from":"\#(dates[0])","to":"\#(dates[1])"}"#, status: 202)
            let clip = try await room.told("clip.ready")
            let path = try #require(clip.member("clip", "path")?.string)
            #expect(path.hasPrefix("\(record)/clips") && clip.member("clip", "durationMs")?.integer == 2_000)
            #expect(try await (20...21).contains(MediaFile.frames(path)))
            try await room.end()
            #expect(!room.events.all("recording.ready").isEmpty && room.events.all("recording.stopped").isEmpty)
            #expect(try await MediaFile.frames("\(record)/90p.mp4") == Int(room.publishedTicks))
            #expect(try !RoomDirectory(at: record).text(of: "90p.m3u8").contains("EXT-X-KEY"))
            #expect(try RoomDirectory(at: served).text(of: "90p.m3u8").contains("EXT-X-KEY"))
            RoomDirectory(at: record).lint()
        }
    }
}
