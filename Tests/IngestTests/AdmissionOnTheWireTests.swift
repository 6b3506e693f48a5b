import PublishAuth
import Ingest
import MediaTypes
import PipelineSpec
import RTMP
import Testing

@Suite("Publish authorization over loopback connections", .timeLimit(.minutes(1)))
struct AdmissionOnTheWireTests {
    static func status(_ publisher: TestPublisher) -> RTMPClientStatus? {
        guard case .failed(.rejected(let status))? = publisher.outcomes.elements.first else { return nil }
        return status
    }

    @Test("`connect` is refused from an address that is not on the allow list, with an error that names the cause")
    func allowList() async throws {
        let elsewhere = try #require(AddressRange("192.0.2.0/24"))
        try await TestServer.with({ $0.admission.allowedAddresses = [elsewhere] }) { server in
            let publisher = try await TestPublisher.publish(server.url(TestServer.hostKey))
            #expect(Self.status(publisher)?.code == "NetConnection.Connect.Rejected")
            #expect(Self.status(publisher)?.text.contains("address") == true)
            await publisher.outcomes.wait { $0.last == .closed }
        }
        let here = try #require(AddressRange("127.0.0.0/8"))
        try await TestServer.with({ $0.admission.allowedAddresses = [elsewhere, here] }) { server in
            let publisher = try await TestPublisher.publish(server.url(TestServer.hostKey))
            #expect(publisher.outcomes.elements == [.ready])
        }
    }

    @Test("a signed key is accepted until it expires or its secret is replaced; no key or secret is in events and log")
    func signed() async throws {
        // The signatures are those of SignedKeyCheckTests, in the room 88231.
        let signature = "dyHoSYgbBJnqChPubkwCvSzsJERGFIusRg1e7sqiucI"
        let change: (inout IngestConfiguration) -> Void = { configuration in
            configuration.admission.signed = SignedKeyCheck(
                form: .hmac, secrets: ["first secret"], room: "88231", app: "live")
            configuration.admission.signable = [TestServer.host]
            configuration.wallClock = { 1_700_000_000 }
        }
        try await TestServer.with(change) { server in
            let url = server.url("1001?e=1800000000&n=n1&s=\(signature)")
            let publisher = try await TestPublisher.publish(url)
            #expect(publisher.outcomes.elements == [.ready])
            server.server.replaceKeys(
                [IngestBinding(source: TestServer.guest, streamKey: "a_new_key_of_guest")], secrets: ["another"])
            let second = try await TestPublisher.publish(url)
            #expect(Self.status(second)?.code == "NetStream.Publish.Denied")
            let third = try await TestPublisher.publish(server.url(TestServer.guestKey))
            #expect(Self.status(third)?.code == "NetStream.Publish.Denied")
            let fourth = try await TestPublisher.publish(server.url("a_new_key_of_guest"))
            #expect(fourth.outcomes.elements == [.ready])
            #expect(publisher.outcomes.elements == [.ready], "current publishers continue")
            let told = await server.events.wait { $0.count { if case .refused = $0 { true } else { false } } == 2 }
            let all = "\(told) \(server.log.elements)"
            #expect(!all.contains(signature) && !all.contains("new_key") && !all.contains("secret"))
            #expect(all.contains("a wrong signature") && all.contains("an unknown key"))
        }
        try await TestServer.with({
            change(&$0)
            $0.wallClock = { 1_800_000_031 }
        }) { server in
            let publisher = try await TestPublisher.publish(server.url("1001?e=1800000000&n=n1&s=\(signature)"))
            #expect(Self.status(publisher)?.text == PublishRefusal.expired.text)
        }
    }
}
