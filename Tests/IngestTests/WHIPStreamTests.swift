import HTTPProbe
import Ingest
import MediaTypes
import Testing

@Suite("WHIP publishers over TCP: RFC 6544, RFC 4571", .timeLimit(.minutes(1)))
struct WHIPStreamTests {
    /// Runs `body` with a server, the URL of its endpoint, and the answer to an offer.
    private static func with(_ body: @escaping (TestServer, String, String) async throws -> Void) async throws {
        try await WHIPTests.with { server, url in
            let reply = try await WHIPClient.post(url, key: TestServer.hostKey)
            try #require(reply.status == 201, "\(reply.text)")
            try await body(server, url, reply.text)
        }
    }

    private static func isPublishing(_ event: IngestEvent) -> Bool {
        if case .publishing = event { true } else { false }
    }

    @Test("the answer has a TCP candidate with the UDP candidate's address and port, after it and with lower priority")
    func candidates() async throws {
        try await Self.with { _, _, answer in
            let lines = answer.split(separator: "\r\n").filter { $0.hasPrefix("a=candidate:") }.prefix(2)
            let fields = lines.map { $0.split(separator: " ") }
            try #require(fields.count == 2 && fields.allSatisfy { $0.count >= 8 })
            #expect(fields.map { $0[2] } == ["udp", "tcp"] && fields[0][4...5] == fields[1][4...5])
            #expect(lines.last?.hasSuffix(" typ host tcptype passive") == true)
            #expect(UInt32(fields[0][3]) ?? 0 > UInt32(fields[1][3]) ?? .max)
        }
    }

    @Test(
        "a WHIP client publishes over TCP with its bytes whole or in pieces of 1 or 7 bytes, and DELETE closes its connection",
        arguments: [0, 1, 7])
    func onAir(pieces: Int) async throws {
        try await WHIPTests.with { server, url in
            let items = ItemRecorder()
            _ = server.server.hub(for: TestServer.host)?.subscribe(items)
            let reply = try await WHIPClient.post(url, key: TestServer.hostKey)
            let client = try await WHIPStreamClient.open(reply.text, pieces: pieces)
            try await client.check()
            await client.outcomes.wait { $0.contains(.connected) }
            await server.events.wait { $0.contains(where: Self.isPublishing) }
            try await client.sendMedia()
            await items.items.wait { $0.count == 4 }
            #expect(Set(items.packets.map(\.kind)) == [.video, .audio])
            let session = reply.fields["location"] ?? ""
            let deleted = try await WHIPTests.send("DELETE \(session)", url, key: TestServer.hostKey)
            #expect(deleted.status == 200)
            // The client may notice the end of the connection before it has read the last record.
            await client.outcomes.wait { $0.contains(.disconnected) && $0.contains(.closed) }
            #expect(client.outcomes.elements.first == .connected && client.outcomes.elements.count == 3)
        }
    }

    @Test("a TCP connection that begins with anything but a valid STUN check is closed without an answer")
    func strangers() async throws {
        try await Self.with { _, _, answer in
            let garbage: [[UInt8]] = [
                [0, 40] + [22, 254, 253] + [UInt8](repeating: 0, count: 37),
                [0, 12] + [UInt8](repeating: 128, count: 12),
                [0, 20] + [UInt8](repeating: 0, count: 20), [0xFF, 0xFF], Array("GET / HTTP/1.1\r\n\r\n".utf8),
            ]
            for bytes in garbage {
                let client = try await WHIPStreamClient.open(answer)
                try await client.write(bytes)
                await client.outcomes.wait { $0 == [.disconnected] }
            }
            let wrong = try await WHIPStreamClient.open(answer)
            try await wrong.check(password: "wrong password of 22 characters")
            await wrong.outcomes.wait { $0 == [.disconnected] }
            let right = try await WHIPStreamClient.open(answer)
            try await right.check()
            await right.outcomes.wait { $0.contains(.connected) }
        }
    }

    @Test(
        "at most eight TCP connections of one network may wait for their first STUN check; beyond that the oldest is closed"
    )
    func crowd() async throws {
        try await Self.with { _, _, answer in
            var clients: [WHIPStreamClient] = []
            for _ in 0..<12 { clients.append(try await WHIPStreamClient.open(answer)) }
            // Those that wait longest are closed; the first four, after a moment of patience.
            for client in clients.prefix(4) { await client.outcomes.wait { $0 == [.disconnected] } }
            let last = try #require(clients.last)
            try await last.check()
            await last.outcomes.wait { $0.contains(.connected) }
        }
    }

    @Test("a TCP client that does not read the server's answers is disconnected, and others continue")
    func backlog() async throws {
        try await WHIPTests.with { server, url in
            let other = try await WHIPClient.connect(url, key: TestServer.guestKey)
            await server.events.wait { $0.contains(where: Self.isPublishing) }
            let reply = try await WHIPClient.post(url, key: TestServer.hostKey)
            let client = try await WHIPStreamClient.open(reply.text)
            try await client.check()
            await client.outcomes.wait { $0.contains(.connected) }
            // The system holds some megabytes for the connection.
            for _ in 0..<500 where !client.outcomes.elements.contains(.disconnected) {
                do { try await client.flood(checks: 1000) } catch { break }
            }
            await client.outcomes.wait { $0.contains(.disconnected) }
            #expect(other.outcomes.elements == [.connected])
        }
    }
}
