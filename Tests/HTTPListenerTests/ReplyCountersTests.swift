import HTTPProbe
import Logging
import MediaTypes
import TestSupport
import Testing

import HTTPListener

@Suite("Counters of an HTTP listener", .timeLimit(.minutes(1)))
struct ReplyCountersTests {
    @Test("replies and their body bytes are counted by status, and all sent bytes including heads in one counter")
    func replies() async throws {
        let listener = try await HTTPListener.start(
            listen: .tcp(host: "127.0.0.1", port: 0), limits: HTTPListenerLimits(connections: 16, bodyBytes: 100),
            group: nil, place: "test", logger: Logger(label: "test")
        ) { request, answer in
            switch request.target?.path {
            case "/": answer(ListenerReply(.ok, body: .text("hello")))
            case "/file": answer(ListenerReply(.ok, body: .file(path: "/etc/passwd", size: 6, range: 0..<6)))
            case "/tea": answer(ListenerReply(.init(code: 418), body: .text("short")))
            default: answer(ListenerReply(.notFound, body: .text("nothing")))
            }
        }
        let counters = listener.counters
        #expect(counters.rows.allSatisfy { $0.replies == 0 && $0.bytes == 0 } && counters.sentBytes == 0)
        let probe = HTTPProbe(listener.boundAddress)
        for line in ["GET /", "HEAD /", "GET /x", "GET /x", "GET /tea", "GET /file"] {
            _ = try await probe.request(line)
        }
        // The loop that counts ends with the listener.
        await listener.stop()
        let rows = Dictionary(uniqueKeysWithValues: counters.rows.map { ($0.code, $0) })
        #expect(rows["200"]?.replies == 3 && rows["200"]?.bytes == 5 + 6)
        #expect(rows["404"]?.replies == 2 && rows["404"]?.bytes == 2 * 7)
        #expect(rows["other"]?.replies == 1 && rows["other"]?.bytes == 5)
        #expect(counters.rows.reduce(0) { $0 + $1.replies } == 6)
        // Each head has at least a status line, a length and a date.
        #expect(counters.sentBytes > 5 + 6 + 2 * 7 + 5 + 6 * 60, "\(counters.sentBytes)")
    }

    @Test("bytes sent on an open connection are counted before it closes")
    func open() async throws {
        // The connection is checked four times in this limit.
        var limits = HTTPListenerLimits(connections: 4, bodyBytes: 0)
        limits.stalledWrite = .milliseconds(200)
        let listener = try await HTTPListener.start(
            listen: .tcp(host: "127.0.0.1", port: 0), limits: limits, group: nil, place: "test",
            logger: Logger(label: "test")
        ) { $1(ListenerReply(.ok, body: .text("hello"))) }
        let probe = HTTPProbe(listener.boundAddress)
        try await probe.connect().executeThenClose { inbound, outbound in
            try await outbound.write(.init(string: "GET / HTTP/1.1\r\nHost: a\r\n\r\n"))
            var replies = inbound.makeAsyncIterator()
            _ = try await replies.next()
            try await waitUntil("the bytes are counted", { listener.counters.sentBytes }) { $0 > 5 }
            #expect(listener.connectionCount == 1)
        }
        await listener.stop()
    }
}
