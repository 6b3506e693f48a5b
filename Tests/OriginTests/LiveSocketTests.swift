import Foundation
import HTTPProbe
import Logging
import NIOCore
import Synchronization
import TLSFiles
import TestSupport
import Testing

import Origin

@Suite("Live content over sockets: rfc8216bis §6.2.5, HTTP/1.1 and HTTP/2", .serialized, .timeLimit(.minutes(2)))
struct LiveSocketTests {
    /// A server with one whole segment (0) and two parts of the next.
    private static func withServer(
        tls: Bool, _ body: (LiveStream, OriginServer) async throws -> Void
    ) async throws {
        let stream = try LiveStream(["v"])
        for _ in 0..<6 { try stream.next() }
        let holder = try TemporaryDirectory()
        let (certificate, key) = (holder.path + "/a.crt", holder.path + "/a.key")
        var store: CertificateStore?
        if tls {
            try CertificateMaker.require()
            try CertificateMaker.make(certificate: certificate, key: key)
            store = try CertificateStore(CertificateFiles(certificate: certificate, key: key), place: "test")
        }
        let server = try await OriginServer.start(
            listen: .tcp(host: "127.0.0.1", port: 0), content: stream.content, allowOrigins: ["*"],
            page: ViewerPage.Options(title: "Room"),
            certificates: store, logger: Logger(label: "test"))
        do {
            try await body(stream, server)
        } catch {
            Issue.record(error)
        }
        await server.stop(within: .milliseconds(100))
        unlink(certificate)
        unlink(key)
        holder.remove()
    }

    /// Status and body of a request over either protocol.
    private static func get(_ server: OriginServer, _ path: String, tls: Bool) async throws -> (Int, [UInt8]) {
        if tls {
            let reply = try await HTTP2Probe(server.boundAddress).get(path)
            return (reply.status, reply.body)
        }
        let reply = try await HTTPProbe(server.boundAddress).request("GET \(path)")
        return (reply.status, reply.body)
    }

    @Test(
        "requests that are answered at once have the same status over HTTP/1.1 and HTTP/2",
        arguments: [
            ("/v.m3u8", 200), ("/v.m3u8?_HLS_part=1", 400), ("/v.m3u8?_HLS_msn=4", 400), ("/v.m3u8?_HLS_msn=x", 400),
            ("/v.m3u8?_HLS_msn=0", 200), ("/v.m3u8?_HLS_msn=0&_HLS_part=4", 200), ("/v.m3u8?_HLS_skip=YES", 200),
            ("/v-1-1.1.m4s", 200), ("/v-1-1.3.m4s", 404), ("/", 200),
        ], [false, true])
    func immediate(request: (path: String, status: Int), tls: Bool) async throws {
        try await Self.withServer(tls: tls) { _, server in
            let status = try await Self.get(server, request.path, tls: tls).0
            #expect(status == request.status)
        }
    }

    @Test("a blocking reload is held until its part is there, and is answered by it", arguments: [false, true])
    func held(tls: Bool) async throws {
        try await Self.withServer(tls: tls) { stream, server in
            let task = Task { try await Self.get(server, "/v.m3u8?_HLS_msn=1&_HLS_part=2", tls: tls) }
            try await waitUntil("a request waits", { stream.content.waitingCount }) { $0 > 0 }
            try stream.next()
            #expect(stream.content.waitingCount == 0, "the part itself wakes it, not a timer")
            let (status, body) = try await task.value
            #expect(status == 200 && String(decoding: body, as: UTF8.self).contains("v-1-1.2.m4s"))
        }
    }

    @Test("no byte of a hinted part is sent before it is complete")
    func hint() async throws {
        try await Self.withServer(tls: false) { stream, server in
            let channel = try await HTTPProbe(server.boundAddress).connect()
            try await channel.executeThenClose { inbound, outbound in
                try await outbound.write(ByteBuffer(string: "GET /v-1-1.2.m4s HTTP/1.1\r\nHost: a\r\n\r\n"))
                try await waitUntil("a request waits", { stream.content.waitingCount }) { $0 > 0 }
                let isPublished = Mutex(false)
                let reader = Task {
                    var received: [UInt8] = []
                    for try await chunk in inbound {
                        #expect(isPublished.withLock { $0 }, "\(chunk.readableBytes) bytes before the part is whole")
                        received += chunk.readableBytesView
                        if received.count > 400 { return received }
                    }
                    return received
                }
                // Others are answered meanwhile, so the server has had every opportunity.
                for _ in 0..<20 {
                    #expect(try await HTTPProbe(server.boundAddress).request("GET /v.m3u8").status == 200)
                }
                isPublished.withLock { $0 = true }
                try stream.next()
                let text = String(decoding: try await reader.value, as: UTF8.self)
                #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n"))
                #expect(text.lowercased().contains("content-length: \(LiveStream.bytes("v-1-1.2.m4s").count)\r\n"))
            }
        }
    }

    @Test("over HTTP/2, a waiting request for a hinted part gets 404 if the origin gives up the part")
    func staleHint() async throws {
        try await Self.withServer(tls: true) { stream, server in
            let task = Task { try await HTTP2Probe(server.boundAddress).get("/v-1-1.2.m4s") }
            try await waitUntil("a request waits", { stream.content.waitingCount }) { $0 > 0 }
            stream.giveUpHint()
            #expect(try await task.value.status == 404)
        }
    }

    @Test("90 blocking requests on one HTTP/2 connection are answered by one part, except a reset one")
    func manyStreams() async throws {
        try await Self.withServer(tls: true) { stream, server in
            let connection = try await HTTP2Probe(server.boundAddress).connect()
            let streams = (0..<90).map { UInt32(2 * $0 + 1) }
            for number in streams { try await connection.get("/v.m3u8?_HLS_msn=1&_HLS_part=2", stream: number) }
            try await waitUntil("90 requests wait", { stream.content.waitingCount }) { $0 >= 90 }
            try await connection.send([HTTP2Probe.Frame(.reset, stream: 1, HTTP2Probe.big(8))])
            try await waitUntil("89 requests wait", { stream.content.waitingCount }) { $0 <= 89 }
            try stream.next()
            let received = try await connection.wait { $0.replies.values.count(where: \.isComplete) == 89 }
            let texts = Set(streams.dropFirst().compactMap { received.replies[$0]?.text })
            #expect(texts.count == 1 && texts.first?.contains("v-1-1.2.m4s") == true)
            #expect(server.connectionCount == 1)
            await connection.close()
            try await waitUntil("at most 0 connections are open", { server.connectionCount }) { $0 <= 0 }
        }
    }

    @Test("two thousand blocked clients all get a playlist that lists the part they requested")
    func twoThousand() async throws {
        try await Self.withServer(tls: false) { stream, server in
            let probe = HTTPProbe(server.boundAddress)
            let count = 2_000
            let missed = try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<count {
                    group.addTask {
                        let reply = try await probe.request("GET /v.m3u8?_HLS_msn=1&_HLS_part=2")
                        return reply.status != 200 || !reply.text.contains("v-1-1.2.m4s")
                    }
                }
                try await waitUntil("2,000 requests wait", { stream.content.waitingCount }) { $0 >= count }
                try stream.next()
                #expect(stream.content.waitingCount == 0, "one wake-up for all")
                return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(missed == 0)
        }
    }
}
