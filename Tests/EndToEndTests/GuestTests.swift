import Foundation
import Glibc
import Testing

extension EndToEnd {
    @Suite("Sources added to and removed from a live room")
    struct GuestTests {
        private struct Guest {
            var uid: String
            var key: String
        }

        private static let trio =
            #"{ "sceneId": "trio", "layout": "grid", "uids": ["1001", "2002", "3003"], "transition": { "type": "cut" } }"#
        private static let pk = #"{ "sceneId": "pk", "layout": "sideBySide", "uids": ["1001", "2002"] }"#

        private static func document(_ room: RunningRoom, _ guests: [Guest], scenes: [String], program: String)
            -> String
        {
            let sources = guests.map { #"{ "uid": "\#($0.uid)", "streamKey": "\#(room.key($0.key))" }"# }
            return #"""
                { "sources": [\#(sources.joined(separator: ", "))], "scenes": [\#(scenes.joined(separator: ", "))],
                  "program": { "scene": "\#(program)" } }
                """#
        }

        private static func patch(_ room: RunningRoom, _ body: String, status: Int = 200) throws -> [String: Any] {
            let reply = try HTTPClient.request("PATCH", room.control, "/v1/room", body: body)
            #expect(reply.status == status, "\(reply.body)")
            room.secrets.note(reply.body)
            return reply.json()
        }

        /// One color and one tone, sent by ffmpeg as a streamer runs it.
        private static func publish(
            _ media: Media, _ color: String, hertz: Int, to url: String
        ) throws -> Publisher {
            try Publisher(
                media.ffmpeg,
                [
                    "-nostdin", "-loglevel", "error", "-re", "-f", "lavfi", "-i",
                    "color=c=\(color):size=320x180:rate=30",
                    "-re", "-f", "lavfi", "-i", "sine=frequency=\(hertz):sample_rate=48000", "-c:v", "libx264",
                    "-preset",
                    "ultrafast", "-g", "30", "-keyint_min", "30", "-pix_fmt", "yuv420p", "-colorspace", "bt709",
                    "-color_primaries", "bt709", "-color_trc", "bt709", "-color_range", "tv", "-threads", "1", "-c:a",
                    "aac", "-ac", "2", "-f", "flv", url,
                ])
        }

        /// Whether an unknown publisher with this key is refused.
        private static func isRefused(_ key: String, by room: RunningRoom) throws -> Bool {
            let stranger = try Publisher.pattern("NOBODY", to: room.url(key), size: "320x180")
            defer { stranger.stop(SIGKILL) }
            return try stranger.child.wait(timeout: 10) == 77
        }

        /// Resident memory in MiB, and threads.
        private static func cost(of room: RunningRoom) throws -> (memory: Double, threads: Int) {
            let text = try Files.text("/proc/\(room.child.pid)/status")
            func number(_ name: String) throws -> Int {
                let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("\(name):") })
                return try #require(line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) })
            }
            return (Double(try number("VmRSS")) / 1024, try number("Threads"))
        }

        private static func get(_ room: RunningRoom, _ path: String, status: Int = 200) throws -> String {
            let reply = try HTTPClient.request("GET", room.control, path)
            #expect(reply.status == status, "\(path): \(reply.body)")
            return reply.body
        }

        @Test("a guest joins a PK, is seen and heard, and is removed; nobody's video is late or broken")
        func guest() throws {
            let media = try Media.require()
            let work = try WorkDirectory()
            let room = try RunningRoom(
                Rooms.live(work.path("out"), renditions: Rooms.small, canvas: (320, 180), scene: "pk"))
            let (a, b, c) = (
                Guest(uid: "1001", key: "a"), Guest(uid: "2002", key: "b"), Guest(uid: "3003", key: "c")
            )
            let viewer = try #require(room.viewer)
            let publishers = [
                try Self.publish(media, "red", hertz: 400, to: room.url("a")),
                try Self.publish(media, "lime", hertz: 700, to: room.url("b")),
            ]
            for uid in ["1001", "2002"] { try room.event("source.live", uid: uid) }
            #expect(try Self.isRefused("c", by: room), "the guest is not known yet")
            try room.segments(1)
            let watch = PlaylistWatch(viewer, ["/180p.m3u8"])

            // A document with only a scene of absent sources changes nothing.
            let unknown = try Self.patch(room, #"{ "scenes": [\#(Self.pk), \#(Self.trio)] }"#, status: 422)
            #expect(
                (unknown["errors"] as? [[String: Any]])?.first?["path"] as? String == "scenes[1].uids[2]", "\(unknown)")
            let file = try Self.patch(
                room,
                #"""
                { "sources": [{ "uid": "1001", "streamKey": "\#(room.key("a"))" },
                  { "uid": "2002", "streamKey": "\#(room.key("b"))" }, { "uid": "9", "type": "file", "path": "x.mp4" }] }
                """#, status: 409)
            #expect(file["code"] as? String == "needsRestart", "\(file)")
            #expect((file["errors"] as? [[String: Any]])?.first?["path"] as? String == "sources[2]", "\(file)")

            let joined = try Self.patch(
                room, Self.document(room, [a, b, c], scenes: [Self.pk, Self.trio], program: "trio"))
            #expect(joined["changed"] as? Bool == true && (joined["applied"] as? [String])?.contains("sources") == true)
            try room.event("source.added", uid: "3003")
            let third = try Self.publish(media, "blue", hertz: 1100, to: room.url("c"))
            try room.event("source.live", uid: "3003")
            try room.segments(2)
            let sources = try #require(try room.state()["sources"] as? [[String: Any]])
            #expect(sources.compactMap { $0["uid"] as? String } == ["1001", "2002", "3003"])
            #expect(sources.last?["state"] as? String == "live" && (sources.last?["shown"] as? Int ?? 0) > 30)
            #expect(try Self.get(room, "/metrics").contains(#"tandem_source_packets_total{uid="3003""#))
            #expect(try Self.get(room, "/v1/stats").contains(#""uid":"3003""#))
            #expect(try Self.get(room, "/v1/sources/3003/snapshot").isEmpty == false)

            // A scene made by a command keeps its guest in the room.
            let named = try HTTPClient.request(
                "PUT", room.control, "/v1/scenes/mine", body: #"{ "layout": "solo", "uids": ["3003"] }"#)
            #expect(named.status == 200, "\(named.body)")
            let alone = Self.document(room, [b, a], scenes: [Self.pk], program: "pk")
            let kept = try Self.patch(room, alone, status: 409)
            #expect((kept["detail"] as? String)?.contains("\"mine\"") == true, "\(kept)")
            #expect(try HTTPClient.request("DELETE", room.control, "/v1/scenes/mine").status == 200)

            // The two remaining sources swap positions in the list.
            _ = try Self.patch(room, alone)
            let lost = try room.event("ingest.lost", uid: "3003", timeout: 5)
            #expect(lost.text("reason")?.contains("NetStream.Publish.Denied") == true, "\(lost.line)")
            let removed = try room.event("source.removed", uid: "3003")
            #expect(removed.line.contains(#""wasPublishing":true"#))
            #expect(try third.child.wait(timeout: 10) != 0, "its encoder notices")
            #expect(try Self.isRefused("c", by: room))
            try room.event("ingest.refused", from: 0) { $0.text("reason")?.contains("an unknown key") == true }
            // As a label value: another number may contain these digits.
            #expect(try !Self.get(room, "/metrics").contains(#""3003""#))
            #expect(try !Self.get(room, "/v1/stats").contains(#""3003""#))
            _ = try Self.get(room, "/v1/sources/3003", status: 404)
            let left = try #require(try room.state()["sources"] as? [[String: Any]])
            #expect(left.compactMap { $0["uid"] as? String } == ["2002", "1001"])
            #expect(room.events("source.lost").isEmpty && room.events("source.stalled").isEmpty)
            try room.segments(2)

            watch.stop()
            #expect(watch.faults.isEmpty, "\(watch.faults)")
            let ticks = try #require(try room.state()["ticks"] as? [String: Any])
            expectOnTime(ticks)
            #expect(publishers.allSatisfy { $0.child.isRunning })
            #expect(try room.end() == 0)
            for publisher in publishers { publisher.stop(SIGKILL) }
            try Self.judge(work.path("out"), media, work)
        }

        /// Red and green all the time, blue below them for a while; the tones likewise.
        private static func judge(_ directory: String, _ media: Media, _ work: WorkDirectory) throws {
            let list = "\(directory)/180p.m3u8"
            let text = try Files.text(list)
            #expect(!text.contains("#EXT-X-DISCONTINUITY\n") && text.components(separatedBy: "#EXT-X-MAP").count == 2)
            let lint = try Child(EndToEnd.binary, ["lint-hls", "\(directory)/index.m3u8"], environment: [:])
            #expect(try lint.wait(timeout: 20) == 0, "\(lint.outputLines)")
            #expect(try media.complaints("\(directory)/index.m3u8") == "")
            let raw = work.path("seen.y4m")
            try media.run(["-i", list, "-vf", "fps=5", "-pix_fmt", "yuv420p", "-f", "yuv4mpegpipe", raw])
            let pictures = try RawPicture.read(raw, width: 320, height: 180)
            func isNear(_ color: [Int], _ other: [Int]) -> Bool {
                zip(color, other).allSatisfy { abs($0 - $1) <= 24 }
            }
            // The colors of ffmpeg's color source.
            let (red, lime, blue) = ([81, 90, 240], [145, 54, 34], [41, 240, 110])
            // Two frames at the start, before both sources are there.
            let settled = pictures.drop { !isNear($0.color(80, 45), red) || !isNear($0.color(240, 45), lime) }
            let seen = pictures.prefix(20).map { ($0.color(80, 45), $0.color(240, 45)) }
            #expect(pictures.count - settled.count < 15 && settled.count > 40, "\(pictures.count), \(seen)")
            #expect(settled.allSatisfy { isNear($0.color(80, 45), red) && isNear($0.color(240, 45), lime) })
            let shown = settled.map { isNear($0.color(160, 135), blue) }
            let first = try #require(shown.firstIndex(of: true)), last = try #require(shown.lastIndex(of: true))
            #expect(first > 3 && last - first > 10 && last < shown.count - 6, "\(first)…\(last) of \(shown.count)")
            #expect(shown[first...last].allSatisfy { $0 }, "no card, and no gap")
            let tones = try Tones("\(directory)/audio.m3u8", media)
            // In milliseconds; half a second after both are there.
            let start = (pictures.count - settled.count) * 200 + 500
            for (hertz, isGuest) in [(400, false), (700, false), (1100, true)] {
                let level = tones.level(hertz)
                let loud = (level.max() ?? 0) / 2
                let end = level.count - 1_000
                try #require(loud > 0.01 && start < end)
                #expect((level[start] > loud) == !isGuest && (level[end] > loud) == !isGuest, "\(hertz) Hz")
                let heard = level.count { $0 > loud }
                EndToEnd.report("\(hertz) Hz is heard for \(heard) of \(level.count) ms")
                #expect(isGuest ? heard > 2_000 && heard < level.count * 3 / 4 : heard > level.count * 3 / 4)
            }
        }

        @Test("after 200 guests have come and gone on air, memory and threads are as before")
        func many() throws {
            _ = try Media.require()
            let work = try WorkDirectory()
            let room = try RunningRoom(
                Rooms.live(work.path("out"), renditions: Rooms.small, canvas: (320, 180), scene: "pk"))
            let (a, b, c) = (
                Guest(uid: "1001", key: "a"), Guest(uid: "2002", key: "b"), Guest(uid: "3003", key: "c")
            )
            let publisher = try Publisher.pattern("ANNA", to: room.url("a"), size: "320x180")
            try room.event("source.live")
            try room.segments(1)
            let with = Self.document(room, [a, c, b], scenes: [Self.pk, Self.trio], program: "trio")
            let without = Self.document(room, [a, b], scenes: [Self.pk], program: "pk")
            func cycle() throws {
                _ = try Self.patch(room, with)
                _ = try Self.patch(room, without)
            }
            // Memory that the first cycles allocate permanently is not growth.
            for _ in 0..<20 { try cycle() }
            let before = try Self.cost(of: room)
            var most = before
            let start = Date()
            for _ in 0..<200 {
                try cycle()
                let now = try Self.cost(of: room)
                most = (max(most.memory, now.memory), max(most.threads, now.threads))
            }
            let spent = Date().timeIntervalSince(start)
            #expect(try Self.isRefused("c", by: room))
            try room.segments(1)
            let after = try Self.cost(of: room)
            EndToEnd.report(
                "200 guests in \(String(format: "%.1f", spent)) s: from \(before) over \(most) to \(after) (MiB, threads)"
            )
            #expect(after.memory - before.memory < 8 && after.threads <= before.threads + 2)
            #expect(most.memory - before.memory < 16 && most.threads <= before.threads + 6)
            #expect(room.events("source.removed").count == 220 && room.events("source.added").count == 220)
            let ticks = try #require(try room.state()["ticks"] as? [String: Any])
            expectOnTime(ticks)
            #expect(try room.end() == 0)
            publisher.stop(SIGKILL)
            #expect(!(try Files.text(work.path("out/180p.m3u8"))).contains("#EXT-X-DISCONTINUITY\n"))
        }
    }
}
