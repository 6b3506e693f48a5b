import Foundation
import HTTPListener
import HTTPTypes
import MediaTypes
import PipelineSpec
import Testing

import Control

/// Compares the document with the server: it must list every route, method, parameter and body member, and nothing
/// else.
@Suite("The OpenAPI document")
struct OpenAPITests {
    private typealias Object = [String: Any]

    private static func reply(_ method: String, _ path: String, _ body: String = "") throws -> (Int, Object) {
        let responder = ControlResponder(
            room: FakeRoom(), guardian: AccessGuard(listen: .unix(path: "/a"), token: nil))
        let verb = try #require(HTTPRequest.Method(rawValue: method.uppercased()))
        let head = HTTPRequest(method: verb, scheme: "http", authority: "a", path: path)
        let reply = responder.reply(to: ListenerRequest(head: head, body: .bytes(Array(body.utf8))))
        guard case .bytes(let bytes, let range) = reply.body else { return (reply.status.code, [:]) }
        let json = try? JSONSerialization.jsonObject(with: Data(bytes[range]))
        return (reply.status.code, json as? Object ?? [:])
    }

    private static func document() throws -> Object { try Self.reply("get", "/openapi.json").1 }

    /// Path, method and description of every operation.
    private static func operations() throws -> [(path: String, method: String, operation: Object)] {
        let paths = try #require(try Self.document()["paths"] as? [String: Object])
        return paths.flatMap { path, methods in
            methods.map { (path, $0.key, $0.value as? Object ?? [:]) }
        }
    }

    /// A path with a value for each of its parameters.
    private static func filled(_ path: String) -> String { path.replacing(/\{[A-Za-z]+\}/, with: "1001") }

    @Test("the OpenAPI document describes exactly the routes and their methods, each with an operationId of its own")
    func routes() throws {
        let operations = try Self.operations()
        #expect(Set(operations.map(\.path)) == Set(ControlRoute.paths))
        for path in ControlRoute.paths {
            let route = try #require(ControlRoute(path: Self.filled(path)), "\(path)")
            let methods = Set(route.methods.filter { $0 != .head }.map { $0.rawValue.lowercased() })
            #expect(Set(operations.filter { $0.path == path }.map(\.method)) == methods, "\(path)")
        }
        let names = operations.compactMap { $0.operation["operationId"] as? String }
        #expect(names.count == operations.count && Set(names).count == names.count)
    }

    @Test(
        "the OpenAPI document's pattern for uids accepts uids with `@`, `:`, `-`, spaces or 128 characters, as the routes do",
        arguments: ["1001", "anna@example.com", "wx:oABC-1", "room 7", String(repeating: "u", count: 128)])
    func uids(uid: String) throws {
        var judged = 0
        for (path, method, operation) in try Self.operations() {
            for parameter in operation["parameters"] as? [Object] ?? [] where parameter["name"] as? String == "uid" {
                let pattern = try #require((parameter["schema"] as? Object)?["pattern"] as? String)
                let found = uid.range(of: pattern, options: .regularExpression)
                #expect(found == uid.startIndex..<uid.endIndex, "\(method) \(path)")
                judged += 1
            }
        }
        #expect(judged >= 6)
        #expect(ControlRoute(path: "/v1/sources/\(uid)") == .source(uid: uid))
        #expect(ControlRoute(path: "/v1/sources/\(uid):kick") == .kick(uid: uid))
        #expect(ControlRoute(path: "/v1/sources/\(uid)/recording:start") == .recording(uid: uid, isStart: true))
        #expect(ControlRoute(path: "/v1/sources/\(uid)/recording:stop") == .recording(uid: uid, isStart: false))
        #expect(ControlRoute(path: "/v1/sources/\(uid)/relays/r1") == .relay(uid: uid, relayID: "r1"))
    }

    /// The quoted names behind `known here:` in the remedy of an error.
    private static func known(_ problem: Object) -> Set<String> {
        let fix = problem["fix"] as? String ?? ""
        let list = fix.components(separatedBy: "known here: ").last ?? ""
        return Set(list.matches(of: /"([A-Za-z]+)"/).map { String($0.output.1) })
    }

