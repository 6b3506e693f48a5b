import Foundation
import TestSupport
import Testing

extension Unhurried.Frames {
    @Suite("Closed captions: the text of the sources reaches viewers")
    struct CaptionRoomTests {
        private static let lines = ["FIRST LINE", "SECOND LINE", "THIRD LINE", "END"]

        /// Makes H.264 with a caption line for each second.
        private static func clip(_ media: Media, _ work: WorkDirectory, _ name: String, fps: Int) throws -> String {
            let python = try TestTool.require("python3")
            let script = """
                "$1" -nostdin -v error -f lavfi -i testsrc2=size=320x180:rate=\(fps):duration=\(Self.lines.count) -c:v libx264 \
                  -preset ultrafast -bf 0 -g \(fps) -x264-params slices=1:threads=1:scenecut=0 -f h264 - |
                "$2" "$3" \(fps) \(Self.lines.map { "'\($0)'" }.joined(separator: " ")) |
                "$1" -v error -y -r \(fps) -f h264 -i - -c copy "$4"
                """
            let path = work.path(name)
            let made = try Command.run(
                "/bin/sh",
                [
                    "-c", script, "sh", media.ffmpeg, python,
                    "\(EndToEnd.root)/Tests/EndToEndTests/Scripts/captions.py", path,
                ])
            try #require(made.code == 0, "\(made.errors)")
            return path
        }

        /// The caption texts of a file or playlist, as FFmpeg reads them; of roll-up captions, each with its last line.
        private static func texts(_ path: String, _ media: Media) throws -> [String] {
            let read = try Command.run(
                media.ffmpeg,
                [
                    "-nostdin", "-v", "error", "-f", "lavfi", "-i", "movie=\(path)[out+subcc]", "-map", "0:s", "-f",
                    "srt",
                    "-",
                ])
            try #require(read.code == 0, "\(read.errors)")
            let blocks = read.output.replacingOccurrences(of: "\r", with: "").components(separatedBy: "\n\n")
            return blocks.compactMap { block in
                let text = block.components(separatedBy: "\n").dropFirst(2).joined(separator: "\n")
                    .replacing(/<[^>]*>|\{[^}]*\}/, with: "")
                return text.isEmpty ? nil : text
            }
        }

        @Test(
            "the caption text of a source is the same in a program of another frame rate: 30 to 25, and 24 to 30 frames per second",
            arguments: [(30, 25), (24, 30)])
        func rates(source: Int, program: Int) throws {
            let media = try Media.require()
            let work = try WorkDirectory()
            let clip = try Self.clip(media, work, "a.mp4", fps: source)
            let pipeline = """
                {
                  "room": { "roomId": "e2e" }, "clock": "offline",
                  "sources": [{ "uid": "1001", "type": "file", "path": "\(clip)" }],
                  "canvas": { "width": 320, "height": 180, "fps": \(program) },
                  "scenes": [{ "sceneId": "solo", "layout": "solo", "uids": ["1001"] }],
                  "captions": { "from": "onAir", "channels": [{ "instreamId": "CC1", "language": "en" }] },
                  "renditions": [{ "name": "v", "width": 320, "height": 180, "video": { "bitrate": 300000, "preset": "veryfast", "bFrames": 2 } }],
                  "outputs": [{ "type": "hls", "path": "\(work.path("out"))", "playlistType": "event" }]
                }
                """
            let result = try Command.tandem(["run", "-"], input: pipeline)
            try #require(result.code == 0, "\(result.errors)")
            let list = try String(contentsOfFile: work.path("out/index.m3u8"), encoding: .utf8)
            #expect(list.contains("TYPE=CLOSED-CAPTIONS") && list.contains("CLOSED-CAPTIONS=\"cc\""), "\(list)")
            let expected = try Self.texts(clip, media)
            #expect(expected.count >= Self.lines.count - 1)
            #expect(try Self.texts(work.path("out/v.m3u8"), media) == expected)
            let lint = try Command.tandem(["lint-hls", work.path("out/index.m3u8")])
            #expect(lint.code == 0, "\(lint.output)")
        }

