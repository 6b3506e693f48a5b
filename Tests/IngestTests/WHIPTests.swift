import HTTPProbe
import Ingest
import MediaTypes
import Testing
import WebRTC

@Suite("WHIP publishers over loopback sockets", .timeLimit(.minutes(1)))
struct WHIPTests {
    /// Runs `body` with a server and the URL of its endpoint.
    static func with(
        clock: any MonotonicClock = TestClock(), _ change: @escaping (inout IngestConfiguration) -> Void = { _ in },
        _ body: (TestServer, String) async throws -> Void
    ) async throws {
        let prepare = { (configuration: inout IngestConfiguration) in
            configuration.webRTC = WebRTCSettings(
                listen: "127.0.0.1:0", udp: "127.0.0.1:\(Int.random(in: 20_000..<30_000))")
            configuration.codecs.formUnion([.vp8, .vp9, .opus])
            change(&configuration)
        }
        try await TestServer.with(clock: clock, prepare) { server in
            let urls = server.events.elements.compactMap {
                if case .listeningForWHIP(let url) = $0 { url } else { nil }
            }
            try await body(server, #require(urls.first))
        }
    }

    /// Sends a request without body to a path of the listener.
    static func send(_ line: String, _ url: String, key: String? = nil) async throws -> HTTPProbe.Reply {
        let origin = url.split(separator: "/").prefix(2).joined(separator: "//")
        return try await HTTPProbe(origin).request(line, key.map { ["Authorization: Bearer \($0)"] } ?? [])
    }

    private static func isPublishing(_ event: IngestEvent) -> Bool {
        if case .publishing = event { true } else { false }
    }

    private static func isUnpublished(_ event: IngestEvent) -> Bool {
        if case .unpublished = event { true } else { false }
    }

    private static func isRefused(_ event: IngestEvent) -> Bool {
        if case .refused = event { true } else { false }
    }

    private static func isLost(_ event: IngestEvent) -> Bool { if case .lost = event { true } else { false } }

    @Test("a client publishes H.264 and Opus once its handshake is complete; its POST alone publishes nothing")
    func onAir() async throws {
        try await Self.with { server, url in
            let items = ItemRecorder()
            _ = server.server.hub(for: TestServer.host)?.subscribe(items)
            let client = try await WHIPClient.create(url, key: TestServer.hostKey)
            #expect(client.session.hasPrefix("/whip/~/") && !client.session.contains(TestServer.hostKey))
            #expect(!server.events.elements.contains(where: Self.isPublishing))
            try await client.check()
            await server.events.wait { $0.contains(where: Self.isPublishing) }
            await client.outcomes.wait { $0.contains(.connected) }
            try await client.sendMedia()
            await items.items.wait { $0.count == 4 }
            #expect(Set(items.configurations.map(\.codec)) == [.h264, .opus])
            #expect(Set(items.packets.map(\.kind)) == [.video, .audio])
            await server.events.wait {
                $0.contains(.firstVideo(TestServer.host)) && $0.contains(.firstAudio(TestServer.host))
            }
            let statistics = try #require(server.server.statistics[TestServer.host])
            #expect(statistics.isPublishing && statistics.webRTC?.cipher == "AEAD_AES_128_GCM")
            #expect(statistics.webRTC?.transport == "udp" && statistics.webRTC?.abandoned == 0)
            #expect(!server.log.elements.contains { $0.contains(TestServer.hostKey) || $0.contains(client.session) })
        }
    }

    @Test("DELETE ends the publication as unpublished; a second DELETE gets 404, and one without the key 401")
    func delete() async throws {
        try await Self.with { server, url in
            let client = try await WHIPClient.connect(url, key: TestServer.hostKey)
            await server.events.wait { $0.contains(where: Self.isPublishing) }
            #expect(try await Self.send("DELETE \(client.session)", url).status == 401)
            #expect(try await Self.send("DELETE \(client.session)", url, key: TestServer.hostKey).status == 200)
            await server.events.wait { $0.contains(where: Self.isUnpublished) }
            await client.outcomes.wait { $0.contains(.closed) }
            #expect(try await Self.send("DELETE \(client.session)", url, key: TestServer.hostKey).status == 404)
        }
    }

    @Test("close_notify of a client ends its publication as unpublished, not as lost")
    func closeNotify() async throws {
        try await Self.with { server, url in
            let client = try await WHIPClient.connect(url, key: TestServer.hostKey)
            await server.events.wait { $0.contains(where: Self.isPublishing) }
            try await client.close()
            await server.events.wait { $0.contains(where: Self.isUnpublished) }
            #expect(!server.events.elements.contains(where: Self.isLost))
        }
    }

    @Test("a client that sends nothing for two seconds is reported as lost; with its next media it publishes again")
    func silence() async throws {
        let clock = ForwardClock()
        try await Self.with(clock: clock) { server, url in
            let client = try await WHIPClient.connect(url, key: TestServer.hostKey)
            try await client.sendMedia()
            await server.events.wait { $0.contains(.firstAudio(TestServer.host)) }
            clock.forward(seconds: 3)
            await server.events.wait { $0.contains(where: Self.isLost) }
            try await client.sendMedia()
            await server.events.wait { $0.count(where: Self.isPublishing) == 2 }
            clock.forward(seconds: 3)
            await server.events.wait { $0.count(where: Self.isLost) == 2 }
            await server.server.stop()
            let isRefused = server.events.elements.contains { if case .refused = $0 { true } else { false } }
            #expect(!isRefused, "a silent client was reported as lost")
        }
    }

    @Test("at a handover to another worker, a publisher is reported as lost because the server stops, not the room")
    func handedOver() async throws {
        try await Self.with { server, url in
            let client = try await WHIPClient.connect(url, key: TestServer.hostKey)
            await server.events.wait { $0.contains(where: Self.isPublishing) }
            await server.server.stop(isHandedOver: true)
            let reason = "This server is stopping. Connect again."
            #expect(server.events.elements.contains(.lost(TestServer.host, reason: reason)))
            await client.outcomes.wait { $0.contains(.closed) }
        }
    }

    @Test("a second client takes over when it has connected, and the first gets close_notify")
    func takeover() async throws {
        try await Self.with { server, url in
            let first = try await WHIPClient.connect(url, key: TestServer.hostKey)
            await server.events.wait { $0.contains(where: Self.isPublishing) }
            let second = try await WHIPClient.create(url, key: TestServer.hostKey)
            #expect(!server.events.elements.contains(.takenOver(TestServer.host)), "a POST alone takes nothing over")
            try await second.check()
            await server.events.wait { $0.count(where: Self.isPublishing) == 2 }
            await first.outcomes.wait { $0.contains(.closed) }
            #expect(server.events.elements.contains(.takenOver(TestServer.host)))
        }
    }

    @Test("a valid STUN check for another source cannot take the address of a session during its handshake")
    func forgedAddress() async throws {
        try await Self.with { server, url in
            let client = try await WHIPClient.create(url, key: TestServer.hostKey)
            let other = try await WHIPClient.post(url, key: TestServer.guestKey)
            try await client.check(before: other.text)
            await client.outcomes.wait { $0.contains(.connected) }
            await server.events.wait { $0.contains(where: Self.isPublishing) }
            let isGuest = server.server.statistics[TestServer.guest]?.isPublishing
            #expect(isGuest == false && server.server.statistics[TestServer.host]?.isPublishing == true)
        }
    }

    @Test("with onDuplicate reject, a POST gets 409 while another client publishes with the key")
    func reject() async throws {
        try await Self.with({ $0.onDuplicate = .reject }) { server, url in
            let first = try await WHIPClient.connect(url, key: TestServer.hostKey)
            await server.events.wait { $0.contains(where: Self.isPublishing) }
            #expect(try await WHIPClient.post(url, key: TestServer.hostKey).status == 409)
            #expect(first.outcomes.elements == [.connected])
        }
    }

    @Test("a kicked client gets close_notify, and 403 for its next POST")
    func kick() async throws {
        try await Self.with { server, url in
            let client = try await WHIPClient.connect(url, key: TestServer.hostKey)
            await server.events.wait { $0.contains(where: Self.isPublishing) }
            server.server.kick(TestServer.host, until: .max)
            await client.outcomes.wait { $0.contains(.closed) }
            await server.events.wait { $0.contains(where: Self.isLost) }
            #expect(try await WHIPClient.post(url, key: TestServer.hostKey).status == 403)
        }
    }

    @Test(
        "kicking a source also ends the session of its silent publisher, which could otherwise publish again without the key"
    )
    func kickSilent() async throws {
        let clock = ForwardClock()
        try await Self.with(clock: clock) { server, url in
            let client = try await WHIPClient.connect(url, key: TestServer.hostKey)
            try await client.sendMedia()
            await server.events.wait { $0.contains(.firstAudio(TestServer.host)) }
            clock.forward(seconds: 3)
            await server.events.wait { $0.contains(where: Self.isLost) }
            server.server.kick(TestServer.host, until: .max)
            await client.outcomes.wait { $0.contains(.closed) }
            #expect(try await Self.send("DELETE \(client.session)", url, key: TestServer.hostKey).status == 404)
        }
    }

    @Test("kicking or removing a source ends a session that has not connected; a kick that lifts a refusal does not")
    func kickConnecting() async throws {
        try await Self.with { server, url in
            let first = try await WHIPClient.create(url, key: TestServer.hostKey)
            let other = try await WHIPClient.create(url, key: TestServer.guestKey)
            server.server.kick(TestServer.host, until: 0)
            #expect(try await Self.send("GET \(first.session)", url).status == 204)
            server.server.kick(TestServer.host, until: .max)
            await server.events.wait { $0.contains(where: Self.isRefused) }
            #expect(try await Self.send("GET \(first.session)", url).status == 404)
            #expect(try await Self.send("GET \(other.session)", url).status == 204)
            server.server.remove(TestServer.guest, .removed)
            await server.events.wait { $0.count(where: Self.isRefused) == 2 }
            #expect(try await Self.send("GET \(other.session)", url).status == 404)
        }
    }

    @Test("POST, PATCH and DELETE share one rate limit per address, checked before anything else; GET has none")
    func requestRate() async throws {
        try await Self.with(clock: StillClock()) { server, url in
            var statuses: [Int] = []
            for number in 0..<33 {
                let method = ["PATCH", "DELETE", "POST"][number % 3]
                let reply = try await Self.send("\(method) /whip/~/guessed", url)
                #expect((reply.status == 429) == (reply.fields["retry-after"] != nil))
                statuses.append(reply.status)
            }
            #expect(statuses.dropLast().allSatisfy { [404, 405].contains($0) } && statuses.last == 429)
            let post = try await WHIPClient.post(url, key: TestServer.hostKey)
            let get = try await Self.send("GET /whip/live", url)
            #expect(post.status == 429 && get.status == 204)
            let isKnown = server.events.elements.contains { if case .connected = $0 { true } else { false } }
            #expect(!isKnown, "a request over the limit is not registered")
        }
    }

    @Test("wrong keys get 401, and 429 after ten of them from one address")
    func wrongKey() async throws {
        try await Self.with { server, url in
            // One more per second is allowed, so a slow machine needs more requests.
            var statuses: [Int] = []
            for _ in 0..<30 where statuses.last != 429 {
                let reply = try await WHIPClient.post(url, key: "wrong")
                #expect((reply.status == 429) == (reply.fields["retry-after"] != nil))
                statuses.append(reply.status)
            }
            #expect(statuses.count > 10 && statuses.dropLast().allSatisfy { $0 == 401 } && statuses.last == 429)
            let count = statuses.count
            await server.events.wait {
                $0.count { if case .refused(_, _, _, code: .authDenied) = $0 { true } else { false } } == count
            }
        }
    }

    @Test("an offer without a codec of the room gets 422 that names the codecs; with a wrong key it gets 401")
    func codecs() async throws {
        try await Self.with({ $0.codecs = [.h264, .aac, .opus] }) { _, url in
            let reply = try await WHIPClient.post(url, key: TestServer.hostKey, video: "VP8/90000")
            #expect(reply.status == 422 && reply.text.contains("VP8") && reply.text.contains("H264"))
            #expect(reply.fields["content-type"] == "application/problem+json")
            #expect(try await WHIPClient.post(url, key: "wrong", video: "VP8/90000").status == 401)
        }
    }

    @Test("clients that never send a STUN check are refused after ten seconds, and their sessions are gone")
    func neverChecked() async throws {
        let clock = ForwardClock()
        try await Self.with(clock: clock, { $0.maximumWaitingPerAddress = 64 }) { server, url in
            var sessions: [String] = []
            for _ in 0..<20 {
                let reply = try await WHIPClient.post(url, key: TestServer.hostKey)
                #expect(reply.status == 201)
                sessions.append(reply.fields["location"] ?? "")
            }
            #expect(Set(sessions).count == 20)
            clock.forward(seconds: 11)
            await server.events.wait { $0.count(where: Self.isRefused) == 20 }
            for case .refused(_, _, let reason, let code) in server.events.elements {
                #expect(reason.contains("no valid connectivity check") && code == .iceFailed)
            }
            for session in sessions.suffix(2) { #expect(try await Self.send("GET \(session)", url).status == 404) }
        }
    }

    @Test("a session of an earlier server gets 404 for DELETE and PATCH, with the right key and with none")
    func earlierWorker() async throws {
        var sessions: [String] = []
        try await Self.with { _, url in
            sessions.append(try await WHIPClient.create(url, key: TestServer.hostKey).session)
        }
        let session = try #require(sessions.first)
        try await Self.with { _, url in
            for line in ["DELETE \(session)", "PATCH \(session)"] {
                let right = try await Self.send(line, url, key: TestServer.hostKey)
                let none = try await Self.send(line, url)
                #expect(right.status == 404 && none.status == 404)
            }
        }
    }

    @Test("stream keys, ICE credentials and session ids are not in logs and events")
    func secrets() async throws {
        try await Self.with { server, url in
            let offer = try WebRTCPeer().offer()
            let reply = try await WHIPClient.post(url, key: TestServer.hostKey)
            let client = try await WHIPClient.connect(url, key: TestServer.hostKey)
            await server.events.wait { $0.contains(where: Self.isPublishing) }
            try await client.sendMedia()
            _ = try await WHIPClient.post(url, key: "wrong_key_of_a_stranger")
            _ = try await Self.send("PATCH \(client.session)", url, key: TestServer.hostKey)
            _ = try await Self.send("DELETE \(client.session)", url, key: "wrong_key_of_a_stranger")
            _ = try await Self.send("DELETE \(client.session)", url, key: TestServer.hostKey)
            await server.events.wait { $0.contains(where: Self.isUnpublished) }
            let names = ["a=ice-ufrag:", "a=ice-pwd:"]
            let secrets = (offer + reply.text).split(whereSeparator: \.isNewline).compactMap { line in
                names.first { line.hasPrefix($0) }.map { String(line.dropFirst($0.count)) }
            }
            let first = reply.fields["location"] ?? ""
            let ids = [first, client.session].map { String($0.split(separator: "/").last ?? "") }
            try #require(secrets.count >= 4 && ids.allSatisfy { $0.count >= 22 } && ids[0] != ids[1])
            let lines = server.log.elements + server.events.elements.map { "\($0)" }
            // "peer" is the fragment of the test's offer, and a word.
            for secret in secrets + ids + [TestServer.hostKey, "wrong_key_of_a_stranger"] where secret != "peer" {
                #expect(!lines.contains { $0.contains(secret) }, "\(secret)")
            }
        }
    }

    @Test("POST /whip works like POST /whip/live; the page's files are served, and other paths get 404")
    func paths() async throws {
        try await Self.with({
            $0.webRTC?.page = { $0 == "/" ? .plain(.ok, "the page") : nil }
        }) { _, url in
            let short = String(url.dropLast("/live".count))
            let post = try await WHIPClient.post(short, key: TestServer.hostKey)
            let page = try await Self.send("GET /", url)
            let other = try await Self.send("GET /other", url)
            let options = try await Self.send("OPTIONS /whip/live", url)
            #expect(post.status == 201 && page.text == "the page\n" && other.status == 404)
            #expect(options.fields["accept-post"] == "application/sdp")
        }
    }

    @Test("a server with a wildcard UDP address does not start without public addresses")
    func wildcard() async throws {
        await #expect(throws: MediaError.self) {
            try await Self.with({ $0.webRTC?.udp = "0.0.0.0:0" }) { _, _ in }
        }
        try await Self.with({
            $0.webRTC?.udp = "0.0.0.0:0"
            $0.webRTC?.publicAddresses = ["192.0.2.1", "2001:db8::1"]
        }) { _, url in
            let reply = try await WHIPClient.post(url, key: TestServer.hostKey)
            #expect(reply.text.contains(" 192.0.2.1 ") && reply.text.contains(" 2001:db8::1 "))
        }
    }

    @Test("a WHIP server that stops sends its clients close_notify")
    func stop() async throws {
        let client = try await Self.connectAndStop()
        await client.outcomes.wait { $0.contains(.closed) }
    }

    private static func connectAndStop() async throws -> WHIPClient {
        var connected: WHIPClient?
        try await Self.with { server, url in
            connected = try await WHIPClient.connect(url, key: TestServer.hostKey)
            await server.events.wait { $0.contains(where: Self.isPublishing) }
        }
        return try #require(connected)
    }
}
