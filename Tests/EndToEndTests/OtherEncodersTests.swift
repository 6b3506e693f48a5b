import Foundation
import Glibc
import TestSupport
import Testing

extension EndToEnd {
    /// Other encoders, each in its own room, which takes a while: `TANDEM_ENCODERS=full`. A test without its tool is
    /// skipped; `TANDEM_NEW_FFMPEG` is the path of an FFmpeg 8 or later, which supports Enhanced RTMP.
    @Suite(
        "Third-party encoders installed on this machine", .serialized,
        .enabled(if: ProcessInfo.processInfo.environment["TANDEM_ENCODERS"] == "full"))
    struct OtherEncodersTests {
        /// A room for any encoder, with SRT beside RTMP.
        private static func room(_ work: WorkDirectory) throws -> RunningRoom {
            try RunningRoom(
                Rooms.small(work.path("out")).replacingOccurrences(
                    of: #""ingest": {"#,
                    with: """
                        "ingest": { "srt": { "listen": "127.0.0.1:0" },
                          "codecs": ["h264", "hevc", "av1", "vp9", "vp8", "aac", "mp3", "opus", "ac3", "eac3", "flac"],
                        """))
        }

        /// Checks that the source goes live with audio and without damaged packets while the encoder runs, ends the room, and
        /// prints codecs and frame size.
        private static func judge(_ name: String, _ room: RunningRoom, _ publisher: Publisher, audio: Bool = true)
            throws
        {
            do {
                let live = try room.event("source.live", uid: "1001", timeout: 20)
                if audio { try room.event("source.sound", uid: "1001", timeout: 10) }
                try room.segments(1)
                let sources = try #require(try room.state()["sources"] as? [[String: Any]])
                let row = try #require(sources.first)
                let tracks = (row["audioTracks"] as? [[String: Any]] ?? []).map { $0["codec"] as? String ?? "?" }
                EndToEnd.report(
                    "encoder \(name): \(row["videoCodec"] as? String ?? "-") \(live.text("picture") ?? "-"), "
                        + "sound \(tracks.joined(separator: "+")), damaged \(row["damaged"] as? Int ?? -1)")
                #expect(row["damaged"] as? Int == 0)
                #expect(publisher.child.isRunning, "\(publisher.child.errors.suffix(800))")
            } catch {
                EndToEnd.report("encoder \(name): NOT on air; it says: \(publisher.child.errors.suffix(600))")
                throw error
            }
            #expect(try room.end() == 0)
            publisher.stop()
        }

        private static func words(_ text: String) -> [String] { text.split(separator: " ").map(String.init) }

        private static let test =
            "-nostdin -loglevel error -re -f lavfi -i testsrc2=size=320x180:rate=30 -re -f lavfi "
            + "-i sine=sample_rate=48000 -t 60 -pix_fmt yuv420p -g 30"

        private static let newFFmpegPath = ProcessInfo.processInfo.environment["TANDEM_NEW_FFMPEG"]

        @Test(
            "FFmpeg 8 or later publishes eight combinations of codecs over RTMP; the source goes live without damaged packets",
            .enabled(if: Self.newFFmpegPath != nil, "TANDEM_NEW_FFMPEG is the path of an FFmpeg 8 or later"),
            arguments: [
                ("h264 + aac", "-c:v libx264 -preset ultrafast -c:a aac"),
                ("hevc + aac", "-c:v libx265 -preset ultrafast -x265-params log-level=error -c:a aac"),
                ("av1 + opus", "-c:v libsvtav1 -preset 12 -c:a libopus"),
                ("vp9 + opus", "-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -c:a libopus"),
                ("h264 + mp3", "-c:v libx264 -preset ultrafast -c:a libmp3lame"),
                ("h264 + two aac", "-c:v libx264 -preset ultrafast -c:a aac -map 0:v -map 1:a -map 1:a"),
                ("h264 + ac3", "-c:v libx264 -preset ultrafast -c:a ac3"),
                ("h264 + flac", "-c:v libx264 -preset ultrafast -c:a flac"),
            ])
        func newFFmpeg(name: String, codecs: String) throws {
            let ffmpeg = try #require(Self.newFFmpegPath)
            let work = try WorkDirectory()
            let room = try Self.room(work)
            let publisher = try Publisher(
                ffmpeg, Self.words("\(Self.test) -ac 2 \(codecs) -f flv") + [room.url("a")])
            try Self.judge("ffmpeg new, \(name)", room, publisher)
        }

