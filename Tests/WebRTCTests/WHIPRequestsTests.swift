import MediaTypes
import Testing
import WebRTC

@Suite("Requests to the WHIP endpoint: RFC 9725 §4")
struct WHIPRequestsTests {
    private static let id = "00112233445566778899aabbccddeeff"
    private static let session = "/whip/~/" + id
    private let requests = WHIPRequests(settings: WHIPSettings(app: "live"))
    private let state = WHIPSessionState(etag: "\"e1\"", remoteUfrag: "EsAw", key: "a_7fd1")
    private static let candidates =
        "a=ice-ufrag:EsAw\r\na=ice-pwd:P2uYro0UCOQ4zxjKXaWCBui1\r\na=candidate:1 1 udp 1 192.0.2.1 9 typ host\r\n"
    private static let restart = "a=ice-ufrag:newU\r\na=ice-pwd:P2uYro0UCOQ4zxjKXaWCBui2\r\n"

    private func decision(_ request: WHIPRequest) -> WHIPDecision {
        self.requests.decision(on: request) { $0 == Self.id ? self.state : nil }
    }

    private func reply(_ request: WHIPRequest, sourceLocation: SourceLocation = #_sourceLocation) throws -> WHIPReply {
        guard case .reply(let reply) = self.decision(request) else {
            Issue.record("\(self.decision(request))", sourceLocation: sourceLocation)
            return WHIPReply(0)
        }
        return reply
    }

    private func post(
        _ path: String = "/whip/live", query: String? = nil, type: String? = "application/sdp", key: String? = nil
    ) -> WHIPRequest {
        WHIPRequest(method: "POST", path: path, query: query, contentType: type, authorization: key, body: [1])
    }

    private func patch(
        _ body: String, ifMatch: String? = "\"e1\"", key: String? = "Bearer a_7fd1",
        type: String? = "application/trickle-ice-sdpfrag"
    ) -> WHIPRequest {
        WHIPRequest(
            method: "PATCH", path: Self.session, contentType: type, authorization: key, ifMatch: ifMatch,
            body: Array(body.utf8))
    }

    // MARK: POST

    @Test(
        "the stream key is read from Authorization, with or without Bearer, or from the path; Authorization is preferred"
    )
    func keys() {
        func key(_ request: WHIPRequest) -> String? {
            if case .publish(let key, _, _) = self.decision(request) { key } else { nil }
        }
        #expect(key(self.post(key: "Bearer a_7fd1")) == "a_7fd1" && key(self.post(key: "bearer  a_7fd1")) == "a_7fd1")
        #expect(key(self.post(key: "a_7fd1")) == "a_7fd1")
        #expect(key(self.post("/whip/live/a_7fd1")) == "a_7fd1" && key(self.post("/whip//live/a_7fd1/")) == "a_7fd1")
        #expect(key(self.post("/whip/live/a%2Fb%20c/d")) == "a/b c/d")
        #expect(key(self.post("/whip/live/anna", query: "e=1&s=AA%3D")) == "anna?e=1&s=AA%3D")
        #expect(key(self.post("/whip/live/path", key: "Bearer field")) == "field")
        #expect(key(self.post("/whip/live/path", key: "Basic dXNlcjpwYXNz")) == "path")
        #expect(self.decision(self.post(key: "a_7fd1")) == .publish(key: "a_7fd1", isKeyInHeader: true, offer: [1]))
        #expect(self.decision(self.post("/whip/live/k")) == .publish(key: "k", isKeyInHeader: false, offer: [1]))
    }

