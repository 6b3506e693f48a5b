import HTTPProbe
import Logging
import Synchronization
import TestSupport
import Testing

import Origin

@Suite("Up to a thousand blocked players over loopback", .serialized, .timeLimit(.minutes(2)))
struct ThousandPlayersTests {
    private static func withServer(_ stream: LiveStream, _ body: (HTTPProbe, OriginServer) async throws -> Void)
        async throws
    {
        let server = try await OriginServer.start(
            listen: .tcp(host: "127.0.0.1", port: 0), content: stream.content, allowOrigins: ["*"],
            page: ViewerPage.Options(title: "Room"),
            logger: Logger(label: "test"))
        try await body(HTTPProbe(server.boundAddress), server)
        await server.stop()
    }

    @Test("one new part answers 1,000 blocking requests, each with the same playlist")
    func wake() async throws {
        let stream = try LiveStream(["v"])
        for _ in 0..<6 { try stream.next() }
        try await Self.withServer(stream) { (probe, _) async throws in
            let count = 1_000
            let texts = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<count {
                    group.addTask {
                        let reply = try await probe.request("GET /v.m3u8?_HLS_msn=1&_HLS_part=2")
                        #expect(reply.status == 200)
                        return reply.text
                    }
                }
                try await waitUntil("1,000 requests wait", { stream.content.waitingCount }) { $0 >= count }
                try stream.next()
                #expect(stream.content.waitingCount == 0)
                return try await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
            #expect(texts.count == 1 && texts.first?.contains("v-1-1.2.m4s") == true)
        }
    }

    @Test("players that disconnect leave no blocking request and no connection")
    func gone() async throws {
        let stream = try LiveStream(["v"])
        for _ in 0..<6 { try stream.next() }
        try await Self.withServer(stream) { (probe, server) async throws in
            let tasks = (0..<50).map { _ in Task { try await probe.request("GET /v.m3u8?_HLS_msn=2") } }
            try await waitUntil("50 requests wait", { stream.content.waitingCount }) { $0 >= 50 }
            for task in tasks { task.cancel() }
            for task in tasks { _ = await task.result }
            try await waitUntil("nothing waits", { (stream.content.waitingCount, server.connectionCount) }) {
                $0 == (0, 0)
            }
            try stream.next()
            #expect(try await probe.request("GET /v.m3u8").status == 200)
        }
    }

    @Test("when the server stops, a blocking request gets 503 at once")
    func stop() async throws {
        let stream = try LiveStream(["v"])
        for _ in 0..<6 { try stream.next() }
        try await Self.withServer(stream) { (probe, server) async throws in
            let task = Task { try await probe.request("GET /v.m3u8?_HLS_msn=2") }
            try await waitUntil("a request waits", { stream.content.waitingCount }) { $0 > 0 }
            await server.stop()
            #expect(try await task.value.status == 503)
        }
    }
}