    @Test("the OpenAPI document has exactly the query parameters that each route's error for an unknown one lists")
    func parameters() throws {
        let shared = try #require((try Self.document()["components"] as? Object)?["parameters"] as? [String: Object])
        for (path, method, operation) in try Self.operations() {
            let parameters = (operation["parameters"] as? [Object] ?? []).compactMap { parameter -> Object? in
                guard let reference = parameter["$ref"] as? String else { return parameter }
                return shared[String(reference.split(separator: "/").last ?? "")]
            }
            let query = Set(parameters.filter { $0["in"] as? String == "query" }.compactMap { $0["name"] as? String })
            let inPath = Set(parameters.filter { $0["in"] as? String == "path" }.compactMap { $0["name"] as? String })
            #expect(inPath == Set(path.matches(of: /\{([A-Za-z]+)\}/).map { String($0.output.1) }), "\(path)")
            guard path.hasPrefix("/v1") else { continue }
            let (status, problem) = try Self.reply(method, Self.filled(path) + "?zzz=1")
            #expect(status == 400, "\(method) \(path)")
            #expect(Self.known(problem) == query, "\(method) \(path)")
            let isChange = method != "get"
            #expect(parameters.contains { $0["name"] as? String == "If-Match" } == isChange, "\(method) \(path)")
            #expect(parameters.contains { $0["name"] as? String == "Idempotency-Key" } == isChange, "\(method) \(path)")
        }
    }

    @Test(
        "the OpenAPI document has the status of each operation's reply to an unknown parameter; only two operations have 502"
    )
    func answers() throws {
        var failing: Set<String> = []
        for (path, method, operation) in try Self.operations() {
            let described = Set((operation["responses"] as? Object ?? [:]).keys)
            let (status, _) = try Self.reply(method, Self.filled(path) + "?zzz=1")
            #expect(described.contains("\(status)"), "\(method) \(path): \(status)")
            if described.contains("502") { failing.insert("\(method) \(path)") }
        }
        // Hard links that a file system refuses; relays that are gone.
        #expect(failing == ["post /v1/clips", "put /v1/sources/{uid}/relays/{id}"])
    }

    private static func members(_ schema: Object) -> Set<String> {
        if let options = schema["oneOf"] as? [Object], schema["properties"] == nil {
            return options.reduce(into: []) { $0.formUnion(Self.members($1)) }
        }
        return Set((schema["properties"] as? Object ?? [:]).keys)
    }

    /// Paths whose bodies are not objects of plain values.
    private static let documentPaths = [
        "/v1/program", "/v1/metadata", "/v1/scenes/{sceneId}", "/v1/room", "/v1/subtitles/{name}:cue",
    ]

    @Test("the OpenAPI document has exactly the body members that each route's error for an unknown one lists")
    func bodies() throws {
        var judged = 0
        for (path, method, operation) in try Self.operations() {
            let content = (operation["requestBody"] as? Object)?["content"] as? [String: Object]
            guard let schema = content?["application/json"]?["schema"] as? Object,
                !Self.documentPaths.contains(path)
            else { continue }
            let (status, problem) = try Self.reply(method, Self.filled(path), #"{"zzz":1}"#)
            #expect(status == 400, "\(method) \(path)")
            #expect(Self.known(problem) == Self.members(schema), "\(method) \(path)")
            judged += 1
        }
        #expect(judged >= 12)
    }

    @Test(
        "the body schemas of PUT /v1/program, POST /v1/metadata and POST /v1/subtitles/NAME:cue have exactly the keys that the error for an unknown one lists"
    )
    func documents() throws {
        let paths = try #require(try Self.document()["paths"] as? [String: Object])
        func schema(_ path: String, _ method: String) throws -> Object {
            let body = (paths[path]?[method] as? Object)?["requestBody"] as? Object
            return try #require((body?["content"] as? [String: Object])?["application/json"]?["schema"] as? Object)
        }
        /// The known keys that the error for an unknown key lists.
        func known(_ refusal: SpecReport.Refusal?) -> Set<String> {
            let fix = refusal?.mistakes.first { $0.what.contains("unknown key") }?.fix ?? ""
            let list = fix.components(separatedBy: "known here: ").last ?? ""
            return Set(list.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) })
        }
        let odd = Array(#"{"qqqqqqqqqqqqqqqq":1}"#.utf8)
        guard case .failure(let program) = ProgramRequest.parse(odd),
            case .failure(let metadata) = MetadataRequest.parse(odd),
            case .failure(let cues) = SubtitleRequest.parse(odd)
        else {
            Issue.record("an unknown key is accepted")
            return
        }
        #expect(known(program) == Self.members(try schema("/v1/program", "put")))
        #expect(known(metadata) == Self.members(try schema("/v1/metadata", "post")))
        #expect(known(cues) == Self.members(try schema("/v1/subtitles/{name}:cue", "post")))
    }

