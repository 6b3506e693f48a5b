import PublishAuth
import Glibc
import HTTPProbe
import Ingest
import MediaTypes
import NIOCore
import NIOPosix
import NIOSSL
import PipelineSpec
import RTMP
import TLSFiles
import TestSupport
import Testing

@Suite("RTMP listeners: RTMPS, PROXY header, IPv6, connection limits", .timeLimit(.minutes(1)))
struct DoorTests {
    static let proxied = Array("PROXY TCP4 192.0.2.7 10.0.0.1 40000 1935\r\n".utf8)

    /// A server with RTMPS beside RTMP, with a self-signed certificate.
    static func withTLS(
        _ change: (inout IngestConfiguration) -> Void = { _ in },
        _ body: (TestServer, CertificateStore, TemporaryDirectory) async throws -> Void
    ) async throws {
        try CertificateMaker.require()
        let folder = try TemporaryDirectory()
        let files = CertificateFiles(certificate: "\(folder.path)/a.crt", key: "\(folder.path)/a.key")
        defer {
            for path in [files.certificate, files.key] { unlink(path) }
            folder.remove()
        }
        try CertificateMaker.make(certificate: files.certificate, key: files.key)
        let store = try CertificateStore(files, place: "test")
        try await TestServer.with({
            $0.secure = IngestConfiguration.Secure(listen: "127.0.0.1:0", certificates: store)
            change(&$0)
        }) { try await body($0, store, folder) }
    }

    static func secureURL(_ server: TestServer, _ key: String) -> String {
        "rtmp://127.0.0.1:\(server.securePort)/live/\(key)"
    }

    @Test("over TLS, media arrives and a wrong key gets an error; plain RTMP on the TLS port is closed")
    func secure() async throws {
        try await Self.withTLS { server, _, _ in
            let items = ItemRecorder()
            _ = server.server.hub(for: TestServer.host)?.subscribe(items)
            let publisher = try await TestPublisher.publish(Self.secureURL(server, TestServer.hostKey), tls: .tlsv12)
            #expect(publisher.outcomes.elements == [.ready])
            try await publisher.sendMedia(from: 40)
            await items.items.wait { $0.count == 5 }
            let other = try await TestPublisher.publish(Self.secureURL(server, "wrong"), tls: .tlsv13)
            await other.outcomes.wait { $0.last == .closed }
            #expect(AdmissionOnTheWireTests.status(other)?.code == "NetStream.Publish.Denied")
            let plain = try await TestPublisher.publish(Self.secureURL(server, TestServer.guestKey))
            await plain.outcomes.wait { $0.last == .closed }
            #expect(!plain.outcomes.elements.contains(.ready))
            let guest = try await TestPublisher.publish(server.url(TestServer.guestKey))
            #expect(guest.outcomes.elements == [.ready], "the plain port is also open")
        }
    }

    @Test("TLS 1.1 is refused")
    func oldTLS() async throws {
        try await Self.withTLS { server, _, _ in
            let publisher = try await TestPublisher.publish(
                Self.secureURL(server, TestServer.hostKey), tls: .tlsv11)
            #expect(publisher.outcomes.elements == [.closed])
        }
    }

    @Test("any TLS server name (SNI), or none, is accepted, since encoders may connect by IP address")
    func otherName() async throws {
        try await Self.withTLS { server, _, _ in
            for (key, name) in [(TestServer.hostKey, "elsewhere.example"), (TestServer.guestKey, nil)] {
                let publisher = try await TestPublisher.publish(
                    Self.secureURL(server, key), tls: .tlsv12, name: name)
                #expect(publisher.outcomes.elements == [.ready])
            }
        }
    }

    @Test("a TLS renegotiation is refused")
    func renegotiation() async throws {
        try await Self.withTLS { server, _, folder in
            // A line that starts with R is a command of openssl: it requests a renegotiation, fails, and exits with 1.
            let script = """
                cd '\(folder.path)' && mkfifo keys || exit 9
                timeout 20 openssl s_client -connect 127.0.0.1:\(server.securePort) -tls1_2 <keys >said 2>&1 &
                exec 3>keys; printf 'R\\n' >&3; wait $!; code=$?
                grep -q RENEGOTIATING said; asked=$?
                rm keys said
                exit $((code * 2 + asked))
                """
            #expect(await Tool.run("/bin/sh", ["-c", script]) == 2)
            let publisher = try await TestPublisher.publish(Self.secureURL(server, TestServer.hostKey), tls: .tlsv12)
            #expect(publisher.outcomes.elements == [.ready])
        }
    }

