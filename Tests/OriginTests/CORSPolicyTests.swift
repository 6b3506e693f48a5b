import HTTPTypes
import Testing

import Origin

@Suite("CORS: Fetch §3.3")
struct CORSPolicyTests {
    @Test(
        "a page may read a reply only if its origin is listed",
        arguments: [
            (["*"], "https://a.example", "*"), (["*"], nil, "*"), ([], "https://a.example", nil),
            (["https://a.example"], "https://a.example", "https://a.example"),
            (["https://a.example"], "https://b.example", nil),
            (["https://a.example"], "https://a.example.evil.example", nil),
            (["https://a.example/"], "https://A.example", "https://A.example"),
            (["https://a.example"], "http://a.example", nil), (["https://a.example"], nil, nil),
        ] as [([String], String?, String?)])
    func allowed(origins: [String], origin: String?, expected: String?) {
        let fields = CORSPolicy(allowOrigins: origins).fields(origin: origin)
        #expect(fields[.accessControlAllowOrigin] == expected)
        #expect((fields[.accessControlExposeHeaders]?.contains("Content-Range") == true) == (expected != nil))
    }

    @Test(
        "a WebSocket is accepted from listed origins, from the server's own page and without Origin",
        arguments: [
            (["*"], "https://a.example", true), ([], "https://a.example", false), ([], nil, true),
            (["https://a.example"], "https://A.example", true), (["https://a.example"], "https://b.example", false),
            ([], "https://room.example:8080", true), ([], "http://Room.example:8080", true),
            ([], "https://room.example", false), ([], "https://room.example:8080.evil.example", false),
            ([], "null", false), ([], "", false), ([], "room.example:8080", false),
        ] as [([String], String?, Bool)])
    func sockets(origins: [String], origin: String?, isAdmitted: Bool) {
        let policy = CORSPolicy(allowOrigins: origins)
        #expect(policy.admits(origin: origin, authority: "room.example:8080") == isAdmitted)
    }

    @Test("with listed origins, replies have Vary: Origin; with `*` they do not")
    func vary() {
        #expect(CORSPolicy(allowOrigins: ["https://a.example"]).fields(origin: nil)[.vary] == "Origin")
        #expect(CORSPolicy(allowOrigins: ["*"]).fields(origin: nil)[.vary] == nil)
    }
}
