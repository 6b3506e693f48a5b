import Foundation
import Testing

extension Unhurried.Frames {
    @Suite("MPEG-TS segments of a live room")
    struct TransportTests {
        @Test(
            "over a PK with another canvas size, MPEG-TS segments have the same frames as fMP4 segments, and audio within 2 ms"
        )
        func live() throws {
            let media = try Media.require()
            let work = try WorkDirectory()
            let (directory, streams) = (work.path("out"), work.path("out-ts"))
            let pipeline = try TransportRoom.beside(streams, Rooms.small(directory))
                .replacingOccurrences(of: #""height": 180 },"#, with: #""height": 180, "policy": "perScene" },"#)
                .replacingOccurrences(
                    of: #""sceneId": "pk","#, with: #""sceneId": "pk", "canvas": { "width": 320, "height": 90 },"#)
            let room = try RunningRoom(pipeline)
            let publishers = try ["a", "b"].map { try Publisher.pattern("P", to: room.url($0), size: "320x180") }
            try room.event("source.live", uid: "2002")
            try room.segments(2)
            let viewer = try #require(room.viewer)
            let lint = try Child(EndToEnd.binary, ["lint-hls", "\(viewer)/ts/index.m3u8", "--duration", "14"])
            try room.put(scene: "pk")
            try room.segments(3)
            let told = try HTTPClient.request(
                "POST", room.control, "/v1/metadata", body: #"{"type":"gift","id":"rose-1","text":"안나"}"#)
            #expect(told.status == 202, "\(told.body)")
            // Like an old device that joins now.
            let found = try media.probe("\(viewer)/ts/180p.m3u8", ["-show_entries", "stream=codec_name"])
            #expect(Set(found).isSuperset(of: ["h264", "aac"]), "\(found)")
            try room.put(scene: "solo")
            try room.segments(3)
            #expect(try lint.wait(timeout: 30) == 0, "\(lint.outputLines.suffix(12).joined(separator: "\n"))")
            #expect(try room.end() == 0)
            for publisher in publishers { publisher.stop() }
            #expect(room.events("output.failed").isEmpty)

            let lists = try [directory, streams].map { try Playlist(contentsOf: "\($0)/180p.m3u8") }
            #expect(lists[1].isEnded && lists[1].text.contains("#EXT-X-VERSION:3\n"))
            #expect(lists[1].segments.map(\.duration) == lists[0].segments.map(\.duration))
            let seams = lists.map { $0.segments.map(\.isDiscontinuity) }
            #expect(seams[0] == seams[1] && seams[0].count { $0 } == 2, "\(seams)")
            #expect(try TransportRoom.complaints("\(streams)/180p.m3u8", media) == "")
            #expect(try TransportRoom.complaints("\(streams)/index.m3u8", media) == "")
            let after = try Command.tandem(["lint-hls", "\(streams)/index.m3u8"])
            #expect(after.code == 0, "\(after.output)")

            func hashes(_ path: String) throws -> [String] {
                try media.pictureHashes(
                    ["-i", path, "-map", "0:v:0", "-vf", "scale=320:180", "-fps_mode", "passthrough"])
            }
            let fragments = try Self.runs(lists[0], directory, work).flatMap(hashes)
            let frames = try hashes("\(streams)/180p.m3u8")
            let start = try #require(room.events("program.started").first?.integer("firstTick"))
            let last = try #require(room.events("segment.published").last)
            let ticks = try #require(last.integer("firstTick")) + #require(last.integer("ticks")) - start
            #expect(fragments.count == ticks && frames == fragments)
            #expect(Set(frames).count > ticks / 2, "the pattern changes")

            let playlists = [("\(directory)/audio.m3u8", directory), ("\(streams)/180p.m3u8", streams)]
            let beeps = try playlists.map { path, directory in
                let first = try #require(media.frameTimes("\(directory)/180p.m3u8", "v:0").first)
                return try Beeps.onsets(path, media).map { $0 - first }
            }
            #expect(beeps[0].count >= 6 && beeps[1].count == beeps[0].count, "\(beeps)")
            let off = zip(beeps[0], beeps[1]).map { abs($0 - $1) }.max() ?? 1
            EndToEnd.report(
                "transport streams: \(ticks) pictures, \(beeps[0].count) beeps, sound against the fragments' at most "
                    + "\(String(format: "%.1f", off * 1000)) ms off")
            #expect(off < 0.002)
            // Events are in the stream, too.
            #expect(try TransportRoom.segments(streams).contains { $0.range(of: Data("rose-1".utf8)) != nil })
        }

        @Test(
            "if the last MPEG-TS playlist cannot be written, the room ends with exit code 0, outcome damaged and the reason"
        )
        func lost() throws {
            let work = try WorkDirectory()
            let streams = work.path("out-ts")
            let room = try RunningRoom(
                TransportRoom.beside(
                    streams, Rooms.small(work.path("out"), members: #""shutdown": { "endTimeoutMs": 1500 },"#)))
            let publisher = try Publisher.pattern("P", to: room.url("a"), size: "320x180")
            try room.segments(2)
            // A file replaces the directory.
            // The worker may create a file while the directory is being removed.
            for _ in 0..<100 where FileManager.default.fileExists(atPath: streams) {
                try? FileManager.default.removeItem(atPath: streams)
            }
            try Data().write(to: URL(fileURLWithPath: streams))
            // No other worker could do better: an orchestrator must not restart it.
            #expect(try room.end() == 0)
            publisher.stop()
            let closed = try #require(room.events("room.closed").first)
            #expect(
                closed.text("outcome") == "damaged" && closed.line.contains("end of the transport streams"),
                "\(closed.line)")
            #expect(try Playlist(contentsOf: work.path("out/180p.m3u8")).isEnded)
        }

        /// A file for each run of segments with one map: FFmpeg's own reader does not follow a new one.
        private static func runs(_ list: Playlist, _ directory: String, _ work: WorkDirectory) throws -> [String] {
            var runs: [Data] = []
            for segment in list.segments {
                if runs.isEmpty || segment.isDiscontinuity {
                    runs.append(try Files.bytes("\(directory)/\(#require(segment.map))"))
                }
                runs[runs.count - 1] += try Files.bytes("\(directory)/\(segment.uri)")
            }
            return try runs.enumerated().map { number, bytes in
                let path = work.path("run-\(number).mp4")
                try bytes.write(to: URL(fileURLWithPath: path))
                return path
            }
        }
    }
}
