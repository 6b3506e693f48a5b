import MediaTypes
import PipelineSpec
import Room
import RoomScenes
import Testing

@Suite("Audio of a source whose pane leaves the scene")
struct SceneVoiceTests {
    private static func pipeline(_ scene: String) throws -> Pipeline {
        let text = """
            {
              "room": { "roomId": "voices" },
              "sources": [
                { "uid": "1001", "streamKey": "a" }, { "uid": "1001", "streamType": "sub", "streamKey": "as" },
                { "uid": "2002", "streamKey": "b" }
              ],
              "canvas": { "width": 640, "height": 360 }, "scenes": [{ "sceneId": "s", \(scene) }],
              "outputs": [{ "type": "hls", "path": "out" }]
            }
            """
        return try Pipeline.parse(text).result.get()
    }

    @Test(
        "when a lost source's pane leaves, a layout is recomputed and explicit panes keep their width; the source keeps audio and volume"
    )
    func voices() throws {
        for (scene, remaining) in [
            (#""layout": "sideBySide", "uids": ["1001", "2002"]"#, 640),
            (
                #""panes": [{ "uid": "1001", "width": 320, "height": 360 }, "#
                    + #"{ "uid": "2002", "x": 320, "width": 320, "height": 360, "volume": 40 }]"#, 320
            ),
        ] {
            let pipeline = try Self.pipeline(scene)
            let guest = SourceID(uid: "2002")
            let spec = try #require(pipeline.scenes.first)
            let whole = SceneMapping.scene(spec, in: pipeline)
            let mapped = SceneMapping.scene(spec, in: pipeline, without: [guest])
            #expect(whole.visiblePanes.count == 2)
            #expect(mapped.visiblePanes.map(\.source.uid) == ["1001"])
            #expect(mapped.visiblePanes.map(\.rect.width) == [remaining])
            let voice = try #require(mapped.panes.last)
            #expect(mapped.panes.count == 2 && voice.source == guest && voice.audioPush && !voice.videoPush)
            #expect(voice.volume == whole.panes.last?.volume)
        }
    }

    @Test(
        "an automatic layout without users shows the live users except those whose panes leave, which keep their audio")
    func automatic() throws {
        let pipeline = try Self.pipeline(#""layout": "auto""#)
        let guest = SourceID(uid: "2002")
        let spec = try #require(pipeline.scenes.first)
        let mapped = SceneMapping.scene(spec, in: pipeline, without: [guest], live: ["1001", "2002"])
        #expect(mapped.visiblePanes.map(\.source.uid) == ["1001"])
        #expect(mapped.visiblePanes.map(\.rect.width) == [640])
        let voice = try #require(mapped.panes.last)
        #expect(mapped.panes.count == 2 && voice.source == guest && voice.audioPush && !voice.videoPush)
    }

    @Test("a source that is muted in the scene stays muted without its pane")
    func muted() throws {
        let pipeline = try Self.pipeline(
            #""panes": [{ "uid": "1001", "width": 320, "height": 360 }, "#
                + #"{ "uid": "1001", "streamType": "sub", "width": 64, "height": 64, "audioPush": false }]"#)
        let spec = try #require(pipeline.scenes.first)
        let sub = SourceID(uid: "1001", streamType: .sub)
        let mapped = SceneMapping.scene(spec, in: pipeline, without: [sub])
        #expect(mapped.panes.map(\.source) == [SourceID(uid: "1001"), sub])
        #expect(mapped.panes.map(\.audioPush) == [true, false])
    }
}
