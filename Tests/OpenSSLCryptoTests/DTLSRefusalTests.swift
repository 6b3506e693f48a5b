import COpenSSL
import MediaTypes
import OpenSSLCrypto
import TestSupport
import Testing

@Suite("DTLS: peers and datagrams that are refused")
struct DTLSRefusalTests {
    private let identity: DTLSIdentity

    init() throws { self.identity = try DTLSIdentity() }

    private func transport(_ role: DTLSRole, _ fingerprints: [DTLSFingerprint]) throws -> DTLSTransport {
        try DTLSTransport(identity: self.identity, role: role, peerFingerprints: fingerprints, timer: .long)
    }

    @Test(
        "a DTLS handshake with a peer whose certificate matches no fingerprint gives no keys, in both roles",
        arguments: [DTLSRole.client, .server])
    func wrongFingerprint(role: DTLSRole) throws {
        let peer = try RawPeer(isClient: role == .server)
        var wrong = peer.fingerprints[1].bytes
        wrong[31] ^= 1
        // The first fits, but is SHA-1; the last fits, but is too short.
        let offered = [
            peer.fingerprints[0], DTLSFingerprint(algorithm: "sha-256", bytes: wrong), self.identity.fingerprint,
            DTLSFingerprint(algorithm: "sha-256", bytes: Array(peer.fingerprints[1].bytes.prefix(20))),
        ]
        let transport = try self.transport(role, offered)
        let network = DTLSNetwork()
        _ = network.run(transport, peer)
        #expect(transport.failure?.contains("fingerprint") == true, "\(transport.state)")
        #expect(transport.receive(peer.write([1, 2, 3]).first ?? []).isEmpty)
        #expect(transport.close().isEmpty && transport.keys == nil)
        #expect(peer.isClosed, "the peer receives close_notify")
    }

    @Test(
        "a DTLS transport is not created without a valid SHA-2 fingerprint of the peer",
        arguments: [[], [("sha-1", 20)], [("md5", 16), ("sha-256", 31)], [("sha-256", 0)], [("sha-257", 32)]])
    func unusableFingerprints(_ given: [(String, Int)]) throws {
        let fingerprints = given.map { DTLSFingerprint(algorithm: $0.0, bytes: Array(repeating: 1, count: $0.1)) }
        let error = #expect(throws: MediaError.self) { try self.transport(.server, fingerprints) }
        #expect(error?.code == .rejected && error?.fix.contains("sha-256") == true)
    }

    @Test(
        "a DTLS handshake with a peer without use_srtp gives no keys, in both roles",
        arguments: [DTLSRole.client, .server])
    func withoutSRTP(role: DTLSRole) throws {
        let peer = try RawPeer(isClient: role == .server, profiles: nil)
        let transport = try self.transport(role, peer.fingerprints)
        let network = DTLSNetwork()
        _ = network.run(transport, peer)
        #expect(transport.failure?.contains("use_srtp") == true, "\(transport.state)")
    }

    @Test("a DTLS handshake with a peer whose only SRTP profile has a tag of 32 bits gives no keys")
    func shortTag() throws {
        let peer = try RawPeer(isClient: true, profiles: "SRTP_AES128_CM_SHA1_32")
        let transport = try self.transport(.server, peer.fingerprints)
        let network = DTLSNetwork()
        _ = network.run(transport, peer)
        #expect(transport.failure?.contains("use_srtp") == true, "\(transport.state)")
    }

    @Test("a DTLS client without a certificate fails in the handshake")
    func withoutCertificate() throws {
        let peer = try RawPeer(isClient: true, hasCertificate: false)
        let transport = try self.transport(.server, peer.fingerprints)
        let network = DTLSNetwork()
        _ = network.run(transport, peer)
        #expect(transport.failure?.contains("peer did not return a certificate") == true, "\(transport.state)")
    }

    @Test("DTLS 1.0, and suites without authenticated encryption, fail in the handshake")
    func oldVersions() throws {
        let peers = [
            try RawPeer(isClient: true, version: DTLS1_VERSION),
            try RawPeer(isClient: true, suites: "ECDHE-ECDSA-AES128-SHA"),
            try RawPeer(isClient: true, suites: "AECDH-AES128-SHA:AES128-SHA"),
        ]
        for peer in peers {
            let transport = try self.transport(.server, peer.fingerprints)
            let network = DTLSNetwork()
            network.send(peer.start(), toSecond: true)
            network.deliver(peer, transport)
            #expect(transport.failure?.hasPrefix("the handshake failed") == true, "\(transport.state)")
        }
    }

