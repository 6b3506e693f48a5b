import Foundation
import TestSupport
import Testing

extension Unhurried.Records {
    @Suite("Older audio codecs of FLV")
    struct AudioCodecTests {
        private struct Kind {
            var name: String
            var encoder: String
            var rate: Int
            var hertz: Int
        }

        /// Tones 200 Hz apart, all within the bandwidth of 8 kHz audio.
        private static let kinds = [
            Kind(name: "g711a", encoder: "pcm_alaw", rate: 8_000, hertz: 500),
            Kind(name: "g711u", encoder: "pcm_mulaw", rate: 8_000, hertz: 700),
            Kind(name: "pcm", encoder: "pcm_s16le", rate: 44_100, hertz: 900),
            Kind(name: "adpcm", encoder: "adpcm_swf", rate: 22_050, hertz: 1_100),
            Kind(name: "nellymoser", encoder: "nellymoser", rate: 16_000, hertz: 1_300),
            Kind(name: "speex", encoder: "libspeex", rate: 16_000, hertz: 1_500),
            Kind(name: "mp3", encoder: "libmp3lame", rate: 44_100, hertz: 1_700),
        ]

        @Test("seven publishers with different audio codecs and tones are all heard in one room, each at its pitch")
        func everyKind() throws {
            let media = try Media.require()
            let encoders = try Command.run(media.ffmpeg, ["-v", "error", "-encoders"]).output
            let kinds = Self.kinds.filter { encoders.contains(" \($0.encoder) ") }
            for kind in Self.kinds where !encoders.contains(" \(kind.encoder) ") {
                TestTool.noteMissing("ffmpeg's \(kind.encoder)", "this ffmpeg has no such encoder")
            }
            let work = try WorkDirectory()
            let room = try RunningRoom(self.pipeline(work.path("out"), kinds.map(\.name)))
            let publishers = try kinds.map { kind in
                try Publisher(
                    media.ffmpeg,
                    [
                        "-nostdin", "-v", "error", "-re", "-f", "lavfi", "-i",
                        "sine=frequency=\(kind.hertz):sample_rate=\(kind.rate)", "-t", "60", "-c:a", kind.encoder,
                        "-ac",
                        "1", "-f", "flv", room.url("key-\(kind.name)"),
                    ])
            }
            for kind in kinds { try room.event("source.live", uid: kind.name) }
            try room.segments(3)
            #expect(try room.end() == 0)
            for publisher in publishers { publisher.stop(SIGKILL) }
            #expect(room.events("source.undecodable").isEmpty)
            let tones = try Tones("\(work.path("out"))/audio.m3u8", media)
            let none = tones.level(600).suffix(2_000).max() ?? 1
            var levels: [String] = []
            for kind in kinds {
                let level = tones.level(kind.hertz).suffix(2_000).sorted()
                let (least, most) = (level.first ?? 0, level.last ?? 0)
                levels.append(String(format: "%@ %.3f", kind.name, least))
                // ffmpeg's sine has an eighth of full scale; a gap or another pitch would lower the level.
                #expect(least > 0.05 && most < 0.25, "\(kind.name): \(least) to \(most)")
                #expect(least > 3 * none, "\(kind.name): \(least), beside it \(none)")
            }
            EndToEnd.report("old sound, least level in two seconds: \(levels.joined(separator: ", "))")
        }

        private func pipeline(_ directory: String, _ uids: [String]) -> String {
            let sources = uids.map { #"{ "uid": "\#($0)", "streamKey": "key-\#($0)" }"# }.joined(separator: ", ")
            let names = uids.map { "\"\($0)\"" }.joined(separator: ", ")
            return """
                {
                  "room": { "roomId": "sound" },
                  "ingest": { "rtmp": { "listen": "127.0.0.1:0" },
                    "codecs": ["h264", "aac", "mp3", "g711a", "g711u", "pcm", "adpcm", "nellymoser", "speex"] },
                  "sources": [\(sources)], "canvas": { "width": 320, "height": 180 },
                  "scenes": [{ "sceneId": "all", "layout": "grid", "uids": [\(names)] }],
                  "renditions": \(Rooms.small),
                  "outputs": [{ "type": "hls", "path": "\(directory)", "http": { "listen": "127.0.0.1:0" } }]
                }
                """
        }
    }
}
