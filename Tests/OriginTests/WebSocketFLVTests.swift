import Glibc
import HTTPListener
import HTTPProbe
import HTTPTypes
import Logging
import Push
import TLSFiles
import TestSupport
import Testing

import Origin

@Suite("Renditions over WebSocket-FLV: RFC 6455 §4.2", .timeLimit(.minutes(1)))
struct WebSocketFLVTests {
    /// A request for 180p with the fields of RFC 6455 §1.3, with the given ones replaced; an empty one is left out.
    private static func head(
        _ changes: [HTTPField.Name: String] = [:], _ method: HTTPRequest.Method = .get
    ) -> HTTPRequest {
        var fields: HTTPFields = [
            .connection: "Upgrade", .upgrade: "websocket", .secWebSocketVersion: "13",
            .secWebSocketKey: WebSocketProbe.key,
        ]
        for (name, value) in changes { fields[name] = value.isEmpty ? nil : value }
        return HTTPRequest(
            method: method, scheme: "http", authority: "room.example:8080", path: "/live/180p.flv",
            headerFields: fields)
    }

    private static func reply(
        _ head: HTTPRequest, origins: [String] = ["*"], gate: SignedURLVerifier? = nil
    ) async -> ListenerReply {
        let outputs = FLVStreamTests.outputs()
        let responder = OriginResponder(
            content: MemoryContent(), policy: CORSPolicy(allowOrigins: origins),
            page: ViewerPage.Options(title: "Room"), gate: gate,
            live: outputs)
        let reply = await responder.reply(to: ListenerRequest(head: head))
        await outputs.stop(reason: "over")
        return reply
    }