    @Test("every $ref of the OpenAPI document resolves, and the Problem schema has the error codes of the control API")
    func references() throws {
        let document = try Self.document()
        func walk(_ node: Any) {
            if let list = node as? [Any] { list.forEach(walk) }
            guard let object = node as? Object else { return }
            if let reference = object["$ref"] as? String {
                var found: Any? = document
                for part in reference.split(separator: "/").dropFirst() { found = (found as? Object)?[String(part)] }
                #expect(found != nil, "\(reference)")
            }
            object.values.forEach(walk)
        }
        walk(document)
        let schemas = (document["components"] as? Object)?["schemas"] as? [String: Object]
        let code = (schemas?["Problem"]?["properties"] as? [String: Object])?["code"]?["enum"] as? [String] ?? []
        let failures: [ControlFailure] = [
            .invalidFormat("", fix: ""), .superseded("", fix: ""), .limitExceeded("", fix: ""),
            .imageError("", fix: ""),
            .roomExited("", fix: ""), .notFound("", fix: ""), .requestFailed("", fix: ""), .invalidLayout("", fix: ""),
            .authDenied("", fix: ""), .inputTooLarge("", fix: ""), .needsRestart("", fix: ""),
        ]
        for failure in failures { #expect(code.contains(failure.code)) }
    }

    @Test("the operator page's files need no token; its document's Content-Security-Policy allows nothing inline")
    func page() throws {
        let responder = ControlResponder(
            room: FakeRoom(), guardian: AccessGuard(listen: .tcp(host: "0.0.0.0", port: 1), token: "t"))
        for file in ControlPage.File.allCases where file != .player {
            let head = HTTPRequest(method: .get, scheme: "http", authority: "a", path: file.rawValue)
            let reply = responder.reply(to: ListenerRequest(head: head))
            #expect(reply.status == .ok, "\(file) needs no token: it reveals nothing of the room")
            #expect(reply.body.count > 1_000)
            guard case .bytes(let bytes, _) = reply.body else {
                Issue.record("\(file) is not sent as bytes")
                continue
            }
            let text = String(decoding: bytes, as: UTF8.self)
            #expect(!text.contains("innerHTML") && !text.contains("document.write"))
            guard file == .html else { continue }
            let policy = reply.fields[.contentSecurityPolicy] ?? ""
            #expect(policy.contains("default-src 'none'") && !policy.contains("unsafe-inline"))
            #expect(!text.contains(#/\son[a-z]+\s*=/#), "the document contains no event handlers")
            #expect(!text.contains("<script>") && !text.contains("style=\""))
        }
    }

    @Test(
        "the operator page's Content-Security-Policy allows connections to the room's external key server, if there is one",
        arguments: [true, false])
    func keyServer(isThere: Bool) throws {
        var options = ControlListenerOptions()
        if isThere { options.keyOrigin = "https://keys.example" }
        let responder = ControlResponder(
            room: FakeRoom(), guardian: AccessGuard(listen: .tcp(host: "127.0.0.1", port: 1), token: nil),
            options: options)
        let head = HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1:1", path: "/")
        let policy = responder.reply(to: ListenerRequest(head: head)).fields[.contentSecurityPolicy] ?? ""
        #expect(policy.contains(isThere ? "connect-src 'self' https://keys.example;" : "connect-src 'self';"))
    }

    @Test(
        "with open reads (opensReads), GET /v1/room needs no token; commands, the document and logs do",
        arguments: [
            (HTTPRequest.Method.get, "/v1/room", 200), (.put, "/v1/program", 401), (.post, "/v1/room:end", 401),
            (.get, "/v1/document", 401), (.get, "/v1/logs", 401),
        ])
    func openReads(method: HTTPRequest.Method, path: String, status: Int) throws {
        let listen = try ListenAddress(parsing: "0.0.0.0:1")
        for opensReads in [true, false] {
            let responder = ControlResponder(
                room: FakeRoom(), guardian: AccessGuard(listen: listen, token: "t", opensReads: opensReads))
            var head = HTTPRequest(method: method, scheme: "http", authority: "a", path: path)
            let reply = responder.reply(to: ListenerRequest(head: head, body: .bytes(Array(#"{"scene":"pk"}"#.utf8))))
            #expect(reply.status.code == (opensReads ? status : 401))
            let access = HTTPField.Name("Tandem-Access")!
            if reply.status == .ok { #expect(reply.fields[access] == "read") }
            head.headerFields[.authorization] = "Bearer t"
            #expect(responder.reply(to: ListenerRequest(head: head)).fields[access] ?? "command" == "command")
        }
    }
}
