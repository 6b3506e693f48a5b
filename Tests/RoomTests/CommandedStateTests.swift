import MediaTypes
import PipelineSpec
import Room
import RoomScenes
import Testing

@Suite("CommandedState: commands.json encoded and decoded")
struct CommandedStateTests {
    private typealias Change = @Sendable (inout CommandedState) -> Void

    private static let source = SourceID(uid: "2002")

    /// One change for each kind of member.
    private static let changes: [(name: String, change: Change)] = [
        ("revision", { $0.revision = 8 }), ("end", { $0.isEnded = true }), ("attempts", { $0.attempts = 2 }),
        (
            "document",
            {
                $0.document = CommandedState.Document(
                    revision: 4,
                    edits: [
                        DocumentEdit([.key("room"), .key("title")], .string("T \"1\"")),
                        DocumentEdit([.key("sources"), .element("1/main")], nil),
                    ])
            }
        ),
        ("scene on air", { $0.onAir = CommandedState.Showing(scene: "pk", tick: 90, ends: ["c": 120]) }),
        (
            "scheduled scene",
            {
                var transition = Transition(.slide)
                transition.direction = .up
                $0.upcoming = [CommandedState.Showing(scene: "pk", tick: 9, transition: transition)]
            }
        ),
        ("scene put", { $0.scenes["a"] = CommandedState.SceneChange(revision: 2, body: .object([])) }),
        ("scene removed", { $0.scenes["a"] = CommandedState.SceneChange(revision: 2, isRemoved: true) }),
        (
            "PK",
            {
                $0.pk = CommandedState.PK(
                    phase: .pk, since: 1, endsAt: 5,
                    durations: PKStateMachine.Durations(countdown: 1, pk: 2, punish: 3),
                    hasStartedItself: true)
            }
        ),
        (
            "PK with scenes of its command",
            {
                $0.pk = CommandedState.PK(
                    phase: .countdown, since: 1, endsAt: 5,
                    durations: PKStateMachine.Durations(countdown: 1, pk: 2, punish: 3),
                    hasStartedItself: false,
                    scenes: .init(scene: "duel", countdownScene: "c", punishScene: "p", endScene: "guest"))
            }
        ),
        ("cover", { $0.change(Self.source) { $0.videoPush = false } }),
        ("mute", { $0.change(Self.source) { $0.audioPush = false } }),
        ("volume", { $0.change(Self.source) { $0.volume = 40 } }),
        ("track", { $0.change(Self.source) { $0.trackVolumes = [0: 10, 255: 200] } }),
        ("offset", { $0.change(Self.source) { $0.offsetMs = -10_000 } }),
        ("rotation", { $0.change(Self.source) { $0.rotation = 270 } }),
        ("recording", { $0.change(Self.source) { $0.recording = false } }),
        (
            "kick",
            { $0.change(SourceID(uid: "2002", streamType: .sub)) { $0.refusedUntil = 1_700_000_000_000_000_001 } }
        ),
        ("grace", { $0.change(Self.source) { $0.graceUntil = 7 } }),
        ("text", { $0.texts["left"] = "Аня\n\u{1}" }), ("score", { $0.scores["pk"] = .init(left: 900, right: 100) }),
        ("countdown", { $0.countdowns["c"] = 300 }),
        ("relay", { $0.relays = [.init(source: Self.source, id: "r", url: "rtmp://h/app/key")] }),
        ("idle", { $0.idleSince = 5 }),
        (
            "alarm",
            {
                $0.alarms = [
                    .init(
                        id: "1-2",
                        alarm: ActiveAlarms.Alarm("t", "alert_1", kind: "source", subject: "1", message: "m"),
                        setAt: 3)
                ]
            }
        ),
        ("clip", { $0.clips = [.init(id: "clip-1-1", name: "n", rendition: "720p", range: 1..<9)] }),
        (
            "reply",
            {
                $0.replies = [
                    .init(
                        key: "k", fingerprint: "ff", status: 200, entityTag: "\"1.2\"", contentType: "application/json",
                        body: "{}\n")
                ]
            }
        ),
        ("used key", { $0.usedKeys = [.init(digest: "abc", expiry: 9)] }),
        ("file members", { $0.fileMembers = ["program.scene": "00"] }),
    ]

    private static func plain() -> CommandedState { CommandedState(roomID: "88231", salt: "00ff") }

