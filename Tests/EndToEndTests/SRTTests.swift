import Foundation
import Glibc
import TestSupport
import Testing

extension Unhurried.Access {
    @Suite("SRT publishers, and sources pulled over SRT")
    struct SRTTests {
        private static let passphrase = "a passphrase of 27 letters!"

        /// FFmpeg's programs. If they cannot publish over SRT, then the current test ends as skipped.
        private static func mediaWithSRT() throws -> Media {
            let media = try Media.require()
            let found = try Command.run(media.ffmpeg, ["-hide_banner", "-protocols"]).output.split(separator: "\n")
                .contains { $0.trimmingCharacters(in: .whitespaces) == "srt" }
            if !found { try TestTool.skip("ffmpeg's SRT", "this ffmpeg is built without it") }
            return media
        }

        private static func ffmpeg(
            _ ffmpeg: String, to url: String, streamID: String, passphrase: String? = nil, seconds: Double = 60
        ) throws -> Publisher {
            try Publisher(
                ffmpeg,
                Publisher.arguments(size: "320x180", seconds: seconds, hertz: 440, isRealTime: true)
                    + ["-f", "mpegts", "-srt_streamid", streamID] + (passphrase.map { ["-passphrase", $0] } ?? []) + [
                        url
                    ])
        }

        @Test(
            "ffmpeg publishes encrypted over SRT; a wrong key or passphrase is refused; a publisher takes over from a killed one"
        )
        func listener() throws {
            let media = try Self.mediaWithSRT()
            let work = try WorkDirectory()
            let pipeline = Rooms.small(work.path("out")).replacingOccurrences(
                of: #""ingest": {"#,
                with: #""ingest": { "srt": { "listen": "127.0.0.1:0", "passphraseEnv": "SRT_PASSPHRASE" },"#)
            let room = try RunningRoom(pipeline, environment: ["SRT_PASSPHRASE": Self.passphrase])
            let url = try #require(try room.event("room.ready").text("srt"))
            let wrongKey = try Self.ffmpeg(
                media.ffmpeg, to: url, streamID: room.key("wrong"), passphrase: Self.passphrase)
            let wrongWord = try Self.ffmpeg(
                media.ffmpeg, to: url, streamID: room.key("b"), passphrase: "another passphrase")
            #expect(try wrongKey.child.wait(timeout: 10) != 0)
            #expect(try wrongWord.child.wait(timeout: 10) != 0)
            try room.event("ingest.refused") { $0.text("reason")?.contains("unknown key") == true }
            try room.event("ingest.refused") { $0.text("reason")?.contains("passphrase") == true }
            #expect(wrongKey.child.errors.contains("Application-defined"), "a code: \(wrongKey.child.errors)")

            let began = Date().timeIntervalSince1970
            let first = try Self.ffmpeg(
                media.ffmpeg, to: url, streamID: "#!::r=live/\(room.key("a")),m=publish", passphrase: Self.passphrase)
            let guest = try Publisher.pattern("BEN", to: room.url("b"), size: "320x180")
            let live = try room.event("source.live", uid: "1001")
            EndToEnd.report("by SRT on air \(Int((live.time - began) * 1000)) ms after ffmpeg was started")
            #expect(live.text("picture")?.hasPrefix("320x180") == true)
            try room.event("source.sound", uid: "1001")
            #expect(try room.event("ingest.publishing", uid: "1001").text("encoder")?.hasPrefix("SRT ") == true)
            try room.segments(1)

            // Disconnected without notice; the next publisher connects before SRT has noticed, and takes over.
            let mark = room.now
            first.stop(SIGKILL)
            let second = try Self.ffmpeg(media.ffmpeg, to: url, streamID: room.key("a"), passphrase: Self.passphrase)
            #expect(try room.event("ingest.publishing", uid: "1001", from: mark).line.contains("\"takeover\":true"))
            try room.event("source.live", uid: "1001", from: mark)
            let sources = try #require(try room.state()["sources"] as? [[String: Any]])
            #expect(sources.first?["videoCodec"] as? String == "h264")
            second.stop(SIGINT)
            #expect(
                try room.event("ingest.unpublished", uid: "1001", from: mark, timeout: 5).text("reason")
                    == "unpublished by the encoder")
            try room.segments(1)
            #expect(try room.end() == 0)
            guest.stop()
            #expect(try media.complaints(work.path("out/index.m3u8")) == "")
        }

