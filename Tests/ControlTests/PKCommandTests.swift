import HTTPListener
import HTTPTypes
import Testing

import Control

@Suite("Bodies of POST /v1/pk:start, /v1/pk:punish and /v1/pk:end")
struct PKCommandTests {
    private static func send(_ verb: String, _ body: String) -> (status: Int, text: String, command: PKCommand?) {
        let room = FakeRoom()
        let responder = ControlResponder(room: room, guardian: AccessGuard(listen: .unix(path: "/a"), token: nil))
        let head = HTTPRequest(method: .post, scheme: "http", authority: "a", path: "/v1/pk:\(verb)")
        let reply = responder.reply(to: ListenerRequest(head: head, body: .bytes(Array(body.utf8))))
        var text = ""
        if case .bytes(let bytes, let range) = reply.body { text = String(decoding: bytes[range], as: UTF8.self) }
        return (reply.status.code, text, room.pkCommand.withLock { $0 })
    }

    @Test(
        "pk:start with an empty body or object passes neither scenes nor durations to the room",
        arguments: ["", "{}"])
    func plainStart(body: String) {
        let answer = Self.send("start", body)
        #expect(answer.status == 200 && answer.command == .start(PKCommand.Start()))
    }

    @Test("pk:start sets each scene and duration from the member of its name")
    func fullStart() {
        let answer = Self.send(
            "start",
            #"{"scene":"duel","countdownScene":"c","punishScene":"p","endScene":"e","#
                + #""countdownMs":1,"durationMs":2,"punishMs":3}"#)
        var start = PKCommand.Start()
        (start.scene, start.countdownScene, start.punishScene, start.endScene) = ("duel", "c", "p", "e")
        (start.countdownMs, start.durationMs, start.punishMs) = (1, 2, 3)
        #expect(answer.status == 200 && answer.command == .start(start))
    }

    @Test("pk:punish accepts a duration or an empty body, and pk:end an empty object")
    func others() {
        #expect(Self.send("punish", #"{"punishMs":0}"#).command == .punish(punishMs: 0))
        #expect(Self.send("punish", "").command == .punish(punishMs: nil))
        #expect(Self.send("end", "{}").command == .end)
    }

    @Test(
        "a PK command with an unknown member, or a value of the wrong type or range, is refused, and the room gets no command",
        arguments: [
            ("start", #"{"sceneId":"pk"}"#, 400, "scene"), ("start", #"{"scene":1}"#, 422, "a string"),
            ("start", #"{"endScene":null}"#, 422, "endScene"),
            ("start", #"{"countdownMs":600001}"#, 422, "countdownMs"),
            ("punish", #"{"scene":"pk"}"#, 400, "punishMs"), ("end", #"{"punishMs":1}"#, 400, "punishMs"),
        ])
    func refused(verb: String, body: String, status: Int, named: String) {
        let answer = Self.send(verb, body)
        #expect(answer.status == status && answer.text.contains(named), "\(answer)")
        #expect(answer.command == nil)
    }
}
