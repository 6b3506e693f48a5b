import PublishAuth
import Ingest
import MediaTypes
import RTMP
import Testing

@Suite("The publish webhook over loopback connections", .timeLimit(.minutes(1)))
struct HookTests {
    static func with(
        _ behaviour: HookServer.Behaviour, form: PublishWebhook.Form = .srs, timeout: Int64 = 2_500_000_000,
        onFailure: PublishWebhookClient.OnFailure = .deny, _ body: (TestServer, HookServer) async throws -> Void
    ) async throws {
        let hook = try await HookServer(behaviour)
        try await TestServer.with({
            $0.hook = PublishWebhookClient(
                hook: PublishWebhook(form: form, secret: "s"), url: hook.url, timeout: timeout, onFailure: onFailure)
            $0.admission.open = [SourceID(uid: "3003")]
        }) { try await body($0, hook) }
        await hook.stop()
    }

    @Test(
        "the webhook gets the key, query and address of a publisher with a valid key, and admits it",
        arguments: PublishWebhook.Form.allCases)
    func letsIn(form: PublishWebhook.Form) async throws {
        let body = form == .ome ? #"{"allowed":true}"# : "0"
        try await Self.with(.answer(status: 200, body: body), form: form) { server, hook in
            let publisher = try await TestPublisher.publish(server.url(TestServer.hostKey + "?room=5"))
            #expect(publisher.outcomes.elements == [.ready])
            let request = try #require(hook.requests.elements.first)
            #expect(request.hasPrefix("POST /hooks/publish?t=hook_secret HTTP/1.1\r\n"))
            #expect(request.contains(TestServer.hostKey) && request.contains("room=5") && request.contains("127.0.0.1"))
            let other = try await TestPublisher.publish(server.url("wrong_key"))
            #expect(AdmissionOnTheWireTests.status(other)?.code == "NetStream.Publish.Denied")
            #expect(hook.requests.elements.count == 1, "no request for a wrong key")
            #expect(!"\(server.events.elements) \(server.log.elements)".contains("secret"))
        }
    }

