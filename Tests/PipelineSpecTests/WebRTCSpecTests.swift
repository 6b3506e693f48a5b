import MediaTypes
import PipelineSpec
import Testing

@Suite("Pipeline file: WebRTC publishers")
struct WebRTCSpecTests {
    private static func report(_ ingest: String) -> SpecReport {
        SRTSpecTests.report(#"{ "uid": "2002", "streamKey": "k" }"#, ingest: ingest)
    }

    @Test("ingest.webrtc has defaults, and a room with it also accepts vp8, vp9 and opus by default")
    func defaults() throws {
        let report = Self.report(#"{ "rtmp": { "listen": null }, "webrtc": { "publicAddresses": ["192.0.2.1"] } }"#)
        let pipeline = try #require(report.pipeline, "\(report.text(file: "f"))")
        let webRTC = try #require(pipeline.ingest.webRTC)
        #expect(webRTC.listen.description == "0.0.0.0:8889" && webRTC.udp.description == "0.0.0.0:8189")
        #expect(webRTC.allowOrigins == ["*"] && webRTC.tls == nil && webRTC.iceServers.isEmpty)
        #expect(pipeline.ingest.codecs == [.h264, .aac, .mp3, .vp8, .vp9, .opus])
        #expect(pipeline.summary().contains("http://"), "\(pipeline.summary())")
        #expect(pipeline.summary().contains("/whip/live"))
    }

    @Test(
        "with ingest.webrtc, an explicit codec list is kept, and publicAddresses is not needed if udp has a specific address"
    )
    func written() throws {
        let report = Self.report(#"{ "webrtc": { "udp": "192.0.2.1:7000" }, "codecs": ["h264", "opus"] }"#)
        let pipeline = try #require(report.pipeline, "\(report.text(file: "f"))")
        #expect(pipeline.ingest.codecs == [.h264, .opus])
        let named = Self.report(#"{ "webrtc": { "publicAddressesEnv": "NODE_IP", "maxBitrate": 3000000 } }"#)
        let webRTC = try #require(named.pipeline?.ingest.webRTC, "\(named.text(file: "f"))")
        #expect(webRTC.publicAddressesEnv == "NODE_IP" && webRTC.maxBitrate == 3_000_000)
        #expect(try #require(Self.report("{}").pipeline).ingest.codecs == [.h264, .aac, .mp3])
    }

    @Test(
        "each mistake in ingest.webrtc is an error with its path and what is wrong",
        arguments: [
            (#"{ "webrtc": {} }"#, "ingest.webrtc.publicAddresses", "is empty"),
            (#"{ "webrtc": { "udp": "[::]:1" } }"#, "ingest.webrtc.publicAddresses", "is empty"),
            (
                #"{ "webrtc": { "publicAddresses": ["room.example"] } }"#, "ingest.webrtc.publicAddresses[0]",
                "is not valid"
            ),
            (
                #"{ "webrtc": { "publicAddresses": ["0.0.0.0"] } }"#, "ingest.webrtc.publicAddresses[0]",
                "is not valid"
            ),
            (
                #"{ "webrtc": { "udp": "127.0.0.1:1" }, "codecs": ["h264", "aac"] }"#, "ingest.codecs",
                "has no opus"
            ),
            (
                #"{ "webrtc": { "udp": "127.0.0.1:1" }, "codecs": ["hevc", "opus"] }"#, "ingest.codecs",
                "has no video codec"
            ),
            (
                #"{ "webrtc": { "udp": "127.0.0.1:1", "listen": "0.0.0.0:1935" } }"#, "ingest.webrtc.listen",
                "already uses this port"
            ),
            (
                #"{ "webrtc": { "udp": "127.0.0.1:9000" }, "srt": {} }"#, "ingest.webrtc.udp",
                "already uses this port"
            ),
            (
                #"{ "webrtc": { "udp": "127.0.0.1:1", "iceServers": [ { "url": "http://a" } ] } }"#,
                "ingest.webrtc.iceServers[0].url", "is not valid"
            ),
            (
                #"{ "webrtc": { "udp": "127.0.0.1:1", "iceServers": [ { "url": "turn:a", "credentialEnv": "A", "credentialFile": "b" } ] } }"#,
                "ingest.webrtc.iceServers[0].credentialFile", "cannot be combined with credentialEnv"
            ),
        ])
    func mistakes(ingest: String, path: String, what: String) {
        let report = Self.report(ingest)
        #expect(
            report.mistakes.contains { $0.path == path && $0.what.contains(what) }, "\(report.mistakes)")
    }
}
