import MediaTypes
import PipelineSpec
import Testing

@Suite("Pipeline file: the webrtc output")
struct WebRTCOutputTests {
    private static func report(
        _ output: String = #"{ "type": "webrtc", "publicAddresses": ["192.0.2.1"] }"#,
        hls: String = #"{ "path": "out" }"#, renditions: String? = nil, more: String = ""
    ) -> SpecReport {
        let ladder = renditions.map { #", "renditions": \#($0)"# } ?? ""
        return Pipeline.parse(
            """
            { "room": { "roomId": "r" }, "sources": [{ "uid": "1", "streamKey": "k" }],
              "scenes": [{ "sceneId": "s", "layout": "solo", "uids": ["1"] }],
              "outputs": [\(hls), \(output)]\(ladder)\(more) }
            """)
    }

    @Test("a webrtc output has defaults: the largest rendition, without B-frames and lookahead")
    func defaults() throws {
        let report = Self.report()
        let pipeline = try #require(report.pipeline, "\(report.text(file: "f"))")
        let output = try #require(pipeline.webRTCOutput)
        #expect(output.outputID == "webrtc" && output.udp.description == "0.0.0.0:8190")
        #expect(output.audioBitrate == 128_000 && output.maxViewers == 100)
        #expect(pipeline.webRTCRenditions.map(\.name) == [pipeline.renditions[0].name])
        let video = pipeline.renditions[0].video
        #expect(video.preset == .tandemRealtime && video.bFrames == 0 && video.lookaheadFrames == 0)
        #expect(pipeline.renditions[1].video.preset == .veryfast)
        #expect(pipeline.summary().contains("over WebRTC at /whep"), "\(pipeline.summary())")
    }

    @Test("named renditions without a preset of their own get tandem-realtime, others the preset of the hls output")
    func named() throws {
        let report = Self.report(
            #"{ "type": "webrtc", "publicAddresses": ["192.0.2.1"], "rendition": ["b", "a"] }"#,
            hls: #"{ "path": "out", "preset": "tandem-fast" }"#,
            renditions: """
                [{ "name": "a", "width": 640, "height": 360 },
                 { "name": "b", "width": 640, "height": 360, "video": { "preset": "veryfast" } },
                 { "name": "c", "width": 640, "height": 360 }]
                """, more: #", "canvas": { "width": 1280, "height": 720 }"#)
        let pipeline = try #require(report.pipeline, "\(report.text(file: "f"))")
        #expect(pipeline.webRTCRenditions.map(\.name) == ["b", "a"])
        #expect(pipeline.renditions.map(\.video.preset) == [.tandemRealtime, .veryfast, .tandemFast])
    }

    @Test("a rendition or audio rendition named whep is refused, if there is a webrtc output")
    func reservedPath() {
        let video = #"[{ "name": "whep", "width": 640, "height": 360 }]"#
        let audio = #", "audioRenditions": [{ "name": "low" }, { "name": "whep" }]"#
        #expect(Self.report(renditions: video).mistakes.map(\.path) == ["renditions[0].name"])
        #expect(Self.report(more: audio).mistakes.map(\.path) == ["audioRenditions[1].name"])
        let raw = #"{ "type": "raw", "path": "o.y4m" }"#
        #expect(!Self.report(raw, renditions: video, more: audio).mistakes.contains { $0.what.contains("/whep") })
    }

    @Test(
        "each mistake in a webrtc output is an error that has its path and says what is wrong",
        arguments: [
            (#"{ "type": "webrtc" }"#, #"{ "path": "out" }"#, "outputs[1].publicAddresses", "is empty"),
            (
                #"{ "type": "webrtc", "udp": "127.0.0.1:8190" }"#, #"{ "path": "out", "http": { "listen": null } }"#,
                "outputs[1]", "there is none"
            ),
            (
                #"{ "type": "webrtc", "udp": "127.0.0.1:8190" }"#, #"{ "path": "out", "encryption": {} }"#,
                "outputs[1]",
                "the hls output is encrypted"
            ),
            (
                #"{ "type": "webrtc", "udp": "127.0.0.1:8190", "rendition": "1080p" }"#, #"{ "path": "out" }"#,
                "outputs[1].rendition", "there is no rendition"
            ),
            (
                #"{ "type": "webrtc", "udp": "127.0.0.1:8190" }, { "type": "webrtc", "udp": "127.0.0.1:8191" }"#,
                #"{ "path": "out" }"#, "outputs[2]", "only one webrtc output"
            ),
            (
                #"{ "type": "webrtc", "udp": "127.0.0.1:8190" }"#, #"{ "type": "raw", "path": "o.y4m" }"#, "outputs[1]",
                "there is none"
            ),
        ])
    func mistakes(output: String, hls: String, path: String, what: String) {
        let mistakes = Self.report(output, hls: hls).mistakes
        #expect(mistakes.contains { $0.path == path && $0.what.contains(what) }, "\(mistakes)")
    }

    @Test(
        "B-frames, explicit or by preset, are refused for a rendition for WebRTC viewers and accepted for others",
        arguments: [
            (#"{ "preset": "tandem-fast" }"#, "renditions[0].video.preset"),
            (#"{ "bFrames": 2 }"#, "renditions[0].video.bFrames"),
            (#"{ "preset": "tandem-fast", "bFrames": 0 }"#, nil as String?),
        ])
    func bFrames(video: String, path: String?) {
        let report = Self.report(
            renditions: """
                [{ "name": "a", "width": 1280, "height": 720, "video": \(video) },
                 { "name": "b", "width": 640, "height": 360, "video": { "bFrames": 2 } }]
                """, more: #", "canvas": { "width": 1280, "height": 720 }"#)
        #expect(report.mistakes.map(\.path) == (path.map { [$0] } ?? []), "\(report.text(file: "f"))")
    }

    @Test("a webrtc output with the UDP port of WebRTC publishers is refused")
    func ports() {
        let report = Self.report(
            #"{ "type": "webrtc", "udp": "127.0.0.1:8189" }"#,
            more: #", "ingest": { "webrtc": { "udp": "127.0.0.1:8189" } }"#)
        #expect(report.mistakes.map(\.path) == ["outputs[1].udp"], "\(report.text(file: "f"))")
    }

    @Test("a webrtc output is refused in an offline room")
    func offline() {
        let report = Pipeline.parse(
            """
            { "room": { "roomId": "r" }, "clock": "offline", "sources": [{ "uid": "1", "type": "file", "path": "a.mp4" }],
              "scenes": [{ "sceneId": "s", "layout": "solo", "uids": ["1"] }],
              "outputs": [{ "path": "out" }, { "type": "webrtc", "udp": "127.0.0.1:8190" }] }
            """)
        #expect(report.mistakes.map(\.path) == ["outputs[1]"], "\(report.text(file: "f"))")
    }
}
