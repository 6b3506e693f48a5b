import Foundation
import Testing

extension Unhurried.Frames {
    @Suite("Rooms without video")
    struct VoiceRoomTests {
        /// ffmpeg as a publisher of a tone alone.
        private static func publisher(_ media: Media, hertz: Int, to url: String) throws -> Publisher {
            try Publisher(
                media.ffmpeg,
                [
                    "-nostdin", "-v", "error", "-re", "-f", "lavfi", "-i",
                    "sine=frequency=\(hertz):sample_rate=48000", "-t", "60", "-c:a", "aac", "-b:a", "65536", "-ac", "2",
                    "-f", "flv", url,
                ])
        }

        private static func pipeline(_ directory: String) -> String {
            """
            {
              "room": { "roomId": "voice" }, "audio": { "speaking": true },
              "ingest": { "rtmp": { "listen": "127.0.0.1:0" } },
              "sources": [{ "uid": "1001", "streamKey": "a" }, { "uid": "2002", "streamKey": "b" }],
              "scenes": [{ "sceneId": "all", "layout": "auto" }],
              "renditions": [{ "name": "voice", "video": null }],
              "outputs": [
                { "type": "hls", "path": "\(directory)", "windowSeconds": 3600, "http": { "listen": "127.0.0.1:0" } }
              ]
            }
            """
        }

        @Test(
            "two ffmpeg publishers of tones are heard in a room without video; events report their speech in order; lint finds nothing"
        )
        func voices() throws {
            let media = try Media.require()
            let work = try WorkDirectory()
            let room = try RunningRoom(Self.pipeline(work.path("out")))
            let first = try Self.publisher(media, hertz: 500, to: room.url("a"))
            try room.event("audio.speaking", uid: "1001") { $0.line.contains(#""speaking":true"#) }
            let second = try Self.publisher(media, hertz: 900, to: room.url("b"))
            try room.event("audio.speaking", uid: "2002") { $0.line.contains(#""speaking":true"#) }
            let viewer = try #require(room.viewer)
            let lint = try Child(EndToEnd.binary, ["lint-hls", "\(viewer)/index.m3u8", "--duration", "5"])
            try room.segments(2)
            first.stop()
            try room.event("audio.speaking", uid: "1001") { $0.line.contains(#""speaking":false"#) }
            #expect(try lint.wait(timeout: 20) == 0, "\(lint.outputLines)")
            #expect(try room.end() == 0)
            second.stop(SIGKILL)
            let told = room.events("audio.speaking").prefix(3).map {
                "\($0.text("uid") ?? "") \($0.line.contains(#""speaking":true"#))"
            }
            #expect(told == ["1001 true", "2002 true", "1001 false"])
            let times = room.events("audio.speaking").compactMap { $0.text("at") }
            #expect(times.prefix(3).sorted() == Array(times.prefix(3)))
            #expect(room.events("source.first_frame").isEmpty)
            #expect(try media.complaints(work.path("out/index.m3u8")) == "")
            let tones = try Tones("\(work.path("out"))/audio.m3u8", media)
            for hertz in [500, 900] { #expect((tones.level(hertz).max() ?? 0) > 0.05, "\(hertz) Hz") }
        }
    }
}
