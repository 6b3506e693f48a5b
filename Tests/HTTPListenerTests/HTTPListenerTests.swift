import Glibc
import HTTPProbe
import HTTPTypes
import Logging
import MediaTypes
import NIOCore
import NIOPosix
import Synchronization
import TestSupport
import Testing

import HTTPListener

@Suite("HTTP listener: binding, requests, limits and timeouts", .timeLimit(.minutes(1)))
struct HTTPListenerTests {
    private static let loopback = ListenAddress.tcp(host: "127.0.0.1", port: 0)
    private static let large = [UInt8](repeating: 7, count: 8 << 20)

    private static func start(
        _ listen: ListenAddress = Self.loopback,
        _ limits: HTTPListenerLimits = HTTPListenerLimits(connections: 16, bodyBytes: 100),
        respond: @escaping @Sendable (ListenerRequest) -> ListenerReply = { _ in
            ListenerReply(.ok, body: .text("hello"))
        }
    ) async throws -> HTTPListener {
        try await HTTPListener.start(
            listen: listen, limits: limits, group: nil, place: "test", logger: Logger(label: "test")
        ) { $1(respond($0)) }
    }

    @Test("port 0 reports the bound port, and a reply has length and date")
    func boundPort() async throws {
        let listener = try await Self.start()
        #expect(listener.boundAddress == "http://127.0.0.1:\(try #require(listener.boundPort))")
        let reply = try await HTTPProbe(listener.boundAddress).request("GET /")
        #expect(reply.text == "hello")
        #expect(reply.fields["date"]?.hasSuffix(" GMT") == true)
        await listener.stop()
        await listener.stop()
    }

    @Test("binding to a port in use is refused with an error that names the address")
    func takenPort() async throws {
        let listener = try await Self.start()
        let port = UInt16(try #require(listener.boundPort))
        let error = await #expect(throws: MediaError.self) { try await Self.start(.tcp(host: "127.0.0.1", port: port)) }
        #expect(error?.code == .bindFailed)
        #expect(error?.what.contains("127.0.0.1:\(port) is in use") == true)
        await listener.stop()
    }

    @Test("binding to an address of another machine is refused with an error that says so")
    func foreignAddress() async throws {
        let error = await #expect(throws: MediaError.self) { try await Self.start(.tcp(host: "192.0.2.1", port: 0)) }
        #expect(error?.what.contains("not an address of this machine") == true)
    }

    @Test("a request for a file over the limit of open files gets 503 and its CORS fields, and other requests work")
    func noPlaceForFiles() async throws {
        let limits = HTTPListenerLimits(connections: 4, bodyBytes: 0, files: 0)
        let listener = try await Self.start(Self.loopback, limits) { request in
            request.target?.path == "/file"
                ? ListenerReply(
                    .ok, fields: [.accessControlAllowOrigin: "https://player.example", .vary: "Origin"],
                    body: .file(path: "/etc/passwd", size: 1, range: 0..<1))
                : ListenerReply(.ok, body: .text("hello"))
        }
        let probe = HTTPProbe(listener.boundAddress)
        let reply = try await probe.request("GET /file")
        #expect(reply.status == 503 && reply.fields["retry-after"] == "1" && reply.fields["vary"] == "Origin")
        #expect(reply.fields["access-control-allow-origin"] == "https://player.example")
        #expect(try await probe.request("GET /").text == "hello")
        await listener.stop()
    }

    @Test("the stream of a reply is cancelled if its client has left before the reply, also after the listener's end")
    func abandonedStreams() async throws {
        let left = Mutex<[@Sendable (ListenerReply) -> Void]>([])
        let listener = try await HTTPListener.start(
            listen: Self.loopback, limits: HTTPListenerLimits(connections: 16, bodyBytes: 100), group: nil,
            place: "test", logger: Logger(label: "test")
        ) { request, answer in request.client.whenGone { left.withLock { $0.append(answer) } } }
        for _ in 0..<2 {
            try await HTTPProbe(listener.boundAddress).connect().executeThenClose { _, outbound in
                try await outbound.write(ByteBuffer(string: "GET / HTTP/1.1\r\nHost: a\r\n\r\n"))
            }
        }
        try await waitUntil("both clients have left", { left.withLock(\.count) }) { $0 == 2 }
        let (early, late) = (FedStream(), FedStream())
        left.withLock(\.first)?(ListenerReply(.ok, body: .stream(early)))
        try await waitUntil("the stream is cancelled") { early.isCancelled }
        await listener.stop()
        left.withLock(\.last)?(ListenerReply(.ok, body: .stream(late)))
        #expect(late.isCancelled)
    }

    @Test("a listener that is stopped does not shut down an event-loop group passed to it")
    func injectedGroup() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        for _ in 0..<2 {
            let listener = try await HTTPListener.start(
                listen: Self.loopback, limits: HTTPListenerLimits(connections: 4, bodyBytes: 0), group: group,
                place: "test",
                logger: Logger(label: "test")
            ) { $1(ListenerReply(.noContent)) }
            #expect(try await HTTPProbe(listener.boundAddress).request("GET /").status == 204)
            await listener.stop()
        }
        try await group.shutdownGracefully()
    }

