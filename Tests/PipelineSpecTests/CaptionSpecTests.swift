import PipelineSpec
import Testing

@Suite("Pipeline file: captions")
struct CaptionSpecTests {
    private static func report(_ captions: String, members: String = "") -> SpecReport {
        Pipeline.parse(
            Array(
                """
                {
                  "room": { "roomId": "1" }, "sources": [{ "uid": "1", "streamKey": "key_1" }, { "uid": "2", "streamKey": "key_2" }],
                  "scenes": [{ "sceneId": "solo", "layout": "solo", "uids": ["1"] }], \(members)
                  "outputs": [{ "type": "hls", "path": "out" }], "captions": \(captions)
                }
                """.utf8))
    }

    @Test("captions are those of the source on air or of one source, in CC1 or the listed channels")
    func valid() {
        let onAir = Self.report(#"{ "from": "onAir" }"#).pipeline?.captions
        #expect(onAir?.source == nil && onAir?.channels.map(\.instreamID) == ["CC1"])
        let one = Self.report(
            #"{ "from": 2, "channels": [{ "instreamId": "CC3", "language": "zh-Hans" }, { "instreamId": "SERVICE63" }] }"#
        ).pipeline?.captions
        #expect(one?.source?.uid == "2" && one?.channels.map(\.language) == ["zh-Hans", nil])
    }

    @Test(
        "each mistake in captions is reported at its path",
        arguments: [
            (#"{}"#, "captions.from"), (#"{ "from": "3" }"#, "captions.from"),
            (#"{ "from": "1", "channels": [] }"#, "captions.channels"),
            (#"{ "from": "1", "channels": [{ "instreamId": "CC5" }] }"#, "captions.channels[0].instreamId"),
            (#"{ "from": "1", "channels": [{ "instreamId": "SERVICE064" }] }"#, "captions.channels[0].instreamId"),
            (
                #"{ "from": "1", "channels": [{ "instreamId": "CC1" }, { "instreamId": "CC1" }] }"#,
                "captions.channels[1].instreamId"
            ),
            (
                #"{ "from": "1", "channels": [{ "instreamId": "CC1" }, { "instreamId": "CC3", "name": "CC1" }] }"#,
                "captions.channels[1].name"
            ),
            (
                #"{ "from": "1", "channels": [{ "instreamId": "CC1", "language": "english!" }] }"#,
                "captions.channels[0].language"
            ),
        ])
    func mistakes(captions: String, path: String) {
        let report = Self.report(captions)
        #expect(report.pipeline == nil && report.mistakes.contains { $0.path == path }, "\(report.text(file: ""))")
    }

    @Test("captions in a room whose only rendition has no video are an error")
    func voiceRoom() {
        let report = Self.report(
            #"{ "from": "1" }"#, members: #""renditions": [{ "name": "voice", "video": null }],"#)
        #expect(report.mistakes.contains { $0.path == "captions" }, "\(report.text(file: ""))")
    }
}
