import Foundation
import MediaTypes
import PipelineSpec
import Testing

@Suite("The pipeline document of a running room")
struct RoomDocumentTests {
    private static func node(_ text: String) throws -> JSONNode {
        try #require(JSONParser.parse(Array(text.utf8)).root, "\(text)")
    }

    @Test(
        "a merge patch gives the results of RFC 7396 appendix A",
        arguments: [
            (#"{"a":"b"}"#, #"{"a":"c"}"#, #"{"a":"c"}"#), (#"{"a":"b"}"#, #"{"b":"c"}"#, #"{"a":"b","b":"c"}"#),
            (#"{"a":"b"}"#, #"{"a":null}"#, "{}"), (#"{"a":"b","b":"c"}"#, #"{"a":null}"#, #"{"b":"c"}"#),
            (#"{"a":["b"]}"#, #"{"a":"c"}"#, #"{"a":"c"}"#), (#"{"a":"c"}"#, #"{"a":["b"]}"#, #"{"a":["b"]}"#),
            (#"{"a":{"b":"c"}}"#, #"{"a":{"b":"d","c":null}}"#, #"{"a":{"b":"d"}}"#),
            (#"{"a":[{"b":"c"}]}"#, #"{"a":[1]}"#, #"{"a":[1]}"#), (#"["a","b"]"#, #"["c","d"]"#, #"["c","d"]"#),
            (#"{"a":"b"}"#, #"["c"]"#, #"["c"]"#), (#"{"a":"foo"}"#, "null", "null"),
            (#"{"a":"foo"}"#, #""bar""#, #""bar""#), (#"{"e":null}"#, #"{"a":1}"#, #"{"e":null,"a":1}"#),
            ("[1,2]", #"{"a":"b","c":null}"#, #"{"a":"b"}"#),
            ("{}", #"{"a":{"bb":{"ccc":null}}}"#, #"{"a":{"bb":{}}}"#),
        ])
    func merge(target: String, patch: String, result: String) throws {
        #expect(try Self.node(target).merged(with: Self.node(patch)).text() == result)
    }

    @Test(
        "differences between two JSON documents are listed by path; whitespace and key order do not count",
        arguments: [
            (#"{"a":1,"b":[1,{"c":2}]}"#, "{ \"b\" : [ 1, {\n\"c\": 2 } ], \"a\": 1 }", []),
            (#"{"a":1}"#, #"{"a":2}"#, ["a"]), (#"{"b":[1,{"c":2}]}"#, #"{"b":[1,{"c":3}]}"#, ["b[1].c"]),
            (#"{"b":[1]}"#, #"{"b":[1,2]}"#, ["b"]), (#"{"a":{"b":1,"c":{"d":2}}}"#, "{}", ["a.b", "a.c.d"]),
            ("{}", #"{"a":{"b":1}}"#, ["a.b"]), (#"{"a":{}}"#, #"{"a":[]}"#, ["a"]), (#"{"a":null}"#, "{}", ["a"]),
        ] as [(String, String, [String])])
    func differences(one: String, other: String, paths: [String]) throws {
        #expect(try Self.node(one).differences(from: Self.node(other)) == paths)
        #expect(try Self.node(other).differences(from: Self.node(one)) == paths)
    }

    @Test("differences below a deeply nested value are listed as one path of limited length")
    func deep() throws {
        let depth = 50
        func nest(_ inside: String) -> String {
            let key = String(repeating: "k", count: 40)
            return String(repeating: "{\"\(key)\":", count: depth) + inside + String(repeating: "}", count: depth)
        }
        func leaves(_ value: Int) -> String {
            "{" + (0..<2_000).map { "\"m\($0)\":\(value)" }.joined(separator: ",") + "}"
        }
        let (one, other) = (try Self.node(nest(leaves(1))), try Self.node(nest(leaves(2))))
        for paths in [other.differences(from: one), one.differences(from: try Self.node("{}"))] {
            #expect(paths.count == 1 && (256...400).contains(paths.first?.utf8.count ?? 0), "\(paths.count)")
        }
        #expect(try one.differences(from: Self.node("  " + nest(leaves(1)))).isEmpty, "positions do not count")
    }

    // MARK: Versions

    private static func read(_ text: String, _ overrides: [SpecOverride] = []) throws -> RoomDocument {
        try RoomDocument.read(Array(text.utf8), overrides: overrides).get().document
    }

    /// The change from ``Documents/room`` to a copy with these replacements.
    private static func change(_ words: [(String, String)]) throws -> DocumentChange {
        var text = Documents.room
        for (before, after) in words {
            #expect(text.contains(before), "\(before)")
            text = text.replacingOccurrences(of: before, with: after)
        }
        return try DocumentChange(from: self.read(Documents.room), to: self.read(text))
    }

    @Test(
        "title, idle time, scenes, keys, bit rates and other members may change in a running room; a default written out changes nothing",
        arguments: [
            (#""roomId": "88231" }"#, #""roomId": "88231", "title": "t" }"#, ["room.title"]),
            (
                #""canvas": {"#, #""idle": { "maxIdleSeconds": 90 }, "canvas": {"#, ["idle.maxIdleSeconds"]
            ),
            (#""uids": ["1001"]"#, #""uids": ["2002"]"#, ["scenes[0].uids[0]"]),
            (#""streamKey": "hunter2a""#, #""streamKey": "hunter2c""#, ["sources[0].streamKey"]),
            (
                #""streamKey": "hunter2a""#, #""streamKeyFile": "k", "volume": 50"#,
                ["sources[0].streamKeyFile", "sources[0].volume", "sources[0].streamKey"]
            ),
            (#""fps": 30 }"#, ##""fps": 30, "backgroundColor": "#FF0000" }"##, ["canvas.backgroundColor"]),
            (#""control""#, #""program": { "scene": "pk" }, "control""#, ["program.scene"]),
            (
                #""control""#, #""alarms": { "windowMs": 4000 }, "ext": { "a": 1 }, "control""#,
                ["alarms.windowMs", "ext.a"]
            ),
            (
                #"{ "path": "out" }"#,
                #"{ "path": "out" }, { "type": "rtmp", "url": "rtmp://cdn.example/live/hunter2c" }"#, ["outputs"]
            ),
            (
                #""listen": "127.0.0.1:0""#,
                #""listen": "127.0.0.1:0", "events": [{ "type": "webhook", "url": "https://hooks.example/pk" }]"#,
                ["control.events"]
            ),
            (#""control""#, #""audio": { "speaking": true }, "control""#, ["audio.speaking"]),
            (
                #""control""#, #""audio": { "lowerMusic": { "reductionDb": 9 } }, "control""#,
                ["audio.lowerMusic.reductionDb"]
            ),
            (#""bitrate": 2500000"#, #""bitrate": 2400000"#, ["renditions[0].video.bitrate"]),
            (
                #""bitrate": 2500000"#, #""maxBitrate": 2600000, "bufferSize": 1300000, "bitrate": 2500000"#,
                ["renditions[0].video.maxBitrate", "renditions[0].video.bufferSize"]
            ),
            // An explicit default changes nothing in the room, but is reported.
            (#""fps": 30 }"#, #""fps": 30, "policy": "fixed" }"#, ["canvas.policy"]),
        ] as [(String, String, [String])])
    func alive(before: String, after: String, paths: [String]) throws {
        let change = try Self.change([(before, after)])
        #expect(change.paths == paths)
        #expect(
            change.isChange == !paths.contains("canvas.policy") && change.document.revision == (change.isChange ? 1 : 0)
        )
    }

    @Test("the program's scene may change in a room with a PK; the PK's end scene follows unless the file names one")
    func programOfAPK() throws {
        func room(_ pk: String, _ program: String) throws -> RoomDocument {
            try Self.read(
                Documents.room.replacingOccurrences(
                    of: #""control""#,
                    with: #""pk": { \#(pk) }, "program": { "scene": "\#(program)" }, "control""#))
        }
        let scene = #""scene": "pk""#
        let change = try DocumentChange(from: room(scene, "solo"), to: room(scene, "pk"))
        #expect(change.paths == ["program.scene"] && change.document.pipeline.pk?.endScene == "pk")
        let end = try DocumentChange(
            from: room(#"\#(scene), "endScene": "solo""#, "solo"), to: room(#"\#(scene), "endScene": "pk""#, "solo"))
        #expect(end.paths == ["pk.endScene"] && end.isChange)
    }

    @Test("the pipeline's `pk` may be added, changed and removed while the room runs")
    func pk() throws {
        func room(_ pk: String) throws -> RoomDocument {
            try Self.read(
                Documents.room.replacingOccurrences(of: #""control""#, with: #""pk": { \#(pk) }, "control""#))
        }
        let (none, plain) = (try Self.read(Documents.room), try room(#""scene": "pk""#))
        let added = try DocumentChange(from: none, to: plain)
        #expect(added.paths == ["pk.scene"] && added.isChange && added.document.pipeline.pk?.scene == "pk")
        let changed = try DocumentChange(
            from: plain, to: room(#""scene": "solo", "start": "whenReady", "punishMs": 5"#))
        #expect(Set(changed.paths) == ["pk.scene", "pk.start", "pk.punishMs"])
        #expect(changed.document.pipeline.pk?.start == .whenReady)
        let removed = try DocumentChange(from: plain, to: none)
        #expect(removed.paths == ["pk.scene"] && removed.isChange && removed.document.pipeline.pk == nil)
    }

    @Test("a countdown of the PK needs no pk in the pipeline, since a command may start one")
    func countdownOfAPK() throws {
        let countdown = #""countdowns": [{ "countdownId": "left", "of": "pk" }], "layout": "solo""#
        let room = try Self.read(
            Documents.room.replacingOccurrences(of: #""layout": "solo""#, with: countdown))
        #expect(room.pipeline.pk == nil && room.pipeline.scenes.contains { !$0.countdowns.isEmpty })
    }

    @Test(
        "a change of a member that needs a new worker is refused with its path, also beside a permitted change",
        arguments: [
            (#""roomId": "88231""#, #""roomId": "2""#, ["room.roomId"]), (#""fps": 30"#, #""fps": 25"#, ["canvas.fps"]),
            (#""listen": "127.0.0.1:0""#, #""listen": "127.0.0.1:1""#, ["control.listen"]),
            (#""bitrate": 2500000"#, #""bitrate": 2500000, "bFrames": 1"#, ["renditions[0].video.bFrames"]),
            (#""name": "720p", "width": 1280"#, #""name": "hd", "width": 1280"#, ["renditions[0].name"]),
            (#"{ "path": "out" }"#, #"{ "path": "out" }, { "type": "record", "path": "rec" }"#, ["outputs[1]"]),
            (#"{ "path": "out" }"#, #"{ "path": "out2" }"#, ["outputs[0].path"]),
            (#""uid": "1001", "streamKey""#, #""uid": "1001", "name": "A", "streamKey""#, ["sources[0].name"]),
        ] as [(String, String, [String])])
    func restart(before: String, after: String, paths: [String]) throws {
        let title = (#""roomId": "88231""#, #""title": "t", "roomId": "88231""#)
        let words = before.contains("roomId") ? [(before, after)] : [(before, after), title]
        let refusal = #expect(throws: DocumentChange.Refusal.self) { try Self.change(words) }
        guard case .needsRestart(let mistakes)? = refusal else {
            Issue.record("\(String(describing: refusal))")
            return
        }
        #expect(mistakes.map(\.path) == paths)
        #expect(mistakes.allSatisfy { !$0.what.isEmpty && !$0.fix.isEmpty })
    }

    /// A room with these sources, in this order, whose only scene shows uid `a`.
    private static func room(_ sources: [String], limits: String = "", auth: String = "") throws -> RoomDocument {
        try self.read(
            #"""
            { "room": { "roomId": "r" }, \#(limits) \#(auth) "sources": [\#(sources.joined(separator: ", "))],
              "outputs": [{ "path": "out" }],
              "scenes": [{ "sceneId": "solo", "layout": "solo", "uids": ["a"] }] }
            """#)
    }

    private static func publisher(_ uid: String, _ more: String = "") -> String {
        #"{ "uid": "\#(uid)", "streamKey": "hunter2\#(uid)"\#(more) }"#
    }

    @Test("publishers may be added, removed and reordered while the room runs; remaining ones may change their volume")
    func sources() throws {
        let (a, b, c) = (Self.publisher("a"), Self.publisher("b"), Self.publisher("c"))
        let screen = #"{ "uid": "a", "streamType": "sub", "streamKey": "hunter2d", "decode": { "codecs": ["hevc"] } }"#
        let first = try Self.room([a, b])
        for (next, paths) in [
            ([a, b, c], ["sources"]), ([a], ["sources"]), ([c, screen, a], ["sources"]),
            ([b, a], ["sources[0].uid", "sources[0].streamKey", "sources[1].uid", "sources[1].streamKey"]),
            ([c, Self.publisher("a", #", "volume": 50"#)], nil),
        ] as [([String], [String]?)] {
            let change = try DocumentChange(from: first, to: Self.room(next))
            #expect(change.isChange && change.document.revision == 1)
            if let paths { #expect(change.paths == paths) }
            #expect(try DocumentChange(from: Self.room(next), to: first).isChange, "and back")
        }
        let signed = #""ingest": { "auth": { "type": "hmac", "secretEnv": "S" } },"#
        let keyless = try Self.room([a, #"{ "uid": "b" }"#], auth: signed)
        #expect(try DocumentChange(from: Self.room([a], auth: signed), to: keyless).isChange)
    }

    @Test("files and pull sources may be added and removed while a live room runs")
    func filesAndPulls() throws {
        let a = Self.publisher("a")
        let music = #"{ "uid": "m", "type": "file", "path": "m.m4a", "loop": true, "background": true, "fadeMs": 500 }"#
        let louder = music.replacing("500", with: "900")
        let pull = #"{ "uid": "p", "type": "rtmp-pull", "urlEnv": "PULL" }"#
        for (before, after) in [
            ([a], [a, music]), ([a], [a, pull]), ([a, pull], [a, music]), ([a, music], [a, louder]),
        ] {
            let (current, next) = (try Self.room(before), try Self.room(after))
            #expect(try DocumentChange(from: current, to: next).isChange)
            #expect(try DocumentChange(from: next, to: current).isChange, "and back")
        }
    }

    @Test(
        "changing a source's type, name, jitter buffer or file while the room runs is refused, with the member's path")
    func fixedSources() throws {
        let (a, b) = (Self.publisher("a"), Self.publisher("b"))
        let file = #"{ "uid": "f", "type": "file", "path": "f.mp4" }"#
        for (before, after, expected) in [
            ([a, file], [file, b, a], []),
            ([a, file], [a, file.replacing("f.mp4", with: "g.mp4")], [("sources[1].path", "cannot change")]),
            (
                [a, b], [b, Self.publisher("a", #", "jitterBufferMs": 400, "name": "A", "volume": 3"#)],
                [("sources[1].jitterBufferMs", "cannot change"), ("sources[1].name", "cannot change")]
            ),
            // A source with the same uid and another type.
            (
                [a, b], [a, #"{ "uid": "b", "type": "file", "path": "f.mp4" }"#],
                [("sources[1].type", "cannot change"), ("sources[1].path", "cannot change")]
            ),
        ] as [([String], [String], [(String, String)])] {
            let (current, next) = (try Self.room(before), try Self.room(after))
            if expected.isEmpty {
                #expect(try DocumentChange(from: current, to: next).isChange)
                continue
            }
            let refusal = #expect(throws: DocumentChange.Refusal.self) { try DocumentChange(from: current, to: next) }
            guard case .needsRestart(let mistakes)? = refusal else {
                Issue.record("\(String(describing: refusal))")
                continue
            }
            #expect(mistakes.map(\.path) == expected.map(\.0), "\(mistakes)")
            for (mistake, (_, what)) in zip(mistakes, expected) {
                #expect(mistake.what.contains(what) && !mistake.fix.isEmpty, "\(mistake)")
            }
        }
    }

    @Test("a room document with more sources than limits.maxSources is refused")
    func sourceLimit() throws {
        let limits = #""limits": { "maxSources": 2 },"#
        _ = try Self.room([Self.publisher("a"), Self.publisher("b")], limits: limits)
        #expect(throws: SpecReport.Refusal.self) {
            try Self.room(["a", "b", "c"].map { Self.publisher($0) }, limits: limits)
        }
    }

    @Test(
        "a document with a webhook's URL in the shortened form that is displayed is refused, unless a webhook really has that URL"
    )
    func cutURL() throws {
        func room(_ urls: String...) throws -> RoomDocument {
            let sinks = urls.map { #"{ "type": "webhook", "url": "\#($0)" }"# }.joined(separator: ", ")
            let listen = #""listen": "127.0.0.1:0""#
            return try Self.read(
                Documents.room.replacingOccurrences(of: listen, with: #"\#(listen), "events": [\#(sinks)]"#))
        }
        let (plain, whole) = ("https://h.example", "https://u:p@h.example/services/T0/B0/secret?t=1")
        let refusal = #expect(throws: DocumentChange.Refusal.self) {
            try DocumentChange(from: room(whole), to: room("https://other.example/", plain))
        }
        guard case .hidden(let mistakes)? = refusal else {
            Issue.record("\(String(describing: refusal))")
            return
        }
        #expect(mistakes.map(\.path) == ["control.events[1].url"])
        for (before, after) in [
            (try room(whole), try room(whole, "https://b.example/")), (try room(whole), try room()),
            (try room(), try room(plain)),
        ] {
            #expect(try DocumentChange(from: before, to: after).isChange)
        }
        // An existing one beside it may stay.
        #expect(try DocumentChange(from: room(whole, plain), to: room(plain)).paths == ["control.events"])
    }

    @Test("rtmp outputs may be added, changed, removed and reordered; a change of another output is refused by path")
    func outputs() throws {
        func room(_ outputs: String...) throws -> RoomDocument {
            let list = outputs.joined(separator: ", ")
            return try Self.read(
                Documents.room.replacingOccurrences(of: #"[ { "path": "out" } ]"#, with: "[ \(list) ]"))
        }
        func push(_ id: String, _ more: String = "") -> String {
            #"{ "type": "rtmp", "outputId": "\#(id)", "url": "rtmp://cdn.example/live/hunter2\#(id)"\#(more) }"#
        }
        let (hls, record) = (#"{ "path": "out" }"#, #"{ "type": "record", "outputId": "r", "path": "rec" }"#)
        let first = try room(hls, push("a"), record, push("b"))
        for next in [
            try room(hls, record), try room(push("b"), hls, push("a"), record),
            try room(hls, push("a", #", "stallTimeoutMs": 2000"#), record, push("b"), push("c")),
        ] {
            #expect(try DocumentChange(from: first, to: next).isChange)
            #expect(try DocumentChange(from: next, to: first).document.pipeline.pushes.map(\.outputID) == ["a", "b"])
        }
        for (next, expected) in [
            (
                try room(push("b"), #"{ "path": "out2", "windowSeconds": 99 }"#, push("a"), record),
                ["outputs[1].path", "outputs[1].windowSeconds"]
            ),
            (try room(hls, push("a"), push("b")), ["outputs"]),
            (try room(hls, record, #"{ "type": "raw", "path": "a.y4m" }"#), ["outputs[2]"]),
            // An id that moves to another kind of output.
            (try room(hls, record, #"{ "type": "raw", "outputId": "a", "path": "a.y4m" }"#), ["outputs[2]"]),
        ] as [(RoomDocument, [String])] {
            let refusal = #expect(throws: DocumentChange.Refusal.self) { try DocumentChange(from: first, to: next) }
            guard case .needsRestart(let mistakes)? = refusal else {
                Issue.record("\(String(describing: refusal))")
                continue
            }
            #expect(mistakes.map(\.path) == expected, "\(mistakes)")
            let isThere = mistakes.contains { $0.path.hasSuffix("path") }
            #expect(isThere || mistakes[0].what.hasSuffix("while the room runs; only outputs of type rtmp can"))
        }
    }

    @Test(
        "a room document of an older revision, or an equal one with other content, is superseded; an equal document changes nothing"
    )
    func revisions() throws {
        func version(_ revision: String, _ title: String) throws -> RoomDocument {
            try Self.read(
                Documents.room.replacingOccurrences(
                    of: #""room": {"#, with: #"\#(revision) "room": { "title": "\#(title)","#))
        }
        let seventh = try version(#""revision": 7,"#, "a")
        #expect(seventh.revision == 7)
        #expect(try !DocumentChange(from: seventh, to: version(#""revision": 7,"#, "a")).isChange)
        #expect(try DocumentChange(from: seventh, to: version(#""revision": 9,"#, "b")).document.revision == 9)
        #expect(try DocumentChange(from: seventh, to: version("", "b")).document.revision == 8, "the next one")
        #expect(try !DocumentChange(from: seventh, to: version("", "a")).isChange)
        for (revision, title) in [(#""revision": 7,"#, "b"), (#""revision": 6,"#, "a"), (#""revision": 6,"#, "b")] {
            #expect(throws: DocumentChange.Refusal.superseded(by: 7)) {
                try DocumentChange(from: seventh, to: version(revision, title))
            }
        }
    }

    @Test(
        "a merge patch keeps members that it does not name, secrets included; errors in the merged document have no line numbers"
    )
    func patches() throws {
        let first = try Self.read(Documents.room)
        let second = try first.patched(Array(#"{"room":{"title":"t"}}"#.utf8)).get().document
        let change = try DocumentChange(from: first, to: second)
        #expect(change.paths == ["room.title"] && change.document.revision == 1)
        #expect(change.document.pipeline.sources == first.pipeline.sources)
        let third = try change.document.patched(Array(#"{"room":{"title":null},"revision":5}"#.utf8)).get().document
        #expect(third.pipeline.room.title == nil && third.revision == 5)
        for (patch, path) in [
            (#"{"canvas":{"widht":3}}"#, "canvas.widht"), ("[]", ""), ("{", ""), (#"{"sources":null}"#, "sources"),
        ] {
            guard case .failure(let refusal) = first.patched(Array(patch.utf8)) else {
                Issue.record("\(patch) is accepted")
                continue
            }
            #expect(refusal.mistakes.contains { $0.path == path }, "\(patch): \(refusal.mistakes)")
            if !path.isEmpty { #expect(refusal.mistakes.allSatisfy { $0.line == 0 }) }
        }
    }

    @Test(
        "in a merge patch, sources as GET /v1/document shows them keep their stream keys, URLs and relays; a new key replaces the old one"
    )
    func keptKeys() throws {
        let document = #"""
            { "room": { "roomId": "1" }, "outputs": [{ "type": "hls", "path": "out" }],
              "ingest": { "pull": { "allowedHosts": ["other.example:*"] } },
              "scenes": [{ "sceneId": "solo", "layout": "solo", "uids": ["1001"] }],
              "sources": [
                { "uid": "1001", "streamKey": "key-of-1001",
                  "relays": [{ "relayId": "r", "url": "rtmp://other.example/live/key" }] },
                { "uid": 2002, "streamKeys": ["key-of-2002"] },
                { "uid": "3003", "type": "rtmp-pull", "url": "rtmp://other.example/live/3003" }] }
            """#
        let first = try Self.read(document)
        let shown = try #require(first.shown[key: "sources"])
        #expect(!shown.text().contains("key-of") && !shown.text().contains("other.example"))
        let same = try first.patched(Array(#"{"sources":\#(shown.text())}"#.utf8)).get().document
        #expect(same.pipeline.sources == first.pipeline.sources)
        let more = shown.text().dropLast() + #",{"uid":"4004","streamKey":"key-of-4004"}]"#
        let added = try first.patched(Array(#"{"sources":\#(more)}"#.utf8)).get().document
        #expect(added.pipeline.sources.dropLast() == first.pipeline.sources[...])
        let changed = shown.text().replacing(#""uid":"1001""#, with: #""uid":"1001","streamKey":"another-key""#)
        let renewed = try first.patched(Array(#"{"sources":\#(changed)}"#.utf8)).get().document
        #expect(renewed.effective.text().contains("another-key") && !renewed.effective.text().contains("key-of-1001"))
        // A source that the room does not have needs a key.
        guard case .failure(let refusal) = first.patched(Array(#"{"sources":[{"uid":"5005"}]}"#.utf8)) else {
            Issue.record("a source without a key is accepted")
            return
        }
        #expect(refusal.mistakes.contains { $0.path == "sources[0].streamKey" })
    }

    @Test("--set flags also apply to a changed document")
    func overrides() throws {
        let flags = [SpecOverride(path: "control.listen", value: "127.0.0.1:8081")]
        let first = try Self.read(Documents.room, flags)
        let again = try first.next(Array(Documents.room.utf8)).get().document
        #expect(try !DocumentChange(from: first, to: again).isChange)
        #expect(again.pipeline.control.listen.description == "127.0.0.1:8081")
        #expect(first.shown.text().contains("8081"))
    }

    @Test("the displayed document contains no secret, and begins with its revision")
    func secrets() throws {
        for text in Documents.full + [Documents.room] {
            let shown = try Self.read(text).shown.text()
            #expect(!shown.contains("hunter2") && !shown.contains("hidden-key") && !shown.contains("?t=1"), "\(shown)")
            #expect(shown.hasPrefix(#"{"revision":"#))
        }
        let node = try Self.node(
            #"{"outputs":[{"type":"http","url":"https://u:p@h.example/a?t=1"}],"sources":[{"url":"rtmp://h/live/k"}]}"#)
        #expect(
            node.withoutSecrets.text() == #"{"outputs":[{"type":"http","url":"https://h.example/a"}],"sources":[{}]}"#)
    }
}