    @Test(
        "each kind of member is equal after it is written to commands.json and read, alone and together with all others"
    )
    func roundTrip() throws {
        var all = Self.plain()
        for (name, change) in Self.changes {
            var state = Self.plain()
            change(&state)
            #expect(!state.isPlain, "\(name)")
            let reading = try #require(CommandedState.read(state.bytes), "\(name)")
            #expect(reading.state == state, "\(name)")
            #expect(reading.problems.isEmpty, "\(name)")
            change(&all)
        }
        #expect(try #require(CommandedState.read(all.bytes)).state == all)
        #expect(Self.plain().isPlain)
    }

    @Test("members that a later version added to commands.json are kept when it is written again")
    func unknownMembers() throws {
        var state = Self.plain()
        for (_, change) in Self.changes { change(&state) }
        let text = String(decoding: state.bytes, as: UTF8.self)
            .replacing(#""minor":1"#, with: #""minor":9,"later":{"a":[1]}"#)
            .replacing(#""phase":"countdown""#, with: #""phase":"countdown","boost":2"#)
            .replacing(#""volume":40"#, with: #""volume":40,"blur":true"#)
        let reading = try #require(CommandedState.read(Array(text.utf8)))
        #expect(reading.problems.isEmpty)
        let again = String(decoding: reading.state.bytes, as: UTF8.self)
        for member in [#""later":{"a":[1]}"#, #""boost":2"#, #""blur":true"#] { #expect(again.contains(member)) }
        var known = reading.state
        known.unknown = [:]
        #expect(known == state)
    }

    /// Names of objects whose keys are ids.
    private static let maps = ["texts", "scores", "countdowns", "scenes", "fileMembers", "trackVolumes", "ends"]
    /// Names of values that this version keeps as they are.
    private static let opaque = ["value", "body"]

    /// The value as a later version may write it: each object with fixed members has one more.
    private static func grown(_ node: JSONNode, _ key: String = "") -> JSONNode {
        switch node.content {
        case .array(let elements): return .array(elements.map { self.grown($0, key) })
        case .object(let members) where !self.opaque.contains(key):
            let isMap = self.maps.contains(key)
            let grown = members.map { JSONMember($0.key, self.grown($0.value, isMap ? "" : $0.key)) }
            return .object(isMap ? grown : grown + [JSONMember("later", .object([JSONMember("of", .string(key))]))])
        default: return node
        }
    }

    @Test(
        "unknown members in every object of commands.json, including objects in arrays, are kept when it is written again"
    )
    func unknownMembersEverywhere() throws {
        var state = Self.plain()
        for (_, change) in Self.changes { change(&state) }
        let later = Self.grown(state.json).bare
        #expect(later.text().split(separator: #""later":"#).count >= 17, "the test has added them everywhere")
        let reading = try #require(CommandedState.read(Array(later.text().utf8)))
        #expect(reading.problems.isEmpty)
        #expect(reading.state.json.canonical.text() == later.canonical.text())
        var known = reading.state
        known.unknown = [:]
        #expect(known == state)
    }

    @Test(
        "commands.json without a minor version or with minor 0 is read like the current one, and written with the current minor",
        arguments: ["", #""minor":0,"#])
    func lowerMinor(minor: String) throws {
        var state = Self.plain()
        for (_, change) in Self.changes { change(&state) }
        let text = String(decoding: state.bytes, as: UTF8.self)
        let current = "\"minor\":\(CommandedState.minor),"
        let older = text.replacing(current, with: minor)
        #expect(older != text)
        let reading = try #require(CommandedState.read(Array(older.utf8)))
        #expect(reading.problems.isEmpty)
        #expect(reading.state == state)
        #expect(String(decoding: reading.state.bytes, as: UTF8.self).contains(current))
    }

    @Test("a commands.json with only version, room id and salt is valid")
    func least() throws {
        let least = try #require(CommandedState.read(Array(#"{"version":1,"roomId":"88231","salt":"00ff"}"#.utf8)))
        #expect(least.problems.isEmpty)
        #expect(least.state == Self.plain())
    }

    @Test("a PK written by minor version 0 is read without scenes of its own")
    func pkOfMinor0() throws {
        let text = #"""
            {"version":1,"minor":0,"roomId":"88231","salt":"00ff",
            "pk":{"phase":"pk","since":1,"countdownNs":0,"durationNs":2,"punishNs":0,"endsAt":3}}
            """#
        let reading = try #require(CommandedState.read(Array(text.utf8)))
        #expect(reading.problems.isEmpty && reading.state.pk?.phase == .pk && reading.state.pk?.scenes.isEmpty == true)
    }

    @Test(
        "a source entry with unknown members of a later version stays in commands.json after the commands for it are undone"
    )
    func laterSource() throws {
        let text = #"""
            {"version":1,"minor":9,"roomId":"88231","salt":"00ff",
            "sources":[{"uid":"2002","streamType":"main","blur":1}]}
            """#
        var state = try #require(CommandedState.read(Array(text.utf8))).state
        state.change(Self.source) { $0.videoPush = false }
        state.change(Self.source) { $0.videoPush = nil }
        #expect(String(decoding: state.bytes, as: UTF8.self).contains(#""blur":1"#))
        #expect(CommandedState.read(state.bytes)?.state == state)
    }

    @Test("a scheduled scene keeps its members of a later version when another scheduled scene before it is removed")
    func laterSchedule() throws {
        let text = #"""
            {"version":1,"minor":9,"roomId":"88231","salt":"00ff",
            "upcoming":[{"scene":"a","tick":8},{"scene":"b","tick":9,"effect":"x"},{"scene":"c","tick":10}]}
            """#
        var state = try #require(CommandedState.read(Array(text.utf8))).state
        state.upcoming.removeFirst()
        let written = String(decoding: state.bytes, as: UTF8.self)
        #expect(written.contains(#"{"scene":"b","tick":9,"effect":"x"},{"scene":"c","tick":10}"#), "\(written)")
    }

    @Test(
        "an unknown member of the PK, the scene on air or a stored scene is dropped when another PK or scene replaces it"
    )
    func replaced() throws {
        let text = #"""
            {"version":1,"minor":9,"roomId":"88231","salt":"00ff","onAir":{"scene":"a","tick":8,"zoom":2},
            "scenes":{"b":{"revision":1,"author":"x"},"c":{"revision":1,"author":"y"}},
            "pk":{"phase":"pk","since":1,"countdownNs":0,"durationNs":2,"punishNs":0,"boost":3}}
            """#
        var state = try #require(CommandedState.read(Array(text.utf8))).state
        func has(_ member: String) -> Bool { String(decoding: state.bytes, as: UTF8.self).contains(member) }
        state.setOnAir(CommandedState.Showing(scene: "a", tick: 9))
        var pk = try #require(state.pk)
        pk.phase = .punish
        state.setPK(pk)
        #expect(has(#""zoom":2"#) && has(#""boost":3"#), "the same scene, and the same PK in its next phase")

        state.setOnAir(CommandedState.Showing(scene: "b", tick: 10))
        state.setScene("b", CommandedState.SceneChange(revision: 2))
        pk.phase = .idle
        state.setPK(pk)
        pk.phase = .pk
        state.setPK(pk)
        #expect(!has("zoom") && !has("boost") && !has(#""author":"x""#) && has(#""author":"y""#))
        state.unknown["pk"] = [JSONMember("boost", .integer(4))]
        state.setPK(nil)
        state.setPK(pk)
        #expect(!has("boost"))
    }

    @Test(
        "an invalid member of commands.json is reported as a problem, and members beside it are read",
        arguments: [
            (#""scores":{"pk":{"left":900,"right":100}}"#, #""scores":{"pk":{"left":-1,"right":100}}"#),
            (#""phase":"countdown""#, #""phase":"dance""#), (#""punishScene":"p""#, #""punishScene":5"#),
            (#""videoPush":false"#, #""videoPush":"no""#),
            (#""onAir":{"scene":"pk""#, #""onAir":{"scene":7"#), (#""revision":8"#, #""revision":"8""#),
            (#""ended":true"#, #""ended":1"#), (#""texts":{"#, #""texts":[{"#),
            (#""rotation":270"#, #""rotation":45"#),
        ])
    func badMember(good: String, bad: String) throws {
        var state = Self.plain()
        for (_, change) in Self.changes { change(&state) }
        var text = String(decoding: state.bytes, as: UTF8.self).replacing(good, with: bad)
        if bad.hasSuffix("[{") { text = text.replacing(#"\u0001"}"#, with: #"\u0001"}]"#) }
        let reading = try #require(CommandedState.read(Array(text.utf8)), "\(bad)")
        #expect(!reading.problems.isEmpty)
        #expect(reading.state.relays == state.relays)
        #expect(reading.state.usedKeys == state.usedKeys)
        #expect(reading.state.sources[Self.source]?.audioPush == false)
    }

    @Test(
        "a truncated commands.json or a changed byte does not make the reader trap; another major version is not read"
    )
    func hostile() {
        var state = Self.plain()
        for (_, change) in Self.changes { change(&state) }
        let bytes = state.bytes
        for count in stride(from: 0, to: bytes.count, by: 7) { _ = CommandedState.read(Array(bytes.prefix(count))) }
        for place in stride(from: 0, to: bytes.count, by: 11) {
            var bad = bytes
            bad[place] = [0, 0x22, 0x7b, 0x30, 0xff][place % 5]
            _ = CommandedState.read(bad)
        }
        #expect(CommandedState.read(Array("[]".utf8)) == nil)
        #expect(CommandedState.read(Array(#"{"version":2}"#.utf8)) == nil)
    }

    @Test("forgetting a source removes its commands, relays and unknown members, and nothing of other sources")
    func forgotten() throws {
        let text = #"""
            {"version":1,"minor":9,"roomId":"88231","salt":"00ff",
            "sources":[{"uid":"1","streamType":"main","volume":4,"blur":1},{"uid":"2","streamType":"main","volume":5}],
            "relays":[{"uid":"1","streamType":"main","id":"r","url":"rtmp://h/a/k","later":1},
            {"uid":"2","streamType":"main","id":"r","url":"rtmp://h/a/k"}]}
            """#
        var state = try #require(CommandedState.read(Array(text.utf8))).state
        state.forget(SourceID(uid: "1"))
        #expect(Array(state.sources.keys) == [SourceID(uid: "2")])
        #expect(state.relays.map(\.source.uid) == ["2"])
        #expect(state.unknown.isEmpty)
    }

    @Test(
        "commands.json stays within its size limit: the oldest replies and used keys are dropped, but nothing of sources, PK or the end"
    )
    func tooLong() throws {
        var state = Self.plain()
        for (_, change) in Self.changes { change(&state) }
        let body = String(repeating: "x", count: 2_000)
        state.replies = (0..<300).map {
            .init(key: "k\($0)", fingerprint: "1", status: 200, entityTag: nil, contentType: nil, body: body)
        }
        let short = try #require(CommandedState.read(state.bytes)).state
        #expect(state.bytes.count <= CommandedState.limit)
        #expect(short.replies.last == state.replies.last)
        #expect(short.replies.count > 80 && short.replies.count < 300)
        #expect(short.usedKeys == state.usedKeys)
        state.usedKeys = (0..<60_000).map { .init(digest: "d\($0)", expiry: 1_800_000_000) }
        let shorter = try #require(CommandedState.read(state.bytes)).state
        #expect(shorter.replies.isEmpty)
        #expect(shorter.usedKeys.last == state.usedKeys.last && shorter.usedKeys.count > 5_000)
        #expect(shorter.sources == state.sources)
        #expect(shorter.pk == state.pk && shorter.isEnded)
    }

    @Test("a member that a command set counts as changed if its value in the pipeline file has changed since then")
    func fileMembers() throws {
        func document(_ volume: Int, _ text: String) throws -> RoomDocument {
            let file = #"""
                {"room":{"roomId":"1"},"sources":[{"uid":"2002","streamKey":"k","volume":\#(volume)}],
                "scenes":[{"sceneId":"solo","layout":"solo","uids":["2002"],
                "texts":[{"textId":"left","text":"\#(text)","x":0,"y":0}]}],"outputs":[{"type":"hls","path":"o"}]}
                """#
            return try RoomDocument.read(Array(file.utf8)).get().document
        }
        var state = Self.plain()
        state.change(Self.source) {
            $0.volume = 40
            $0.rotation = 90
            $0.videoPush = false
        }
        state.texts["left"] = "Anna"
        state.fileMembers = state.hashes(of: try document(100, "a"))
        let same = try document(100, "a")
        #expect(state.changedMembers.count == 3)
        #expect(state.changedMembers.allSatisfy { !state.isChanged($0, in: same) })
        let louder = try document(150, "a")
        #expect(state.isChanged(CommandedState.source(Self.source, "volume"), in: louder))
        #expect(!state.isChanged(CommandedState.source(Self.source, "rotation"), in: louder))
        #expect(state.isChanged(CommandedState.text("left"), in: try document(100, "b")))
    }
}
