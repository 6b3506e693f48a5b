import MediaTypes
import PipelineSpec
import Room
import RoomScenes
import Threading
import Testing

@Suite("State that a successor resumes from commands.json")
struct ResumptionTests {
    private static let guest = SourceID(uid: "2002")

    private static func file(volume: Int = 100, scene: String = "solo", title: String = "File") -> String {
        #"""
        {"room":{"roomId":"88231","title":"\#(title)"},"sources":[{"uid":"1001","streamKey":"a"},
        {"uid":"2002","streamKey":"b","volume":\#(volume)}],"scenes":[
        {"sceneId":"solo","layout":"solo","uids":["1001"]},
        {"sceneId":"pk","layout":"sideBySide","uids":["1001","2002"]}],"program":{"scene":"\#(scene)"},
        "outputs":[{"type":"hls","path":"out"}]}
        """#
    }

    private static func settings(_ text: String) throws -> RoomSettings {
        let document = try RoomDocument.read(Array(text.utf8)).get().document
        return RoomSettings(pipeline: document.pipeline, document: document, clocks: .system)
    }

    /// The `commands.json` written by a worker with this file.
    private static func written(
        _ text: String, _ change: (inout CommandedState, RoomDocument) throws -> Void
    ) throws -> [UInt8] {
        let document = try RoomDocument.read(Array(text.utf8)).get().document
        var state = CommandedState(roomID: "88231", salt: "00ff")
        try change(&state, document)
        state.fileMembers = state.hashes(of: document)
        return state.bytes
    }

    private static func commanded(_ state: inout CommandedState, _ document: RoomDocument) throws {
        let patch = #"{"room":{"title":"Command"},"revision":8}"#
        let next = try document.patched(Array(patch.utf8)).get().document
        state.document = CommandedState.Document(revision: next.revision, edits: next.edits(from: document) { $0 })
        state.onAir = CommandedState.Showing(scene: "pk", tick: 90)
        state.change(Self.guest) {
            $0.videoPush = false
            $0.audioPush = false
            $0.volume = 40
            $0.refusedUntil = 1_900_000_000_000_000_000
        }
        state.pk = CommandedState.PK(
            phase: .pk, since: 0, endsAt: 5, durations: PKStateMachine.Durations(countdown: 0, pk: 5, punish: 0),
            hasStartedItself: false)
        state.texts["t"] = "x"
        state.revision = 8
    }

    @Test("without commands.json there is no state to resume")
    func fresh() throws {
        let resumption = Resumption(try Self.settings(Self.file()), nil)
        #expect(resumption.state.isPlain)
        #expect(resumption.restored.isEmpty && resumption.refused.isEmpty)
        #expect(resumption.state.salt.utf8.count == 32)
    }

    @Test(
        "with an unchanged pipeline file the state of commands.json is restored, and the room runs by the commanded document"
    )
    func same() throws {
        let bytes = try Self.written(Self.file(), Self.commanded)
        let resumption = Resumption(try Self.settings(Self.file()), bytes)
        #expect(resumption.refused.isEmpty)
        #expect(resumption.settings.pipeline.room.title == "Command")
        #expect(resumption.settings.document?.revision == 8)
        #expect(resumption.state.onAir?.scene == "pk")
        #expect(resumption.state.sources[Self.guest]?.volume == 40)
        #expect(resumption.restored.contains("room.title"))
        #expect(resumption.restored.contains("sources[2002].videoPush"))
    }

    @Test("a changed pipeline file wins over commands for the members it changes, and undoes no cover, mute or kick")
    func changed() throws {
        let bytes = try Self.written(Self.file(), Self.commanded)
        let resumption = Resumption(try Self.settings(Self.file(volume: 150, title: "Other")), bytes)
        #expect(resumption.refused.map(\.member) == ["room.title", "sources[2002/main].volume"])
        #expect(resumption.settings.pipeline.room.title == "Other")
        #expect(resumption.settings.document?.revision == 8)
        let guest = try #require(resumption.state.sources[Self.guest])
        #expect(guest.volume == nil)
        #expect(guest.videoPush == false && guest.audioPush == false && guest.refusedUntil != nil)
        #expect(resumption.state.onAir?.scene == "pk")
        let other = Resumption(try Self.settings(Self.file(scene: "pk")), bytes)
        #expect(other.state.onAir == nil)
    }

    @Test(
        "after two failed attempts, covers, mutes, kicks, the PK and the document are restored, but no scene, text or volume"
    )
    func reduced() throws {
        let bytes = try Self.written(Self.file()) {
            try Self.commanded(&$0, $1)
            $0.attempts = 2
        }
        let resumption = Resumption(try Self.settings(Self.file()), bytes)
        #expect(resumption.isReduced && resumption.isSetAside)
        #expect(resumption.state.onAir == nil && resumption.state.texts.isEmpty)
        let guest = try #require(resumption.state.sources[Self.guest])
        #expect(guest.volume == nil)
        #expect(guest.videoPush == false && guest.audioPush == false && guest.refusedUntil != nil)
        #expect(resumption.state.pk?.endsAt == 5)
        #expect(resumption.settings.pipeline.room.title == "Command")
        #expect(resumption.state.revision == 8)
    }

    @Test(
        "a commands.json that is damaged, of another version or of another room is set aside, and nothing is restored",
        arguments: ["", "{", #"{"version":2,"roomId":"88231"}"#, #"{"version":1,"roomId":"1","ended":true}"#])
    func damaged(text: String) throws {
        let resumption = Resumption(try Self.settings(Self.file()), Array(text.utf8))
        #expect(resumption.isSetAside)
        #expect(resumption.state.isPlain)
        #expect(resumption.refused.map(\.member) == ["commands.json"])
    }
}
