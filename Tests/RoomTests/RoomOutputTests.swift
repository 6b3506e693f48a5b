import Foundation
import MediaTypes
import PipelineSpec
import Testing

extension InProcess {
    @Suite("Files that a room writes to its output directory")
    struct OutputTests {
        @Test("two rooms with equal pipelines and different video write the same initialization segments")
        func initialization() async throws {
            let directories = [try RoomDirectory(), try RoomDirectory()]
            defer { for directory in directories { directory.remove() } }
            for (directory, appearance) in zip(directories, [ScriptedClip.Appearance.dark, .noise]) {
                let room = try await RoomHarness.open(HarnessRooms.duel(directory.path))
                try await room.goLive(HarnessRooms.first, sending: appearance)
                try await room.publish(seconds: 3)
                try await room.end()
            }
            let names = try directories[0].names().filter { $0.hasSuffix(".mp4") }
            #expect(names.count == 2, "\(names)")
            for name in names {
                let isSame = try directories[0].bytes(of: name) == directories[1].bytes(of: name)
                #expect(isSame, "\(name)")
            }
        }

        @Test(
            "a change of the canvas with the scene waits for a segment start; playlists get a discontinuity, those with video a new map"
        )
        func canvasPerScene() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let pipeline = HarnessRooms.duel(directory.path)
                .replacingOccurrences(of: #""fps": 10 },"#, with: #""fps": 10, "policy": "perScene" },"#)
                .replacingOccurrences(
                    of: #""sceneId": "pk","#, with: #""sceneId": "pk", "canvas": { "width": 160, "height": 64 },"#)
            let room = try await RoomHarness.open(pipeline)
            try await room.goLive(HarnessRooms.first, HarnessRooms.second)
            try await room.run(seconds: 3)
            var ticks: [Int64] = []
            for scene in ["pk", "solo"] {
                let reply = try await room.command(.put, "/v1/program", #"{"scene":"\#(scene)"}"#)
                ticks.append(try #require(reply.member("tick")?.integer))
                try await room.run(seconds: 6)
            }
            try await room.end()
            let start = try #require(room.events.all("program.started").first?.integer("firstTick"))
            #expect(ticks.allSatisfy { ($0 - start) % 20 == 0 }, "\(ticks) from \(start)")
            for (name, playlist) in try directory.playlists() {
                #expect(playlist.isEnded, "\(name)")
                let seams = playlist.segments.indices.filter { playlist.segments[$0].isDiscontinuity }
                // A live room splits the first 20 ticks into four segments.
                #expect(seams == ticks.map { Int($0 - start) / 20 + 3 }, "\(name)")
                guard name != "audio.m3u8" else { continue }
                let maps = playlist.maps
                #expect(maps.count == 3 && maps[0] == maps[2] && maps[0] != maps[1], "\(name): \(maps)")
            }
            let last = try #require(room.segments.last)
            let end = try #require(last.integer("firstTick")) + #require(last.integer("ticks"))
            #expect(room.publishedTicks == end - start, "no frame is lost over two discontinuities")
            directory.lint()
        }

        @Test(
            "a bit rate changes without a discontinuity; BANDWIDTH stays while faster segments are listed, and rises with the rate",
            .timeLimit(.minutes(1)))
        func rates() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            // A size whose H.264 level allows all of these bit rates.
            let pipeline = HarnessRooms.duel(directory.path)
                .replacingOccurrences(of: #""width": 160, "height": 90"#, with: #""width": 480, "height": 270"#)
                .replacingOccurrences(of: #""bitrate": 100000"#, with: #""bitrate": 300000"#)
            let room = try await RoomHarness.open(pipeline)
            try await room.goLive(HarnessRooms.first, sending: .noise)
            func set(_ bitrate: Int, status: Int = 200) async throws -> RoomHarness.Reply {
                let video = #"{"bitrate":\#(bitrate),"preset":"ultrafast"}"#
                return try await room.command(
                    .patch, "/v1/room",
                    #"{"renditions":[{"name":"90p","width":480,"height":270,"video":\#(video)}]}"#, status: status)
            }
            func rendition(_ name: String) async throws -> Int64 {
                let state = try await room.state()
                return try #require(state.element("renditions", "name", "90p")?[key: name]?.integer)
            }
            func measured() async throws -> Int64 {
                // The segment in progress when the rate was set, then whole ones.
                try await room.publish(seconds: 7)
                return try await rendition("measuredBitrate")
            }
            func bandwidth() throws -> Int {
                let text = try directory.text(of: "index.m3u8")
                return try #require(text.firstMatch(of: /:BANDWIDTH=([0-9]+)/).flatMap { Int($0.output.1) })
            }
            let (before, declared) = (try await measured(), try bandwidth())
            let low = try await set(100_000)
            #expect(low.body.contains(#""applied":["renditions[0].video.bitrate"]"#), "\(low.body)")
            let after = try await measured()
            #expect(try bandwidth() == declared, "segments with the higher rate are listed")
            _ = try await set(600_000)
            #expect(try await rendition("bitrate") == 600_000)
            let (high, raised) = (try await measured(), try bandwidth())
            #expect(before > 200_000 && after < 150_000 && high > 400_000, "\(before), \(after), \(high)")
            #expect(raised > declared + 300_000, "\(declared) to \(raised)")
            let refused = try await set(20_000_000, status: 409)
            #expect(refused.member("code")?.string == "needsRestart")
            #expect(refused.element("errors", "path", "renditions[0].video") != nil, "\(refused.body)")
            let ticks = try await room.state().member("ticks")
            #expect(ticks?[key: "late"]?.integer == 0 && ticks?[key: "lost"]?.integer == 0)
            try await room.end()
            let playlist = try directory.playlist("90p.m3u8")
            #expect(playlist.segments.allSatisfy { !$0.isDiscontinuity } && playlist.maps.count == 1)
            #expect(room.events.all("output.bandwidth").isEmpty)
            directory.lint()
        }

        @Test(
            "if the output directory is moved away, all its files are written again, with an alarm, and no segment is lost"
        )
        func moved() async throws {
            let directory = try RoomDirectory()
            let away = RoomDirectory(at: directory.path + "-away")
            defer { for directory in [directory, away] { directory.remove() } }
            let room = try await RoomHarness.open(HarnessRooms.duel(directory.path))
            try await room.goLive(HarnessRooms.first)
            try await room.publish(seconds: 7)
            let names = try directory.names()
            // Without the parts kept for a successor.
            let segments = names.filter { $0.hasSuffix(".m4s") && $0.split(separator: ".").count == 2 }
            let maps = names.filter { $0.hasSuffix(".mp4") }
            try #require(segments.count >= 4 && maps.count == 2, "\(names)")
            let mark = room.events.count
            try FileManager.default.moveItem(atPath: directory.path, toPath: away.path)
            try await room.run(seconds: 5)
            try await room.told("output.failed", from: mark) { $0.text("reason")?.contains("moved away") == true }
            let wanted = ["index.m3u8", "90p.m3u8", "audio.m3u8", "state.json"] + maps + segments
            #expect(wanted.filter { !directory.exists($0) } == [], "five seconds after the move")
            try await room.run(
                until: "alarm.set", from: mark, within: 2
            ) { $0.member("alarm", "type")?.string == "output.moved" }
            try await room.publish(seconds: 4)
            let playlist = try directory.playlist("90p.m3u8")
            #expect(!playlist.text.contains("#EXT-X-GAP"))
            #expect(playlist.segments.allSatisfy { directory.exists($0.uri) })
            try await room.end()
            #expect(room.events.all("segment.lost").isEmpty)
            #expect(try directory.playlist("90p.m3u8").isEnded)
            directory.lint()
        }

        @Test(
            "a live room that loses segments continues with gaps, sets an alarm, and ends as damaged without an error"
        )
        func damaged() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let room = try await RoomHarness.open(HarnessRooms.duel(directory.path))
            try await room.goLive(HarnessRooms.first)
            try await room.publish(seconds: 5)
            let last = try #require(try directory.playlist("90p.m3u8").segments.last?.uri)
            let parts = last.split(separator: ".")[0].split(separator: "-")
            let (name, number) = (parts.dropLast().joined(separator: "-"), try #require(parts.last.flatMap { Int($0) }))
            // Directories with these names make file creation fail.
            let obstacles = (1...3).map { "\(directory.path)/.\(name)-\(number + $0).m4s.tmp" }
            for path in obstacles {
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            }
            let mark = room.events.count
            try await room.run(seconds: 8)
            let lost = try await room.told("segment.lost", from: mark)
            #expect(lost.texts("tracks") == ["90p"], "\(lost)")
            let alarm = try await room.run(until: "alarm.set", from: mark, within: 5) {
                $0.member("alarm", "type")?.string == "output.damaged"
            }
            #expect(alarm.text("level") == "alert_3")
            for path in obstacles { try FileManager.default.removeItem(atPath: path) }
            try await room.run(seconds: 6)
            let outcome = try await room.end()
            #expect(room.room.result(outcome).error == nil, "the exit code is 0")
            let count = Int64(room.events.all("segment.lost").count)
            let closed = try #require(room.events.all("room.closed").first)
            #expect(closed.text("outcome") == "damaged" && closed.integer("lostSegments") == count)
            let playlist = try directory.playlist("90p.m3u8")
            #expect(playlist.isEnded && playlist.text.components(separatedBy: "#EXT-X-GAP\n").count == Int(count) + 1)
            #expect(try !directory.playlist("audio.m3u8").text.contains("EXT-X-GAP"))
            directory.lint()
        }
    }
}
