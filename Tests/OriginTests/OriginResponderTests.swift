import HTTPListener
import HTTPTypes
import Testing

import Origin

@Suite("Origin responder: viewers' requests")
struct OriginResponderTests {
    private static func reply(
        _ method: HTTPRequest.Method, _ path: String, content: MemoryContent = MemoryContent(), fields: HTTPFields = [:]
    ) async -> ListenerReply {
        let responder = OriginResponder(
            content: content, policy: CORSPolicy(allowOrigins: ["*"]), page: ViewerPage.Options(title: "A & <B>"))
        let head = HTTPRequest(method: method, scheme: "http", authority: "a", path: path, headerFields: fields)
        return await responder.reply(to: ListenerRequest(head: head))
    }

    @Test(
        "known paths get 200, unknown ones 404, bad encoding 400, OPTIONS 204, other methods than GET and HEAD 405",
        arguments: [
            (.get, "/", 200), (.head, "/", 200), (.get, "/index.html", 200), (.get, "/?player=mse", 200),
            (.get, "/index.m3u8", 200), (.get, "/index.m3u8?_HLS_msn=3", 200), (.get, "/nothing", 404),
            (.options, "/index.m3u8", 204),
            (.post, "/index.m3u8", 405), (.put, "/v1/program", 405), (.delete, "/index.m3u8", 405),
            (.connect, "/", 405),
            (.get, "/%zz", 400), (.get, "*", 400), (.get, "/v1/room", 404),
        ] as [(HTTPRequest.Method, String, Int)])
    func statuses(method: HTTPRequest.Method, path: String, status: Int) async {
        let content = MemoryContent(objects: ["index.m3u8": MemoryContent.playlist("#EXTM3U\n")])
        #expect(await Self.reply(method, path, content: content).status.code == status)
    }

    @Test(
        "a path with `..`, empty components, backslashes or control characters gets 400 or 404",
        arguments: [
            "/..", "/../etc/passwd", "/a/../b", "/%2e%2e/etc/passwd", "/%2E%2e%2fetc", "//etc/passwd", "/./a", "/a//b",
            "/a/",
            "/a\\..\\b", "/..%5cb", "/a%00b", "/a%0ab", "/a%7f",
        ])
    func traversal(path: String) async {
        let reply = await Self.reply(.get, path, content: MemoryContent(servesAnything: true))
        #expect([400, 404].contains(reply.status.code))
    }

    @Test(
        "a request's path is percent-decoded, and otherwise looked up unchanged",
        arguments: [("/a%20b/c.m4s", "a b/c.m4s"), ("/..a/b..", "..a/b.."), ("/é", "é")])
    func names(path: String, name: String) async throws {
        let reply = await Self.reply(.get, path, content: MemoryContent(servesAnything: true))
        guard case .bytes(let bytes, _) = reply.body else { return #expect(Bool(false), "no body") }
        #expect(String(decoding: bytes, as: UTF8.self) == name)
    }

    @Test("replies with an object have a content type, caching and CORS fields, and support ranges")
    func fields() async {
        let content = MemoryContent(objects: ["index.m3u8": MemoryContent.playlist("0123456789")])
        let whole = await Self.reply(.get, "/index.m3u8", content: content)
        #expect(whole.fields[.contentType] == "application/vnd.apple.mpegurl")
        #expect(whole.fields[.cacheControl] == "max-age=1")
        #expect(whole.fields[.acceptRanges] == "bytes")
        #expect(whole.fields[.accessControlAllowOrigin] == "*")
        let part = await Self.reply(.get, "/index.m3u8", content: content, fields: [.range: "bytes=2-4"])
        #expect(part.status == .partialContent)
        #expect(part.fields[.contentRange] == "bytes 2-4/10")
        #expect(part.body.count == 3)
        let none = await Self.reply(.get, "/index.m3u8", content: content, fields: [.range: "bytes=10-"])
        #expect(none.status == .rangeNotSatisfiable)
        #expect(none.fields[.contentRange] == "bytes */10")
        let head = await Self.reply(.head, "/index.m3u8", content: content, fields: [.range: "bytes=2-4"])
        #expect(head.status == .ok && head.body.count == 10, "RFC 9110 §14.2: ranges are defined only for GET")
        #expect(head.fields[.contentRange] == nil)
    }

    @Test("a 404 has Cache-Control: no-store, and says so if the room has ended")
    func missing() async {
        #expect(await Self.reply(.get, "/index.m3u8").fields[.cacheControl] == "no-store")
        guard
            case .bytes(let bytes, _) = await Self.reply(.get, "/index.m3u8", content: MemoryContent(ended: true)).body
        else {
            return #expect(Bool(false), "no body")
        }
        #expect(String(decoding: bytes, as: UTF8.self) == "the room has ended\n")
    }

    @Test(
        "a page that waits for a playlist, still or thumbnails gets 204 until it exists, and 404 for other objects and after the room's end"
    )
    func waitingPage() async throws {
        let name = try #require(HTTPField.Name("Tandem-Waiting"))
        func status(_ path: String, _ content: MemoryContent) async -> Int {
            await Self.reply(.get, path, content: content, fields: [name: "1"]).status.code
        }
        let reply = await Self.reply(.get, "/index.m3u8", fields: [name: "1"])
        #expect(reply.status == .noContent && reply.fields[.cacheControl] == "no-store")
        #expect(await status("/still.jpg", MemoryContent()) == 204)
        #expect(await status("/still.vtt", MemoryContent()) == 204)
        #expect(await status("/1.m4s", MemoryContent()) == 404)
        #expect(await status("/index.m3u8", MemoryContent(ended: true)) == 404)
        let content = MemoryContent(objects: ["index.m3u8": MemoryContent.playlist("#EXTM3U\n")])
        #expect(await status("/index.m3u8", content) == 200)
        #expect(await Self.reply(.get, "/index.m3u8").status == .notFound, "other clients")
    }

    @Test("a CORS preflight request gets the allowed methods and headers, those of CMCD included")
    func preflight() async {
        let reply = await Self.reply(.options, "/seg.m4s", fields: [.origin: "https://a.example"])
        let allowed = reply.fields[.accessControlAllowHeaders] ?? ""
        for field in ["Range", "CMCD-Object", "CMCD-Request", "CMCD-Session", "CMCD-Status"] {
            #expect(allowed.contains(field), "\(allowed)")
        }
        #expect(reply.fields[.accessControlAllowMethods] == "GET, HEAD, OPTIONS")
    }
}
