import Events
import HTTPProbe
import Logging
import MediaTypes
import TestSupport
import Testing

import Control

@Suite("GET /v1/events", .timeLimit(.minutes(1)))
struct EventRequestTests {
    private static func told(_ room: FakeRoom, _ numbers: ClosedRange<Int64>) {
        for number in numbers {
            room.eventLog.append(EventRecord(sequence: number, type: "a.b", line: "{\"n\":\(number)}"))
        }
    }

    private static func with(_ body: (FakeRoom, HTTPProbe, ControlServer) async throws -> Void) async throws {
        let room = FakeRoom()
        let server = try await ControlServer.start(
            listen: ListenAddress(parsing: "127.0.0.1:0"), token: nil, room: room, logger: Logger(label: "test"))
        try await body(room, HTTPProbe(server.boundAddress), server)
        await server.stop()
    }

    @Test("GET /v1/events returns events after a number, at most `limit`, and counts those that are no longer stored")
    func page() async throws {
        try await Self.with { room, probe, _ in
            #expect(
                try await probe.request("GET /v1/events").text == #"{"events":[],"next":0,"last":0,"missed":0}"# + "\n")
            Self.told(room, 1...3)
            let all = try await probe.request("GET /v1/events")
            #expect(all.text == #"{"events":[{"n":1},{"n":2},{"n":3}],"next":3,"last":3,"missed":0}"# + "\n")
            let some = try await probe.request("GET /v1/events?after=1&limit=1")
            #expect(some.text == #"{"events":[{"n":2}],"next":2,"last":3,"missed":0}"# + "\n")
            Self.told(room, 4...20)
            let late = try await probe.request("GET /v1/events?after=2&limit=1")
            #expect(late.text == #"{"events":[{"n":13}],"next":13,"last":20,"missed":10}"# + "\n")
            #expect(try await probe.request("GET /v1/events?after=99").text.contains(#""events":[],"next":20"#))
        }
    }

    @Test(
        "a long poll of GET /v1/events returns with the next event, and without events after its timeout or at the room's end"
    )
    func waiting() async throws {
        try await Self.with { room, probe, _ in
            async let one = probe.request("GET /v1/events?after=0&waitSeconds=20")
            try await waitUntil("the log has an observer", { room.eventLog.observers }) { $0 > 0 }
            Self.told(room, 1...1)
            #expect(try await one.text.contains(#""events":[{"n":1}]"#))
            // After a worker has lost its journal, numbers start again below those that a client knows.
            async let ahead = probe.request("GET /v1/events?after=99&waitSeconds=20")
            try await waitUntil("the log has an observer", { room.eventLog.observers }) { $0 > 0 }
            Self.told(room, 2...2)
            #expect(try await ahead.text.contains(#""events":[{"n":2}],"next":2"#))
            let none = try await probe.request("GET /v1/events?after=2&waitSeconds=1")
            #expect(none.status == 200 && none.text.contains(#""events":[],"next":2"#))
            async let end = probe.request("GET /v1/events?after=2&waitSeconds=20")
            try await waitUntil("the log has an observer", { room.eventLog.observers }) { $0 > 0 }
            room.eventLog.close()
            #expect(try await end.text.contains(#""events":[]"#))
            #expect(room.eventLog.observers == 0)
        }
    }

    @Test("the GET /v1/events stream of server-sent events begins after Last-Event-ID and ends when the room ends")
    func stream() async throws {
        try await Self.with { room, probe, _ in
            Self.told(room, 1...2)
            let request = "GET /v1/events HTTP/1.1\nHost: 127.0.0.1\nAccept: text/event-stream\nLast-Event-ID: 1\n\n"
            async let text = probe.read(after: request) { _ in false }
            try await waitUntil("the log has an observer", { room.eventLog.observers }) { $0 > 0 }
            Self.told(room, 3...3)
            Self.told(room, 4...4)
            room.eventLog.close()
            let received = try await text
            #expect(received.hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(
                received.contains("content-type: text/event-stream\r\n")
                    || received.contains("Content-Type: text/event-stream\r\n"))
            #expect(!received.lowercased().contains("content-length"))
            #expect(
                received.hasSuffix(
                    #"id: 2\#ndata: {"n":2}\#n\#nid: 3\#ndata: {"n":3}\#n\#nid: 4\#ndata: {"n":4}\#n\#n"#))
            try await waitUntil("the log has no observer", { room.eventLog.observers }) { $0 == 0 }
        }
    }

    @Test(
        "an event stream whose first events are no longer stored says how many are missed; it is removed when its client disconnects"
    )
    func leaving() async throws {
        try await Self.with { room, probe, _ in
            Self.told(room, 1...20)
            let request = "GET /v1/events?after=5 HTTP/1.1\nHost: 127.0.0.1\nAccept: text/event-stream\n\n"
            let text = try await probe.read(after: request) { $0.contains("id: 20") }
            #expect(text.contains("event: missed\ndata: {\"missed\":7}\n\nid: 13\n"))
            try await waitUntil("the log has no observer", { room.eventLog.observers }) { $0 == 0 }
        }
    }

    @Test(
        "GET /v1/events with an invalid query parameter gets 400",
        arguments: ["after=-1", "after=x", "limit=0", "waitSeconds=26", "since=1"])
    func refused(query: String) async throws {
        try await Self.with { _, probe, _ in
            let reply = try await probe.request("GET /v1/events?\(query)")
            #expect(reply.status == 400)
            #expect(reply.text.contains("fix"))
            #expect(try await probe.request("POST /v1/events").status == 405)
        }
    }
}
