import HTTPProbe
import Logging
import MediaTypes
import NIOCore
import NIOPosix
import Testing

import HTTPListener

@Suite("HTTP listener: proxies that name the client", .timeLimit(.minutes(1)))
struct ProxiedClientTests {
    /// A header that is easy to write: `NAME ADDRESS`, or `NAME` alone, and a line end.
    @Sendable private static func header(_ bytes: [UInt8]) -> HTTPProxies.Header {
        let word = Array("NAME".utf8)
        guard bytes.starts(with: word.prefix(bytes.count)) else { return .none }
        guard let end = bytes.firstIndex(of: 0x0A) else { return bytes.count > 100 ? .malformed : .incomplete }
        let address = String(decoding: bytes[word.count..<end], as: UTF8.self).filter { !$0.isWhitespace }
        return .named(client: try? SocketAddress(ipAddress: address, port: 7), length: end + 1)
    }

    /// A listener whose replies are the client's address.
    private static func start(
        isProxied: Bool = true, limits: HTTPListenerLimits = HTTPListenerLimits(connections: 16, bodyBytes: 100),
        seen: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws -> HTTPListener {
        try await HTTPListener.start(
            listen: .tcp(host: "127.0.0.1", port: 0), limits: limits,
            proxies: HTTPProxies(contains: { _ in isProxied }, header: Self.header), group: nil, place: "test",
            logger: Logger(label: "test")
        ) { request, answer in
            let address = request.client.remoteAddress
            let text = "\(address?.ipAddress ?? "-") \(address?.port == 7 ? "named" : "own")"
            seen(text)
            answer(ListenerReply(.ok, body: .text(text)))
        }
    }

    @Test(
        "a proxy header names the client; without a header, or without an address in it, the connection's address counts",
        arguments: [
            ("NAME 192.0.2.7\n", "192.0.2.7 named"), ("NAME 2001:db8::1\n", "2001:db8::1 named"),
            ("NAME\n", "127.0.0.1 own"), ("", "127.0.0.1 own"),
        ])
    func names(header: String, client: String) async throws {
        let listener = try await Self.start()
        let request = "\(header)GET / HTTP/1.1\nHost: a\n\n"
        let replies = try await HTTPProbe(listener.boundAddress).exchange([
            (request, []), ("GET /again HTTP/1.1\nHost: a\n\n", []),
        ])
        #expect(replies.map(\.text) == [client, client])
        await listener.stop()
    }

    @Test("a proxy header in pieces of one byte is read")
    func pieces() async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: String.self)
        let listener = try await Self.start { continuation.yield($0) }
        let port = try #require(listener.boundPort)
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port).get()
        for byte in "NAME 192.0.2.7\nGET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8 {
            try await channel.writeAndFlush(ByteBuffer(bytes: [byte])).get()
        }
        var seen = stream.makeAsyncIterator()
        #expect(await seen.next() == "192.0.2.7 named")
        try await channel.close().get()
        await listener.stop()
    }

    @Test(
        "a malformed proxy header closes the connection; a header from an address that is not a proxy's gets an error status"
    )
    func refused() async throws {
        let listener = try await Self.start()
        await #expect(throws: HTTPProbe.Failure.self) {
            _ = try await HTTPProbe(listener.boundAddress).send("NAME" + String(repeating: "x", count: 200))
        }
        await listener.stop()
        let other = try await Self.start(isProxied: false)
        #expect(try await HTTPProbe(other.boundAddress).send("NAME 192.0.2.7\nGET / HTTP/1.1\n\n").status >= 400)
        await other.stop()
    }

    @Test("the connections of a proxy are not limited per address, those of others are")
    func limits() async throws {
        let limits = HTTPListenerLimits(connections: 16, bodyBytes: 100, connectionsPerAddress: 1)
        for isProxied in [true, false] {
            let listener = try await Self.start(isProxied: isProxied, limits: limits)
            let port = try #require(listener.boundPort)
            let first = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connect(host: "127.0.0.1", port: port).get()
            while listener.connectionCount == 0 { await Task.yield() }
            let probe = HTTPProbe(listener.boundAddress)
            if isProxied {
                #expect(try await probe.request("GET /").status == 200)
            } else {
                await #expect(throws: (any Error).self) { _ = try await probe.request("GET /") }
            }
            try await first.close().get()
            await listener.stop()
        }
    }
}
