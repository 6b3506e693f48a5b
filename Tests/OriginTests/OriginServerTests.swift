import Glibc
import HTTPProbe
import Logging
import MediaTypes
import Testing

import Origin

@Suite("Origin server over loopback", .timeLimit(.minutes(1)))
struct OriginServerTests {
    private static let segment = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }

    private static func withServer(_ body: (HTTPProbe, String) async throws -> Void) async throws {
        let holder = try TemporaryDirectory()
        let directory = holder.path
        let path = directory + "/s1.m4s"
        let file = open(path, O_CREAT | O_WRONLY, 0o600)
        #expect(write(file, Self.segment, Self.segment.count) == Self.segment.count)
        close(file)
        symlink(path, directory + "/link")
        let media = { (body: OriginObject.Body) in
            OriginObject(body: body, contentType: "video/mp4", cacheControl: "max-age=60")
        }
        let content = MemoryContent(objects: [
            "index.m3u8": MemoryContent.playlist("#EXTM3U\n"),
            "memory.m4s": media(.bytes(Self.segment)),
            "v/s1.m4s": media(.file(path: path, size: Self.segment.count)),
            "gone.m4s": media(.file(path: directory + "/gone", size: 10)),
            "replaced.m4s": media(.file(path: path, size: 10)),
            "short.m4s": media(.file(path: path, size: Self.segment.count + 1)),
            "link.m4s": media(.file(path: directory + "/link", size: 10)),
            "directory.m4s": media(.file(path: directory, size: 10)),
            "empty.m4s": media(.bytes([])),
        ])
        let server = try await OriginServer.start(
            listen: .tcp(host: "127.0.0.1", port: 0), content: content, allowOrigins: ["*"],
            page: ViewerPage.Options(title: "Room"),
            logger: Logger(label: "test"))
        try await body(HTTPProbe(server.boundAddress), path)
        await server.stop()
        unlink(directory + "/link")
        unlink(path)
        holder.remove()
    }

    @Test("an object arrives complete from memory and from a file", arguments: ["/memory.m4s", "/v/s1.m4s"])
    func whole(path: String) async throws {
        try await Self.withServer { (probe, _) async throws in
            let reply = try await probe.request("GET \(path)")
            #expect(reply.status == 200)
            #expect(reply.fields["content-type"] == "video/mp4")
            #expect(reply.fields["content-length"] == "300000")
            #expect(reply.body == Self.segment)
        }
    }

    @Test(
        "a byte range of an object in memory or in a file arrives exactly",
        arguments: ["/memory.m4s", "/v/s1.m4s"],
        [0..<1, 0..<65_536, 65_535..<65_538, 65_536..<131_073, 299_999..<300_000])
    func ranges(path: String, range: Range<Int>) async throws {
        try await Self.withServer { (probe, _) async throws in
            let reply = try await probe.request(
                "GET \(path)", ["Range: bytes=\(range.lowerBound)-\(range.upperBound - 1)"])
            #expect(reply.status == 206)
            #expect(reply.fields["content-range"] == "bytes \(range.lowerBound)-\(range.upperBound - 1)/300000")
            #expect(reply.body == Array(Self.segment[range]))
        }
    }

    @Test("HEAD gives the length and sends no body")
    func head() async throws {
        try await Self.withServer { (probe, _) async throws in
            let replies = try await probe.exchange([
                ("HEAD /v/s1.m4s HTTP/1.1\nHost: a\n\n", []), ("GET /index.m3u8 HTTP/1.1\nHost: a\n\n", []),
            ])
            #expect(replies[0].fields["content-length"] == "300000")
            #expect(replies[1].text == "#EXTM3U\n", "the second reply follows the first head at once")
        }
    }

    @Test(
        "GET finds files of the room only; no symbolic link, directory or path outside; POST and TRACE get 405",
        arguments: [
            ("GET /", 200), ("GET /nothing", 404), ("GET /gone.m4s", 404), ("GET /link.m4s", 404),
            ("GET /directory.m4s", 404),
            ("GET /empty.m4s", 200), ("GET /../../etc/passwd", 404), ("GET /v/../index.m3u8", 404),
            ("POST /index.m3u8", 405),
            ("TRACE /", 405), ("OPTIONS /index.m3u8", 204),
        ])
    func statuses(line: String, status: Int) async throws {
        try await Self.withServer { (probe, _) async throws in
            #expect(try await probe.request(line).status == status)
        }
    }

    @Test("a deleted file gets 404 with CORS fields and Cache-Control: no-store")
    func goneFile() async throws {
        try await Self.withServer { (probe, _) async throws in
            let reply = try await probe.request("GET /gone.m4s", ["Origin: https://player.example"])
            #expect(reply.status == 404 && reply.fields["access-control-allow-origin"] == "*")
            #expect(reply.fields["cache-control"] == "no-store" && reply.fields["x-content-type-options"] == "nosniff")
        }
    }

    @Test("a file shorter than announced closes the connection, not the server")
    func shrunkenFile() async throws {
        try await Self.withServer { (probe, _) async throws in
            await #expect(throws: HTTPProbe.Failure.self) { try await probe.request("GET /short.m4s") }
            #expect(try await probe.request("GET /index.m3u8").status == 200)
        }
    }

    @Test("a file that is replaced after it was sent is sent in its new version")
    func replacedFile() async throws {
        try await Self.withServer { (probe, path) async throws in
            #expect(try await probe.request("GET /v/s1.m4s").body == Self.segment)
            let bytes = [UInt8](repeating: 7, count: 10)
            let file = open(path + ".new", O_CREAT | O_WRONLY, 0o600)
            #expect(write(file, bytes, bytes.count) == bytes.count)
            close(file)
            #expect(rename(path + ".new", path) == 0)
            #expect(try await probe.request("GET /replaced.m4s").body == bytes)
        }
    }

    @Test("a POST gets 405, whatever the size of its body")
    func bodies() async throws {
        try await Self.withServer { (probe, _) async throws in
            #expect(try await probe.request("POST /index.m3u8", body: "hello").status == 405)
            let announced = "POST /index.m3u8 HTTP/1.1\nHost: a\nContent-Length: 99999999999\n\n"
            #expect(try await probe.send(announced).status == 405)
            #expect(try await probe.request("GET /index.m3u8").status == 200)
        }
    }

    @Test("the origin answers two hundred simultaneous requests")
    func flood() async throws {
        try await Self.withServer { (probe, _) async throws in
            let paths = ["/index.m3u8", "/memory.m4s", "/v/s1.m4s", "/nothing"]
            let sizes = try await withThrowingTaskGroup(of: (Int, Int, Int).self) { group in
                for index in 0..<200 {
                    group.addTask {
                        let reply = try await probe.request("GET \(paths[index % 4])")
                        return (index % 4, reply.status, reply.body.count)
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(sizes.count == 200)
            let expected = [(200, 8), (200, 300_000), (200, 300_000), (404, 15)]
            for (index, status, count) in sizes { #expect((status, count) == expected[index]) }
        }
    }
}
