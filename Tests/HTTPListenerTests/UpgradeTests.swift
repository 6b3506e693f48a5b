import HTTPProbe
import NIOCore
import NIOPosix
import TestSupport
import Testing

import HTTPListener

@Suite("Upgrade and CONNECT requests: RFC 9110 §7.8 and §9.3.6", .timeLimit(.minutes(1)))
struct UpgradeTests {
    /// In bytes: more than the sockets of one machine hold.
    private static let flood = 48 << 20
    /// Bytes that two sockets' buffers can hold (tcp_wmem and tcp_rmem), with some margin.
    private static let kernel = 20 << 20

    @Test(
        "a request to upgrade, or CONNECT, gets the reply of a plain request, and the connection is closed",
        arguments: [
            "GET / HTTP/1.1\nConnection: Upgrade, HTTP2-Settings\nUpgrade: h2c\nHTTP2-Settings: AAMAAABkAAQAAP__\n",
            "GET / HTTP/1.1\nConnection: Upgrade\nUpgrade: anything\n", "GET / HTTP/1.1\nUpgrade: TLS/1.2\n",
            "CONNECT a:1 HTTP/1.1\n", "GET / HTTP/1.0\nConnection: keep-alive, Upgrade\nUpgrade: websocket\n",
        ])
    func answered(request: String) async throws {
        try await FedStream.serve(tls: false) { _, listener in
            let reply = try await HTTPProbe(listener.boundAddress).send(request + "Host: a\n\n")
            #expect(reply.status == 200 && reply.text == "hello 0")
            #expect(reply.fields["connection"] == "close")
            #expect(try await HTTPProbe(listener.boundAddress).bytesUntilClosed(after: request + "Host: a\n\n") > 100)
        }
    }

    @Test("the body of an upgrade request is read whole, and gets 413 over the limit")
    func body() async throws {
        try await FedStream.serve(tls: false) { _, listener in
            let probe = HTTPProbe(listener.boundAddress)
            let fields = ["Connection: Upgrade", "Upgrade: anything"]
            let read = try await probe.request("POST /", fields, body: "abcdef")
            let refused = try await probe.request("POST /", fields, body: String(repeating: "x", count: 101))
            #expect(read.text == "hello 6" && refused.status == 413)
        }
    }

    /// Client and server share a thread, and data at the server's socket would be read, if at all, before the next byte
    /// of the reply: after enough reply bytes the whole flood would have been read.
    @Test("data sent after an upgrade request is not read while the reply is sent", arguments: [false, true])
    func flooded(tls: Bool) async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        try await FedStream.serve(tls: tls, group: group) { stream, listener in
            let channel = try await WebSocketProbe(listener.boundAddress).connect(group: group)
            try await channel.executeThenClose { inbound, outbound in
                var chunks = inbound.makeAsyncIterator()
                let request = "GET /stream HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: anything\r\n\r\n"
                try await outbound.write(ByteBuffer(string: request))
                #expect(try await chunks.next() != nil)
                try await outbound.write(ByteBuffer(repeating: UInt8(ascii: "a"), count: Self.flood))
                for _ in 0..<4_000 {
                    stream.feed([1])
                    guard try await chunks.next() != nil else {
                        Issue.record("closed")
                        break
                    }
                }
                let unsent = try await channel.channel.getOption(.bufferedWritableBytes).get()
                #expect(unsent >= Self.flood - Self.kernel, "\(unsent) bytes are left with the client")
            }
            // Its disconnection is still noticed.
            try await waitUntil("the stream is cancelled") {
                stream.feed([1])
                return stream.isCancelled
            }
        }
        try await group.shutdownGracefully()
    }

    @Test("data sent after an invalid request is not read while an earlier reply is sent")
    func notHTTP() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        try await FedStream.serve(tls: false, group: group) { stream, listener in
            let channel = try await WebSocketProbe(listener.boundAddress).connect(group: group)
            try await channel.executeThenClose { inbound, outbound in
                var chunks = inbound.makeAsyncIterator()
                let requests = "GET /stream HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/9.9\r\n\r\n"
                try await outbound.write(ByteBuffer(string: requests))
                #expect(try await chunks.next() != nil)
                try await outbound.write(ByteBuffer(repeating: UInt8(ascii: "a"), count: Self.flood))
                for _ in 0..<4_000 {
                    stream.feed([1])
                    guard try await chunks.next() != nil else {
                        Issue.record("closed")
                        break
                    }
                }
                let unsent = try await channel.channel.getOption(.bufferedWritableBytes).get()
                #expect(unsent >= Self.flood - Self.kernel, "\(unsent) bytes are left with the client")
            }
        }
        try await group.shutdownGracefully()
    }
}
