import PipelineSpec
import Testing

@Suite("Pipeline file: renditions that are encoded while somebody watches them")
struct WatchedSpecTests {
    private static let renditions = """
        "renditions": [ { "name": "720p", "width": 1280, "height": 720 },
          { "name": "360p", "width": 640, "height": 360, "when": "watched" } ]
        """

    private static func read(_ renditions: String = Self.renditions, _ change: (String) -> String = { $0 })
        -> SpecReport
    {
        let room = Documents.room.replacing(
            #""renditions": [ { "name": "720p", "width": 1280, "height": 720, "video": { "bitrate": 2500000 } } ]"#,
            with: renditions)
        return Pipeline.parse(change(room))
    }

    private static func output(_ members: String, _ outputs: String = "") -> (String) -> String {
        { $0.replacing(#"{ "path": "out" }"#, with: #"{ "path": "out"\#(members) }\#(outputs)"#) }
    }

    @Test("renditions are always encoded by default, and all of them may have `when: watched`")
    func words() throws {
        let pipeline = try Self.read().result.get()
        #expect(pipeline.renditions.map(\.when) == [.always, .watched] && pipeline.watchedRenditions == [1])
        let all = Self.read(Self.renditions.replacing(#""height": 720"#, with: #""height": 720, "when": "watched""#))
        #expect(try all.result.get().watchedRenditions == [0, 1])
        let wrong = Self.read(Self.renditions.replacing("watched", with: "never"))
        #expect(wrong.mistakes.map(\.path) == ["renditions[1].when"])
    }

    @Test(
        "`when: watched` is refused where the worker sees no viewers' requests, or where an output needs all of the rendition",
        arguments: [
            (#", "lowLatency": false"#, ""), (#", "http": { "listen": null }"#, ""),
            (#", "http": { "flv": true }"#, ""), (#", "playlistType": "event""#, ""),
            (#", "windowSeconds": 3600"#, ""), (#", "iFramePlaylists": true"#, ""),
            ("", #", { "type": "record", "path": "rec" }"#),
            ("", #", { "type": "record", "path": "rec", "vodPlaylist": false, "renditions": ["360p"] }"#),
            ("", #", { "type": "rtmp", "url": "rtmp://cdn.example/live/x", "rendition": "360p" }"#),
            ("", #", { "type": "http", "url": "https://origin.example/x" }"#),
            ("", #", { "segmentFormat": "ts", "path": "ts" }"#),
            ("", #", { "type": "webrtc", "rendition": "360p", "udp": "127.0.0.1:8190" }"#),
        ])
    func refused(members: String, outputs: String) {
        let report = Self.read(Self.renditions, Self.output(members, outputs))
        #expect(report.mistakes.map(\.path) == ["renditions[1].when"], "\(report.mistakes)")
    }

    @Test(
        "`when: watched` is allowed beside outputs that do not need the rendition",
        arguments: [
            #", { "type": "record", "path": "rec", "vodPlaylist": false, "renditions": ["720p"] }"#,
            #", { "type": "rtmp", "url": "rtmp://cdn.example/live/x" }"#,
            #", { "type": "webrtc", "udp": "127.0.0.1:8190" }"#, #", { "type": "image", "path": "still.jpg" }"#,
        ])
    func allowed(outputs: String) {
        let report = Self.read(Self.renditions, Self.output("", outputs))
        #expect(report.mistakes.isEmpty, "\(report.mistakes)")
    }

    @Test("`when: watched` is refused with passthrough of the same rendition, and for a rendition without video")
    func others() {
        let passing = Self.renditions.replacing(
            #""height": 720"#, with: #""height": 720, "video": { "passthrough": "auto" }"#)
        #expect(Self.read(passing).mistakes.isEmpty)
        let both = Self.renditions.replacing(
            #""height": 360"#, with: #""height": 360, "video": { "passthrough": "auto" }"#)
        #expect(Self.read(both).mistakes.map(\.path) == ["renditions[1].when"])
        let audio = Self.renditions.replacing(#""width": 640, "height": 360"#, with: #""video": null"#)
        #expect(Self.read(audio).mistakes.map(\.path) == ["renditions[1].when"])
    }
}