        @Test("the text of a publisher's captions reaches the HLS output")
        func live() throws {
            let media = try Media.require()
            let work = try WorkDirectory()
            let clip = try Self.clip(media, work, "a.flv", fps: 30)
            let room = try RunningRoom(
                Rooms.small(work.path("out"), members: #""captions": { "from": "1001" },"#))
            let publisher = try Publisher(
                media.ffmpeg,
                ["-nostdin", "-v", "error", "-re", "-i", clip, "-c", "copy", "-f", "flv", room.url("a")])
            defer { publisher.stop() }
            try room.event("source.lost", uid: "1001")
            #expect(try room.end() == 0)
            #expect(try Self.texts(work.path("out/180p.m3u8"), media) == Self.texts(clip, media))
        }

        /// Checks the subtitle rendition of an ended room with a cue, with FFmpeg and the linter.
        private func checkSubtitles(_ work: WorkDirectory, _ media: Media, _ reply: HTTPClient.Reply) throws {
            let shown = try #require(reply.json()["cues"] as? [[String: Any]])
            let start = try #require(shown.first?["startMs"] as? Int)
            let list = try String(contentsOfFile: work.path("out/en.m3u8"), encoding: .utf8)
            #expect(list.contains(".vtt\n") && list.hasSuffix("#EXT-X-ENDLIST\n"))
            // FFmpeg reads subtitle renditions only with this option.
            let read = try Command.run(
                media.ffmpeg,
                [
                    "-nostdin", "-v", "error", "-strict", "experimental", "-i", work.path("out/index.m3u8"), "-map",
                    "0:s",
                    "-f", "srt", "-",
                ])
            let seconds = start / 1_000
            let mark = "00:00:\(seconds < 10 ? "0" : "")\(seconds),"
            let text = read.output.replacingOccurrences(of: "\r", with: "")
            #expect(
                read.code == 0 && text.contains("\n\(mark)") && text.contains("\na <b> & c\n"),
                "\(reply.body): \(text)\(read.errors)")
            #expect(!text.contains("WEBVTT"), "\(text)")
            let lint = try Command.tandem(["lint-hls", work.path("out/index.m3u8")])
            #expect(lint.code == 0, "\(lint.output)")
        }

        @Test(
            "a client of GET /v1/audio receives the program's audio: a tone of 440 Hz changes its sign 880 times a second; a cue sent for the time of that audio is in the WebVTT segments"
        )
        func tap() throws {
            let (media, python) = (try Media.require(), try TestTool.require("python3"))
            let work = try WorkDirectory()
            let room = try RunningRoom(
                Rooms.small(work.path("out"), members: #""subtitles": [{ "name": "en", "language": "en" }],"#))
            let publisher = try Publisher.ffmpeg(media.ffmpeg, to: room.url("a"), size: "320x180", seconds: 20)
            defer { publisher.stop() }
            try room.event("source.first_frame", uid: "1001")
            let address = try #require(URL(string: room.control))
            let heard = try Command.run(
                python,
                [
                    "\(EndToEnd.root)/Tests/EndToEndTests/Scripts/audio_tap.py", address.host ?? "",
                    "\(address.port ?? 0)", "2",
                ])
            try #require(heard.code == 0, "\(heard.errors)")
            let numbers = heard.output.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
            #expect(numbers.count == 2 && numbers[0] > 0 && (876...884).contains(numbers[1]), "\(heard.output)")
            let time = numbers.first ?? 0
            let cue = #"{"cues":[{"text":"a <b> & c","startMs":\#(time),"endMs":\#(time + 10000)}]}"#
            let reply = try HTTPClient.request("POST", room.control, "/v1/subtitles/en:cue", body: cue)
            #expect(reply.status == 202, "\(reply.body)")
            #expect(
                try HTTPClient.request("POST", room.control, "/v1/subtitles/ko:cue", body: cue).status == 404)
            #expect(try room.end() == 0)
            try self.checkSubtitles(work, media, reply)
        }
    }
}