        @Test(
            "the installed ffmpeg publishes two combinations of codecs over RTMP and four over SRT; the source has no damaged packets",
            arguments: [
                ("rtmp, h264 + aac", "-c:v libx264 -preset ultrafast -c:a aac -f flv"),
                ("rtmp, h264 + mp3", "-c:v libx264 -preset ultrafast -c:a libmp3lame -f flv"),
                ("srt, h264 with B-frames + aac", "-c:v libx264 -preset veryfast -bf 2 -c:a aac -f mpegts"),
                ("srt, hevc + aac", "-c:v libx265 -preset ultrafast -x265-params log-level=error -c:a aac -f mpegts"),
                ("srt, h264 + mp3", "-c:v libx264 -preset ultrafast -c:a libmp3lame -f mpegts"),
                ("srt, h264 + ac3", "-c:v libx264 -preset ultrafast -c:a ac3 -f mpegts"),
            ])
        func ffmpeg(name: String, codecs: String) throws {
            let ffmpeg = try TestTool.require("ffmpeg")
            let work = try WorkDirectory()
            let room = try Self.room(work)
            let srt = try #require(try room.event("room.ready").text("srt"))
            let url = name.hasPrefix("srt") ? "\(srt)?streamid=live/\(room.key("a"))" : room.url("a")
            let publisher = try Publisher(ffmpeg, Self.words("\(Self.test) -ac 2 \(codecs)") + [url])
            try Self.judge("ffmpeg, \(name)", room, publisher)
        }

        /// Over RTMP: VLC's SRT output cannot set a stream id.
        @Test("VLC publishes a file over RTMP, and the source goes live with audio")
        func vlc() throws {
            let (vlc, media) = (try TestTool.require("cvlc"), try Media.require())
            let work = try WorkDirectory()
            try media.make(work.path("clip.mp4"), size: "320x180", seconds: 60)
            let room = try Self.room(work)
            let output = "#std{access=avio{options={}},mux=ffmpeg{mux=flv},dst=\(room.url("a"))}"
            var arguments = [vlc, "-I", "dummy", work.path("clip.mp4"), "--sout", output, "--sout-keep"]
            // VLC does not run as root.
            if geteuid() == 0 {
                guard
                    let runuser = ["/usr/sbin/runuser", "/sbin/runuser"].first(where: {
                        FileManager.default.isExecutableFile(atPath: $0)
                    })
                else {
                    try TestTool.skip("runuser", "VLC does not run as root")
                }
                chmod(work.path, 0o755)
                arguments = [runuser, "-u", "nobody", "--"] + arguments
            }
            try Self.judge("VLC, rtmp", room, try Publisher(arguments[0], Array(arguments.dropFirst())))
        }

        @Test("nginx-rtmp pushes a stream that it receives on to the room, where the source goes live with audio")
        func nginx() throws {
            let ffmpeg = try TestTool.require("ffmpeg")
            let module = ["/usr/lib/nginx/modules/ngx_rtmp_module.so"].first {
                FileManager.default.isReadableFile(atPath: $0)
            }
            guard let module,
                let nginx = ["/usr/sbin/nginx", "/usr/local/sbin/nginx"].first(where: {
                    FileManager.default.isExecutableFile(atPath: $0)
                })
            else {
                try TestTool.skip("nginx with ngx_rtmp_module")
            }
            let work = try WorkDirectory()
            let room = try Self.room(work)
            let port = try LoopbackAddress.withTakenPort { $0 }
            let configuration = try work.write(
                """
                load_module \(module);
                daemon off; master_process off; pid \(work.path("nginx.pid")); error_log stderr warn;
                events {}
                rtmp { server { listen 127.0.0.1:\(port); application in {
                  live on; push \(room.url("a")); } } }
                """, to: "nginx.conf")
            let server = try Publisher(nginx, ["-c", configuration, "-p", work.path])
            usleep(500_000)
            let publisher = try Publisher(
                ffmpeg,
                Self.words("\(Self.test) -ac 2 -c:v libx264 -preset ultrafast -c:a aac -f flv")
                    + ["rtmp://127.0.0.1:\(port)/in/x"])
            try Self.judge("nginx-rtmp push", room, publisher)
            server.stop()
        }
    }
}
