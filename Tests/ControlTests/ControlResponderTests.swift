import HTTPListener
import HTTPTypes
import MediaTypes
import Testing

import Control

@Suite("ControlResponder: routes of /v1, and health endpoints")
struct ControlResponderTests {
    private static func reply(
        _ method: HTTPRequest.Method, _ path: String, _ body: String = "", room: FakeRoom = FakeRoom()
    ) -> (status: Int, text: String, fields: HTTPFields) {
        let responder = ControlResponder(room: room, guardian: AccessGuard(listen: .unix(path: "/a"), token: nil))
        let head = HTTPRequest(method: method, scheme: "http", authority: "a", path: path)
        let reply = responder.reply(to: ListenerRequest(head: head, body: .bytes(Array(body.utf8))))
        guard case .bytes(let bytes, let range) = reply.body else { return (reply.status.code, "", reply.fields) }
        return (reply.status.code, String(decoding: bytes[range], as: UTF8.self), reply.fields)
    }

    @Test("GET /v1/document returns the pipeline document; a patch that the room refuses with needsRestart gets 409")
    func document() {
        #expect(Self.reply(.get, "/v1/document").text.hasPrefix(#"{"room":{}}"#))
        #expect(Self.reply(.put, "/v1/document", "{}").status == 405)
        let refused = Self.reply(.patch, "/v1/room", #"{"canvas":{}}"#)
        #expect(refused.status == 409 && refused.text.contains(#""code":"needsRestart""#))
        #expect(Self.reply(.put, "/v1/room?dryRun=yes", "{}").status == 400)
        #expect(Self.reply(.get, "/v1/room?dryRun=true").status == 400)
        #expect(Self.reply(.delete, "/v1/room").fields[.allow] == "GET, HEAD, PUT, PATCH")
    }

    @Test("a draining worker answers a request to end the room with 410, since a successor runs it")
    func endOfDraining() {
        let room = FakeRoom(health: HealthReport(live: true, ready: false, started: true, state: "draining"))
        let refused = Self.reply(.post, "/v1/room:end", room: room)
        #expect(refused.status == 410 && refused.text.contains("successor"), "\(refused.text)")
        #expect(room.calls.isEmpty)
        #expect(Self.reply(.post, "/v1/room:drain", room: room).status == 202)
    }

    @Test(
        "a source's still has its age and a tag, with which a client gets 304 for an unchanged frame; its width is 16 to 1280"
    )
    func still() throws {
        let room = FakeRoom()
        let first = Self.reply(.get, "/v1/sources/a/b/still.jpg?streamType=sub&width=640", room: room)
        #expect(first.status == 200 && first.text == "jpeg" && first.fields[.contentType] == "image/jpeg")
        #expect(first.fields[.eTag] == "\"f1-640\"" && first.fields[.cacheControl] == "private, no-cache")
        #expect(first.fields[try #require(HTTPField.Name("X-Tandem-Age-Ms"))] == "40")
        #expect(Self.reply(.get, "/v1/sources/1001/still.jpg", room: room).status == 200)
        #expect(Self.reply(.get, "/v1/sources/1001/still.jpg?live=true", room: room).status == 200)
        #expect(room.calls == ["still a/b sub 640", "still 1001 main 320", "still 1001 main 320 live"])
        let responder = ControlResponder(room: room, guardian: AccessGuard(listen: .unix(path: "/a"), token: nil))
        let head = HTTPRequest(
            method: .get, scheme: "http", authority: "a", path: "/v1/sources/1001/still.jpg",
            headerFields: [.ifNoneMatch: "\"f1-320\""])
        let same = responder.reply(to: ListenerRequest(head: head, body: .bytes([])))
        #expect(same.status == .notModified && same.body.count == 0)
        for query in ["width=15", "width=1281", "width=a", "height=16", "live=1"] {
            #expect(Self.reply(.get, "/v1/sources/1001/still.jpg?\(query)", room: room).status == 400)
        }
        #expect(Self.reply(.post, "/v1/sources/1001/still.jpg", room: room).status == 405)
    }

    @Test("GET /v1/stats has the levels standard, which is the default, and debug; another level gets 400")
    func statistics() {
        #expect(Self.reply(.get, "/v1/stats").text.hasPrefix(#"{"level":"standard"}"#))
        #expect(Self.reply(.get, "/v1/stats?level=standard").text.hasPrefix(#"{"level":"standard"}"#))
        #expect(Self.reply(.get, "/v1/stats?level=debug").text.hasPrefix(#"{"level":"debug"}"#))
        let wrong = Self.reply(.get, "/v1/stats?level=all")
        #expect(wrong.status == 400 && wrong.text.contains("use standard or debug"))
        #expect(Self.reply(.get, "/v1/stats?detail=1").status == 400)
        #expect(Self.reply(.post, "/v1/stats").status == 405)
    }

    @Test(
        "each control request's path, query and body become the right call of the room, and its reply has the right status",
        arguments: [
            (.put, "/v1/program", #"{"sceneId":"pk"}"#, 200, #"program {"sceneId":"pk"}"#),
            (.put, "/v1/scenes/pk", #"{"layout":"auto"}"#, 200, #"scene pk {"layout":"auto"}"#),
            (.delete, "/v1/scenes/pk", "", 200, "remove pk"),
            (.put, "/v1/sources/1001", #"{"volume":50}"#, 200, "source 1001 main 50 - - - -"),
            (
                .put, "/v1/sources/1001?streamType=sub", #"{"audioPush":false,"videoPush":true}"#, 200,
                "source 1001 sub - false true - -"
            ),
            (
                .put, "/v1/sources/1001", #"{"offsetMs":-250,"rotation":270,"streamType":"sub"}"#, 200,
                "source 1001 sub - - - -250 270"
            ),
            (.put, "/v1/sources/a%2Fb", #"{"volume":0}"#, 200, "source a/b main 0 - - - -"),
            (.put, "/v1/texts/left", #"{"text":"한국어 100% {}"}"#, 200, "text left 한국어 100% {}"),
            (.put, "/v1/texts/left", #"{"text":""}"#, 200, "text left "),
            (.post, "/v1/metadata", #"{"type":"gift","text":"rose"}"#, 202, #"metadata {"type":"gift","text":"rose"}"#),
            (.put, "/v1/scores/pk", #"{"left":3}"#, 200, "score pk 3 -"),
            (.put, "/v1/scores/pk", #"{"left":3,"right":0}"#, 200, "score pk 3 0"),
            (.put, "/v1/countdowns/pk", #"{"seconds":0}"#, 200, "countdown pk in 0"),
            (
                .put, "/v1/countdowns/pk", #"{"endsAt":"2026-01-31T20:00:00Z"}"#, 200,
                "countdown pk at 2026-01-31T20:00:00Z"
            ),
            (
                .put, "/v1/sources/1001/relays/r1", #"{"url":"rtmp://b/live/k"}"#, 200,
                "relay 1001 main r1 rtmp://b/live/k"
            ),
            (
                .put, "/v1/sources/a%2Fb/relays/r-2?streamType=sub", #"{"url":"x"}"#, 200, "relay a/b sub r-2 x"
            ),
            (.delete, "/v1/sources/1001/relays/r1", "", 200, "no relay 1001 main r1"),
            (.post, "/v1/sources/1001:kick", "", 200, "kick 1001 main 60"),
            (.post, "/v1/sources/a%2Fb:kick?streamType=sub", #"{"refuseSeconds":0}"#, 200, "kick a/b sub 0"),
            (.put, "/v1/room", #"{"a":1}"#, 200, #"document whole {"a":1}"#),
            (.patch, "/v1/room", #"{"a":1}"#, 200, #"document patch {"a":1}"#),
            (.put, "/v1/room?dryRun=true", #"{"a":1}"#, 200, #"document whole dry {"a":1}"#),
            (.patch, "/v1/room?dryRun=false", "{}", 200, "document patch {}"),
            (.post, "/v1/room:end", "", 202, "end"), (.post, "/v1/room:drain", "{}", 202, "drain"),
        ] as [(HTTPRequest.Method, String, String, Int, String)])
    func calls(method: HTTPRequest.Method, path: String, body: String, status: Int, call: String) {
        let room = FakeRoom()
        #expect(Self.reply(method, path, body, room: room).status == status)
        #expect(room.calls == [call])
    }

    @Test(
        "an invalid control request gets its status and a problem that names the fault or the remedy; the room executes no command",
        arguments: [
            (.put, "/v1/program", #"{"scene":"pkk"}"#, 404, "solo, pk"),
            (.put, "/v1/program?x=1", #"{"scene":"pk"}"#, 400, "query parameter"),
            (.put, "/v1/scenes/pk", "", 422, #""nertcCode":1501"#), (.put, "/v1/scenes/pk", "x", 409, "superseded"),
            (.put, "/v1/scenes/", "{}", 404, "/v1/scenes/{sceneId}"), (.put, "/v1/scenes", "{}", 405, "GET, HEAD"),
            (.get, "/v1/scenes?all=1", "", 400, "query parameter"),
            (.put, "/v1/sources/1001", #"{"rotation":45}"#, 422, "0, 90, 180 or 270"),
            (.put, "/v1/sources/1001", #"{"rotation":360}"#, 422, "0 to 270"),
            (.put, "/v1/sources/1001", #"{"offsetMs":10001}"#, 422, "-10000 to 10000"),
            (.put, "/v1/sources/1001", #"{"offsetMs":1.5}"#, 422, "whole number"),
            (.put, "/v1/sources/1001", #"{"streamType":"sub"}"#, 400, "changes nothing"),
            (.put, "/v1/sources/1001?streamType=main", #"{"volume":1,"streamType":"sub"}"#, 422, "different values"),
            (.get, "/v1/sources/9", "", 404, "1001"),
            (.put, "/v1/texts/a", "{}", 400, "has no text"), (.put, "/v1/texts/a", #"{"text":7}"#, 422, "use a string"),
            (.put, "/v1/texts/a", #"{"text":"a\nb"}"#, 422, "one line"),
            (.put, "/v1/scores/a", "{}", 400, "changes nothing"), (.put, "/v1/scores/a", #"{"left":-1}"#, 422, "0 to"),
            (.put, "/v1/scores/a", #"{"lef":1}"#, 400, "did you mean \\\"left\\\"?"),
            (.put, "/v1/countdowns/a", "{}", 400, "exactly one of"),
            (.put, "/v1/countdowns/a", #"{"seconds":1,"endsAt":"x"}"#, 400, "exactly one of"),
            (.put, "/v1/countdowns/a", #"{"seconds":86401}"#, 422, "0 to 86400"),
            (.put, "/v1/countdowns/a", "seconds=1", 400, "line 1, column 1"),
            (.put, "/v1/sources/9", #"{"volume":1}"#, 404, "1001"),
            (.put, "/v1/sources/1001", #"{"volume":201}"#, 422, "0 to 200"),
            (.put, "/v1/sources/1001", "{}", 400, "changes nothing"),
            (.put, "/v1/sources/1001", #"{"volum":1}"#, 400, "volume"),
            (.put, "/v1/sources/1001?streamtype=sub", #"{"volume":1}"#, 400, "streamType"),
            (.put, "/v1/sources/1001/relays/r1", "{}", 400, "rtmp://host/app/key"),
            (.put, "/v1/sources/1001/relays/a%20b", #"{"url":"x"}"#, 422, "letters, digits"),
            (.put, "/v1/sources/1001/relays/r5", #"{"url":"x"}"#, 429, "\"number\":1402"),
            (.put, "/v1/sources/9/relays/r1", #"{"url":"x"}"#, 404, "1001"),
            (.delete, "/v1/sources/1001/relays/r9", "", 404, "r1"),
            (.get, "/v1/sources/1001/relays/r1", "", 405, "PUT, DELETE"),
            (.put, "/v1/sources/1001:kick", "", 405, "POST"), (.post, "/v1/sources/9:kick", "", 404, "1001"),
            (.post, "/v1/sources/1001:kick", #"{"refuseSeconds":86401}"#, 422, "0 to 86400"),
            (.post, "/v1/sources/1001:kick", #"{"seconds":1}"#, 400, "refuseSeconds"),
            (.post, "/v1/room:end", #"{"now":true}"#, 400, "remove it"),
            (.get, "/v1/progam", "", 404, "/v1/program"),
            (.put, "/v1/sources/", #"{"volume":1}"#, 404, "/v1/sources/{uid}"),
            (.get, "/%ff", "", 400, "percent-encode"),
            (.post, "/v1/program", "{}", 405, "PUT"),
            (.get, "/v1/room:end", "", 405, "POST"), (.delete, "/v1/room", "", 405, "GET, HEAD"),
            (.put, "/livez", "", 405, "GET"),
        ] as [(HTTPRequest.Method, String, String, Int, String)])
    func refusals(method: HTTPRequest.Method, path: String, body: String, status: Int, text: String) {
        let room = FakeRoom()
        let reply = Self.reply(method, path, body, room: room)
        #expect(reply.status == status)
        #expect(reply.text.contains(text), "\(reply.text)")
        #expect(reply.fields[.contentType] == "application/problem+json")
        #expect(room.calls.isEmpty)
    }

    @Test("a problem document has the members of RFC 9457 and `code`, `number`, `fix` and `nertcCode`")
    func problem() {
        let reply = Self.reply(.put, "/v1/program", #"{"scene":"pkk"}"#)
        let expected =
            ##"{"type":"urn:tandem:error:notFound","title":"Not Found","status":404,"code":"notFound","number":1404,"##
            + ##""detail":"there is no scene \"a\"\u0001b\"","fix":"use one of: solo, pk","nertcCode":1404}"##
        #expect(reply.text == expected + "\n")
    }

    @Test("the reply to a refused scene lists its error with path, line, column, description and fix")
    func documentErrors() {
        let reply = Self.reply(.put, "/v1/scenes/pk")
        let expected = ##""errors":[{"path":"panes[0].x","line":2,"column":5,"what":"is missing","fix":"add it"}]}"##
        #expect(reply.text.hasSuffix(expected + "\n"), "\(reply.text)")
    }

    @Test(
        "GET /v1/scenes, GET /v1/sources and GET /v1/sources/{uid} return JSON that is not cached",
        arguments: [
            ("/v1/scenes", #"{"scenes":[]}"#), ("/v1/sources", #"{"sources":[]}"#),
            ("/v1/sources/1001?streamType=sub", #"{"uid":"1001","streamType":"sub"}"#),
        ])
    func reads(path: String, text: String) {
        let reply = Self.reply(.get, path)
        #expect(reply.status == 200)
        #expect(reply.text == text + "\n")
        #expect(reply.fields[.cacheControl] == "no-store")
    }

    @Test("the reply to a wrong method lists the allowed ones in its Allow field")
    func allow() {
        #expect(Self.reply(.get, "/v1/program").fields[.allow] == "PUT")
    }

    @Test("/v1/room and /v1/state both return the room's state, uncached", arguments: ["/v1/room", "/v1/state"])
    func state(path: String) {
        let reply = Self.reply(.get, path)
        #expect(reply.text == "{\"state\":\"live\"}\n")
        #expect(reply.fields[.contentType] == "application/json")
        #expect(reply.fields[.cacheControl] == "no-store")
    }

    @Test(
        "/livez, /readyz and /startupz each depend only on their own condition: 200 with state and checks, or 503",
        arguments: [("/livez", true, false, false), ("/readyz", false, true, false), ("/startupz", false, false, true)])
    func health(path: String, live: Bool, ready: Bool, started: Bool) {
        let passing = FakeRoom(
            health: HealthReport(
                live: live, ready: ready, started: started, state: "waiting", checks: ["b": "2", "a": "1"]))
        let pass = Self.reply(.get, path, room: passing)
        #expect(pass.status == 200)
        #expect(pass.text == #"{"status":"pass","state":"waiting","checks":{"a":"1","b":"2"}}"# + "\n")
        let failing = FakeRoom(health: HealthReport(live: !live, ready: !ready, started: !started, state: "starting"))
        #expect(Self.reply(.get, path, room: failing).status == 503)
    }
}