    /// The socket file that a killed listener leaves behind, but of a socket that never listened: a concurrent test may
    /// be between fork and exec of a child, which holds every descriptor open, and the kernel accepts connections for a
    /// listening socket.
    private static func leaveStaleSocket(_ path: String) throws {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let name = Array(path.utf8) + [0]
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let size = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) }
        }
        try #require(status == 0, "bind: \(errno)")
    }

    @Test("a Unix socket is private, replaces a stale one and is removed with the listener")
    func unixSocket() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/a.sock"
        let address = try ListenAddress(parsing: "unix:\(path)")
        try Self.leaveStaleSocket(path)
        #expect(access(path, F_OK) == 0)

        let listener = try await Self.start(address)
        #expect(listener.boundAddress == "unix:\(path)")
        var status = stat()
        #expect(stat(path, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
        #expect(try await HTTPProbe("unix:\(path)").request("GET /").text == "hello")

        let error = await #expect(throws: MediaError.self) { try await Self.start(address) }
        #expect(error?.what.contains("another process listens") == true)
        #expect(try await HTTPProbe("unix:\(path)").request("GET /").text == "hello", "the first one still serves")
        await listener.stop()
        #expect(access(path, F_OK) != 0)
        directory.remove()
    }

    @Test("if a regular file is at the Unix socket's path, the listener is refused and the file stays")
    func foreignFile() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/precious"
        close(open(path, O_CREAT | O_WRONLY, 0o600))
        let error = await #expect(throws: MediaError.self) { try await Self.start(.unix(path: path)) }
        #expect(error?.what.contains("not a socket") == true)
        #expect(access(path, F_OK) == 0)
        unlink(path)
        directory.remove()
    }

    @Test("a body up to the limit is passed on, with Content-Length or chunked; a larger one gets 413")
    func body() async throws {
        let listener = try await Self.start { request in
            guard case .bytes(let bytes) = request.body else { return ListenerReply(.contentTooLarge) }
            return ListenerReply(.ok, body: .bytes(bytes))
        }
        let probe = HTTPProbe(listener.boundAddress)
        let full = String(repeating: "x", count: 100)
        #expect(try await probe.request("PUT /", body: full).text == full)
        #expect(try await probe.request("PUT /", body: full + "x").status == 413)
        let chunked = "PUT / HTTP/1.1\nHost: a\nTransfer-Encoding: chunked\n\n"
        #expect(try await probe.send(chunked + "3\nabc\n2\nde\n0\n\n").text == "abcde")
        #expect(try await probe.send(chunked + "65\n" + full + "x\n0\n\n").status == 413)
        #expect(try await probe.request("PUT /", ["Expect: 100-continue"], body: "abc").text == "abc")
        await listener.stop()
    }

    @Test("HTTP requests sent at once on one connection are answered in order")
    func pipelining() async throws {
        let listener = try await Self.start { ListenerReply(.ok, body: .text($0.target?.path ?? "?")) }
        let requests = (0..<50).map { (text: "GET /\($0) HTTP/1.1\nHost: a\n\n", body: [UInt8]()) }
        let replies = try await HTTPProbe(listener.boundAddress).exchange(requests)
        #expect(replies.map(\.text) == (0..<50).map { "/\($0)" })
        await listener.stop()
    }

    @Test(
        "a connection whose input is not HTTP gets 400 or is closed",
        arguments: [
            "\u{16}\u{3}\u{1}\u{2}hello\n\n", "GET\n\n", "GET / HTTP/9\n\n", "GET / HTTP/1.1\nContent-Length: x\n\n",
        ])
    func garbage(text: String) async throws {
        let listener = try await Self.start()
        let probe = HTTPProbe(listener.boundAddress)
        do {
            #expect(try await probe.send(text).status == 400)
        } catch let failure as HTTPProbe.Failure {
            #expect(failure == .closed(received: 0))
        }
        #expect(try await probe.request("GET /").status == 200, "others are still served")
        await listener.stop()
    }

    @Test(
        "HTTP/1.1 requires one Host, HTTP/1.0 none; an unknown method gets 501",
        arguments: [
            ("GET / HTTP/1.1\n\n", 400), ("GET / HTTP/1.1\nHost: a\nHost: b\n\n", 400),
            ("GET / HTTP/1.1\nHost: a\nhost: a\n\n", 400), ("GET http://a/ HTTP/1.1\n\n", 400),
            ("GET / HTTP/1.0\nHost: a\nHost: b\n\n", 400), ("GET / HTTP/1.0\n\n", 200),
            ("GET / HTTP/1.1\nHost: a\n\n", 200), ("GET / HTTP/1.1\nHost:\n\n", 200),
            ("BREW / HTTP/1.1\nHost: a\n\n", 501), ("get / HTTP/1.1\nHost: a\n\n", 501),
            ("GETX / HTTP/1.1\nHost: a\n\n", 501),
        ])
    func requestLine(text: String, status: Int) async throws {
        let listener = try await Self.start()
        #expect(try await HTTPProbe(listener.boundAddress).send(text).status == status)
        await listener.stop()
    }

    @Test("a request with header fields over the limit gets 400, or its connection is closed")
    func headerLimit() async throws {
        let listener = try await Self.start()
        let field = "X: " + String(repeating: "a", count: 20 << 10)
        do {
            #expect(try await HTTPProbe(listener.boundAddress).request("GET /", [field]).status == 400)
        } catch let failure as HTTPProbe.Failure {
            #expect(failure == .closed(received: 0))
        }
        await listener.stop()
    }

    @Test(
        "an HTTP connection without a complete request is closed after the idle timeout",
        arguments: ["", "GET / HT", "PUT / HTTP/1.1\nHost: a\nContent-Length: 9\n\nab"])
    func idle(text: String) async throws {
        let listener = try await Self.start(
            Self.loopback, HTTPListenerLimits(connections: 4, bodyBytes: 100, idle: .milliseconds(100)))
        // Returns only when the server closes.
        #expect(try await HTTPProbe(listener.boundAddress).bytesUntilClosed(after: text) == 0)
        await listener.stop()
    }

    @Test("the connection of an HTTP client that does not read its reply is closed")
    func stalledWrite() async throws {
        let limits = HTTPListenerLimits(connections: 4, bodyBytes: 0, stalledWrite: .milliseconds(100))
        let isAnswered = Atomic<Bool>(false)
        let listener = try await Self.start(Self.loopback, limits) { _ in
            isAnswered.store(true, ordering: .relaxed)
            return ListenerReply(.ok, body: .bytes(Self.large))
        }
        let channel = try await HTTPProbe(listener.boundAddress).connect()
        try await channel.executeThenClose { inbound, outbound in
            try await outbound.write(ByteBuffer(string: "GET / HTTP/1.1\r\nHost: a\r\n\r\n"))
            try await waitUntil("the request is answered", { isAnswered.load(ordering: .relaxed) }) { $0 }
            try await waitUntil("the connection is closed", { listener.connectionCount }) { $0 == 0 }
        }
        await listener.stop()
    }

    @Test("stop(within:) closes connections that do not end in that time")
    func stopDespiteStuckClient() async throws {
        let listener = try await Self.start { _ in ListenerReply(.ok, body: .bytes(Self.large)) }
        let channel = try await HTTPProbe(listener.boundAddress).connect()
        try await channel.executeThenClose { inbound, outbound in
            try await outbound.write(ByteBuffer(string: "GET / HTTP/1.1\r\nHost: a\r\n\r\n"))
            try await waitUntil("a connection is open", { listener.connectionCount }) { $0 > 0 }
            await listener.stop(within: .milliseconds(50))
        }
        #expect(listener.connectionCount == 0)
        await #expect(throws: (any Error).self) { try await HTTPProbe(listener.boundAddress).request("GET /") }
    }

    @Test("when the listener is crowded, connections without a request are closed, those waiting for a reply are not")
    func crowd() async throws {
        let held = Mutex<(@Sendable (ListenerReply) -> Void)?>(nil)
        let limits = HTTPListenerLimits(connections: 16, bodyBytes: 0, idle: .hours(1), crowd: 15)
        let listener = try await HTTPListener.start(
            listen: Self.loopback, limits: limits, group: nil, place: "test", logger: Logger(label: "test")
        ) { request, answer in
            if request.target?.path == "/later" {
                held.withLock { $0 = answer }
            } else {
                answer(ListenerReply(.ok, body: .text("hello")))
            }
        }
        let probe = HTTPProbe(listener.boundAddress)
        let later = Task { try await probe.request("GET /later").text }
        try await waitUntil("a request is held") { held.withLock { $0 != nil } }
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<20 { group.addTask { try await probe.bytesUntilClosed(after: "GET") } }
            // All have arrived when the excess ones have been closed.
            for _ in 0..<6 { #expect(try await group.next() == 0) }
            for _ in 0..<3 { #expect(try await probe.request("GET /").text == "hello") }
            held.withLock { $0 }?(ListenerReply(.ok, body: .text("late")))
            #expect(try await later.value == "late")
            await listener.stop(within: .seconds(0))
            for try await count in group { #expect(count == 0) }
        }
    }

    @Test("an address at its connection limit can connect again, since its idle connections are closed")
    func crowdOfOneAddress() async throws {
        let limits = HTTPListenerLimits(
            connections: 100, bodyBytes: 0, idle: .hours(1), connectionsPerAddress: 2, crowd: 50)
        let listener = try await Self.start(Self.loopback, limits)
        let probe = HTTPProbe(listener.boundAddress)
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<2 { group.addTask { try await probe.bytesUntilClosed(after: "GET") } }
            try await waitUntil("two connections are open", { listener.connectionCount }) { $0 >= 2 }
            // They have a moment for their request first.
            let reply = try await waitUntil("an answer", { try? await probe.request("GET /").text }) { $0 != nil }
            #expect(reply == "hello")
            await listener.stop(within: .seconds(0))
            for try await count in group { #expect(count == 0) }
        }
    }

    @Test("connections over the limit wait and are served when others close")
    func connectionLimit() async throws {
        let listener = try await Self.start(Self.loopback, HTTPListenerLimits(connections: 2, bodyBytes: 0))
        let probe = HTTPProbe(listener.boundAddress)
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<20 { group.addTask { try await probe.request("GET /").status } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses == Array(repeating: 200, count: 20))
        await listener.stop()
    }
}
