import HTTPListener
import HTTPTypes
import Synchronization
import Testing

import Control

@Suite("CommandRevisions and RequestBudget: ETag, If-Match, Idempotency-Key and request rate limit")
struct CommandRevisionsTests {
    private static func request(
        _ fields: [String: String] = [:], _ method: HTTPRequest.Method = .put, _ path: String = "/v1/program",
        _ body: String = #"{"scene":"pk"}"#
    ) -> ListenerRequest {
        var head = HTTPRequest(method: method, scheme: "http", authority: "a", path: path)
        for (name, value) in fields { if let name = HTTPField.Name(name) { head.headerFields[name] = value } }
        return ListenerRequest(head: head, body: .bytes(Array(body.utf8)))
    }

    private static func reply(_ text: String = "{}", changed: Bool = true) -> ControlOutcome {
        ControlOutcome(.json(.ok, text), changed: changed)
    }

    @Test("the revision (ETag) grows by one with each command that changes something, and only then")
    func revision() throws {
        let ledger = CommandRevisions(incarnation: 3)
        #expect(ledger.current.entityTag == "\"3.1\"")
        #expect(try ledger.carryOut(Self.request()) { Self.reply() }.fields[.eTag] == "\"3.2\"")
        let same = try ledger.carryOut(Self.request()) { Self.reply(changed: false) }
        #expect(same.fields[.eTag] == "\"3.2\"")
        let text = try ledger.carryOut(Self.request()) { Self.reply(#"{"fix":{"changed":false}}"#) }
        #expect(text.fields[.eTag] == "\"3.3\"", "the text of the reply does not count")
        #expect(throws: ControlFailure.self) {
            try ledger.carryOut(Self.request()) { () throws(ControlFailure) in
                throw .notFound("no", fix: "")
            }
        }
        #expect(ledger.current.revision == 3)
    }

    @Test(
        "if If-Match does not name the current revision, the command gets 412 and does not run",
        arguments: [
            ("\"3.1\"", true), ("*", true), ("\"3.7\", \"3.1\"", true), ("\"3.2\"", false), ("\"2.1\"", false),
            ("W/\"3.1\"", false), ("3.1", false),
        ])
    func condition(tag: String, holds: Bool) {
        let ledger = CommandRevisions(incarnation: 3)
        let reply = Result {
            try ledger.carryOut(Self.request(["If-Match": tag])) { Self.reply() }
        }
        #expect(((try? reply.get()) != nil) == holds)
        if case .failure(let error) = reply {
            #expect((error as? ControlFailure)?.status == 412 && (error as? ControlFailure)?.code == "superseded")
        }
        #expect(ledger.current.revision == (holds ? 2 : 1))
    }

    @Test("an idempotency key used again with another If-Match is refused as another request")
    func conditionOfKey() throws {
        let ledger = CommandRevisions(incarnation: 3)
        let fields = ["Idempotency-Key": "k", "If-Match": "\"3.1\""]
        _ = try ledger.carryOut(Self.request(fields)) { Self.reply() }
        #expect(try ledger.carryOut(Self.request(fields)) { Self.reply("again") }.fields[.eTag] == "\"3.2\"")
        #expect(throws: ControlFailure.self) {
            try ledger.carryOut(Self.request(["Idempotency-Key": "k", "If-Match": ""])) { Self.reply() }
        }
        #expect(ledger.current.revision == 2)
    }

    @Test("If-Match with the current revision fails while another command is running, and holds again after it")
    func overlapping() throws {
        let ledger = CommandRevisions(incarnation: 1)
        _ = try ledger.carryOut(Self.request()) { () throws(ControlFailure) in
            let inner = Result {
                try ledger.carryOut(Self.request(["If-Match": "\"1.1\""])) { Self.reply() }
            }
            #expect((try? inner.get()) == nil)
            return Self.reply()
        }
        #expect(ledger.current.revision == 2)
        #expect((try? ledger.carryOut(Self.request(["If-Match": "\"1.2\""])) { Self.reply() }) != nil)
    }

