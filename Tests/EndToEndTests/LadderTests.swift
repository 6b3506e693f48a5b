import Foundation
import Testing

extension Unhurried.Frames {
    @Suite("Renditions: audio only, two audio bit rates, half the frame rate")
    struct LadderTests {
        private static let seconds = 6.0
        private static let renditions = """
            [ { "name": "full", "width": 320, "height": 180, "video": { "bitrate": 300000, "preset": "lowLatency" } },
              { "name": "half", "width": 320, "height": 180, "fps": 15, "audio": "lo",
                "video": { "bitrate": 200000, "bFrames": 0 } },
              { "name": "sound", "video": null, "audio": "lo" } ],
            "audioRenditions": [ { "name": "hi", "bitrate": 128000 }, { "name": "lo", "bitrate": 48000 } ]
            """

        @Test(
            "a rendition of half the frame rate has every second frame and the same key frame times; every playlist decodes alone"
        )
        func offline() throws {
            let media = try Media.require()
            let work = try WorkDirectory()
            for name in ["a.mp4", "b.mp4"] {
                try media.make(work.path(name), size: "320x180", seconds: Self.seconds)
            }
            let out = work.path("out")
            let pipeline = Rooms.offline(
                (work.path("a.mp4"), work.path("b.mp4")), seconds: Self.seconds, renditions: Self.renditions,
                outputs: #"{ "type": "hls", "path": "\#(out)", "gopFrames": 30, "partFrames": 10 }"#,
                canvas: #""width": 320, "height": 180"#)
            let result = try Command.tandem(["run", "-"], input: pipeline)
            try #require(result.code == 0, "\(result.errors)")
            #expect(try media.frameCount("\(out)/full.m3u8") == 180)
            #expect(try media.frameCount("\(out)/half.m3u8") == 90)
            let (full, half) = (
                try media.packets("\(out)/full.m3u8", "v:0"), try media.packets("\(out)/half.m3u8", "v:0")
            )
            #expect(
                half.map(\.time) == full.indices.filter { $0 % 2 == 0 }.map { full[$0].time }, "every second frame")
            #expect(
                half.filter(\.isKey).map(\.time) == full.filter(\.isKey).map(\.time), "IDR frames at the same times")
            #expect(full.count(where: \.isKey) == 6)
            let lists = try Playlist.all(in: out)
            #expect(lists.map(\.name) == ["full.m3u8", "half.m3u8", "hi.m3u8", "lo.m3u8"])
            for (name, list) in lists {
                #expect(list.mistakes.isEmpty && list.segments.count == 3, "\(name): \(list.mistakes)")
                #expect(try media.complaints("\(out)/\(name)") == "")
            }
            for name in ["hi", "lo"] {
                let frames = try media.packets("\(out)/\(name).m3u8", "a:0").count
                #expect(abs(Double(frames) * 1024 / 48_000 - Self.seconds) <= 1024.0 / 48_000)
            }
            let text = try Files.text("\(out)/index.m3u8")
            let variants = text.split(separator: "\n").filter { $0.hasPrefix("#EXT-X-STREAM-INF") }
            #expect(variants.count == 4, "full with hi and lo, half with lo, lo alone")
            #expect(variants.contains { $0.contains("FRAME-RATE=15.000") })
            #expect(variants.last.map { !$0.contains("RESOLUTION") && $0.contains("CODECS=\"mp4a.40.2\"") } == true)
            #expect(try media.complaints("\(out)/index.m3u8") == "")
        }
    }
}
