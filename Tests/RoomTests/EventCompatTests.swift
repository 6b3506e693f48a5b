import Events
import MediaTypes
import PipelineSpec
import Synchronization
import Testing

import Room

@Suite("Events in other products' words")
struct EventCompatTests {
    private static func words(
        _ vocabulary: EventVocabulary, _ type: String, _ members: [String: String] = [:]
    ) -> String? {
        EventCompat.value([vocabulary], type: type) { members[$0] }?.text
    }

    @Test(
        "each word, as its product has it",
        arguments: [
            (
                .flipflop, "room.ready", ["played": "false"],
                #"{"flipflop":{"streamKey":"INACTIVE","streamer":"prepared","videoRoom":"SCHEDULED","broadcast":"inactive"}}"#
            ),
            (
                .flipflop, "room.ready", ["played": "true"],
                #"{"flipflop":{"videoRoom":"LIVE_INACTIVE","broadcast":"inactive"}}"#
            ),
            (.flipflop, "source.stalled", [:], #"{"flipflop":{"streamKey":"INACTIVE_LIVE","streamer":"stopped"}}"#),
            (
                .flipflop, "room.state", ["from": "live", "to": "recovering", "cause": "output"],
                #"{"flipflop":{"videoRoom":"LIVE","broadcast":"active"}}"#
            ),
            (.flipflop, "source.health", ["level": "alert_3"], #"{"flipflop":{"alarm":"alert_3"}}"#),
            (
                .flipflop, "encoder.overload_step", ["taken": "true", "step": "hold", "steps": "4"],
                #"{"flipflop":{"alarm":"alert_3"}}"#
            ),
            (
                .flipflop, "encoder.overload_step", ["taken": "false", "step": "decoding", "steps": "0"],
                #"{"flipflop":{"alarm":"normal"}}"#
            ),
            (
                .flipflop, "source.undecodable", ["code": "unsupportedCodec", "reason": "codec av01"],
                #"{"flipflop":{"error":{"code":"unsupportedCodec","message":"codec av01"}}}"#
            ),
            (
                .flipflop, "room.closed", ["outcome": "ended", "played": "false"],
                #"{"flipflop":{"streamKey":"INACTIVE","streamer":"closed","videoRoom":"CANCELLED","broadcast":"inactive"}}"#
            ),
            (.nertc, "broadcast.active", [:], #"{"nertc":{"state":505}}"#),
            (.nertc, "output.failed", [:], #"{"nertc":{"state":506,"error":1417}}"#),
            (.nertc, "room.superseded", [:], #"{"nertc":{"error":1301}}"#),
            (.nertc, "room.closed", ["outcome": "ended"], #"{"nertc":{"state":511}}"#),
            (.nertc, "room.closed", ["outcome": "failed"], #"{"nertc":{"state":506,"error":1500}}"#),
            (.agora, "room.ready", [:], #"{"agora":{"state":1,"name":"CONNECTING"}}"#),
            (.agora, "broadcast.active", [:], #"{"agora":{"state":2,"name":"RUNNING"}}"#),
            (.agora, "output.failed", [:], #"{"agora":{"state":3,"name":"RECOVERING"}}"#),
            (.agora, "room.draining", [:], #"{"agora":{"state":5,"name":"DISCONNECTING"}}"#),
            (.agora, "room.closed", ["outcome": "failed"], #"{"agora":{"state":4,"name":"FAILURE"}}"#),
            (.agora, "room.closed", ["outcome": "drained"], #"{"agora":{"state":0,"name":"IDLE"}}"#),
            (.remon, "room.ready", [:], #"{"remon":{"state":"WAIT"}}"#),
            (.remon, "source.publishing", [:], #"{"remon":{"state":"CONNECT"}}"#),
            (.remon, "broadcast.active", [:], #"{"remon":{"state":"COMPLETE"}}"#),
            (.remon, "room.ending", [:], #"{"remon":{"state":"EXIT"}}"#),
            (.remon, "room.closed", ["outcome": "failed"], #"{"remon":{"state":"FAIL","error":"Unknown"}}"#),
            (.remon, "room.closed", ["outcome": "ended"], #"{"remon":{"state":"CLOSE"}}"#),
        ] as [(EventVocabulary, String, [String: String], String)])
    func word(vocabulary: EventVocabulary, type: String, members: [String: String], text: String) {
        #expect(Self.words(vocabulary, type, members) == text)
    }

    @Test("a room that goes on in a successor has not ended for anybody's viewers")
    func drained() {
        #expect(Self.words(.flipflop, "room.closed", ["outcome": "drained"]) == nil)
        #expect(Self.words(.nertc, "room.closed", ["outcome": "drained"]) == nil)
    }

    @Test("events bear the words that were asked for, and only those")
    func events() throws {
        let lines = Mutex<[String]>([])
        let events = RoomEvents(roomID: "r", vocabularies: [.nertc, .agora]) { line in
            lines.withLock { $0.append(line) }
        }
        events.emit("broadcast.active")
        events.emit("segment.published", ["mediaSequence": 1])
        let told = lines.withLock { $0 }
        #expect(told[0].hasSuffix(#""compat":{"nertc":{"state":505},"agora":{"state":2,"name":"RUNNING"}}}"#))
        #expect(!told[1].contains("compat"))
        #expect(EventVocabulary.allCases.allSatisfy { Self.words($0, "broadcast.active", ["slate": "false"]) != nil })
    }
}