    @Test("the idempotency key of a running command is kept, even if more keys than the capacity are used meanwhile")
    func runningKey() throws {
        let ledger = CommandRevisions(incarnation: 1)
        let fields = ["Idempotency-Key": "long"]
        _ = try ledger.carryOut(Self.request(fields)) { () throws(ControlFailure) in
            for number in 0...CommandRevisions.keyCapacity {
                _ = try ledger.carryOut(Self.request(["Idempotency-Key": "n\(number)"])) { Self.reply() }
            }
            let again = Result { try ledger.carryOut(Self.request(fields)) { Self.reply() } }
            #expect((try? again.get()) == nil)
            return Self.reply()
        }
        #expect(ledger.current.revision == Int64(CommandRevisions.keyCapacity) + 3)
    }

    @Test(
        "a repeated request with the same key runs once and gets the same body, marked Idempotent-Replayed; another request gets 409"
    )
    func idempotency() throws {
        let ledger = CommandRevisions(incarnation: 1)
        var done = 0
        let request = Self.request(["Idempotency-Key": "k1", "If-Match": "\"1.1\""])
        for turn in 0..<3 {
            let reply = try ledger.carryOut(request) {
                done += 1
                return Self.reply(#"{"n":\#(done)}"#)
            }
            #expect(reply.fields[.eTag] == "\"1.2\"")
            #expect((reply.fields[HTTPField.Name("Idempotent-Replayed")!] == "true") == (turn > 0))
            guard case .bytes(let bytes, let range) = reply.body else {
                Issue.record("the reply has no bytes")
                continue
            }
            #expect(String(decoding: bytes[range], as: UTF8.self) == "{\"n\":1}\n")
        }
        #expect(done == 1)
        let other = Self.request(["Idempotency-Key": "k1"], .put, "/v1/program", "{}")
        let failure = #expect(throws: ControlFailure.self) { try ledger.carryOut(other) { Self.reply() } }
        #expect(failure?.status == 409 && failure?.code == "duplicateId")
    }

    @Test("after limitExceeded the same idempotency key runs the command again; notFound is stored and repeated")
    func retry() throws {
        let ledger = CommandRevisions(incarnation: 1)
        func attempt(_ key: String, _ failure: ControlFailure?) throws -> ListenerReply {
            try ledger.carryOut(Self.request(["Idempotency-Key": key])) { () throws(ControlFailure) in
                if let failure { throw failure }
                return Self.reply()
            }
        }
        #expect((try? attempt("a", .limitExceeded("full", fix: ""))) == nil)
        #expect(try attempt("a", nil).status == .ok)
        #expect((try? attempt("b", .notFound("no", fix: ""))) == nil)
        #expect(try attempt("b", nil).status == .notFound)
    }

    @Test(
        "an idempotency key that is too long or has invalid characters is refused; over the capacity the oldest key is forgotten",
        arguments: ["", " ", "a b", "a\u{e9}", String(repeating: "k", count: 129)])
    func keys(key: String) throws {
        let ledger = CommandRevisions(incarnation: 1)
        if !key.isEmpty {
            #expect(throws: ControlFailure.self) {
                try ledger.carryOut(Self.request(["Idempotency-Key": key])) { Self.reply() }
            }
        }
        for number in 0...CommandRevisions.keyCapacity {
            _ = try ledger.carryOut(Self.request(["Idempotency-Key": "n\(number)"])) { Self.reply() }
        }
        let last = try ledger.carryOut(Self.request(["Idempotency-Key": "n\(CommandRevisions.keyCapacity)"])) {
            Self.reply()
        }
        let first = try ledger.carryOut(Self.request(["Idempotency-Key": "n0"])) { Self.reply() }
        let replayed = HTTPField.Name("Idempotent-Replayed")!
        #expect(last.fields[replayed] == "true" && first.fields[replayed] == nil, "the oldest key was dropped")
    }

    @Test(
        "RequestBudget of ten per second allows ten requests at once, then ten a second; unused budget never exceeds ten"
    )
    func budget() {
        let budget = RequestBudget(perSecond: 10, now: 0)
        #expect((0..<30).filter { _ in budget.take(now: 0) }.count == 10)
        #expect((0..<30).filter { _ in budget.take(now: 500_000_000) }.count == 5)
        #expect(
            (0..<30).filter { _ in budget.take(now: 90_000_000_000) }.count == 10, "unused budget does not accumulate")
        #expect(!budget.take(now: 80_000_000_000), "a clock that goes back adds nothing")
    }
}