    @Test(
        "a POST without a usable stream key gets 401 with WWW-Authenticate",
        arguments: [
            nil, "", "Bearer", "Bearer ", "Basic dXNlcjpwYXNz", "Bearer a b", "Bearer \u{e9}",
            "Bearer " + String(repeating: "k", count: 513),
        ])
    func keyMissing(authorization: String?) throws {
        let reply = try self.reply(self.post(key: authorization))
        #expect(reply.status == 401 && reply[name: "WWW-Authenticate"] == "Bearer")
        #expect(
            reply[name: "Content-Type"] == "application/problem+json" && reply.body.contains("\"code\":\"keyMissing\""))
        #expect(try self.reply(self.post("/whip/live/" + String(repeating: "k", count: 513))).status == 401)
    }

    @Test(
        "a POST of another content type gets 415, or 401 without a key; the right type may have parameters and upper case"
    )
    func types() throws {
        for type in [nil, "", "application/json", "application/sdpx", "text/plain; application/sdp"] {
            #expect(try self.reply(self.post(type: type, key: "k")).status == 415, "\(type ?? "none")")
            #expect(try self.reply(self.post(type: type)).status == 401)
        }
        for type in ["application/sdp; charset=utf-8", "Application/SDP", "application/sdp ;x"] {
            #expect(
                self.decision(self.post(type: type, key: "k")) == .publish(key: "k", isKeyInHeader: true, offer: [1]))
        }
    }

    @Test("paths outside of /whip are not handled; /whip itself and unknown paths below it get 404")
    func paths() throws {
        for path in ["/", "/whipper/live", "/hls/whip", "whip/live", "*", ""] {
            #expect(self.decision(self.post(path, key: "k")) == .other, "\(path)")
        }
        for path in [
            "/whip", "/whip/", "/whip/other", "/whip/other/key", "/whip/~", "/whip/~/short", Self.session + "/x",
            "/whip/live/%zz", "/whip/live/%FF",
        ] {
            #expect(try self.reply(self.post(path, key: "k")).status == 404, "\(path)")
        }
        let deep = WHIPRequests(settings: WHIPSettings(app: "a/b"))
        let request = self.post("/whip/a/b/k")
        #expect(deep.decision(on: request) { _ in nil } == .publish(key: "k", isKeyInHeader: false, offer: [1]))
    }

    // MARK: Sessions

    @Test("DELETE with the key of the POST ends the session; an unknown session gets 404")
    func delete() throws {
        func delete(_ path: String = Self.session, key: String?) -> WHIPRequest {
            WHIPRequest(method: "DELETE", path: path, authorization: key, ifMatch: "\"old\"")
        }
        #expect(self.decision(delete(key: "Bearer a_7fd1")) == .delete(id: Self.id))
        #expect(self.decision(delete(key: "a_7fd1")) == .delete(id: Self.id))
        #expect(try self.reply(delete(key: nil)).status == 401)
        #expect(try self.reply(delete(key: "Bearer a_7fd2")).status == 403)
        #expect(try self.reply(delete("/whip/~/" + String(repeating: "0", count: 32), key: "a_7fd1")).status == 404)
        let open = WHIPSessionState(etag: "\"e1\"", remoteUfrag: "EsAw", key: nil)
        #expect(self.requests.decision(on: delete(key: nil)) { _ in open } == .delete(id: Self.id))
        let reply = self.requests.deleted(origin: nil)
        #expect(reply.status == 200 && !reply.body.isEmpty)
    }

    @Test("PATCH with candidates gets 204 without ETag")
    func candidates() throws {
        for ifMatch in ["\"e1\"", "*", "\"*\"", "\"x\", \"e1\""] {
            let reply = try self.reply(self.patch(Self.candidates, ifMatch: ifMatch))
            #expect(reply.status == 204 && reply[name: "ETag"] == nil && reply.body.isEmpty, "\(ifMatch)")
        }
        #expect(try self.reply(self.patch("a=candidate:1 1 udp 1 a.local 9 typ host")).status == 204)
        #expect(try self.reply(self.patch("a=end-of-candidates")).status == 204)
    }

    @Test("PATCH with new credentials restarts ICE")
    func restart() {
        let remote = ICECredentials(ufrag: "newU", password: "P2uYro0UCOQ4zxjKXaWCBui2")
        for ifMatch in ["*", "\"*\"", "\"e1\""] {
            #expect(self.decision(self.patch(Self.restart, ifMatch: ifMatch)) == .restart(id: Self.id, remote: remote))
        }
        let reply = self.requests.restarted(etag: "\"e2\"", fragment: "a=ice-lite\r\n", origin: nil)
        #expect(reply.status == 200 && reply[name: "ETag"] == "\"e2\"")
        #expect(reply[name: "Content-Type"] == "application/trickle-ice-sdpfrag")
    }

    @Test(
        "PATCH gets 428 without If-Match, 412 with an old or weak ETag, 415 with another type, 400 if malformed, 413 if too large"
    )
    func refusedPatches() throws {
        #expect(try self.reply(self.patch(Self.candidates, ifMatch: nil)).status == 428)
        for old in ["\"e0\"", "e1", "W/\"e1\"", ""] {
            #expect(try self.reply(self.patch(Self.candidates, ifMatch: old)).status == 412, "\(old)")
        }
        #expect(try self.reply(self.patch(Self.candidates, type: "application/sdp")).status == 415)
        #expect(try self.reply(self.patch(Self.candidates, type: nil)).status == 415)
        #expect(try self.reply(self.patch("")).status == 400)
        #expect(try self.reply(self.patch("a=ice-ufrag:newU", ifMatch: "*")).status == 400)
        #expect(try self.reply(self.patch(String(repeating: "a=candidate:1\n", count: 2000))).status == 413)
        #expect(try self.reply(self.patch(Self.candidates, key: nil)).status == 401)
        #expect(try self.reply(self.patch(Self.candidates, key: "Bearer x")).status == 403)
    }

    @Test("GET and HEAD of an endpoint or session get 204 without a key, and 404 for an unknown session")
    func get() throws {
        for method in ["GET", "HEAD"] {
            for path in ["/whip/live", Self.session] {
                let reply = try self.reply(WHIPRequest(method: method, path: path))
                #expect(reply.status == 204 && reply.body.isEmpty, "\(method) \(path)")
            }
            let gone = WHIPRequest(method: method, path: "/whip/~/" + String(repeating: "1", count: 32))
            #expect(try self.reply(gone).status == 404)
        }
    }

    @Test("WHIP requests with a method that their path does not support get 405 with Allow")
    func methods() throws {
        for (method, path, allowed) in [
            ("PUT", "/whip/live", "POST, GET, HEAD, OPTIONS"), ("DELETE", "/whip/live/k", "POST, GET, HEAD, OPTIONS"),
            ("PATCH", "/whip/live", "POST, GET, HEAD, OPTIONS"),
            ("POST", Self.session, "DELETE, PATCH, GET, HEAD, OPTIONS"),
            ("PUT", Self.session, "DELETE, PATCH, GET, HEAD, OPTIONS"),
            ("BREW", Self.session, "DELETE, PATCH, GET, HEAD, OPTIONS"),
        ] {
            let reply = try self.reply(WHIPRequest(method: method, path: path, authorization: "k"))
            #expect(reply.status == 405 && reply[name: "Allow"] == allowed, "\(method) \(path)")
        }
    }

    // MARK: CORS

    @Test("OPTIONS without a key gets Accept-Post or Accept-Patch, and a preflight also the CORS fields")
    func options() throws {
        let plain = try self.reply(WHIPRequest(method: "OPTIONS", path: "/whip/live"))
        #expect(plain.status == 204 && plain[name: "Accept-Post"] == "application/sdp" && plain[name: "Allow"] != nil)
        #expect(plain[name: "Access-Control-Allow-Origin"] == nil && plain[name: "Access-Control-Allow-Methods"] == nil)
        let preflight = try self.reply(
            WHIPRequest(method: "OPTIONS", path: Self.session, origin: "https://a.example", requestedMethod: "PATCH"))
        #expect(preflight.status == 204 && preflight[name: "Accept-Patch"] == "application/trickle-ice-sdpfrag")
        #expect(preflight[name: "Access-Control-Allow-Origin"] == "*")
        #expect(preflight[name: "Access-Control-Allow-Methods"] == "POST, PATCH, DELETE, OPTIONS")
        #expect(preflight[name: "Access-Control-Allow-Headers"] == "Authorization, Content-Type, If-Match")
        let unknown = WHIPRequest(
            method: "OPTIONS", path: "/whip/~/" + String(repeating: "1", count: 32), origin: "https://a.example")
        #expect(try self.reply(unknown).status == 204)
    }

    @Test("WHIP replies to a page of another origin have the CORS fields, refusals included")
    func exposed() throws {
        var request = self.post()
        request.origin = "https://a.example"
        for reply in [
            try self.reply(request), self.requests.refused(.inUse, origin: request.origin),
            self.requests.deleted(origin: request.origin),
            self.requests.created(path: "/whip/~/x", etag: "\"e\"", answer: "", origin: request.origin),
        ] {
            #expect(reply[name: "Access-Control-Allow-Origin"] == "*")
            #expect(reply[name: "Access-Control-Expose-Headers"] == "Location, ETag, Link")
        }
    }

    @Test("with a list of origins only their pages get CORS permission, and replies have Vary: Origin")
    func origins() throws {
        let requests = WHIPRequests(settings: WHIPSettings(app: "live", allowedOrigins: ["https://a.example"]))
        for (origin, allowed) in [("https://a.example", "https://a.example"), ("https://b.example", nil)] {
            let reply = requests.refused(.keyRefused, origin: origin)
            #expect(reply[name: "Access-Control-Allow-Origin"] == allowed && reply[name: "Vary"] == "Origin")
            let preflight = WHIPRequest(method: "OPTIONS", path: "/whip/live", origin: origin, requestedMethod: "POST")
            guard case .reply(let answer) = requests.decision(on: preflight, session: { _ in nil }) else {
                Issue.record("no reply")
                return
            }
            #expect((answer[name: "Access-Control-Allow-Methods"] != nil) == (allowed != nil))
        }
    }

    // MARK: Replies

    @Test("the 201 reply has Content-Type, Location, a strong ETag and Link fields with the ICE servers")
    func created() throws {
        let servers = [
            WHIPSettings.ICEServer(url: "stun:stun.example.net"),
            WHIPSettings.ICEServer(
                url: "turn:turn.example.net?transport=udp", username: "u\"x", credential: "p\\w\r\nX: y"),
            WHIPSettings.ICEServer(url: "stun:a>; rel=\"x"),
        ]
        let requests = WHIPRequests(settings: WHIPSettings(app: "live", iceServers: servers))
        let made = try #require(WHIPRoute.session(random: (0..<16).map { UInt8($0 * 16 + $0) }))
        #expect(made.path == Self.session && made.id == Self.id && WHIPRoute.session(random: [1]) == nil)
        #expect(WHIPRoute(path: made.path, query: nil, app: "live") == .session(id: made.id))
        let reply = requests.created(path: made.path, etag: "\"e1\"", answer: "v=0\r\n", origin: nil)
        #expect(reply.status == 201 && reply.body == "v=0\r\n" && reply[name: "content-type"] == "application/sdp")
        #expect(reply[name: "Location"] == Self.session && reply[name: "ETag"] == "\"e1\"")
        #expect(
            reply.fields.filter { $0.name == "Link" }.map(\.value) == [
                "<stun:stun.example.net>; rel=\"ice-server\"",
                "<turn:turn.example.net?transport=udp>; rel=\"ice-server\"; username=\"u\\\"x\"; "
                    + "credential=\"p\\\\wX: y\"; credential-type=\"password\"",
            ])
        // Only a publisher with a valid key gets the servers.
        #expect(requests.refused(.keyRefused, origin: nil)[name: "Link"] == nil)
    }

    @Test(
        "each WHIP error has its status, problem details with a remedy, and Retry-After if it may be repeated",
        arguments: [
            (WHIPError.keyMissing, 401, nil), (.keyRefused, 401, nil), (.sessionKeyRefused, 403, nil),
            (.forbidden("x", fix: "y"), 403, nil), (.inUse, 409, nil), (.tooManyRequests(retryAfter: 2), 429, "2"),
            (.overloaded("x", retryAfter: 5), 503, "5"), (.noSuchSession, 404, nil), (.noSuchEndpoint, 404, nil),
            (.methodNotAllowed(allowed: "POST"), 405, nil), (.unsupportedType(expected: "a/b"), 415, nil),
            (.preconditionRequired, 428, nil), (.preconditionFailed, 412, nil), (.malformed("x"), 400, nil),
            (.tooLarge("x"), 413, nil), (.unacceptable("x", fix: "y"), 422, nil),
            (.noCommonCodec("x", fix: "y"), 422, nil),
        ] as [(WHIPError, Int, String?)])
    func problems(error: WHIPError, status: Int, retryAfter: String?) {
        let reply = WHIPReply.error(error)
        #expect(reply.status == status && reply[name: "Retry-After"] == retryAfter)
        let root = JSONParser.parse(Array(reply.body.utf8)).root
        #expect(root?[key: "status"]?.integer == Int64(status) && root?[key: "code"]?.string == error.code)
        #expect(root?[key: "type"]?.string == "urn:tandem:error:\(error.code)")
        for name in ["title", "detail", "fix"] { #expect(root?[key: name]?.string?.isEmpty == false, "\(name)") }
    }
}
