import Foundation
import Testing

extension EndToEnd {
    @Suite("Transport streams and I-frame playlists of a live room")
    struct TransportTests {
        private static let listener = #""http": { "listen": "127.0.0.1:0" } }"#

        /// With transport streams beside the HLS output.
        private static func beside(_ streams: String, _ pipeline: String) throws -> String {
            try #require(pipeline.contains(self.listener))
            return pipeline.replacingOccurrences(
                of: self.listener,
                with: self.listener + #", { "type": "hls", "segmentFormat": "ts", "path": "\#(streams)" }"#)
        }

        /// What FFmpeg finds to complain about; a stream of metadata cannot be decoded.
        private static func complaints(_ path: String, _ media: Media, seconds: Int? = nil) throws -> String {
            let result = try Command.run(
                media.ffmpeg,
                ["-nostdin", "-v", "warning", "-xerror", "-i", path] + (seconds.map { ["-t", "\($0)"] } ?? [])
                    + ["-map", "0:v", "-map", "0:a", "-f", "null", "-"])
            return result.code == 0 ? result.errors : "exit \(result.code): \(result.errors)"
        }

        @Test(
            "solo, a PK on a canvas of its own, solo: picture for picture what is on air, the sound in step, the same seams, and nothing to complain of"
        )
        func live() throws {
            guard let media = Media.find() else { return }
            let work = try WorkDirectory()
            let (directory, streams) = (work.path("out"), work.path("out-ts"))
            let pipeline = try Self.beside(streams, Rooms.small(directory))
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
            // As an old device that comes now.
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
            #expect(try Self.complaints("\(streams)/180p.m3u8", media) == "")
            #expect(try Self.complaints("\(streams)/index.m3u8", media) == "")
            let after = try Command.tandem(["lint-hls", "\(streams)/index.m3u8"])
            #expect(after.code == 0, "\(after.output)")

            func hashes(_ path: String) throws -> [String] {
                try media.pictureHashes(
                    ["-i", path, "-map", "0:v:0", "-vf", "scale=320:180", "-fps_mode", "passthrough"])
            }
            let fragments = try Self.runs(lists[0], directory, work).flatMap(hashes)
            let pictures = try hashes("\(streams)/180p.m3u8")
            let start = try #require(room.events("program.started").first?.integer("firstTick"))
            let last = try #require(room.events("segment.published").last)
            let ticks = try #require(last.integer("firstTick")) + #require(last.integer("ticks")) - start
            #expect(fragments.count == ticks && pictures == fragments)
            #expect(Set(pictures).count > ticks / 2, "the pattern moves")

            let sounds = [("\(directory)/audio.m3u8", directory), ("\(streams)/180p.m3u8", streams)]
            let beeps = try sounds.map { path, directory in
                let first = try #require(media.frameTimes("\(directory)/180p.m3u8", "v:0").first)
                return try Beeps.onsets(path, media).map { $0 - first }
            }
            #expect(beeps[0].count >= 6 && beeps[1].count == beeps[0].count, "\(beeps)")
            let off = zip(beeps[0], beeps[1]).map { abs($0 - $1) }.max() ?? 1
            EndToEnd.report(
                "transport streams: \(ticks) pictures, \(beeps[0].count) beeps, sound against the fragments' at most "
                    + "\(String(format: "%.1f", off * 1000)) ms off")
            #expect(off < 0.002)
            // What happened is in the stream, too.
            #expect(try Self.segments(streams).contains { $0.range(of: Data("rose-1".utf8)) != nil })
        }

        /// A file for each run of segments under one map: FFmpeg's own reader does not follow a new one.
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

        private static func segments(_ directory: String) throws -> [Data] {
            try Files.names(in: directory).filter { $0.hasSuffix(".ts") }.map { try Files.bytes("\(directory)/\($0)") }
        }

        @Test(
            "hls.js and ffmpeg play the transport streams, and the list that names I-frame playlists, of a clear room and of one whose keys change",
            arguments: [false, true])
        func players(isEncrypted: Bool) throws {
            guard let media = Media.find() else { return }
            let viewers = try Viewers.start()
            let work = try WorkDirectory()
            let streams = work.path("out-ts")
            let renditions = """
                [ { "name": "large", "width": 640, "height": 360, "video": { "bitrate": 600000 } },
                  { "name": "small", "width": 320, "height": 180, "video": { "bitrate": 200000 } } ]
                """
            let encryption = isEncrypted ? #""encryption": { "rotateEverySegments": 2 },"# : ""
            let pipeline = try Self.beside(
                streams, Rooms.live(work.path("out"), renditions: renditions, canvas: (640, 360))
            ).replacingOccurrences(
                of: #""windowSeconds": 3600,"#, with: #""windowSeconds": 3600, "iFramePlaylists": true, \#(encryption)"#
            )
            let room = try RunningRoom(pipeline)
            let publishers = [
                try Publisher.pattern("ANNA", to: room.url("a"), size: "640x360"),
                try Publisher.pattern("BEN", to: room.url("b"), size: "640x360"),
            ]
            try room.event("source.live", uid: "2002")
            try room.segments(4)
            let viewer = try #require(room.viewer)
            let master = try HTTPClient.request("GET", viewer, "/index.m3u8").body
            #expect(master.components(separatedBy: "#EXT-X-I-FRAME-STREAM-INF:").count == 3, "\(master)")
            let watched = [("the list with I-frame playlists", viewer), ("transport streams", "\(viewer)/ts")]
            var tabs: [(name: String, tab: Tab)] = []
            // Without a browser FFmpeg and lint judge alone.
            if let viewers, viewers.hasHLSJS {
                for (name, address) in watched { tabs.append((name, try viewers.watch(address, .hlsJS))) }
            }
            let lints = try ["index.m3u8", "ts/index.m3u8"].map {
                try Child(EndToEnd.binary, ["lint-hls", "\(viewer)/\($0)", "--duration", "9"])
            }
            for scene in ["pk", "solo"] {
                Thread.sleep(forTimeInterval: 3)
                try room.put(scene: scene)
            }
            Thread.sleep(forTimeInterval: 4)
            for (name, tab) in tabs {
                let report = try tab.report()
                EndToEnd.report("\(isEncrypted ? "encrypted" : "clear") \(name) in hls.js: \(report.summary)")
                #expect(report.faults.isEmpty && report.stalls.isEmpty, "\(name): \(report.errors) \(report.waits)")
                #expect(report.time > 6 && report.corrupted == 0, "\(name)")
            }
            for lint in lints {
                let code = try lint.wait(timeout: 30)
                #expect(code == 0, "\(lint.outputLines.suffix(12).joined(separator: "\n"))")
            }
            // While it is live: the keys are the room's.
            #expect(try Self.complaints("\(viewer)/ts/large.m3u8", media, seconds: 4) == "")
            let list = try Files.text("\(streams)/large.m3u8")
            #expect((list.components(separatedBy: "#EXT-X-KEY:METHOD=AES-128,URI=\"large-").count > 3) == isEncrypted)
            for bytes in try Self.segments(streams) {
                #expect((bytes.first == 0x47 && bytes.count.isMultiple(of: 188)) == !isEncrypted)
                #expect(!isEncrypted || bytes.count.isMultiple(of: 16))
            }
            #expect(try room.end() == 0)
            for publisher in publishers { publisher.stop() }
        }
    }
}
