import Events
import MediaTypes
import PipelineSpec
import RoomAPI
import Synchronization
import Testing

import Room

@Suite("Events under other products' names")
struct EventCompatTests {
    private static func words(
        _ vocabulary: EventVocabulary, _ type: String, _ members: [String: String] = [:]
    ) -> String? {
        EventCompat.value([vocabulary], type: type) { members[$0] }?.text
    }

    @Test(
        "an event's names and values in another product's vocabulary depend on its type and members",
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
            (.nertc, "room.superseded", [:], #"{"nertc":{"error":1301}}"#),
            (.nertc, "config.invalid", ["code": "imageError"], #"{"nertc":{"state":512,"error":1512}}"#),
            (.nertc, "config.invalid", ["code": "invalidLayout"], #"{"nertc":{"error":1501}}"#),
            (.nertc, "config.invalid", ["code": "needsRestart"], #"{"nertc":{"error":1400}}"#),
            (.nertc, "ingest.refused", ["code": "limitExceeded"], #"{"nertc":{"error":1402}}"#),
            (.agora, "room.draining", [:], #"{"agora":{"state":5,"name":"DISCONNECTING"}}"#),
            (.agora, "room.closed", ["outcome": "drained"], #"{"agora":{"state":0,"name":"IDLE"}}"#),
            (.remon, "ingest.refused", ["code": "busyChannel"], #"{"remon":{"error":"BusyChannel"}}"#),
            (.remon, "ingest.refused", ["code": "inputTooLarge"], #"{"remon":{"error":"InvalidParameter"}}"#),
            (.remon, "ingest.refused", ["code": "iceFailed"], #"{"remon":{"error":"IceFailed"}}"#),
            (.remon, "ingest.refused", ["code": "authDenied"], #"{"remon":{"error":"ConnectChannelFailed"}}"#),
            (.remon, "ingest.refused", ["code": "unsupportedCodec"], #"{"remon":{"error":"UnsupportedPlatform"}}"#),
            (.remon, "config.invalid", ["code": "invalidFormat"], #"{"remon":{"error":"InvalidParameter"}}"#),
            (.remon, "source.failed", [:], #"{"remon":{"error":"UserMediaDevice"}}"#),
            (
                .remon, "room.closed", ["outcome": "failed", "code": "bindFailed"],
                #"{"remon":{"state":"FAIL","error":"InitFailed"}}"#
            ),
            (
                .remon, "room.closed", ["outcome": "failed", "code": "outputLost"],
                #"{"remon":{"state":"FAIL","error":"Unknown"}}"#
            ),
        ] as [(EventVocabulary, String, [String: String], String)])
    func word(vocabulary: EventVocabulary, type: String, members: [String: String], text: String) {
        #expect(Self.words(vocabulary, type, members) == text)
    }

    @Test("failure and recovery of an RTMP output have names in NERTC and Agora; an output's disk failure has none")
    func pushes() {
        let push = ["outputId": "cdn", "url": "rtmp://cdn.example/live"]
        #expect(Self.words(.nertc, "output.failed", push) == #"{"nertc":{"state":506,"error":1417}}"#)
        #expect(Self.words(.nertc, "output.live", push) == #"{"nertc":{"state":505}}"#)
        #expect(Self.words(.agora, "output.failed", push) == #"{"agora":{"state":3,"name":"RECOVERING"}}"#)
        #expect(Self.words(.agora, "output.live", push) == #"{"agora":{"state":2,"name":"RUNNING"}}"#)
        for vocabulary in EventVocabulary.allCases {
            #expect(Self.words(vocabulary, "output.failed", ["reason": "no space left"]) == nil)
        }
    }

    @Test("ingest.refused without an error code has no name in other products")
    func uncoded() {
        #expect(EventVocabulary.allCases.allSatisfy { Self.words($0, "ingest.refused") == nil })
    }

    @Test(
        "the room.closed of a drained worker has no name in FlipFlop and NERTC, since its successor continues the room"
    )
    func drained() {
        #expect(Self.words(.flipflop, "room.closed", ["outcome": "drained"]) == nil)
        #expect(Self.words(.nertc, "room.closed", ["outcome": "drained"]) == nil)
    }

    @Test("an event has the names of the products that the pipeline requests, and no `compat` if it has no such name")
    func events() throws {
        let lines = Mutex<[String]>([])
        let events = RoomEvents(roomID: "r", vocabularies: [.nertc, .agora], wall: StandingWall()) { line in
            lines.withLock { $0.append(line) }
        }
        events.emit("broadcast.active", ["slate": "false"])
        events.emit("segment.published", ["mediaSequence": 1])
        let told = lines.withLock { $0 }
        #expect(told[0].hasSuffix(#""compat":{"nertc":{"state":505},"agora":{"state":2,"name":"RUNNING"}}}"#))
        #expect(!told[1].contains("compat"))
        #expect(EventVocabulary.allCases.allSatisfy { Self.words($0, "broadcast.active", ["slate": "false"]) != nil })
    }
}