        @Test("GStreamer's srtsink publishes video and audio over SRT, and is disconnected within 3 s of a kick")
        func gstreamer() throws {
            let gst = try TestTool.require("gst-launch-1.0")
            let inspect = try TestTool.require("gst-inspect-1.0")
            for element in ["srtsink", "x264enc", "avenc_aac", "mpegtsmux"]
            where try Command.run(inspect, ["--exists", element]).code != 0 {
                try TestTool.skip("GStreamer's \(element)")
            }
            let work = try WorkDirectory()
            let room = try RunningRoom(
                Rooms.small(work.path("out")).replacingOccurrences(
                    of: #""ingest": {"#, with: #""ingest": { "srt": { "listen": "127.0.0.1:0" },"#))
            let url = try #require(try room.event("room.ready").text("srt"))
            let words = """
                -q -e videotestsrc is-live=true ! video/x-raw,width=320,height=180,framerate=30/1 ! x264enc tune=zerolatency \
                speed-preset=ultrafast key-int-max=30 ! mpegtsmux name=m ! srtsink wait-for-connection=true
                """
            let publisher = try Publisher(
                gst,
                words.split(separator: " ").map(String.init) + ["uri=\(url)?streamid=\(room.key("a"))"]
                    + "audiotestsrc is-live=true ! audio/x-raw,rate=48000,channels=2 ! avenc_aac ! m."
                    .split(separator: " ").map(String.init))
            try room.event("source.live", uid: "1001")
            try room.event("source.sound", uid: "1001")
            let asked = Date().timeIntervalSince1970
            let reply = try HTTPClient.request(
                "POST", room.control, "/v1/sources/1001:kick", body: #"{"refuseSeconds":60}"#)
            #expect((200..<300).contains(reply.status), "\(reply.body)")
            let lost = try room.event("ingest.lost", uid: "1001")
            expectTiming(lost.time - asked, atMost: 3, "seconds from the kick to ingest.lost")
            #expect(try room.end() == 0)
            publisher.stop()
        }

        @Test("a source is pulled from an SRT listener, and again when the listener returns")
        func caller() throws {
            let media = try Self.mediaWithSRT()
            let work = try WorkDirectory()
            let port = try LoopbackAddress.withTakenPort { $0 }
            let address = "srt://127.0.0.1:\(port)"
            let pipeline = Rooms.small(work.path("out"))
                .replacingOccurrences(of: #""streamKey": "b""#, with: #""type": "srt-pull", "urlEnv": "SRT_URL""#)
                .replacingOccurrences(
                    of: #""ingest": {"#, with: #""ingest": { "pull": { "allowedHosts": ["127.0.0.1:\#(port)"] },"#)
            let room = try RunningRoom(
                pipeline,
                environment: ["SRT_URL": "\(address)?streamid=a-5ecret-stream&passphrase=\("another+passphrase")"])
            for _ in 1...2 {
                let start = room.now
                let server = try Self.ffmpeg(
                    media.ffmpeg, to: "\(address)?mode=listener", streamID: "x", passphrase: "another+passphrase")
                try room.event("source.live", uid: "2002", from: start, timeout: 20)
                server.stop(SIGINT)
                try room.event("ingest.lost", uid: "2002", from: start, timeout: 10)
            }
            try room.event("pull.failed", uid: "2002")
            #expect(try room.end() == 0)
        }
    }
}
