import HTTPProbe
import Logging
import Synchronization
import Testing

import Origin

@Suite("A thousand waiting players over loopback", .serialized, .timeLimit(.minutes(2)))
struct ThousandPlayersTests {
    private static func withServer(_ stream: LiveStream, _ body: (HTTPProbe, OriginServer) async throws -> Void)
        async throws
    {
        let server = try await OriginServer.start(
            listen: .tcp(host: "127.0.0.1", port: 0), content: stream.content, allowOrigins: ["*"], roomTitle: "Room",
            logger: Logger(label: "test"))
        try await body(HTTPProbe(server.boundAddress), server)
        await server.stop()
    }

    @Test("one part wakes them all, each with the same list, and with less work than a list each")
    func wake() async throws {
        let stream = try LiveStream(["v"])
        for _ in 0..<6 { try stream.next() }
        try await Self.withServer(stream) { (probe, _) async throws in
            let count = 1_000
            let texts = try await withThrowingTaskGroup(of: (String, ContinuousClock.Instant).self) { group in
                for _ in 0..<count {
                    group.addTask {
                        let reply = try await probe.request("GET /v.m3u8?_HLS_msn=1&_HLS_part=2")
                        #expect(reply.status == 200)
                        return (reply.text, .now)
                    }
                }
                while stream.content.waitingCount < count { try await Task.sleep(for: .milliseconds(5)) }
                let start = ContinuousClock.now
                try stream.next()
                let published = ContinuousClock.now
                #expect(stream.content.waitingCount == 0)
                var times: [Duration] = []
                var texts: Set<String> = []
                for try await (text, time) in group {
                    texts.insert(text)
                    times.append(time - start)
                }
                times.sort()
                print(
                    "1,000 waiting players: publish \(published - start), p50 \(times[count / 2]), "
                        + "p99 \(times[count * 99 / 100]), last \(times[count - 1])")
                #expect(
                    published - start < .milliseconds(250 * Instrumented.factor),
                    "the publisher does not wait for its viewers")
                return texts
            }
            #expect(texts.count == 1 && texts.first?.contains("v-1-1.2.m4s") == true)
        }
    }

    @Test("players that go away leave nothing behind")
    func gone() async throws {
        let stream = try LiveStream(["v"])
        for _ in 0..<6 { try stream.next() }
        try await Self.withServer(stream) { (probe, server) async throws in
            let tasks = (0..<50).map { _ in Task { try await probe.request("GET /v.m3u8?_HLS_msn=2") } }
            while stream.content.waitingCount < 50 { try await Task.sleep(for: .milliseconds(5)) }
            for task in tasks { task.cancel() }
            for task in tasks { _ = await task.result }
            while stream.content.waitingCount > 0 || server.connectionCount > 0 {
                try await Task.sleep(for: .milliseconds(5))
            }
            try stream.next()
            #expect(try await probe.request("GET /v.m3u8").status == 200)
        }
    }

    @Test("a stop does not wait for those who wait")
    func stop() async throws {
        let stream = try LiveStream(["v"])
        for _ in 0..<6 { try stream.next() }
        try await Self.withServer(stream) { (probe, server) async throws in
            let task = Task { try await probe.request("GET /v.m3u8?_HLS_msn=2") }
            while stream.content.waitingCount == 0 { try await Task.sleep(for: .milliseconds(5)) }
            await server.stop()
            #expect(try await task.value.status == 503)
        }
    }
}
