import Foundation
import Glibc
import Testing

extension EndToEnd {
    @Suite("Loss and return: a publisher drops, the program does not")
    struct LossTests {
        /// How a publisher goes.
        enum Way: String, CaseIterable { case clean, reset, silent, killed }

        @Test(
            "drop and reconnect, every way there is: playlists on time, the other counter never stops, back within 1 s")
        func cycles() throws {
            guard let media = Media.find() else { return }
            let wanted = ProcessInfo.processInfo.environment["TANDEM_CYCLES"].flatMap { Int($0) } ?? 4
            let work = try WorkDirectory()
            let directory = work.path("out")
            let clip = try self.clip(work, media)
            let idle = #""listen": "127.0.0.1:0", "idleTimeoutMs": 1500, "#
            let room = try RunningRoom(
                Rooms.live(directory, renditions: Rooms.large, scene: "pk").replacingOccurrences(
                    of: #""listen": "127.0.0.1:0" } }"#, with: idle + #""app": "live" } }"#))
            let anna = try Publisher.pattern("ANNA", to: room.url("a"))
            try room.event("source.live", uid: "1001")
            var returns: [Double] = []
            var notices: [Double] = []
            for cycle in 0..<wanted {
                let way = Way.allCases[cycle % Way.allCases.count]
                let start = room.now
                let ben = try Publisher(EndToEnd.binary, ["publish", clip, room.url("b"), "--loop"])
                let frame = try room.event("source.first_frame", uid: "2002", from: start)
                returns.append(Double(try #require(frame.integer("sinceKeyFrameMs"))) / 1000)
                // Not at the same place of the GOP each time.
                Thread.sleep(forTimeInterval: 0.6 + 0.13 * Double(cycle % 5))
                let left = Date().timeIntervalSince1970
                let mark = room.now
                switch way {
                case .clean: ben.child.signal(SIGTERM)
                case .reset, .killed: ben.child.signal(SIGKILL)
                case .silent: ben.child.signal(SIGSTOP)
                }
                let lost = try room.event("source.lost", uid: "2002", from: mark, timeout: 6)
                if way != .silent { notices.append(lost.time - left) }
                ben.child.signal(SIGKILL)
            }
            try room.segments(1)
            #expect(try room.end() == 0)
            anna.stop()
            let worst = returns.max() ?? 9
            EndToEnd.report(
                "\(wanted) cycles: picture decoded at most \(String(format: "%.3f", worst)) s after its key frame, loss "
                    + "noticed at most \(String(format: "%.3f", notices.max() ?? 9)) s after the end (bars: 1, 1)")
            #expect(worst <= 1 && (notices.max() ?? 9) <= 1)
            #expect(room.events("source.lost").count == wanted)
            try self.expectUndisturbed(room, directory, media)
        }

        /// A clip of the pattern: publishing it costs no encoder.
        private func clip(_ work: WorkDirectory, _ media: Media) throws -> String {
            let path = work.path("ben.mp4")
            try media.make(path, size: "1280x720", seconds: 4)
            return path
        }

        /// The pane of who stayed, and the playlists.
        private func expectUndisturbed(_ room: RunningRoom, _ directory: String, _ media: Media) throws {
            let decoded = try Decoded("\(directory)/720p.m3u8", [.left], media)
            let (steps, good) = decoded.steps(0, from: 1.5)
            EndToEnd.report("the other pane's counter advances in \(good) of \(steps) steps (bar: 99 %)")
            #expect(steps > 100 && Double(good) / Double(max(1, steps)) >= 0.99)
            let segments = room.events("segment.published")
            let gaps = zip(segments, segments.dropFirst()).map { $1.time - $0.time }
            let length = 64.0 / 30
            EndToEnd.report("segments at most \(String(format: "%.3f", gaps.max() ?? 0)) s apart (\(length) s each)")
            #expect((gaps.dropLast().max() ?? 0) < length + 0.7)
            for (name, playlist) in try Playlist.all(in: directory) {
                #expect(playlist.isEnded && playlist.mistakes.isEmpty, "\(name): \(playlist.mistakes)")
                #expect(playlist.segments.count == segments.count, "\(name)")
            }
            let counts =
                try #require(room.events("room.closed").first).object("summary")["ticks"] as? [String: Any] ?? [:]
            #expect(counts["lost"] as? Int == 0)
        }

        @Test("nine publishers drop and reconnect in the same 100 ms: all are back within 1 s of their key frames")
        func nine() throws {
            guard let media = Media.find() else { return }
            let work = try WorkDirectory()
            try media.make(work.path("clip.mp4"), size: "160x90", seconds: 4)
            let uids = (1...9).map { "\($0)" }
            let room = try RunningRoom(self.grid(work.path("out"), uids))
            func publishAll() throws -> [Publisher] {
                try uids.map {
                    try Publisher(
                        EndToEnd.binary, ["publish", work.path("clip.mp4"), room.url("k\($0)"), "--loop"])
                }
            }
            let first = try publishAll()
            for uid in uids { try room.event("source.live", uid: uid) }
            let mark = room.now
            for publisher in first { publisher.child.signal(SIGKILL) }
            for uid in uids { try room.event("source.lost", uid: uid, from: mark, timeout: 2) }
            let again = room.now
            let second = try publishAll()
            var worst = 0
            for uid in uids {
                let frame = try room.event("source.first_frame", uid: uid, from: again, timeout: 10)
                worst = max(worst, try #require(frame.integer("sinceKeyFrameMs")))
                try room.event("source.live", uid: uid, from: again)
            }
            EndToEnd.report("nine reconnects at once: decoded at most \(worst) ms after the key frame (bar: 1000)")
            #expect(worst <= 1000)
            #expect(try room.end() == 0)
            for publisher in second { publisher.stop(SIGKILL) }
        }

        private func grid(_ directory: String, _ uids: [String]) -> String {
            let sources = uids.map { #"{ "uid": "\#($0)", "streamKey": "k\#($0)" }"# }.joined(separator: ", ")
            let names = uids.map { "\"\($0)\"" }.joined(separator: ", ")
            return """
                {
                  "room": { "roomId": "nine" }, "ingest": { "rtmp": { "listen": "127.0.0.1:0" } },
                  "sources": [\(sources)], "canvas": { "width": 480, "height": 270 },
                  "scenes": [{ "sceneId": "all", "layout": "grid", "uids": [\(names)] }],
                  "renditions": [{ "name": "270p", "width": 480, "height": 270,
                    "video": { "bitrate": 300000, "preset": "ultrafast" } }],
                  "outputs": [{ "type": "hls", "path": "\(directory)", "http": { "listen": "127.0.0.1:0" } }]
                }
                """
        }

        @Test("X02: the old connection is half open, the encoder comes anew: it is let in at once, by takeover")
        func halfOpen() throws {
            guard let media = Media.find() else { return }
            let work = try WorkDirectory()
            try media.make(work.path("clip.mp4"), size: "320x180", seconds: 4)
            let room = try RunningRoom(Rooms.small(work.path("out")))
            let arguments = ["publish", work.path("clip.mp4"), room.url("a"), "--loop"]
            let old = try Publisher(EndToEnd.binary, arguments)
            try room.event("source.live", uid: "1001")
            old.child.signal(SIGSTOP)
            try room.event("source.stalled", uid: "1001", timeout: 5)
            let mark = room.now
            let new = try Publisher(EndToEnd.binary, arguments)
            let publishing = try room.event("ingest.publishing", uid: "1001", from: mark)
            try room.event("source.reconnecting", uid: "1001", from: mark)
            let live = try room.event("source.live", uid: "1001", from: mark)
            EndToEnd.report("takeover: live \(String(format: "%.3f", live.time - publishing.time)) s after its publish")
            #expect(live.time - publishing.time <= 1)
            #expect(room.events("source.lost").isEmpty, "a takeover is no loss")
            #expect(try room.end() == 0)
            for publisher in [old, new] { publisher.stop(SIGKILL) }
        }
    }
}
