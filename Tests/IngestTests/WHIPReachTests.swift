import HTTPProbe
import Ingest
import MediaTypes
import NIOCore
import PipelineSpec
import Testing

@Suite("WHIP publishers that cannot reach the room, or come through proxies", .timeLimit(.minutes(1)))
struct WHIPReachTests {
    @Test("a client whose packets never reach the UDP port is refused with iceFailed, and its session is gone")
    func neverReached() async throws {
        let clock = ForwardClock()
        try await WHIPTests.with(clock: clock) { server, url in
            let client = try await WHIPClient.create(url, key: TestServer.hostKey)
            clock.forward(seconds: 11)
            await server.events.wait {
                $0.contains { if case .refused(_, _, _, .iceFailed) = $0 { true } else { false } }
            }
            #expect(try await WHIPTests.send("DELETE \(client.session)", url, key: TestServer.hostKey).status == 404)
            #expect(!server.events.elements.contains { if case .publishing = $0 { true } else { false } })
        }
    }

    // MARK: Proxies

    private static func address(_ text: String?, port: Int = 40_000) throws -> SocketAddress? {
        try text.map { try SocketAddress(ipAddress: $0, port: port) }
    }

    @Test(
        "the last address of X-Forwarded-For that is not a proxy's is the client's; addresses before it are not trusted",
        arguments: [
            ("10.0.0.1", "203.0.113.9", "203.0.113.9"), ("10.0.0.1", "198.51.100.1, 203.0.113.9", "203.0.113.9"),
            ("10.0.0.1", "203.0.113.9, 10.0.0.2", "203.0.113.9"), ("10.0.0.1", "203.0.113.9:5123", "203.0.113.9"),
            ("10.0.0.1", " [2001:db8::7]:443 ,\t10.0.0.2 ", "2001:db8::7"), ("10.0.0.1", "2001:db8::7", "2001:db8::7"),
            ("10.0.0.1", "198.51.100.1, unknown", "10.0.0.1"),
            ("10.0.0.1", "203.0.113.9, unknown, 10.0.0.2", "10.0.0.2"),
            ("10.0.0.1", "", "10.0.0.1"), ("10.0.0.1", nil, "10.0.0.1"), ("192.0.2.1", "203.0.113.9", "192.0.2.1"),
            (nil, "203.0.113.9", nil),
        ] as [(String?, String?, String?)])
    func forwarded(connection: String?, field: String?, client: String?) throws {
        let proxies = [try #require(AddressRange("10.0.0.0/8"))]
        let found = WHIPProxies.client(of: try Self.address(connection), forwarded: field, proxies: proxies)
        #expect(found?.ipAddress == client)
    }

    @Test(
        "without configured proxies, X-Forwarded-For is ignored; of a field with 100,000 addresses only the end is read"
    )
    func forwardedLimits() throws {
        let proxies = [try #require(AddressRange("10.0.0.0/8"))]
        let connection = try Self.address("10.0.0.1")
        #expect(WHIPProxies.client(of: connection, forwarded: "192.0.2.1", proxies: [])?.ipAddress == "10.0.0.1")
        let long = "192.0.2.1" + String(repeating: ",10.0.0.3", count: 100_000)
        #expect(WHIPProxies.client(of: connection, forwarded: long, proxies: proxies)?.ipAddress == "10.0.0.3")
    }

    /// POSTs an offer.
    ///
    /// - Parameter header: Sent before the request.
    private static func post(_ url: String, header: String = "", fields: [String] = []) async throws -> Int {
        let parts = url.split(separator: "/")
        let offer = try WebRTCPeer().offer()
        let lines =
            ["POST /\(parts.dropFirst(2).joined(separator: "/")) HTTP/1.1", "Host: \(parts[1])"] + fields + [
                "Authorization: Bearer \(TestServer.hostKey)", "Content-Type: application/sdp",
                "Content-Length: \(offer.utf8.count)",
            ]
        let text = header + lines.joined(separator: "\n") + "\n\n"
        return try await HTTPProbe("http://\(parts[1])").send(text, body: Array(offer.utf8)).status
    }

    @Test("a proxy's PROXY header and X-Forwarded-For give the publisher's address for the allow list and events")
    func proxied() async throws {
        let here = try #require(AddressRange("127.0.0.0/8"))
        let there = try #require(AddressRange("192.0.2.0/24"))
        try await WHIPTests.with({
            $0.proxies = [here]
            $0.admission.allowedAddresses = [there]
        }) { server, url in
            let named = try await Self.post(url, fields: ["X-Forwarded-For: 192.0.2.7"])
            #expect(named == 201)
            #expect(try await Self.post(url, header: "PROXY TCP4 192.0.2.8 10.0.0.1 40000 80\n") == 201)
            #expect(try await Self.post(url, fields: ["X-Forwarded-For: 192.0.2.9, 198.51.100.1"]) == 403)
            #expect(try await Self.post(url, header: "PROXY TCP4 198.51.100.2 10.0.0.1 40000 80\n") == 403)
            #expect(try await Self.post(url) == 403, "the proxy itself is not in the list")
            let remotes = server.events.elements.compactMap {
                if case .connected(let remote) = $0 { remote } else { nil }
            }
            #expect(
                remotes == ["192.0.2.7:0", "192.0.2.8:40000", "198.51.100.1:0", "198.51.100.2:40000"]
                    + remotes.suffix(1))
            #expect(remotes.count == 5 && remotes[4].hasPrefix("127.0.0.1:"))
        }
    }

    @Test("X-Forwarded-For of a client that is no proxy is ignored, and a PROXY header from it gets 501")
    func untrusted() async throws {
        try await WHIPTests.with { server, url in
            let named = try await Self.post(url, fields: ["X-Forwarded-For: 192.0.2.7"])
            #expect(named == 201)
            #expect(try await Self.post(url, header: "PROXY TCP4 192.0.2.8 10.0.0.1 40000 80\n") == 501, "no method")
            let remotes = server.events.elements.compactMap {
                if case .connected(let remote) = $0 { remote } else { nil }
            }
            #expect(remotes.count == 1 && remotes[0].hasPrefix("127.0.0.1:"))
        }
    }
}
