import HTTPListener
import HTTPProbe
import HTTPTypes
import Logging
import MediaTypes
import Synchronization
import TestSupport
import Testing

import Control

@Suite("Control server over loopback TCP and Unix sockets", .timeLimit(.minutes(1)))
struct ControlServerTests {
    private static func start(_ listen: String, token: String? = nil, room: FakeRoom = FakeRoom()) async throws
        -> ControlServer
    {
        try await ControlServer.start(
            listen: ListenAddress(parsing: listen), token: token, room: room, logger: Logger(label: "test"))
    }

    @Test("a PUT /v1/program over TCP reaches the room, and the control server's reply has the tick")
    func tcp() async throws {
        let room = FakeRoom()
        let server = try await Self.start("127.0.0.1:0", room: room)
        let reply = try await HTTPProbe(server.boundAddress).request("PUT /v1/program", body: #"{"scene":"pk"}"#)
        #expect(reply.status == 200)
        #expect(reply.text == #"{"sceneId":"pk","changed":true,"tick":7,"appliesAt":null,"programTimeMs":null}"# + "\n")
        #expect(room.calls == [#"program {"scene":"pk"}"#])
        await server.stop()
    }

    @Test("a POST /v1/room:end over a Unix socket reaches the room and gets 202")
    func unixSocket() async throws {
        let directory = try TemporaryDirectory()
        let room = FakeRoom()
        let server = try await Self.start("unix:\(directory.path)/control.sock", room: room)
        #expect(server.boundAddress == "unix:\(directory.path)/control.sock")
        #expect(try await HTTPProbe(server.boundAddress).request("POST /v1/room:end").status == 202)
        #expect(room.calls == ["end"])
        await server.stop()
        directory.remove()
    }

    @Test("control requests over the rate limit get 429 with Retry-After; a health probe is still answered")
    func rate() async throws {
        var options = ControlListenerOptions()
        options.requestsPerSecond = 3
        let server = try await ControlServer.start(
            listen: ListenAddress(parsing: "127.0.0.1:0"), token: nil, room: FakeRoom(), options: options,
            logger: Logger(label: "test"))
        let probe = HTTPProbe(server.boundAddress)
        var refused: HTTPProbe.Reply?
        for _ in 0..<20 where refused == nil {
            let reply = try await probe.request("GET /v1/room")
            if reply.status == 429 { refused = reply }
        }
        #expect(refused?.fields["retry-after"] == "1")
        #expect(refused?.fields["content-type"] == "application/problem+json")
        #expect(try await probe.request("GET /livez").status == 200)
        await server.stop()
    }

    @Test(
        "control requests without a valid token share one rate limit; the read and the command token each have their own"
    )
    func ownBudgets() async throws {
        var options = ControlListenerOptions()
        options.requestsPerSecond = 20
        options.readToken = "r3ader"
        let server = try await ControlServer.start(
            listen: ListenAddress(parsing: "127.0.0.1:0"), token: "c0mmand", room: FakeRoom(), options: options,
            logger: Logger(label: "test"))
        let probe = HTTPProbe(server.boundAddress)
        func spend(_ fields: String) async throws -> [Int] {
            let text = "GET /v1/room HTTP/1.1\nHost: a\n\(fields)\n"
            return try await probe.exchange((0..<200).map { _ in (text: text, body: [UInt8]()) }).map(\.status)
        }
        let began = ContinuousClock.now
        let strangers = try await spend("") + spend("Authorization: Bearer wr0ng\n")
        // Budget that refills while they are answered counts too.
        let seconds = began.duration(to: .now) / .seconds(1)
        #expect(Set(strangers) == [401, 429])
        #expect(Double(strangers.count { $0 == 401 }) <= 21 + 20 * seconds, "they share one budget")
        let readers = try await spend("Authorization: Bearer r3ader\n")
        #expect(Set(readers) == [200, 429])
        let command = try await probe.request(
            "PUT /v1/program", ["Authorization: Bearer c0mmand"], body: #"{"scene":"pk"}"#)
        #expect(command.status == 200)
        let commanders = try await spend("Authorization: Bearer c0mmand\n")
        #expect(Set(commanders) == [200, 429], "with a token there is a limit, too")
        await server.stop()
    }

    @Test("a ProbeServer (a worker without a room) answers health probes, and other requests with 410")
    func probes() async throws {
        let isAlive = Atomic(true)
        let server = try await ProbeServer.start(
            listen: ListenAddress(parsing: "127.0.0.1:0"), logger: Logger(label: "test")
        ) {
            HealthReport(
                live: isAlive.load(ordering: .relaxed), ready: false, started: true, state: "closed",
                checks: ["settlement": "1 ms ago"])
        }
        let probe = HTTPProbe(server.boundAddress)
        let start = try await probe.request("GET /startupz")
        #expect(start.status == 200)
        #expect(start.text.contains(#""state":"closed","checks":{"settlement":"1 ms ago"}"#), "\(start.text)")
        #expect(try await probe.request("GET /livez").status == 200)
        #expect(try await probe.request("GET /readyz").status == 503)
        #expect(try await probe.request("POST /livez").status == 405)
        for line in ["GET /v1/room", "POST /v1/room:end", "GET /", "GET /nowhere"] {
            #expect(try await probe.request(line).status == 410, "\(line)")
        }
        isAlive.store(false, ordering: .relaxed)
        #expect(try await probe.request("GET /livez").status == 503)
        await server.stop()
    }

    @Test(
        "more control connections than the limit, idle or with half a request, keep out neither health probes nor a GET /v1/state"
    )
    func heldSockets() async throws {
        let server = try await Self.start("127.0.0.1:0")
        let probe = HTTPProbe(server.boundAddress)
        try await withThrowingTaskGroup(of: Int.self) { group in
            // Half of them send the start of a request and no more.
            for index in 0..<(ControlServer.connections + 44) {
                group.addTask { try await probe.bytesUntilClosed(after: index % 2 == 0 ? "" : "GET /v1/ro") }
            }
            try await waitUntil("a crowd is connected", { server.connectionCount }) { $0 >= ControlServer.crowd }
            for path in ["/livez", "/readyz", "/v1/state"] {
                #expect(try await probe.request("GET \(path)").status == 200)
            }
            await server.stop(within: .seconds(0))
            for try await count in group { #expect(count == 0) }
        }
    }

    @Test("with 32 clients that follow events, another one gets 429; requests that do not wait are still answered")
    func followers() async throws {
        let room = FakeRoom()
        let server = try await Self.start("127.0.0.1:0", room: room)
        let probe = HTTPProbe(server.boundAddress)
        let stream = "GET /v1/events HTTP/1.1\nHost: localhost\nAccept: text/event-stream\n\n"
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<32 {
                group.addTask {
                    if index % 2 == 0 {
                        _ = try await probe.read(after: stream) { _ in false }
                    } else {
                        _ = try await probe.request("GET /v1/events?waitSeconds=25")
                    }
                }
            }
            try await waitUntil("the log has 32 observers", { room.eventLog.observers }) { $0 >= 32 }
            let refused = try await probe.request("GET /v1/events", ["Accept: text/event-stream"])
            #expect(refused.status == 429 && refused.text.contains("the limit is 32"))
            #expect(try await probe.request("GET /v1/events?after=0").status == 200)
            #expect(try await probe.request("GET /livez").status == 200)
            room.eventLog.close()
            try await group.waitForAll()
        }
        // The clients have left, so this one may wait.
        #expect(try await probe.request("GET /v1/events?waitSeconds=1").status == 200)
        await server.stop()
    }

    @Test("slow document changes delay neither health probes, reads, other control commands nor the drain")
    func hangingCommands() async throws {
        let room = FakeRoom()
        let server = try await Self.start("127.0.0.1:0", room: room)
        let probe = HTTPProbe(server.boundAddress)
        async let one = probe.request("PATCH /v1/room", body: #"{"hang":1}"#)
        async let two = probe.request("PATCH /v1/room", body: #"{"hang":2}"#)
        // The other one waits behind it.
        try await waitUntil("a command hangs") { room.hanging.load(ordering: .relaxed) > 0 }
        #expect(try await probe.request("GET /livez").status == 200)
        #expect(try await probe.request("GET /v1/state").status == 200)
        #expect(try await probe.request("PUT /v1/program", body: #"{"sceneId":"pk"}"#).status == 200)
        #expect(try await probe.request("POST /v1/room:drain").status == 202)
        for _ in 0..<2 { room.hang.signal() }
        let replies = try await [one, two]
        #expect(replies.map(\.status) == [200, 200])
        await server.stop()
    }

    @Test(
        "a control reply repeats the request's X-Request-ID, or has a generated one if that is missing or over 128 characters long"
    )
    func requestID() async throws {
        let server = try await Self.start("127.0.0.1:0")
        let probe = HTTPProbe(server.boundAddress)
        let reply = try await probe.request("GET /v1/room", ["X-Request-Id: r-17"])
        #expect(reply.fields["x-request-id"] == "r-17")
        var made: Set<String> = []
        for line in ["GET /v1/room", "GET /nowhere", "GET /livez", "PUT /v1/program"] {
            made.insert(try #require(try await probe.request(line).fields["x-request-id"]))
        }
        made.insert(
            try #require(
                try await probe.request("GET /v1/room", ["X-Request-Id: \(String(repeating: "r", count: 129))"])
                    .fields["x-request-id"]))
        #expect(made.count == 5 && made.allSatisfy { !$0.isEmpty && $0.utf8.count <= 16 })
        await server.stop()
    }

    @Test(
        "the control listener passes requests under /media to its media handler if it has one, and requires the token for them"
    )
    func media() async throws {
        var options = ControlListenerOptions()
        options.media = ControlListenerOptions.Media(isReading: false) { request, answer in
            answer(.plain(.ok, request.head.path ?? ""))
        }
        let server = try await ControlServer.start(
            listen: ListenAddress(parsing: "127.0.0.1:0"), token: "s3cret", room: FakeRoom(), options: options,
            logger: Logger(label: "test"))
        let probe = HTTPProbe(server.boundAddress)
        #expect(try await probe.request("GET /media/a.m3u8?_HLS_msn=3").status == 401)
        let reply = try await probe.request("GET /media/a.m3u8?_HLS_msn=3", ["Authorization: Bearer s3cret"])
        #expect(reply.status == 200 && reply.text == "/a.m3u8?_HLS_msn=3\n")
        await server.stop()
        let plain = try await Self.start("127.0.0.1:0")
        #expect(try await HTTPProbe(plain.boundAddress).request("GET /media/a.m3u8").status == 404)
        await plain.stop()
    }

    @Test(
        "a control server without a token does not start on an address that is not loopback",
        arguments: ["0.0.0.0:0", "[::]:0", "192.0.2.1:0", "room.example:0"])
    func refusedWithoutToken(listen: String) async throws {
        let error = await #expect(throws: MediaError.self) { try await Self.start(listen) }
        #expect(error?.code == .rejected)
        #expect(error?.fix.contains("token") == true)
    }

    @Test(
        "with a token, the control server starts on 0.0.0.0; commands and unknown paths need the token, health probes do not"
    )
    func token() async throws {
        let room = FakeRoom()
        let server = try await Self.start("0.0.0.0:0", token: "s3cret", room: room)
        let probe = HTTPProbe(server.boundAddress)
        let refused = try await probe.request("POST /v1/room:drain")
        #expect(refused.status == 401)
        #expect(refused.fields["www-authenticate"] == "Bearer")
        #expect(refused.fields["content-type"] == "application/problem+json")
        #expect(try await probe.request("GET /nowhere").status == 401, "the error does not reveal what exists")
        #expect(try await probe.request("GET /livez").status == 200)
        #expect(room.calls.isEmpty)
        #expect(try await probe.request("POST /v1/room:drain", ["Authorization: Bearer s3cret"]).status == 202)
        #expect(room.calls == ["drain"])
        await server.stop()
    }

    @Test(
        "against DNS rebinding, a loopback control server answers a foreign Host or Origin, or no Host (HTTP/1.0), with 403"
    )
    func rebinding() async throws {
        let room = FakeRoom()
        let server = try await Self.start("127.0.0.1:0", room: room)
        let probe = HTTPProbe(server.boundAddress)
        #expect(try await probe.send("POST /v1/room:end HTTP/1.1\nHost: evil.example\n\n").status == 403)
        #expect(try await probe.request("POST /v1/room:end", ["Origin: http://evil.example"]).status == 403)
        #expect(try await probe.send("POST /v1/room:end HTTP/1.0\n\n").status == 403)
        #expect(try await probe.send("POST /v1/room:end HTTP/1.1\n\n").status == 400)
        #expect(room.calls.isEmpty)
        await server.stop()
    }

    @Test(
        "a control request whose JSON body has the type of another format gets 415; curl's default type is accepted",
        arguments: [
            ("PUT /v1/program", "application/json", 200), ("PUT /v1/program", "Application/JSON; charset=utf-8", 200),
            // curl's default type for any body.
            ("PUT /v1/program", "application/x-www-form-urlencoded", 200), ("PUT /v1/program", "text/plain", 415),
            ("PUT /v1/program", "multipart/form-data; boundary=a", 415), ("PUT /v1/program", "", 415),
            ("PUT /v1/room", "application/merge-patch+json", 415),
            ("PATCH /v1/room", "application/merge-patch+json", 200),
            ("PATCH /v1/room", "application/json-patch+json", 415),
        ])
    func contentType(line: String, type: String, status: Int) async throws {
        let room = FakeRoom()
        let server = try await Self.start("127.0.0.1:0", room: room)
        let reply = try await HTTPProbe(server.boundAddress).request(
            line, ["Content-Type: \(type)"], body: #"{"scene":"pk"}"#)
        #expect(reply.status == status, "\(reply.text)")
        #expect(room.calls.count == (status == 200 ? 1 : 0))
        await server.stop()
    }

    @Test(
        "CORS fields name only listed origins; without a token, a page of another origin gets 403; OPTIONS lists the methods"
    )
    func origins() async throws {
        let room = FakeRoom()
        var options = ControlListenerOptions()
        options.allowOrigins = ["https://console.example"]
        options.media = ControlListenerOptions.Media(isReading: true) { _, answer in
            answer(ListenerReply(.ok, fields: [.vary: "Accept-Encoding"], body: .text("#EXTM3U")))
        }
        let server = try await ControlServer.start(
            listen: ListenAddress(parsing: "127.0.0.1:0"), token: "s3cret", room: room, options: options,
            logger: Logger(label: "test"))
        let probe = HTTPProbe(server.boundAddress)
        let preflight = try await probe.request("OPTIONS /v1/room", ["Origin: https://console.example"])
        #expect(preflight.status == 204 && preflight.fields["allow"] == "GET, HEAD, PUT, PATCH, OPTIONS")
        #expect(preflight.fields["access-control-allow-origin"] == "https://console.example")
        #expect(preflight.fields["access-control-allow-methods"]?.contains("PATCH") == true)
        #expect(preflight.fields["access-control-allow-headers"]?.contains("Authorization") == true)
        let other = try await probe.request("OPTIONS /v1/room", ["Origin: https://evil.example"])
        #expect(other.status == 204 && !other.fields.keys.contains { $0.hasPrefix("access-control") })
        #expect(other.fields["vary"] == "Origin")
        for (fields, status) in [(["Authorization: Bearer s3cret"], 200), ([], 401)] {
            let reply = try await probe.request("GET /v1/room", fields + ["Origin: https://console.example"])
            #expect(reply.status == status)
            #expect(reply.fields["access-control-allow-origin"] == "https://console.example")
        }
        let media = try await probe.request("GET /media/index.m3u8", ["Authorization: Bearer s3cret"])
        #expect(media.fields["vary"] == "Accept-Encoding, Origin", "caches keep both apart")
        await server.stop()
        // Without a token only pages of listed origins may send commands.
        let open = try await ControlServer.start(
            listen: ListenAddress(parsing: "127.0.0.1:0"), token: nil, room: room, options: options,
            logger: Logger(label: "test"))
        let page = HTTPProbe(open.boundAddress)
        #expect(try await page.request("POST /v1/room:drain", ["Origin: https://evil.example"]).status == 403)
        #expect(try await page.request("POST /v1/room:drain", ["Origin: https://console.example"]).status == 202)
        await open.stop()
    }

    @Test("the control server replaces its tokens without a restart: the new ones are valid, the old ones are not")
    func renewal() async throws {
        var options = ControlListenerOptions()
        options.readToken = "reader"
        let server = try await ControlServer.start(
            listen: ListenAddress(parsing: "127.0.0.1:0"), token: "old", room: FakeRoom(), options: options,
            logger: Logger(label: "test"))
        let probe = HTTPProbe(server.boundAddress)
        func status(_ line: String, _ token: String) async throws -> Int {
            try await probe.request(line, ["Authorization: Bearer \(token)"]).status
        }
        #expect(try await status("POST /v1/room:drain", "old") == 202)
        server.renewTokens(command: "new", reader: nil)
        #expect(try await status("POST /v1/room:drain", "old") == 401)
        #expect(try await status("POST /v1/room:drain", "new") == 202)
        #expect(try await status("GET /v1/room", "reader") == 401)
        server.renewTokens(command: "new", reader: "second")
        #expect(try await status("GET /v1/room", "second") == 200)
        #expect(try await status("POST /v1/room:drain", "second") == 403)
        await server.stop()
    }

    @Test(
        "the statistics stream repeats statistics as server-sent events; it ends with the room, and one opened afterwards at once"
    )
    func statisticsStream() async throws {
        let room = FakeRoom()
        let server = try await Self.start("127.0.0.1:0", room: room)
        let probe = HTTPProbe(server.boundAddress)
        let request = "GET /v1/stats/stream?level=debug HTTP/1.1\nHost: localhost\n\n"
        func count(_ text: String) -> Int { text.split(separator: "data: ").count - 1 }
        let text = try await probe.read(after: request) { count($0) == 2 }
        #expect(text.contains("text/event-stream") && text.contains(#"data: {"level":"debug"}"#))
        // The room ends while this client reads.
        let followed = try await probe.read(after: request) { text in
            if count(text) > 0 { room.eventLog.close() }
            return count(text) == 10
        }
        #expect((1..<10).contains(count(followed)), "the server ends it")
        let late = try await probe.read(after: request) { count($0) == 10 }
        #expect(late.contains("text/event-stream") && !late.contains("data: "), "the server ends it at once")
        #expect(try await probe.request("GET /v1/stats/stream?level=loud").status == 400)
        await server.stop()
    }

    @Test(
        "GET /v1/logs returns the newest log lines, PUT /v1/log-level changes the level, GET /version returns the versions"
    )
    func logs() async throws {
        let applied = Mutex<[Logger.Level]>([])
        let logRing = LogRing(level: .info) { level in applied.withLock { $0.append(level) } }
        var options = ControlListenerOptions()
        options.logs = logRing
        options.versions = [("version", "1.2.3")]
        let server = try await ControlServer.start(
            listen: ListenAddress(parsing: "127.0.0.1:0"), token: nil, room: FakeRoom(), options: options,
            logger: Logger(label: "test"))
        let probe = HTTPProbe(server.boundAddress)
        for number in 0..<(LogRing.capacity + 3) { logRing.append("{\"n\":\(number)}") }
        logRing.append(#"{"n":"\#(String(repeating: "x", count: 5_000))"}"#)
        #expect(
            try await probe.request("GET /v1/logs?tail=2").text
                == #"{"level":"info","lines":[{"n":1001},{"n":1002}]}"# + "\n")
        #expect(try await probe.request("GET /v1/logs?tail=1000").text.contains(#"[{"n":3},"#))
        #expect(try await probe.request("GET /v1/logs?tail=1001").status == 400)
        #expect(try await probe.request("PUT /v1/log-level", body: #"{"level":"loud"}"#).status == 422)
        let set = try await probe.request("PUT /v1/log-level", body: #"{"level":"debug"}"#)
        #expect(set.text == #"{"level":"debug","changed":true}"# + "\n" && logRing.level == .debug)
        #expect(
            applied.withLock { $0 } == [.info, .debug], "the level is also passed to libraries with their own loggers")
        #expect(try await probe.request("GET /version").text == #"{"version":"1.2.3"}"# + "\n")
        await server.stop()
        let plain = try await Self.start("127.0.0.1:0")
        #expect(try await HTTPProbe(plain.boundAddress).request("GET /v1/logs").status == 404)
        await plain.stop()
    }

    @Test(
        "GET /v1/alarms passes on its state filter; outputs start, stop and restart; a key frame and a rendition can be requested"
    )
    func outputs() async throws {
        let room = FakeRoom()
        let server = try await Self.start("127.0.0.1:0", room: room)
        let probe = HTTPProbe(server.boundAddress)
        for (query, state) in [("", "all"), ("?state=set", "set"), ("?state=cleared", "cleared")] {
            #expect(try await probe.request("GET /v1/alarms\(query)").text == "{\"alarms\":[\"\(state)\"]}\n")
        }
        #expect(try await probe.request("GET /v1/alarms?state=on").status == 400)
        #expect(try await probe.request("POST /v1/outputs/cdn:restart").status == 202)
        #expect(try await probe.request("POST /v1/outputs/other:restart").status == 404)
        #expect(try await probe.request("POST /v1/outputs/rec:start").status == 202)
        #expect(try await probe.request("POST /v1/outputs/rec:stop").status == 202)
        #expect(try await probe.request("POST /v1/outputs/other:stop").status == 404)
        #expect(try await probe.request("POST /v1/renditions/720p:keyframe").status == 202)
        #expect(try await probe.request("POST /v1/renditions/720p:demand").status == 202)
        #expect(try await probe.request("POST /v1/renditions/720p:demand", body: #"{"seconds":5}"#).status == 202)
        #expect(try await probe.request("POST /v1/renditions/720p:demand", body: #"{"seconds":0}"#).status == 422)
        for line in [
            "POST /v1/outputs/cdn", "POST /v1/outputs/:restart", "POST /v1/outputs/:stop", "POST /v1/outputs/rec:pause",
            "POST /v1/renditions/720p:restart",
        ] {
            #expect(try await probe.request(line).status == 404, "\(line)")
        }
        #expect(
            room.calls == ["restart cdn", "start rec", "stop rec", "keyframe 720p", "demand 720p 60", "demand 720p 5"])
        await server.stop()
    }

    @Test("a control request whose body is over 256 KiB gets 413")
    func bodyLimit() async throws {
        let server = try await Self.start("127.0.0.1:0")
        let probe = HTTPProbe(server.boundAddress)
        let small = #"{"scene":"pk"}"#
        let full = small + String(repeating: " ", count: (256 << 10) - small.utf8.count)
        #expect(try await probe.request("PUT /v1/program", body: full).status == 200)
        let reply = try await probe.request("PUT /v1/program", body: full + " ")
        #expect(reply.status == 413)
        #expect(reply.text.contains("inputTooLarge"))
        await server.stop()
    }

    @Test("two hundred concurrent scene changes all get 200 from the control server and reach the room")
    func flood() async throws {
        let room = FakeRoom()
        let server = try await Self.start("127.0.0.1:0", room: room)
        let probe = HTTPProbe(server.boundAddress)
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for index in 0..<200 {
                group.addTask {
                    let scene = ["solo", "pk"][index % 2]
                    return try await probe.request("PUT /v1/program", body: "{\"scene\":\"\(scene)\"}").status
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses == Array(repeating: 200, count: 200))
        #expect(room.calls.count == 200)
        await server.stop()
    }
}
