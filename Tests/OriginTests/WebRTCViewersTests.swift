import HTTPListener
import HTTPTypes
import Synchronization
import Testing

import Origin

@Suite("Origin responder: requests of WebRTC viewers")
struct WebRTCViewersTests {
    /// Remembers the requests that reached the server.
    private final class Server: Sendable {
        let seen = Mutex<[String]>([])

        var viewers: WebRTCViewers {
            WebRTCViewers(
                respond: { request, answer in
                    self.seen.withLock { $0.append("\(request.head.method.rawValue) \(request.head.path ?? "")") }
                    answer(ListenerReply(.created, fields: [.location: "/whep/session/1"]))
                }, count: { 3 })
        }
    }

    private let server = Server()

    private func reply(
        _ method: HTTPRequest.Method, _ path: String, origins: [String] = ["*"], gate: SignedURLVerifier? = nil,
        hasServer: Bool = true, fields: HTTPFields = [:]
    ) async -> ListenerReply {
        let responder = OriginResponder(
            content: MemoryContent(), policy: CORSPolicy(allowOrigins: origins), page: ViewerPage.Options(title: "R"),
            gate: gate,
            webRTC: hasServer ? self.server.viewers : nil)
        let head = HTTPRequest(method: method, scheme: "http", authority: "a", path: path, headerFields: fields)
        return await responder.reply(to: ListenerRequest(head: head))
    }

    @Test(
        "every method at /whep and below reaches the WHEP server, other paths do not",
        arguments: [
            (.post, "/whep", true), (.post, "/whep/720p?a=b", true), (.options, "/whep", true), (.get, "/whep", true),
            (.delete, "/whep/session/00112233445566778899aabbccddeeff", true), (.patch, "/whep/a/b/c", true),
            (.post, "http://a/whep", true), (.post, "/whepp", false), (.get, "/whep.m3u8", false),
            (.post, "/index.m3u8", false), (.get, "/a/whep", false),
        ] as [(HTTPRequest.Method, String, Bool)])
    func paths(method: HTTPRequest.Method, path: String, isPassed: Bool) async {
        let reply = await self.reply(method, path)
        #expect((reply.status == .created) == isPassed)
        #expect(self.server.seen.withLock { $0 } == (isPassed ? ["\(method.rawValue) \(path)"] : []))
    }

    @Test("without a WebRTC output, POST /whep gets 405 and GET /whep 404")
    func without() async {
        #expect(await self.reply(.post, "/whep", hasServer: false).status == .methodNotAllowed)
        #expect(await self.reply(.get, "/whep", hasServer: false).status == .notFound)
    }

    @Test("pages of allowed origins can read the reply's Location; other origins get no permission")
    func cors() async {
        let all = await self.reply(.post, "/whep", fields: [.origin: "https://a.example"])
        #expect(all.fields[.accessControlAllowOrigin] == "*")
        #expect(all.fields[.accessControlExposeHeaders]?.contains("Location") == true)
        #expect(all.fields[.accessControlExposeHeaders]?.contains("Date") == true)
        let listed = await self.reply(
            .post, "/whep", origins: ["https://b.example"], fields: [.origin: "https://a.example"])
        #expect(listed.fields[.accessControlAllowOrigin] == nil && listed.fields[.vary] == "Origin")
    }

    @Test(
        "with signed URLs, a WHEP POST needs a signature for its path; other requests of a session and OPTIONS need none"
    )
    func signed() async {
        let gate = SignedURLVerifier(room: "r", secrets: ["a secret of the room"], now: { 1_000 })
        let session = "/whep/session/00112233445566778899aabbccddeeff"
        #expect(await self.reply(.post, "/whep", gate: gate).status == .forbidden)
        #expect(await self.reply(.post, "/whep?exp=2000&sig=00", gate: gate).status == .forbidden)
        #expect(await self.reply(.post, "/whep?\(gate.query(scope: "/", seconds: 60))", gate: gate).status == .created)
        let scoped = gate.query(scope: "/whep/360p", seconds: 60)
        #expect(await self.reply(.post, "/whep/360p?\(scoped)", gate: gate).status == .created)
        #expect(await self.reply(.post, "/whep/720p?\(scoped)", gate: gate).status == .forbidden)
        for method in [HTTPRequest.Method.delete, .patch, .options] {
            #expect(await self.reply(method, session, gate: gate).status == .created)
        }
        // A session path is not an endpoint: a POST to it plays nothing.
        #expect(await self.reply(.options, "/whep", gate: gate).status == .created)
    }

    @Test("the viewer page offers WebRTC only if the room has a WebRTC output")
    func page() {
        var options = ViewerPage.Options(title: "R")
        #expect(ViewerPage.html(options).contains("data-whep=\"\""))
        options.hasWebRTC = true
        #expect(ViewerPage.html(options).contains("data-whep=\"whep\""))
        #expect(ViewerPage.File.webRTC.text.contains("class WHEPPlayer"))
    }
}
