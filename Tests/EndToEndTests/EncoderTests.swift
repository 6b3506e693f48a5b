import Foundation
import TestSupport
import Testing

extension Unhurried.Access {
    @Suite("Encoders: ffmpeg, GStreamer and tandem publish")
    struct EncoderTests {
        @Test("with a wrong key ffmpeg fails within 5 s; afterwards it publishes with the right key")
        func wrongKey() throws {
            let media = try Media.require()
            let work = try WorkDirectory()
            let room = try RunningRoom(Rooms.small(work.path("out")))
            let wrong = try Publisher.ffmpeg(media.ffmpeg, to: room.url("wrong"), size: "320x180")
            let code = try wrong.child.wait(timeout: 5)
            #expect(code != 0 && code < 128, "ffmpeg exits \(code)")
            let refused = try room.event("ingest.refused")
            #expect(!refused.line.contains("\"wrong\""), "a key is never printed in full")
            #expect(refused.text("code") == "authDenied")
            #expect(try room.state()["state"] as? String == "waiting")
            let right = try Publisher.ffmpeg(media.ffmpeg, to: room.url("a"), size: "320x180")
            try room.event("source.live", uid: "1001")
            #expect(try room.end() == 0)
            right.stop()
        }

        @Test("tandem publish exits with 77 if the room refuses the key")
        func ownClientWrongKey() throws {
            let work = try WorkDirectory()
            let room = try RunningRoom(Rooms.small(work.path("out")))
            let result = try Command.tandem(
                ["publish", "pattern:X", room.url("wrong"), "--size", "320x180"], timeout: 10)
            #expect(result.code == 77 && result.errors.contains("refused"), "\(result.errors)")
            #expect(try room.end() == 0)
        }

        @Test("tandem publish sends a file in a loop with a second audio track, and the source stays live")
        func ownClientFile() throws {
            let media = try Media.require()
            let work = try WorkDirectory()
            try media.make(work.path("clip.mp4"), size: "320x180", seconds: 1, bFrames: 2)
            let room = try RunningRoom(Rooms.small(work.path("out")))
            let microphone = work.path("microphone.m4a")
            try media.run(["-f", "lavfi", "-i", "sine=frequency=700:sample_rate=48000:d=1", "-c:a", "aac", microphone])
            let publisher = try Publisher(
                EndToEnd.binary,
                ["publish", work.path("clip.mp4"), room.url("a"), "--loop", "--audio-track", microphone])
            try room.event("source.live", uid: "1001")
            try room.segments(2)
            let source = (try room.state()["sources"] as? [[String: Any]])?.first
            let tracks = (source?["audioTracks"] as? [[String: Any]])?.compactMap { $0["track"] as? Int }
            #expect(tracks == [0, 1], "\(source ?? [:])")
            #expect(publisher.child.isRunning, "\(publisher.child.errors)")
            #expect(room.events("source.lost").isEmpty)
            #expect(try room.end() == 0)
            publisher.stop()
            #expect(try media.complaints(work.path("out/index.m3u8")) == "")
        }

        @Test(
            "GStreamer publishes over RTMP with rtmp2sink, its own client, and rtmpsink, which uses librtmp",
            arguments: ["rtmp2sink", "rtmpsink"])
        func gstreamer(sink: String) throws {
            let (gst, media) = (try TestTool.require("gst-launch-1.0"), try Media.require())
            guard let encoder = try self.audioEncoder(), try self.has("x264enc"), try self.has(sink) else {
                try TestTool.skip("GStreamer's \(sink)", "or its x264enc, or an AAC encoder for it")
            }
            let work = try WorkDirectory()
            let room = try RunningRoom(Rooms.small(work.path("out")))
            let location = room.url("a") + (sink == "rtmpsink" ? " live=1" : "")
            let publisher = try Publisher(
                gst,
                Self.words(
                    """
                    -q -e videotestsrc is-live=true ! video/x-raw,width=320,height=180,framerate=30/1 ! x264enc \
                    tune=zerolatency speed-preset=ultrafast key-int-max=60 ! h264parse ! flvmux name=m streamable=true ! \(sink)
                    """) + ["location=\(location)"]
                    + Self.words(
                        "audiotestsrc is-live=true ! audio/x-raw,rate=48000,channels=2 ! \(encoder) ! aacparse ! m."))
            let live = try room.event("source.live", uid: "1001")
            #expect(live.text("picture")?.hasPrefix("320x180") == true)
            try room.event("source.sound", uid: "1001")
            try room.event("segment.published")
            #expect(publisher.child.isRunning, "\(publisher.child.errors)")
            #expect(try room.end() == 0)
            publisher.stop()
            #expect(try media.complaints(work.path("out/index.m3u8")) == "")
        }

        private static func words(_ text: String) -> [String] { text.split(separator: " ").map(String.init) }

        private func has(_ element: String) throws -> Bool {
            try Command.run(TestTool.require("gst-inspect-1.0"), ["--exists", element]).code == 0
        }

        private func audioEncoder() throws -> String? {
            try ["voaacenc", "avenc_aac", "fdkaacenc", "faac"].first { try self.has($0) }
        }
    }
}
