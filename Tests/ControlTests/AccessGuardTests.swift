import HTTPTypes
import MediaTypes
import Testing

import Control

@Suite("Access to the control API")
struct AccessGuardTests {
    private static func head(_ host: String?, _ fields: HTTPFields = [:]) -> HTTPRequest {
        HTTPRequest(method: .post, scheme: "http", authority: host, path: "/v1/room:end", headerFields: fields)
    }

    @Test(
        "without a token, a loopback listener serves only requests with a loopback Host and no Origin or its own; others get 403",
        arguments: [
            ("127.0.0.1:41234", nil, true), ("localhost:41234", nil, true), ("LOCALHOST", nil, true),
            ("[::1]:41234", nil, true),
            ("127.9.9.9", nil, true), ("evil.example", nil, false), ("127.0.0.1.evil.example", nil, false),
            ("localhost.evil.example:41234", nil, false), ("", nil, false), (nil, nil, false),
            ("127.0.0.1:41234", "http://127.0.0.1:41234", true), ("127.0.0.1:41234", "http://127.0.0.1:8080", false),
            ("127.0.0.1:41234", "https://127.0.0.1:41234", false), ("127.0.0.1:41234", "null", false),
            ("127.0.0.1:41234", "http://evil.example", false), ("evil.example", "http://evil.example", false),
        ] as [(String?, String?, Bool)])
    func loopback(host: String?, origin: String?, isServed: Bool) {
        let guardian = AccessGuard(listen: .tcp(host: "127.0.0.1", port: 0), token: nil)
        var fields: HTTPFields = [:]
        fields[.origin] = origin
        let refusal = guardian.refusal(of: Self.head(host, fields), isOpen: false)
        #expect((refusal == nil) == isServed)
        if let refusal { #expect(refusal.status == 403 && refusal.code == "authDenied") }
    }

    @Test(
        "with a token, a control request with a foreign Host and Origin is served if it has that bearer token; others get 401",
        arguments: [
            (nil, false), ("Bearer s3cret", true), ("bearer s3cret", true), ("Bearer  s3cret", true),
            ("Bearer s3cre", false),
            ("Bearer s3crets", false), ("Bearer s3creT", false), ("Bearer ", false), ("Bearer", false), ("", false),
            ("Basic s3cret", false), ("s3cret", false), ("Bearer s3crets3cret", false),
        ] as [(String?, Bool)])
    func token(field: String?, isServed: Bool) {
        let guardian = AccessGuard(listen: .tcp(host: "0.0.0.0", port: 0), token: "s3cret")
        var fields: HTTPFields = [.origin: "https://panel.example"]
        fields[.authorization] = field
        let refusal = guardian.refusal(of: Self.head("worker-7.example", fields), isOpen: false)
        #expect((refusal == nil) == isServed)
        if let refusal { #expect(refusal.status == 401) }
    }

    @Test(
        "the read token is for reads, and commands get 403; a wrong or missing token gets 401; an empty read token permits nothing",
        arguments: [
            ("Bearer look", true, nil), ("Bearer look", false, 403), ("Bearer s3cret", true, nil),
            ("Bearer s3cret", false, nil), ("Bearer loo", true, 401), ("Bearer ", true, 401), (nil, true, 401),
        ] as [(String?, Bool, Int?)])
    func reader(field: String?, isReading: Bool, status: Int?) {
        let guardian = AccessGuard(
            listen: .tcp(host: "0.0.0.0", port: 0), token: "s3cret", readToken: "look")
        var fields: HTTPFields = [:]
        fields[.authorization] = field
        let head = Self.head("a", fields)
        #expect(guardian.refusal(of: head, isOpen: false, isReading: isReading)?.status == status)
        let alone = AccessGuard(listen: .tcp(host: "0.0.0.0", port: 0), token: "s3cret", readToken: "")
        #expect(alone.refusal(of: Self.head("a", [.authorization: "Bearer "]), isOpen: false, isReading: true) != nil)
    }

    @Test("a control server whose configured token is empty refuses a request with an empty bearer token")
    func emptyToken() {
        let guardian = AccessGuard(listen: .tcp(host: "0.0.0.0", port: 0), token: "")
        #expect(guardian.refusal(of: Self.head("a", [.authorization: "Bearer "]), isOpen: false) != nil)
    }

    @Test(
        "an open endpoint such as a health probe needs no token; on a Unix socket without a token any Host is accepted"
    )
    func exceptions() {
        let guarded = AccessGuard(listen: .tcp(host: "0.0.0.0", port: 0), token: "s3cret")
        #expect(guarded.refusal(of: Self.head("10.0.0.1"), isOpen: true) == nil)
        let socket = AccessGuard(listen: .unix(path: "/a"), token: nil)
        #expect(socket.refusal(of: Self.head("anything"), isOpen: false) == nil)
    }
}
