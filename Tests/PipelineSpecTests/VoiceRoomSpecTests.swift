import PipelineSpec
import Testing

@Suite("Pipeline file: rooms without video, and speaking rings")
struct VoiceRoomSpecTests {
    private static let video = #"[ { "name": "720p", "width": 1280, "height": 720, "video": { "bitrate": 2500000 } } ]"#
    private static let voice = #"[ { "name": "voice", "video": null } ]"#

    /// Parses ``Documents/room`` with these changes; by default without video.
    private static func read(
        renditions: String = Self.voice, members: String = "", outputs: String = "", scene: String = ""
    ) -> SpecReport {
        Pipeline.parse(
            Documents.room.replacing(Self.video, with: renditions)
                .replacing(#""control""#, with: "\(members)\"control\"")
                .replacing(#"{ "path": "out" }"#, with: "{ \"path\": \"out\" }\(outputs)")
                .replacing(#""uids": ["1001"] }"#, with: "\"uids\": [\"1001\"]\(scene) }"))
    }

    @Test("a room whose only rendition has no video is valid, and the rendition uses every audio rendition by default")
    func isValid() throws {
        let pipeline = try Self.read(
            members:
                #""audioRenditions": [ { "name": "hi", "bitrate": 128000 }, { "name": "lo", "bitrate": 48000 } ], "#
        ).result.get()
        #expect(pipeline.isAudioOnly && pipeline.videoRenditions.isEmpty)
        #expect(pipeline.renditions.map(\.audio) == [["hi", "lo"]])
        #expect(try !Self.read(renditions: Self.video).result.get().isAudioOnly)
    }

    @Test(
        "in a room without video, raw and image outputs, sei and a speaking ring are errors with a path and a fix",
        arguments: [
            ("", #", { "type": "raw", "path": "c.y4m" }"#, "", "outputs[1]"),
            ("", #", { "type": "image", "path": "i.jpg" }"#, "", "outputs[1]"),
            (#""sei": { "layout": true }, "#, "", "", "sei"),
            (#""audio": { "speaking": true }, "#, "", #", "speakingRing": {}"#, "scenes[0].speakingRing"),
        ])
    func refuses(members: String, outputs: String, scene: String, path: String) {
        let report = Self.read(members: members, outputs: outputs, scene: scene)
        #expect(
            report.mistakes.contains {
                $0.path == path && $0.what.contains("no rendition has video") && !$0.fix.isEmpty
            },
            "\(report.mistakes.map { "\($0.path): \($0.what)" })")
    }

    @Test("a scene's speakingRing is an error without audio.speaking, and is read with it")
    func ring() throws {
        let report = Self.read(renditions: Self.video, scene: #", "speakingRing": { "width": 8 }"#)
        #expect(report.mistakes.map(\.path) == ["scenes[0].speakingRing"])
        #expect(report.mistakes.first?.fix.contains(#""speaking": true"#) == true)
        let pipeline = try Self.read(
            renditions: Self.video, members: #""audio": { "speaking": true }, "#,
            scene: #", "speakingRing": { "width": 8 }"#
        ).result.get()
        #expect(pipeline.audio.speaking && pipeline.scenes[0].speakingRing?.width == 8)
        #expect(pipeline.scenes[1].speakingRing == nil)
    }

    @Test("an audio.ducking that names a background music source causes a warning that suggests lowerMusic")
    func music() {
        func warnings(_ audio: String) -> [String] {
            let document = Documents.room.replacing(
                #""room": {"#, with: #""audio": \#(audio), "room": {"#, maxReplacements: 1
            ).replacing(#""uid": "1001","#, with: #""uid": "1001", "background": true,"#, maxReplacements: 1)
            let report = Pipeline.parse(document, checks: .none)
            #expect(report.pipeline != nil, "\(report.mistakes)")
            return report.warnings.map { "\($0.path) \($0.fix)" }
        }
        let found = warnings(#"{ "ducking": { "uids": ["1001"] } }"#)
        #expect(found.count == 1 && found[0].hasPrefix("audio.ducking.uids[0] ") && found[0].contains("lowerMusic"))
        #expect(warnings(#"{ "ducking": { "uids": ["2002"] }, "lowerMusic": {} }"#).isEmpty)
    }
}
