import HTTPListener
import HTTPTypes
import MediaTypes
import Testing

import Control

@Suite("Durability of commands, and revisions and idempotency keys after a worker's restart")
struct CommandMemoryTests {
    private static func reply(
        _ room: FakeRoom, _ path: String, _ body: String = "", key: String? = nil, method: HTTPRequest.Method = .post
    ) -> (status: Int, text: String, fields: HTTPFields) {
        let responder = ControlResponder(room: room, guardian: AccessGuard(listen: .unix(path: "/a"), token: nil))
        var head = HTTPRequest(method: method, scheme: "http", authority: "a", path: path)
        if let key, let name = HTTPField.Name("Idempotency-Key") { head.headerFields[name] = key }
        let reply = responder.reply(to: ListenerRequest(head: head, body: .bytes(Array(body.utf8))))
        guard case .bytes(let bytes, let range) = reply.body else { return (reply.status.code, "", reply.fields) }
        return (reply.status.code, String(decoding: bytes[range], as: UTF8.self), reply.fields)
    }

    @Test(
        "a control reply has `durable: false` if its command is not on disk yet, and is 503 superseded if another worker took over"
    )
    func durability() throws {
        let room = FakeRoom()
        #expect(!Self.reply(room, "/v1/room:end").text.contains("durable"))
        room.durability.withLock { $0 = .late }
        let late = Self.reply(room, "/v1/room:end")
        #expect(late.status == 202)
        #expect(late.text == "{\"accepted\":\"end\",\"durable\":false}\n")
        room.durability.withLock { $0 = .superseded }
        let superseded = Self.reply(room, "/v1/room:end")
        #expect(superseded.status == 503)
        #expect(superseded.text.contains(#""code":"superseded""#))
    }

    @Test(
        "a command that sets only scores or a volume does not wait for the disk; one that sets videoPush, rotation or the scene does",
        arguments: [
            ("/v1/scores/pk", #"{"left":1}"#, false), ("/v1/sources/1001", #"{"volume":5}"#, false),
            ("/v1/sources/1001", #"{"videoPush":false}"#, true),
            ("/v1/sources/1001", #"{"volume":5,"rotation":90}"#, true),
            ("/v1/program", #"{"sceneId":"pk"}"#, true),
        ])
    func waits(path: String, body: String, waits: Bool) throws {
        let room = FakeRoom()
        let reply = Self.reply(room, path, body, method: .put)
        #expect(reply.status == 200, "\(reply.text)")
        #expect(room.records.map(\.waits) == [waits])
    }

    @Test(
        "a new worker repeats the stored reply to an idempotency key, refuses the key for another request, and continues the revisions"
    )
    func laterWorker() throws {
        let first = FakeRoom()
        let answer = Self.reply(first, "/v1/pk:end", key: "k1")
        #expect(answer.status == 200)
        let record = try #require(first.records.last?.record)
        #expect(record.revision == 2)
        let second = FakeRoom()
        second.memory.withLock { $0 = CommandMemory(revision: 8, replies: [record.reply].compactMap { $0 }) }
        let again = Self.reply(second, "/v1/pk:end", key: "k1")
        #expect(again.text == answer.text && again.status == answer.status)
        #expect(second.calls.isEmpty)
        #expect(second.records.last?.record.revision == 8)
        #expect(Self.reply(second, "/v1/pk:punish", key: "k1").status == 409)
        #expect(Self.reply(second, "/v1/room:end", key: "k2").fields[.eTag] == "\"3.9\"")
    }

    @Test(
        "a control request's fingerprint is stored as the seal function's result, by which the next worker recognizes the request"
    )
    func sealedFingerprint() throws {
        let seal: @Sendable (String) -> String = { "sealed \($0.utf8.reduce(7) { ($0 * 31 + Int($1)) % 1_000_003 })" }
        let first = FakeRoom()
        first.memory.withLock { $0 = CommandMemory(seal: seal) }
        #expect(Self.reply(first, "/v1/pk:end", key: "k1").status == 200)
        let kept = try #require(first.records.last?.record.reply)
        #expect(kept.fingerprint.hasPrefix("sealed "))
        let second = FakeRoom()
        second.memory.withLock { $0 = CommandMemory(replies: [kept], seal: seal) }
        #expect(Self.reply(second, "/v1/pk:end", key: "k1").status == 200)
        #expect(second.calls.isEmpty)
        #expect(Self.reply(second, "/v1/pk:punish", key: "k1").status == 409)
    }
}