    @Test(
        "the WebSocket handshake of RFC 6455 §1.3 is accepted, also with upper case and several field values",
        arguments: [
            [:], [.connection: "keep-alive, upgrade"], [.upgrade: "WebSocket"], [.upgrade: "h2c , websocket"],
        ] as [[HTTPField.Name: String]])
    func accepted(changes: [HTTPField.Name: String]) async {
        let reply = await Self.reply(Self.head(changes))
        #expect(reply.status == .switchingProtocols)
        #expect(reply.fields[.secWebSocketAccept] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
        #expect(reply.fields[.upgrade] == "websocket" && reply.fields[.connection] == "Upgrade")
        guard case .socket = reply.body else { return #expect(Bool(false), "no WebSocket") }
    }

    @Test(
        "a request without a WebSocket upgrade gets HTTP-FLV",
        arguments: [
            [.upgrade: ""], [.connection: ""], [.upgrade: "h2c"], [.connection: "close"], [.upgrade: "websockets"],
        ] as [[HTTPField.Name: String]])
    func notAsked(changes: [HTTPField.Name: String]) async {
        let reply = await Self.reply(Self.head(changes))
        #expect(reply.status == .ok)
        guard case .stream = reply.body else { return #expect(Bool(false), "no stream") }
        #expect(await Self.reply(Self.head([:], .head)).status == .ok)
    }

    @Test(
        "a Sec-WebSocket-Version other than 13 gets 426 and Sec-WebSocket-Version: 13",
        arguments: ["", "8", "14", "13, 8", "thirteen"])
    func version(version: String) async {
        let reply = await Self.reply(Self.head([.secWebSocketVersion: version]))
        #expect(reply.status.code == 426 && reply.fields[.secWebSocketVersion] == "13")
        #expect(reply.fields[.upgrade] == "websocket" && reply.fields[.connection] == "Upgrade")
    }

    @Test(
        "a Sec-WebSocket-Key that is not 16 bytes in base64 gets 400",
        arguments: [
            "", "x", "dGhlIHNhbXBsZSBub25jZQ", "dGhlIHNhbXBsZSBub25jZQ==, a", "dGhlIHNhbXBsZSBub25j",
            "dGhlIHNhbXBsZSBub25jZTE=", "dGhlIHNhbXBsZSBub25jZ!==", String(repeating: "A", count: 4_000),
        ])
    func key(key: String) async {
        #expect(await Self.reply(Self.head([.secWebSocketKey: key])).status == .badRequest)
    }

    @Test(
        "WebSocket-FLV is refused to a page of an origin that is not listed, and, if URLs are signed, to a viewer without a signature"
    )
    func admission() async {
        let listed = ["https://player.example"]
        #expect(await Self.reply(Self.head(), origins: listed).status == .switchingProtocols)
        for (origin, status) in [
            ("https://player.example", 101), ("http://room.example:8080", 101), ("https://evil.example", 403),
        ] {
            #expect(await Self.reply(Self.head([.origin: origin]), origins: listed).status.code == status, "\(origin)")
        }
        let gate = SignedURLVerifier(room: "r", secrets: ["a secret of some length"]) { 1_000 }
        #expect(await Self.reply(Self.head(), gate: gate).status == .forbidden)
        var signed = Self.head()
        signed.path = "/live/180p.flv?" + gate.query(scope: "/live/", seconds: 60)
        #expect(await Self.reply(signed, gate: gate).status == .switchingProtocols)
        signed.path = "/live/720p.flv?" + gate.query(scope: "/live/", seconds: 60)
        #expect(await Self.reply(signed, gate: gate).status == .notFound)
    }

    private static func withServer(
        tls: Bool, live: LiveOutputs, _ body: (OriginServer) async throws -> Void
    ) async throws {
        if tls { try CertificateMaker.require() }
        let holder = try TemporaryDirectory()
        let (certificate, key) = (holder.path + "/a.crt", holder.path + "/a.key")
        var store: CertificateStore?
        if tls {
            try CertificateMaker.make(certificate: certificate, key: key)
            store = try CertificateStore(CertificateFiles(certificate: certificate, key: key), place: "test")
        }
        let server = try await OriginServer.start(
            listen: .tcp(host: "127.0.0.1", port: 0), content: MemoryContent(), allowOrigins: ["*"],
            page: ViewerPage.Options(title: "Room"),
            live: live, certificates: store, logger: Logger(label: "test"))
        do {
            try await body(server)
        } catch {
            Issue.record(error)
        }
        await server.stop(within: .milliseconds(100))
        unlink(certificate)
        unlink(key)
        holder.remove()
    }

    @Test(
        "a WebSocket-FLV viewer gets the FLV header and each tag as one binary frame each, and at the end a close frame",
        arguments: [false, true])
    func plays(tls: Bool) async throws {
        let outputs = FLVStreamTests.outputs()
        let feed = try #require(outputs.feed(named: "180p"))
        for number in 0..<30 { feed.receive(FLVStreamTests.picture(number)) }
        try await Self.withServer(tls: tls, live: outputs) { server in
            try await WebSocketProbe(server.boundAddress).talk("/live/180p.flv") { talk in
                #expect(talk.head.contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="))
                let header = try #require(try await talk.next())
                #expect(header.payload.starts(with: Array("FLV\u{1}".utf8)) && header.payload.count == 13)
                try await waitUntil("the feed has 1 readers", { feed.readers }) { $0 >= 1 }
                for number in 30..<80 { feed.receive(FLVStreamTests.picture(number)) }
                await outputs.stop(reason: "over")
                var tags = 0
                while let frame = try await talk.next() {
                    guard frame.opcode == 2 else {
                        #expect(frame.code == 1_000)
                        try await talk.send(WebSocketProbe.close(1_000))
                        continue
                    }
                    tags += 1
                    // FLV 10.1 §E.4.1: type, size of the data, and the tag's size behind it.
                    #expect([8, 9, 18].contains(frame.payload[0]))
                    let size = frame.payload[1...3].reduce(0) { $0 << 8 | Int($1) }
                    #expect(frame.payload.count == 11 + size + 4)
                }
                #expect((55...60).contains(tags), "from key frame 25 on: \(tags) tags")
            }
            try await waitUntil("the feed has no reader", { feed.readers }) { $0 == 0 }
        }
        await outputs.stop(reason: "over")
    }

    @Test(
        "a WebSocket-FLV viewer that disconnects, with or without a close frame, no longer counts as a reader",
        arguments: [true, false])
    func leaves(politely: Bool) async throws {
        let outputs = FLVStreamTests.outputs()
        let feed = try #require(outputs.feed(named: "180p"))
        try await Self.withServer(tls: false, live: outputs) { server in
            try await WebSocketProbe(server.boundAddress).talk("/live/180p.flv") { talk in
                _ = try await talk.next()
                try await waitUntil("the feed has 1 readers", { feed.readers }) { $0 >= 1 }
                guard politely else { return }
                try await talk.send(WebSocketProbe.close(1_001))
                while let frame = try await talk.next() { #expect(frame.opcode == 2 || frame.code == 1_001) }
            }
            try await waitUntil("the feed has no reader", { feed.readers }) { $0 == 0 }
        }
        await outputs.stop(reason: "over")
    }
}