    @Test(
        "a source without a stream key is published under its uid if the webhook allows it; its media is delivered")
    func named() async throws {
        try await Self.with(.answer(status: 200, body: #"{"code":0}"#)) { server, _ in
            let source = SourceID(uid: "3003")
            let items = ItemRecorder()
            _ = server.server.hub(for: source)?.subscribe(items)
            let publisher = try await TestPublisher.publish(server.url("3003?token=1"))
            #expect(publisher.outcomes.elements == [.ready])
            try await publisher.sendMedia()
            await items.items.wait { $0.count == 5 }
        }
    }

    @Test("a publisher that the webhook refuses gets the webhook's reason, or a general text if it gives none")
    func refuses() async throws {
        try await Self.with(.answer(status: 200, body: #"{"code":5}"#)) { server, _ in
            let publisher = try await TestPublisher.publish(server.url(TestServer.hostKey))
            #expect(AdmissionOnTheWireTests.status(publisher)?.text == PublishRefusal.denied.text)
            let second = try await TestPublisher.publish(server.url(TestServer.hostKey))
            #expect(AdmissionOnTheWireTests.status(second)?.code == PublishRefusal.denied.code, "nothing is held")
        }
        let answer = HookServer.Behaviour.answer(status: 200, body: #"{"allowed":false,"reason":"Pay first."}"#)
        try await Self.with(answer, form: .ome) { server, _ in
            let publisher = try await TestPublisher.publish(server.url(TestServer.hostKey))
            #expect(AdmissionOnTheWireTests.status(publisher)?.text == "Pay first.")
        }
    }

    @Test("a webhook request is signed with the secret that is in force when it is sent")
    func renewed() async throws {
        let hook = try await HookServer(.answer(status: 200, body: #"{"allowed":true}"#))
        try await TestServer.with({
            $0.hook = PublishWebhookClient(hook: PublishWebhook(form: .ome, secret: nil), url: hook.url)
        }) { server in
            let first = try await TestPublisher.publish(server.url(TestServer.hostKey))
            #expect(first.outcomes.elements == [.ready])
            server.server.replaceHookSecret("s")
            let second = try await TestPublisher.publish(server.url(TestServer.hostKey))
            #expect(second.outcomes.elements == [.ready])
            let signed = hook.requests.elements.map { $0.lowercased().contains("x-ome-signature:") }
            #expect(signed == [false, true])
        }
        await hook.stop()
    }

    @Test(
        "if the webhook is silent, closes the connection, answers 500 or does not end its answer in time, `onError` decides",
        arguments: [PublishWebhookClient.OnFailure.deny, .allow])
    func noAnswer(onFailure: PublishWebhookClient.OnFailure) async throws {
        let behaviours = [
            HookServer.Behaviour.silent, .close, .answer(status: 500, body: "0"), .withhold(status: 200, body: "0"),
        ]
        for behaviour in behaviours {
            try await Self.with(behaviour, timeout: 200_000_000, onFailure: onFailure) { server, _ in
                let publisher = try await TestPublisher.publish(server.url(TestServer.hostKey))
                if onFailure == .allow {
                    #expect(publisher.outcomes.elements == [.ready])
                } else {
                    #expect(AdmissionOnTheWireTests.status(publisher)?.text == PublishRefusal.undecided.text)
                }
                let events = await server.events.wait { events in
                    events.contains { if case .hookFailed = $0 { true } else { false } }
                }
                #expect(!"\(events) \(server.log.elements)".contains("secret"))
            }
        }
    }

    // In the next two tests the webhook has unlimited time: if the body were waited for, the session's deadline would
    // decide.

    @Test("a webhook's 403 refuses the publisher, although its body never ends and `onError` allows")
    func endlessRefusal() async throws {
        for form in PublishWebhook.Form.allCases {
            let behaviour = HookServer.Behaviour.withhold(status: 403, body: "<html>")
            try await Self.with(behaviour, form: form, timeout: 600_000_000_000, onFailure: .allow) { server, _ in
                let publisher = try await TestPublisher.publish(server.url(TestServer.hostKey))
                #expect(AdmissionOnTheWireTests.status(publisher)?.text == PublishRefusal.denied.text, "\(form)")
                #expect(server.server.statistics[TestServer.host]?.publications == 0)
            }
        }
    }

    @Test("with the webhook form nginx-rtmp, a 200 admits the publisher although its body never ends")
    func endlessConsent() async throws {
        let behaviour = HookServer.Behaviour.withhold(status: 200, body: "ok")
        try await Self.with(behaviour, form: .nginx, timeout: 600_000_000_000) { server, _ in
            let publisher = try await TestPublisher.publish(server.url(TestServer.hostKey))
            #expect(publisher.outcomes.elements == [.ready])
        }
    }

    @Test("a publisher over RTMPS is reported to the webhook with the address of the RTMPS listener")
    func secureAddress() async throws {
        let hook = try await HookServer(.answer(status: 200, body: #"{"allowed":true}"#))
        try await DoorTests.withTLS({
            $0.hook = PublishWebhookClient(hook: PublishWebhook(form: .ome), url: hook.url)
        }) { server, _, _ in
            let publisher = try await TestPublisher.publish(
                DoorTests.secureURL(server, TestServer.hostKey), tls: .tlsv12)
            #expect(publisher.outcomes.elements == [.ready])
            let url = "rtmps://127.0.0.1:\(server.securePort)/live/\(TestServer.hostKey)"
            #expect(hook.requests.elements.first?.contains(url) == true, "\(hook.requests.elements)")
        }
        await hook.stop()
    }

    @Test("a single-use signed key is not used up if the webhook fails or refuses")
    func singleUse() async throws {
        let cases: [(HookServer.Behaviour, String)] = [
            (.answer(status: 500, body: "0"), PublishRefusal.undecided.text),
            (.answer(status: 200, body: #"{"code":5}"#), PublishRefusal.denied.text),
        ]
        for (behaviour, text) in cases {
            let hook = try await HookServer(behaviour)
            try await TestServer.with({
                $0.hook = PublishWebhookClient(hook: PublishWebhook(form: .srs), url: hook.url)
                $0.admission.signed = SignedKeyCheck(
                    form: .hmac, secrets: ["first secret"], room: "88231", app: "live")
                $0.admission.signable = [TestServer.host]
                $0.admission.isSingleUse = true
                $0.wallClock = { 1_700_000_000 }
            }) { server in
                // The signature is that of SignedKeyCheckTests.
                let url = server.url("1001?e=1800000000&n=n1&s=dyHoSYgbBJnqChPubkwCvSzsJERGFIusRg1e7sqiucI")
                for asked in 1...2 {
                    let publisher = try await TestPublisher.publish(url)
                    #expect(AdmissionOnTheWireTests.status(publisher)?.text == text)
                    #expect(hook.requests.elements.count == asked, "the key is right each time")
                }
            }
            await hook.stop()
        }
    }

    @Test(
        "after a burst of 32 webhook requests, publishers of that address are refused without a request, even if `onError` allows"
    )
    func flood() async throws {
        let hook = try await HookServer(.answer(status: 200, body: "0"))
        let change: (inout IngestConfiguration) -> Void = {
            $0.hook = PublishWebhookClient(
                hook: PublishWebhook(form: .srs, secret: "s"), url: hook.url, timeout: 20_000_000_000, onFailure: .allow
            )
        }
        try await TestServer.with(clock: StandingClock(), change) { server in
            for index in 1...32 {
                let publisher = try await TestPublisher.publish(server.url(TestServer.hostKey))
                #expect(publisher.outcomes.elements == [.ready])
                try await publisher.finish()
                await server.events.wait {
                    $0.count { if case .unpublished = $0 { true } else { false } } == index
                }
            }
            // Their key is right: all get an answer, unlike those who guess.
            for _ in 0..<15 {
                let publisher = try await TestPublisher.publish(server.url(TestServer.hostKey))
                #expect(AdmissionOnTheWireTests.status(publisher)?.text == PublishRefusal.undecided.text)
            }
            #expect(hook.requests.elements.count == 32)
            #expect(server.server.statistics[TestServer.host]?.publications == 32)
        }
        await hook.stop()
    }

    @Test("a webhook request is cancelled when its publisher disconnects")
    func withdrawn() async throws {
        let hook = try await HookServer(.silent)
        try await TestServer.with({
            $0.hook = PublishWebhookClient(
                hook: PublishWebhook(form: .srs, secret: "s"), url: hook.url, timeout: 600_000_000_000, onFailure: .deny
            )
            $0.session.decisionTimeout = 600_000_000_000
        }) { server in
            let publisher = try await TestPublisher.connect(server.url(TestServer.hostKey))
            await hook.requests.wait { $0.count == 1 }
            #expect(hook.closed.elements.isEmpty)
            try await publisher.drop()
            await hook.closed.wait { $0.count == 1 }
        }
        await hook.stop()
    }

    /// A clock that does not advance.
    private struct StandingClock: MonotonicClock {
        func now() -> Int64 { 1_000_000_000 }
    }

    @Test("a WHIP publisher from an address over the limit of webhook requests is refused before its offer is read")
    func whipLimit() async throws {
        let change: (inout IngestConfiguration) -> Void = {
            $0.hook = PublishWebhookClient(
                hook: PublishWebhook(form: .srs), url: "http://127.0.0.1:9", timeout: 2_000_000_000)
        }
        try await WHIPTests.with(clock: StillClock(), change) { server, url in
            // The webhook cannot be reached, but each of these is a request.
            for _ in 0..<32 { _ = try await TestPublisher.publish(server.url(TestServer.guestKey)) }
            // Its offer would be refused later.
            let reply = try await WHIPClient.post(url, key: TestServer.hostKey, video: nil, audio: nil)
            #expect(reply.status == 503, "\(reply.text)")
            let reasons = server.events.elements.compactMap { event -> String? in
                if case .refused(_, _, let reason, _) = event { reason } else { nil }
            }
            #expect(reasons.last == "there were too many webhook requests for its address")
        }
    }

    @Test(
        "if the webhook has not decided by the session's deadline, the publisher is refused and no publication begins")
    func leaves() async throws {
        try await TestServer.with({
            $0.hook = PublishWebhookClient(
                hook: PublishWebhook(form: .srs), url: "http://127.0.0.1:9", timeout: 2_000_000_000)
            $0.session.decisionTimeout = 1
        }) { server in
            let publisher = try await TestPublisher.publish(server.url(TestServer.hostKey))
            #expect(AdmissionOnTheWireTests.status(publisher) != nil)
            #expect(server.server.statistics[TestServer.host]?.publications == 0)
        }
    }
}
