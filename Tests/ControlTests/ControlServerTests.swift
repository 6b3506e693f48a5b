import HTTPProbe
import Logging
import MediaTypes
import Synchronization
import Testing

import Control

@Suite("Control server over loopback and sockets", .timeLimit(.minutes(1)))
struct ControlServerTests {
    private static func start(_ listen: String, token: String? = nil, room: FakeRoom = FakeRoom()) async throws
        -> ControlServer
    {
        try await ControlServer.start(
            listen: ListenAddress(parsing: listen), token: token, room: room, logger: Logger(label: "test"))
    }

    @Test("a scene is switched over TCP")
    func tcp() async throws {
        let room = FakeRoom()
        let server = try await Self.start("127.0.0.1:0", room: room)
        let reply = try await HTTPProbe(server.boundAddress).request("PUT /v1/program", body: #"{"scene":"pk"}"#)
        #expect(reply.status == 200)
        #expect(reply.text == "{\"sceneId\":\"pk\",\"tick\":7}\n")
        #expect(room.calls == [#"program {"scene":"pk"}"#])
        await server.stop()
    }

    @Test("a room is ended over a socket file")
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

    @Test("more requests than a second's worth are told to come later, an orchestrator's probe never")
    func rate() async throws {
        var doors = ControlDoors()
        doors.requestsPerSecond = 3
        let server = try await ControlServer.start(
            listen: ListenAddress(parsing: "127.0.0.1:0"), token: nil, room: FakeRoom(), doors: doors,
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

    @Test("sockets that are held without a request keep neither probes nor operators out")
    func heldSockets() async throws {
        let server = try await Self.start("127.0.0.1:0")
        let probe = HTTPProbe(server.boundAddress)
        try await withThrowingTaskGroup(of: Int.self) { group in
            // Half of them send the beginning of a request and no more.
            for index in 0..<(ControlServer.connections + 44) {
                group.addTask { try await probe.bytesUntilClosed(after: index % 2 == 0 ? "" : "GET /v1/ro") }
            }
            while server.connectionCount < ControlServer.crowd { await Task.yield() }
            let start = ContinuousClock.now
            for path in ["/livez", "/readyz", "/v1/state"] {
                #expect(try await probe.request("GET \(path)").status == 200)
            }
            // Less than half of the time after which a connection without a request is closed in any case.
            #expect(ContinuousClock.now - start < .seconds(12))
            await server.stop(within: .seconds(0))
            for try await count in group { #expect(count == 0) }
        }
    }

    @Test("so many may follow events and no more; who asks is answered all the same")
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
            while room.eventLog.observers < 32 { await Task.yield() }
            let refused = try await probe.request("GET /v1/events", ["Accept: text/event-stream"])
            #expect(refused.status == 429 && refused.text.contains("32 clients"))
            #expect(try await probe.request("GET /v1/events?after=0").status == 200)
            #expect(try await probe.request("GET /livez").status == 200)
            room.eventLog.close()
            try await group.waitForAll()
        }
        // Whoever has gone has left a place.
        #expect(try await probe.request("GET /v1/events?waitSeconds=1").status == 200)
        await server.stop()
    }

    @Test("commands that hang hold up neither probes nor who looks")
    func hangingCommands() async throws {
        let room = FakeRoom()
        let server = try await Self.start("127.0.0.1:0", room: room)
        let probe = HTTPProbe(server.boundAddress)
        async let one = probe.request("PATCH /v1/room", body: #"{"hang":1}"#)
        async let two = probe.request("PATCH /v1/room", body: #"{"hang":2}"#)
        while room.hanging.load(ordering: .relaxed) < 2 { await Task.yield() }
        #expect(try await probe.request("GET /livez").status == 200)
        #expect(try await probe.request("GET /v1/state").status == 200)
        for _ in 0..<2 { room.hang.signal() }
        let replies = try await [one, two]
        #expect(replies.map(\.status) == [200, 200])
        await server.stop()
    }

    @Test("a reply bears its request's id")
    func requestID() async throws {
        let server = try await Self.start("127.0.0.1:0")
        let reply = try await HTTPProbe(server.boundAddress).request("GET /v1/room", ["X-Request-Id: r-17"])
        #expect(reply.fields["x-request-id"] == "r-17")
        await server.stop()
    }

    @Test("the page has what viewers play, by its name there; with a token only for who has it")
    func media() async throws {
        var doors = ControlDoors()
        doors.media = ControlDoors.Media(isReading: false) { request, answer in
            answer(.plain(.ok, request.head.path ?? ""))
        }
        let server = try await ControlServer.start(
            listen: ListenAddress(parsing: "127.0.0.1:0"), token: "s3cret", room: FakeRoom(), doors: doors,
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
        "an address that others can reach needs a token",
        arguments: ["0.0.0.0:0", "[::]:0", "192.0.2.1:0", "room.example:0"])
    func refusedWithoutToken(listen: String) async throws {
        let error = await #expect(throws: MediaError.self) { try await Self.start(listen) }
        #expect(error?.code == .rejected)
        #expect(error?.fix.contains("token") == true)
    }

    @Test("with a token every address serves, and only with it")
    func token() async throws {
        let room = FakeRoom()
        let server = try await Self.start("0.0.0.0:0", token: "s3cret", room: room)
        let probe = HTTPProbe(server.boundAddress)
        let refused = try await probe.request("POST /v1/room:drain")
        #expect(refused.status == 401)
        #expect(refused.fields["www-authenticate"] == "Bearer")
        #expect(refused.fields["content-type"] == "application/problem+json")
        #expect(try await probe.request("GET /nowhere").status == 401, "what exists is not told either")
        #expect(try await probe.request("GET /livez").status == 200)
        #expect(room.calls.isEmpty)
        #expect(try await probe.request("POST /v1/room:drain", ["Authorization: Bearer s3cret"]).status == 202)
        #expect(room.calls == ["drain"])
        await server.stop()
    }

    @Test("a page that reached loopback by a name of its own is refused")
    func rebinding() async throws {
        let room = FakeRoom()
        let server = try await Self.start("127.0.0.1:0", room: room)
        let probe = HTTPProbe(server.boundAddress)
        #expect(try await probe.send("POST /v1/room:end HTTP/1.1\nHost: evil.example\n\n").status == 403)
        #expect(try await probe.request("POST /v1/room:end", ["Origin: http://evil.example"]).status == 403)
        #expect(try await probe.send("POST /v1/room:end HTTP/1.1\n\n").status == 403)
        #expect(room.calls.isEmpty)
        await server.stop()
    }

    @Test("a body is taken up to 256 KiB, of any content type")
    func bodyLimit() async throws {
        let server = try await Self.start("127.0.0.1:0")
        let probe = HTTPProbe(server.boundAddress)
        let small = #"{"scene":"pk"}"#
        let full = small + String(repeating: " ", count: (256 << 10) - small.utf8.count)
        #expect(try await probe.request("PUT /v1/program", ["Content-Type: text/plain"], body: full).status == 200)
        let reply = try await probe.request("PUT /v1/program", body: full + " ")
        #expect(reply.status == 413)
        #expect(reply.text.contains("inputTooLarge"))
        await server.stop()
    }

    @Test("two hundred requests at once are all answered")
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