    private func connected(_ role: DTLSRole) throws -> (DTLSTransport, RawPeer, SRTPKeys) {
        let peer = try RawPeer(isClient: role == .server)
        let transport = try self.transport(role, peer.fingerprints)
        let network = DTLSNetwork()
        #expect(network.run(transport, peer))
        return (transport, peer, try #require(transport.keys, "\(transport.state)"))
    }

    @Test(
        "DTLS renegotiation is refused with an alert and changes no keys; the peer's alert then ends the connection",
        arguments: [DTLSRole.client, .server])
    func renegotiation(role: DTLSRole) throws {
        let (transport, peer, keys) = try self.connected(role)
        let request = try #require(peer.renegotiate().first)
        let answer = transport.receive(request)
        #expect(answer.count == 1 && answer[0].count < 100 && answer[0].first == 21, "an alert")
        #expect(transport.keys == keys)
        // OpenSSL then ends the connection of its own accord.
        for alert in peer.receive(answer[0]) { #expect(transport.receive(alert).isEmpty) }
        #expect(transport.failure?.hasPrefix("the connection failed") == true, "\(transport.state)")
    }

    @Test("DTLS application data of the peer is discarded")
    func applicationData() throws {
        let (transport, peer, keys) = try self.connected(.server)
        for count in [1, 1_000] {
            for datagram in peer.write([UInt8](repeating: 7, count: count)) {
                #expect(transport.receive(datagram).isEmpty)
            }
        }
        #expect(transport.keys == keys)
    }

    @Test(
        "close_notify of the peer closes the DTLS transport and is answered; the transport's close_notify closes the peer",
        arguments: [DTLSRole.client, .server])
    func closing(role: DTLSRole) throws {
        let (transport, peer, _) = try self.connected(role)
        let farewell = try #require(peer.close().first)
        #expect(transport.receive(farewell).count == 1)
        #expect(transport.state == .closed)
        #expect(transport.receive(farewell).isEmpty && transport.close().isEmpty)

        let (second, other, _) = try self.connected(role)
        let notice = try #require(second.close().first)
        #expect(second.state == .closed && second.nextTimeout() == nil)
        _ = other.receive(notice)
        #expect(other.isClosed)
    }

    @Test("closing a DTLS transport before its handshake is finished sends nothing")
    func earlyClose() throws {
        let transport = try self.transport(.client, [self.identity.fingerprint])
        #expect(!transport.start().isEmpty)
        #expect(transport.close().isEmpty && transport.state == .closed)
        #expect(transport.handleTimeout().isEmpty && transport.nextTimeout() == nil)
    }

    @Test("datagrams that are not DTLS, or too large, are discarded and counted")
    func discarded() throws {
        let transport = try self.transport(.server, [self.identity.fingerprint])
        let bad: [[UInt8]] = [
            [], [22], Array(repeating: 22, count: 12), Array(repeating: 0, count: 100),
            Array(repeating: 128, count: 100), Array(repeating: 19, count: 13), Array(repeating: 64, count: 13),
            [22, 254, 253] + Array(repeating: 0, count: 8_190), Array(repeating: 22, count: 65_535),
        ]
        for datagram in bad { #expect(transport.receive(datagram).isEmpty) }
        #expect(transport.discarded == bad.count)
        #expect(transport.state == .handshaking)
    }

    @Test("garbage between the datagrams of a DTLS handshake does not stop it")
    func garbage() throws {
        let peer = try RawPeer(isClient: true)
        let transport = try self.transport(.server, peer.fingerprints)
        let network = DTLSNetwork()
        final class Source { var random = TestRandom(seed: 5) }
        let source = Source()
        network.filter = { toPeer, datagram in
            if toPeer { return [datagram] }
            let noise = (0..<10).map { index -> [UInt8] in
                let count = Int.random(in: 13...8_192, using: &source.random)
                let kind = UInt8.random(in: 20...63, using: &source.random)
                let bytes = (1..<count).map { _ in UInt8.random(in: 0...255, using: &source.random) }
                // Half of them look like records of this version, of an epoch that does not exist.
                return index.isMultiple(of: 2) ? [kind] + bytes : [kind, 254, 253, 0, 9] + bytes.dropFirst(4)
            }
            return noise + [datagram]
        }
        #expect(network.run(transport, peer))
        #expect(transport.keys != nil, "\(transport.state)")
        #expect(transport.discarded == 0)
    }

    @Test("a DTLS handshake reads at most 128 datagrams, and fails at the next")
    func tooMany() throws {
        let transport = try self.transport(.server, [self.identity.fingerprint])
        for _ in 0..<DTLSTransport.mostHandshakeDatagrams {
            #expect(transport.receive([22, 254, 253] + Array(repeating: 0, count: 10)).isEmpty)
        }
        #expect(transport.state == .handshaking)
        #expect(transport.receive(Array(repeating: 22, count: 13)).isEmpty)
        #expect(transport.failure?.contains("128") == true)
    }

    @Test(
        "a DTLS handshake with flipped bits or truncated datagrams never gives the two ends different keys",
        arguments: 0..<120)
    func damaged(seed: UInt64) throws {
        final class Source {
            var random: TestRandom
            init(_ seed: UInt64) { self.random = TestRandom(seed: seed) }
        }
        let source = Source(seed)
        let other = try DTLSIdentity()
        let client = try self.transport(.client, [other.fingerprint])
        let server = try DTLSTransport(
            identity: other, role: .server, peerFingerprints: [self.identity.fingerprint], timer: .long)
        let network = DTLSNetwork(seed: seed)
        network.filter = { _, datagram in
            guard Bool.random(using: &source.random) else { return [datagram] }
            var damaged = datagram
            if seed.isMultiple(of: 3) {
                damaged.removeLast(Int.random(in: 1...damaged.count, using: &source.random))
            } else {
                damaged[Int.random(in: 0..<damaged.count, using: &source.random)] ^=
                    1 << UInt8.random(in: 0...7, using: &source.random)
            }
            return [damaged]
        }
        network.send(client.start(), toSecond: true)
        network.deliver(client, server)
        if let ours = client.keys, let theirs = server.keys { #expect(ours.localKey == theirs.remoteKey) }
        for state in [client.state, server.state] where state == .closed { Issue.record("closed without close_notify") }
    }
}
