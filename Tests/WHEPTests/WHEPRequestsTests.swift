import Testing
import WHEP
import WebRTC

@Suite("WHEP requests: draft-ietf-wish-whep §4, RFC 9725 §4.3")
struct WHEPRequestsTests {
    private static let id = String(repeating: "ab", count: 16)
    private static let fragment = "a=ice-ufrag:EsAw\r\na=ice-pwd:P2uYro0UCOQ4zxjKXaWCBui1\r\n"

    private func decide(_ method: String, _ path: String, change: (inout WHIPRequest) -> Void = { _ in })
        -> WHEPDecision
    {
        var request = WHIPRequest(method: method, path: path, body: [1])
        change(&request)
        return WHEPRequests.decision(on: request) { $0 == Self.id ? ("\"e\"", "remote") : nil }
    }

    private func reply(
        _ method: String, _ path: String, change: (inout WHIPRequest) -> Void = { _ in }
    ) -> WHIPReply? {
        if case .reply(let reply) = self.decide(method, path, change: change) { reply } else { nil }
    }

    @Test("a WHEP path names the output's rendition, a given rendition or a session; other paths are told apart")
    func routes() {
        #expect(WHEPRoute(path: "/whep") == .endpoint(rendition: nil))
        #expect(WHEPRoute(path: "/whep/") == .endpoint(rendition: nil))
        #expect(WHEPRoute(path: "/whep/720p") == .endpoint(rendition: "720p"))
        #expect(WHEPRoute(path: "/whep/a%20b") == .endpoint(rendition: "a b"))
        #expect(WHEPRoute(path: "/whep/session") == .endpoint(rendition: "session"))
        #expect(WHEPRoute(path: "/whep/session/\(Self.id)") == .session(id: Self.id))
        #expect(WHEPRoute(path: "/whep/session/ab") == .unknown)
        #expect(WHEPRoute(path: "/whep/720p/more") == .unknown)
        #expect(WHEPRoute(path: "/whepper") == .other)
        #expect(WHEPRoute(path: "whep") == .other)
        #expect(WHEPRoute(path: "/") == .other)
    }

    @Test("the path of a session has its id of 128 random bits and nothing else")
    func location() throws {
        let place = try #require(WHEPRoute.session(random: [UInt8](0..<16)))
        #expect(place.path == "/whep/session/000102030405060708090a0b0c0d0e0f")
        #expect(WHEPRoute(path: place.path) == .session(id: place.id))
        #expect(WHEPRoute.session(random: [1, 2]) == nil)
    }

    @Test("a POST of an offer asks for a rendition; another type gets 415")
    func post() {
        let typed: (inout WHIPRequest) -> Void = { $0.contentType = "Application/SDP; charset=utf-8" }
        #expect(self.decide("POST", "/whep", change: typed) == .play(rendition: nil, offer: [1]))
        #expect(self.decide("POST", "/whep/720p", change: typed) == .play(rendition: "720p", offer: [1]))
        #expect(self.reply("POST", "/whep")?.status == 415)
        #expect(self.reply("POST", "/whep/a/b", change: typed)?.status == 404)
        #expect(self.reply("POST", "/whep/session/\(Self.id)", change: typed)?.status == 405)
    }

    @Test("OPTIONS gets the content type; a preflight also gets the CORS fields except Access-Control-Allow-Origin")
    func options() {
        let plain = self.reply("OPTIONS", "/whep")
        #expect(plain?.status == 204 && plain?[name: "accept-post"] == "application/sdp")
        #expect(plain?[name: "access-control-allow-methods"] == nil)
        let preflight = self.reply("OPTIONS", "/whep/session/\(Self.id)") { $0.requestedMethod = "PATCH" }
        #expect(preflight?[name: "access-control-allow-methods"] == "POST, PATCH, DELETE, OPTIONS")
        #expect(preflight?[name: "accept-patch"] == SDPFragment.mediaType)
        #expect(preflight?[name: "access-control-allow-origin"] == nil)
    }

    @Test("DELETE ends a session; an unknown one, such as that of an earlier worker, gets 404")
    func delete() {
        #expect(self.decide("DELETE", "/whep/session/\(Self.id)") == .delete(id: Self.id))
        #expect(self.reply("DELETE", "/whep/session/\(String(repeating: "0", count: 32))")?.status == 404)
        #expect(WHEPRequests.deleted.status == 200 && !WHEPRequests.deleted.body.isEmpty)
    }

    @Test(
        "PATCH with candidates gets 204, and with new credentials restarts ICE; If-Match and Content-Type are checked")
    func patch() {
        func patch(_ body: String, tag: String? = "\"e\"", type: String = SDPFragment.mediaType) -> WHEPDecision {
            self.decide("PATCH", "/whep/session/\(Self.id)") {
                ($0.contentType, $0.ifMatch, $0.body) = (type, tag, Array(body.utf8))
            }
        }
        func status(_ decision: WHEPDecision) -> Int? {
            if case .reply(let reply) = decision { reply.status } else { nil }
        }
        #expect(status(patch("a=candidate:1 1 udp 1 192.0.2.1 9 typ host\r\n")) == 204)
        let remote = ICECredentials(ufrag: "EsAw", password: "P2uYro0UCOQ4zxjKXaWCBui1")
        #expect(patch(Self.fragment, tag: "*") == .restart(id: Self.id, remote: remote))
        #expect(patch(Self.fragment, tag: "\"x\", \"e\"") == .restart(id: Self.id, remote: remote))
        #expect(status(patch(Self.fragment, tag: nil)) == 428)
        #expect(status(patch(Self.fragment, tag: "\"old\"")) == 412)
        #expect(status(patch(Self.fragment, tag: "W/\"e\"")) == 412)
        #expect(status(patch(Self.fragment, type: "application/sdp")) == 415)
        #expect(status(patch("nonsense\r\n")) == 400)
    }

    @Test("GET and HEAD are answered without an error, other methods get 405 with Allow")
    func others() {
        #expect(self.reply("HEAD", "/whep")?[name: "content-type"] == "application/sdp")
        #expect(self.reply("GET", "/whep/session/\(Self.id)")?.status == 204)
        let put = self.reply("PUT", "/whep")
        #expect(put?.status == 405 && put?[name: "allow"] == "POST, GET, HEAD, OPTIONS")
    }
}
