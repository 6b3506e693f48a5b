import Ingest
import MediaTypes
import RTMP
import TestSupport
import Testing

@Suite("Real encoders publish", .timeLimit(.minutes(1)), .serialized)
struct RealEncoderTests {
    /// Two seconds of video and audio: 60 frames, an IDR frame each second.
    static func ffmpeg(to url: String) -> [String] {
        [
            "-nostdin", "-loglevel", "error", "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=30", "-f", "lavfi", "-i",
            "sine=frequency=440:sample_rate=48000", "-t", "2", "-c:v", "libx264", "-preset", "ultrafast", "-bf", "2",
            "-g",
            "30", "-keyint_min", "30", "-sc_threshold", "0", "-pix_fmt", "yuv420p", "-c:a", "aac", "-b:a", "64k", "-f",
            "flv", url,
        ]
    }

    static func gst(_ sink: [String]) -> [String] {
        [
            "-q", "videotestsrc", "num-buffers=60", "!", "video/x-raw,width=320,height=180,framerate=30/1", "!",
            "x264enc",
            "key-int-max=30", "speed-preset=ultrafast", "bframes=0", "!", "h264parse", "!", "flvmux", "name=mux",
            "streamable=true", "!",
        ] + sink + [
            "audiotestsrc", "num-buffers=94", "!", "audio/x-raw,rate=48000,channels=2", "!", "avenc_aac", "!",
            "aacparse",
            "!", "mux.",
        ]
    }

    /// The path of a publisher. If it is not installed, or lacks a package as GStreamer may, then the current test ends as skipped.
    static func publisher(_ tool: String) async throws -> String {
        let path = try TestTool.require(tool)
        guard tool == "gst-launch-1.0" else { return path }
        let inspect = try TestTool.require("gst-inspect-1.0")
        for element in ["x264enc", "avenc_aac", "h264parse", "aacparse", "flvmux", "rtmp2sink", "rtmpsink"]
        where await Tool.run(inspect, ["--exists", element]) != 0 {
            try TestTool.skip("GStreamer's \(element)")
        }
        return path
    }

    /// Publishes and checks what arrived.
    static func check(_ tool: String, _ arguments: (TestServer) -> [String]) async throws {
        let path = try await Self.publisher(tool)
        try await TestServer.with { server in
            let items = ItemRecorder()
            _ = server.server.hub(for: TestServer.host)?.subscribe(items)
            let status = await Tool.run(path, arguments(server))
            try #require(status == 0, "\(tool) failed: no more packets will arrive")
            await items.items.wait { if case .end? = $0.last { true } else { false } }
            #expect(Set(items.configurations.map(\.codec)) == [.h264, .aac])
            #expect(items.configurations.count == 2, "one configuration per track")
            let video = items.packets.filter { $0.kind == .video }
            let audio = items.packets.filter { $0.kind == .audio }
            #expect(video.count == 60)
            #expect(video.count(where: \.isKey) == 2)
            #expect((90...97).contains(audio.count))
            #expect(video.first?.isKey == true)
            #expect(video.allSatisfy { $0.pts >= $0.dts - 1 })
            let last = try #require(video.map(\.pts).max())
            let first = try #require(video.map(\.pts).min())
            #expect(abs(last - first - 1967) <= 2, "59 frames of 33⅓ ms")
            #expect(server.server.statistics[TestServer.host]?.demuxed.malformed == 0)
        }
    }

    @Test("all 60 frames that ffmpeg publishes with B-frames over RTMP arrive, with their audio")
    func ffmpeg() async throws {
        try await Self.check("ffmpeg") { Self.ffmpeg(to: $0.url(TestServer.hostKey)) }
    }

    @Test("all 60 frames that GStreamer publishes with rtmp2sink arrive, with their audio")
    func rtmp2sink() async throws {
        try await Self.check("gst-launch-1.0") { server in
            Self.gst(["rtmp2sink", "location=\(server.url(TestServer.hostKey))"])
        }
    }

    @Test("all 60 frames that GStreamer publishes with rtmpsink, which uses librtmp, arrive, with their audio")
    func rtmpsink() async throws {
        try await Self.check("gst-launch-1.0") { server in
            Self.gst(["rtmpsink", "location=\(server.url(TestServer.hostKey)) live=1"])
        }
    }

    @Test("with a wrong key ffmpeg fails and does not hang")
    func ffmpegWrongKey() async throws {
        let path = try await Self.publisher("ffmpeg")
        try await TestServer.with { server in
            let status = await Tool.run(path, Self.ffmpeg(to: server.url("wrong")))
            #expect(status != 0 && status < 128)
        }
    }

    @Test("with a wrong key GStreamer fails and does not hang", arguments: ["rtmp2sink", "rtmpsink"])
    func gstWrongKey(sink: String) async throws {
        let path = try await Self.publisher("gst-launch-1.0")
        try await TestServer.with { server in
            let location = server.url("wrong") + (sink == "rtmpsink" ? " live=1" : "")
            let status = await Tool.run(path, Self.gst([sink, "location=\(location)"]))
            #expect(status != 0 && status < 128)
        }
    }
}
