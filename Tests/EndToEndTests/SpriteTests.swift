import Foundation
import Testing

extension Unhurried.Records {
    @Suite("Sprite sheets of a live room, for a player's seek bar")
    struct SpriteTests {
        private struct Cue {
            /// Seconds since the start of the program.
            var start: Double
            var end: Double
            var sheet: String
            /// x, y, width and height.
            var place: [Int]
        }

        private enum Shade: String { case red, blue, neither }

        /// A publisher that sends one color.
        private static func publish(_ color: String, to url: String, _ media: Media) throws -> Publisher {
            try Publisher(
                media.ffmpeg,
                [
                    "-nostdin", "-loglevel", "error", "-re", "-f", "lavfi", "-i",
                    "color=c=\(color):size=320x180:rate=30",
                    "-re", "-f", "lavfi", "-i", "sine=frequency=440:sample_rate=48000", "-t", "120", "-c:v", "libx264",
                    "-preset", "ultrafast", "-bf", "0", "-g", "30", "-pix_fmt", "yuv420p", "-c:a", "aac", "-ac", "2",
                    "-f", "flv", url,
                ])
        }

        private static func cues(_ text: String) throws -> [Cue] {
            func seconds(_ text: Substring) -> Double {
                text.split(separator: ":").reduce(0) { $0 * 60 + (Double($1) ?? .nan) }
            }
            var lines = text.split(separator: "\n").map(String.init)
            try #require(lines.first == "WEBVTT" && lines.count % 2 == 1, "\(text.prefix(200))")
            lines.removeFirst()
            return try stride(from: 0, to: lines.count, by: 2).map { index in
                let times = lines[index].replacingOccurrences(of: " --> ", with: ">").split(separator: ">")
                let parts = lines[index + 1].replacingOccurrences(of: "#xywh=", with: ">").split(separator: ">")
                try #require(times.count == 2 && parts.count == 2, "\(lines[index]) \(lines[index + 1])")
                return Cue(
                    start: seconds(times[0]), end: seconds(times[1]), sheet: String(parts[0]),
                    place: parts[1].split(separator: ",").compactMap { Int($0) })
            }
        }

        /// Whether each frame is red, blue or neither, by its mean color.
        private static func shades(_ arguments: [String], filter: String, _ media: Media) throws -> [Shade] {
            let child = try Child(
                media.ffmpeg,
                ["-nostdin", "-v", "error"] + arguments + [
                    "-map", "0:v:0", "-fps_mode", "passthrough", "-vf", "\(filter)scale=1:1:flags=area", "-pix_fmt",
                    "rgb24", "-f", "rawvideo", "-",
                ], readsOutput: false)
            let bytes = [UInt8](FileHandle(fileDescriptor: child.output, closeOnDealloc: false).readDataToEndOfFile())
            guard try child.wait(timeout: 30) == 0 else { throw Missing("ffmpeg \(arguments): \(child.errors)") }
            return stride(from: 0, to: bytes.count - 2, by: 3).map { place in
                let (red, blue) = (Int(bytes[place]), Int(bytes[place + 2]))
                return red > blue + 80 ? .red : blue > red + 80 ? .blue : .neither
            }
        }

        @Test(
            "during a live room and after it, rectangles of the sprite sheet's WebVTT file show what was on air at their time"
        )
        func live() throws {
            let media = try Media.require()
            let work = try WorkDirectory()
            let directory = work.path("out")
            let image = """
                { "type": "image", "path": "\(directory)/still.jpg", "intervalSeconds": 2,
                  "sprites": { "columns": 3, "rows": 2, "intervalSeconds": 1, "width": 64 } }
                """
            let listener = #""http": { "listen": "127.0.0.1:0" } }"#
            let pipeline = Rooms.small(directory).replacingOccurrences(
                of: #""windowSeconds": 600, "#, with: #""playlistType": "event", "#
            ).replacingOccurrences(of: listener, with: "\(listener), \(image)")
            let room = try RunningRoom(pipeline)
            let publishers = [
                try Self.publish("red", to: room.url("a"), media), try Self.publish("blue", to: room.url("b"), media),
            ]
            try room.event("source.live", uid: "1001")
            try room.event("source.live", uid: "2002")
            for scene in ["guest", "solo", "guest"] {
                try room.segments(2)
                try room.put(scene: scene)
            }
            try room.segments(1)
            let viewer = try #require(room.viewer)
            let live = try HTTPClient.request("GET", viewer, "/still.vtt")
            let cues = try Self.cues(live.body)
            #expect(live.status == 200 && cues.count >= 8, "\(live.body)")
            for sheet in Set(cues.map(\.sheet)) {
                #expect(try HTTPClient.request("GET", viewer, "/\(sheet)").status == 200, "\(sheet)")
            }
            #expect(try HTTPClient.request("GET", viewer, "/still-1-99.jpg").status == 404)
            try Self.judge(cues, directory, media, "live")
            try room.segments(1)
            #expect(try room.end() == 0)
            for publisher in publishers { publisher.stop(SIGKILL) }

            let text = try Files.text("\(directory)/still.vtt")
            let whole = try Self.cues(text)
            let list = try Playlist(contentsOf: "\(directory)/180p.m3u8")
            #expect(list.isEnded && text.hasPrefix(String(live.body.dropLast(60).prefix(400))))
            #expect(whole.count >= cues.count + 1 && abs((whole.last?.end ?? 0) - list.duration) <= 2)
            for (one, next) in zip(whole, whole.dropFirst()) { #expect(one.end == next.start && one.start < one.end) }
            #expect(whole.count { $0.end - $0.start > 1.01 } <= 1, "one a second: \(text)")
            let shown = try Self.judge(whole, directory, media, "over")
            #expect(shown.contains(.red) && shown.contains(.blue))
        }

        /// - Returns: What the rectangles show.
        @discardableResult
        private static func judge(_ cues: [Cue], _ directory: String, _ media: Media, _ name: String) throws -> [Shade]
        {
            let path = "\(directory)/180p.m3u8"
            // The segments listed so far, with an end added.
            let isEnded = try Files.text(path).contains("#EXT-X-ENDLIST")
            let snapshot = isEnded ? path : "\(directory)/snapshot.m3u8"
            if !isEnded {
                try Data((try Files.text(path) + "#EXT-X-ENDLIST\n").utf8).write(to: URL(fileURLWithPath: snapshot))
            }
            let times = try media.frameTimes(snapshot, "v:0")
            let frames = try Self.shades(["-copyts", "-i", snapshot], filter: "", media)
            try #require(times.count == frames.count && !times.isEmpty)
            var shown: [Shade] = []
            var judged = 0
            for cue in cues {
                try #require(cue.place.count == 4 && cue.place[2] == 64 && cue.place[3] == 36, "\(cue)")
                let tile = try Self.shades(
                    ["-i", "\(directory)/\(cue.sheet)"],
                    filter: "crop=64:36:\(cue.place[0]):\(cue.place[1]),crop=48:24:8:6,", media)
                let shade = try #require(tile.first)
                shown.append(shade)
                // The still was taken within the second that it represents.
                let onAir = zip(times, frames).filter { $0.0 >= cue.start - 0.1 && $0.0 < cue.start + 1.1 }.map(\.1)
                guard !onAir.isEmpty else { continue }
                judged += 1
                #expect(onAir.contains(shade), "\(name) \(cue): \(shade), on air \(Set(onAir))")
            }
            EndToEnd.report("sprites, \(name): \(judged) of \(cues.count) rectangles show what was on air")
            #expect(judged >= cues.count - 4)
            return shown
        }
    }
}