    @Test(
        "after the certificate files are renewed, the next connection gets the new certificate; current publishers continue"
    )
    func renewal() async throws {
        try await Self.withTLS { server, store, _ in
            let before = try await TestPublisher.publish(Self.secureURL(server, TestServer.hostKey), tls: .tlsv13)
            try CertificateMaker.make(certificate: store.files.certificate, key: store.files.key, name: "renewed")
            guard case .renewed = store.reload() else {
                Issue.record("not renewed")
                return
            }
            let after = try await TestPublisher.publish(Self.secureURL(server, TestServer.guestKey), tls: .tlsv13)
            #expect(after.outcomes.elements == [.ready] && before.outcomes.elements == [.ready])
            #expect(before.certificate.elements.first != after.certificate.elements.first)
            #expect(before.certificate.elements.count == 1)
        }
    }

    @Test("a client that connects to the TLS port and sends nothing is closed after the handshake timeout")
    func silentTLS() async throws {
        try await Self.withTLS({ $0.session.handshakeTimeout = 100_000_000 }) { server, _, _ in
            let closed = Recorder<Bool>()
            let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connect(host: "127.0.0.1", port: server.securePort).get()
            channel.closeFuture.whenComplete { _ in closed.append(true) }
            await closed.wait { !$0.isEmpty }
        }
    }

    @Test("the PROXY header gives the publisher's address for events and the allow list; a proxy without it is closed")
    func proxyHeader() async throws {
        let here = try #require(AddressRange("127.0.0.0/8"))
        let there = try #require(AddressRange("192.0.2.0/24"))
        try await Self.withTLS({
            $0.proxies = [here]
            $0.admission.allowedAddresses = [there]
        }) { server, _, _ in
            let plain = try await TestPublisher.publish(server.url(TestServer.hostKey), prefix: Self.proxied)
            #expect(plain.outcomes.elements == [.ready])
            let secure = try await TestPublisher.publish(
                Self.secureURL(server, TestServer.guestKey), tls: .tlsv13, prefix: Self.proxied)
            #expect(secure.outcomes.elements == [.ready])
            let remotes = server.events.elements.compactMap { event in
                if case .publishing(_, let info) = event { info.remote } else { nil }
            }
            #expect(remotes == ["192.0.2.7:40000", "192.0.2.7:40000"])
            let elsewhere = try await TestPublisher.publish(
                server.url(TestServer.hostKey), prefix: Array("PROXY TCP6 2001:db8::1 ::1 1 1\r\n".utf8))
            #expect(AdmissionOnTheWireTests.status(elsewhere)?.code == "NetConnection.Connect.Rejected")
            let none = try await TestPublisher.publish(server.url(TestServer.hostKey))
            #expect(none.outcomes.elements == [.closed], "a proxy without its header")
        }
    }

    @Test("a connection that begins with a PROXY header but does not come from a proxy is closed")
    func untrusted() async throws {
        try await TestServer.with { server in
            let publisher = try await TestPublisher.publish(server.url(TestServer.hostKey), prefix: Self.proxied)
            #expect(publisher.outcomes.elements == [.closed])
            await server.events.wait { $0.contains { "\($0)".contains("a text protocol") } }
        }
    }

    @Test("publishers can connect to a listener at ::1; a listener at :: accepts IPv6 and IPv4")
    func addresses() async throws {
        guard access("/proc/net/if_inet6", F_OK) == 0 else { try TestTool.skip("IPv6", "this machine has none") }
        for (listen, hosts) in [("[::1]:0", ["[::1]"]), ("[::]:0", ["[::1]", "127.0.0.1"])] {
            try await TestServer.with({ $0.listen = listen }) { server in
                for host in hosts {
                    let publisher = try await TestPublisher.publish(
                        "rtmp://\(host):\(server.port)/live/\(TestServer.hostKey)")
                    #expect(publisher.outcomes.elements == [.ready], "\(host)")
                }
            }
        }
    }

    @Test("of 500 idle connections from one address all but eight are closed; a publisher stays, another is admitted")
    func idleConnections() async throws {
        try await TestServer.with { server in
            let items = ItemRecorder()
            _ = server.server.hub(for: TestServer.host)?.subscribe(items)
            let publisher = try await TestPublisher.publish(server.url(TestServer.hostKey))
            var channels: [any Channel] = []
            for _ in 0..<500 {
                channels.append(
                    try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                        .connect(host: "127.0.0.1", port: server.port).get())
            }
            await server.events.wait { events in
                // Evaluated with every event.
                guard events.count >= 492 else { return false }
                let crowded = events.count {
                    if case .refused(_, _, let reason, _) = $0 {
                        reason.hasPrefix("there are too many connections")
                    } else {
                        false
                    }
                }
                return crowded == 492
            }
            let guest = try await TestPublisher.publish(server.url(TestServer.guestKey))
            #expect(guest.outcomes.elements == [.ready], "a client that connects meanwhile is admitted")
            try await publisher.sendMedia()
            await items.items.wait { $0.count == 5 }
            #expect(publisher.outcomes.elements == [.ready])
            for channel in channels { channel.close(promise: nil) }
        }
    }
}
