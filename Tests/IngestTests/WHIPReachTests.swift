import HTTPProbe
import Ingest
import MediaTypes
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
}
