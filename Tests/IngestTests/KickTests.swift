import PublishAuth
import Ingest
import MediaTypes
import RTMP
import Testing

@Suite("Kicks, wrong keys and quarantined sources over loopback connections", .timeLimit(.minutes(1)))
struct KickTests {
    static func refused(_ publisher: TestPublisher, with refusal: PublishRefusal) async {
        let status = RTMPClientStatus(level: "error", code: refusal.code, text: refusal.text)
        await publisher.outcomes.wait { $0.last == .closed && $0.contains(.failed(.rejected(status))) }
    }

    @Test("a kicked publisher gets an error and is closed; its key is refused until the kick ends; others continue")
    func kick() async throws {
        try await TestServer.with { server in
            let items = ItemRecorder()
            _ = server.server.hub(for: TestServer.host)?.subscribe(items)
            let host = try await TestPublisher.publish(server.url(TestServer.hostKey))
            let guest = try await TestPublisher.publish(server.url(TestServer.guestKey))
            try await host.sendMedia()
            await items.items.wait { $0.count == 5 }
            server.server.kick(TestServer.host, until: .max)
            await Self.refused(host, with: .kicked)
            await items.items.wait { if case .end? = $0.last { true } else { false } }
            #expect(items.cuts == 1, "its queued packets must not be shown")
            let again = try await TestPublisher.publish(server.url(TestServer.hostKey))
            await Self.refused(again, with: .kicked)
            #expect(guest.outcomes.elements == [.ready])
            // An end in the past lifts it.
            server.server.kick(TestServer.host, until: 0)
            let back = try await TestPublisher.publish(server.url(TestServer.hostKey))
            #expect(back.outcomes.elements == [.ready])
            await server.events.wait { $0.contains { if case .lost(TestServer.host, _) = $0 { true } else { false } } }
        }
    }

    @Test("an added source accepts its publisher at once; removing it closes the publisher, whose key is then refused")
    func comingAndGoing() async throws {
        let third = SourceID(uid: "3003")
        func admission(_ keys: [SourceID: String]) -> Admission {
            Admission(bindings: keys.map { IngestBinding(source: $0, streamKey: $1) })
        }
        let two = [TestServer.host: TestServer.hostKey, TestServer.guest: TestServer.guestKey]
        let three = two.merging([third: "c_key"]) { $1 }
        try await TestServer.with { server in
            let ingest = server.server
            let host = try await TestPublisher.publish(server.url(TestServer.hostKey))
            await Self.refused(try await TestPublisher.publish(server.url("c_key")), with: .denied)
            for round in 0..<3 {
                let items = ItemRecorder()
                let hub = ingest.add(third, IngestConfiguration.Source(readPatience: .usual))
                #expect(ingest.add(third, IngestConfiguration.Source(readPatience: .usual)) === hub)
                _ = hub.subscribe(items)
                ingest.renew(admission(three))
                let guest = try await TestPublisher.publish(server.url("c_key"))
                #expect(guest.outcomes.elements == [.ready])
                try await guest.sendMedia()
                await items.items.wait { $0.count == 5 }
                #expect(ingest.statistics[third]?.publications == 1, "round \(round)")
                ingest.renew(admission(two))
                ingest.remove(third, .removed)
                await Self.refused(guest, with: .removed)
                await items.items.wait { if case .end? = $0.last { true } else { false } }
                #expect(items.cuts == 0, "nothing of it is shown any more")
                #expect(ingest.hub(for: third) == nil && ingest.statistics[third] == nil)
                await Self.refused(try await TestPublisher.publish(server.url("c_key")), with: .denied)
            }
            // A key that is still known, of a removed source.
            ingest.renew(admission(three))
            await Self.refused(try await TestPublisher.publish(server.url("c_key")), with: .denied)
            ingest.remove(third, .removed)
            #expect(host.outcomes.elements == [.ready], "the others continue")
        }
    }

    @Test("a source can be added with its publishers refused from the start")
    func comingRefused() async throws {
        let third = SourceID(uid: "3003")
        try await TestServer.with { server in
            _ = server.server.add(
                third,
                IngestConfiguration.Source(
                    readPatience: .usual, refused: IngestConfiguration.Refused(refusal: .quarantined, until: .max)))
            server.server.renew(Admission(bindings: [IngestBinding(source: third, streamKey: "c_key")]))
            await Self.refused(try await TestPublisher.publish(server.url("c_key")), with: .quarantined)
        }
    }

    @Test(
        "publishers of a source that is quarantined when the server starts are refused with the message for quarantine")
    func quarantined() async throws {
        try await TestServer.with({
            $0.refused[TestServer.guest] = IngestConfiguration.Refused(refusal: .quarantined, until: .max)
        }) { server in
            let guest = try await TestPublisher.publish(server.url(TestServer.guestKey))
            await Self.refused(guest, with: .quarantined)
            let host = try await TestPublisher.publish(server.url(TestServer.hostKey))
            #expect(host.outcomes.elements == [.ready])
        }
    }

    @Test("a wrong key is refused after a delay, too many are closed without an answer; a right key is still accepted")
    func wrongKeys() async throws {
        try await TestServer.with({ $0.wrongKeyDelay = 300_000_000 }) { server in
            let clock = ContinuousClock()
            let begun = clock.now
            let one = try await TestPublisher.publish(server.url("wrong"))
            await Self.refused(one, with: .denied)
            #expect(clock.now - begun >= .milliseconds(300))
            for _ in 0..<40 { _ = try await TestPublisher.connect(server.url("wrong")) }
            let host = try await TestPublisher.publish(server.url(TestServer.hostKey))
            #expect(host.outcomes.elements == [.ready])
            // One a second is answered: on a slow machine the first may be.
            var outcomes: [[TestPublisher.Outcome]] = []
            while outcomes.count < 10, outcomes.last != [.closed] {
                outcomes.append(try await TestPublisher.publish(server.url("wrong")).outcomes.elements)
            }
            #expect(outcomes.last == [.closed], "wrong keys beyond the limit are dropped: \(outcomes)")
        }
    }
}
