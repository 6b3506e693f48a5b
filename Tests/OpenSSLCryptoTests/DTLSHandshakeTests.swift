import COpenSSL
import MediaTypes
import OpenSSLCrypto
import TestSupport
import Testing

@Suite("DTLS handshake: RFC 6347, RFC 5764")
struct DTLSHandshakeTests {
    private let (one, two): (DTLSIdentity, DTLSIdentity)

    init() throws {
        self.one = try DTLSIdentity()
        self.two = try DTLSIdentity()
    }

    private func pair(timer: DTLSTransport.Timer = .short) throws -> (client: DTLSTransport, server: DTLSTransport) {
        (
            try DTLSTransport(
                identity: self.one, role: .client, peerFingerprints: [self.two.fingerprint], timer: timer),
            try DTLSTransport(identity: self.two, role: .server, peerFingerprints: [self.one.fingerprint], timer: timer)
        )
    }

    private func expectSameKeys(_ client: DTLSTransport, _ server: DTLSTransport) throws {
        let ours = try #require(client.keys, "\(client.state)")
        let theirs = try #require(server.keys, "\(server.state)")
        #expect(ours.profile == theirs.profile)
        #expect(ours.localKey == theirs.remoteKey && ours.localSalt == theirs.remoteSalt)
        #expect(ours.remoteKey == theirs.localKey && ours.remoteSalt == theirs.localSalt)
        #expect(ours.localKey != ours.remoteKey && ours.localSalt != ours.remoteSalt)
    }

    @Test(
        "two DTLS transports agree on GCM in six datagrams of at most 1,200 bytes; one's local key is the other's remote key"
    )
    func agree() throws {
        let (client, server) = try self.pair(timer: .long)
        let network = DTLSNetwork()
        #expect(network.run(client, server, timeouts: 0))
        try self.expectSameKeys(client, server)
        #expect(client.keys?.profile == .aes128GCM)
        #expect(network.sent.map(\.toSecond) == [true, false, true, false, true, false])
        #expect(network.sent.allSatisfy { $0.bytes.count <= 1_200 })
        #expect(client.nextTimeout() == nil && server.nextTimeout() == nil)
        #expect(client.handleTimeout().isEmpty && server.handleTimeout().isEmpty)
    }

    @Test(
        "until an address repeats its cookie, a DTLS server answers with fewer bytes than it receives and runs no timer"
    )
    func cookie() throws {
        let (client, server) = try self.pair(timer: .long)
        let hello = try #require(client.start().first)
        #expect(hello.count <= 166, "a session reserves twice as many bytes")
        for _ in 0..<3 {
            let request = server.receive(hello, from: [1])
            #expect(request.count == 1 && request[0].count < hello.count && !server.hasCookie)
            #expect(server.nextTimeout() == nil && server.handleTimeout().isEmpty)
        }
        let request = try #require(server.receive(hello, from: [1]).first)
        let second = try #require(client.receive(request, from: []).first)
        let other = server.receive(second, from: [2])
        #expect(!server.hasCookie && other.count == 1 && other[0] != request, "the cookie of another address")
        let flight = server.receive(second, from: [1])
        #expect(server.hasCookie && !server.hasAnswer && flight.reduce(0) { $0 + $1.count } > second.count)
        #expect(!client.hasAnswer)
        var answer: [[UInt8]] = []
        for datagram in flight { answer += client.receive(datagram, from: []) }
        #expect(client.hasAnswer && !answer.isEmpty)
        for datagram in answer { _ = server.receive(datagram, from: [1]) }
        #expect(server.hasAnswer && server.keys != nil)
    }

    @Test("a forged HelloVerifyRequest does not count as an answer of the peer")
    func forgedCookie() throws {
        let (client, other) = try (self.pair(timer: .long).client, self.pair(timer: .long).server)
        let hello = try #require(client.start().first)
        let request = try #require(other.receive(hello, from: [1]).first)
        #expect(!client.receive(request, from: []).isEmpty && !client.hasAnswer)
    }

    @Test(
        "the DTLS handshake succeeds although a quarter of the datagrams is lost, and others are repeated or reordered",
        arguments: 0..<16)
    func badNetwork(seed: UInt64) throws {
        let (client, server) = try self.pair()
        let network = DTLSNetwork(seed: seed)
        (network.loss, network.duplicates, network.reordering) = (0.25, 0.25, 3)
        #expect(network.run(client, server), "\(client.state), \(server.state)")
        try self.expectSameKeys(client, server)
    }

    @Test("the DTLS handshake succeeds if records arrive alone, in reverse order and twice")
    func singleRecords() throws {
        let (client, server) = try self.pair()
        let network = DTLSNetwork()
        network.filter = { _, datagram in
            let records = DTLSRecords.datagrams(datagram, most: 1)
            return records.reversed() + records
        }
        #expect(network.run(client, server), "\(client.state), \(server.state)")
        try self.expectSameKeys(client, server)
    }

    @Test("the DTLS server sends its last flight again if only that was lost")
    func lastFlight() throws {
        let (client, server) = try self.pair()
        let network = DTLSNetwork()
        final class Gate { var isOpen = false }
        let gate = Gate()
        // Without ChangeCipherSpec (20), the client cannot read the Finished behind it. Records are looked at one by one,
        // since a retransmission may be in the same datagram.
        network.filter = { toServer, datagram in
            DTLSRecords.datagrams(datagram, most: 1).filter { toServer || gate.isOpen || $0[0] != 20 }
        }
        network.send(client.start(), toSecond: true)
        network.deliver(client, server)
        #expect(client.isHandshaking && server.keys != nil)
        gate.isOpen = true
        #expect(network.run(client, server))
        try self.expectSameKeys(client, server)
    }

    @Test(
        "a DTLS client's first timeout is at most 50 ms, and a server that has received nothing has none")
    func firstTimeout() throws {
        let (client, server) = try self.pair(timer: .doubling)
        #expect(client.nextTimeout() == nil && server.nextTimeout() == nil)
        #expect(client.start().count == 1)
        #expect(client.start().isEmpty, "a second call does nothing")
        #expect(server.start().isEmpty)
        let left = try #require(client.nextTimeout())
        #expect((0...50_000_000).contains(left))
        #expect(server.nextTimeout() == nil && server.handleTimeout().isEmpty)
    }

    @Test("without an answer, a DTLS client gives up after about twelve timeouts")
    func noAnswer() throws {
        let client = try self.pair().client
        var sent = client.start().count
        // The timer is OpenSSL's own, which expires after 5 ms.
        let clock = ContinuousClock(), start = clock.now
        while client.isHandshaking, clock.now - start < .seconds(10) { sent += client.handleTimeout().count }
        #expect(client.failure?.hasPrefix("the peer does not answer") == true, "\(client.state)")
        #expect((11...13).contains(sent), "\(sent)")
        #expect(client.handleTimeout().isEmpty && client.nextTimeout() == nil)
    }

    @Test(
        "a DTLS transport's keys equal those that OpenSSL exports for its peer (RFC 5764 §4.2), in both profiles and roles",
        arguments: [false, true], ["SRTP_AES128_CM_SHA1_80", "SRTP_AEAD_AES_128_GCM"])
    func exporter(isServer: Bool, profile: String) throws {
        let peer = try RawPeer(isClient: isServer, profiles: profile)
        let transport = try DTLSTransport(
            identity: self.one, role: isServer ? .server : .client, peerFingerprints: peer.fingerprints, timer: .long)
        let network = DTLSNetwork()
        #expect(network.run(transport, peer), "\(transport.state)")
        let keys = try #require(transport.keys)
        #expect("SRTP_\(keys.profile.rawValue)".contains(keys.profile == .aes128GCM ? profile : "AES128_CM_SHA1_80"))
        #expect(keys.localSalt.count == keys.profile.saltSize)
        let local = isServer ? (keys.remoteKey, keys.localKey) : (keys.localKey, keys.remoteKey)
        let salts = isServer ? (keys.remoteSalt, keys.localSalt) : (keys.localSalt, keys.remoteSalt)
        let material = local.0 + local.1 + salts.0 + salts.1
        #expect(material == peer.keyingMaterial(material.count))
    }

    @Test(
        "in a DTLS handshake, one fingerprint of several that matches the peer is enough, by SHA-256, SHA-384 or SHA-512",
        arguments: ["sha-256", "SHA-384", "sha-512"])
    func fingerprints(algorithm: String) throws {
        let peer = try RawPeer(isClient: true)
        let right = try #require(peer.fingerprints.first { $0.algorithm == algorithm.lowercased() })
        let offered = [
            self.one.fingerprint, DTLSFingerprint(algorithm: "md5", bytes: []),
            DTLSFingerprint(algorithm: algorithm, bytes: right.bytes),
        ]
        let transport = try DTLSTransport(
            identity: self.one, role: .server, peerFingerprints: offered, timer: .long)
        let network = DTLSNetwork()
        #expect(network.run(transport, peer))
        #expect(transport.keys != nil, "\(transport.state)")
    }

    @Test(
        "the DTLS handshake succeeds with a peer that sends its messages in reordered fragments",
        arguments: [DTLSRole.client, .server])
    func fragments(role: DTLSRole) throws {
        let peer = try RawPeer(isClient: role == .server, mtu: 256)
        let transport = try DTLSTransport(
            identity: self.one, role: role, peerFingerprints: peer.fingerprints, timer: .short)
        let network = DTLSNetwork(seed: 8)
        network.reordering = 4
        #expect(network.run(transport, peer), "\(transport.state)")
        #expect(transport.keys != nil, "\(transport.state)")
        #expect(network.sent.filter { !$0.toSecond }.count > 3)
    }

    @Test("one DTLS identity serves handshakes on several threads at once")
    func threads() async throws {
        let (one, two) = (self.one, self.two)
        let finished = await withTaskGroup(of: Bool.self, returning: Int.self) { group in
            for seed in UInt64(0)..<32 {
                group.addTask {
                    guard
                        let client = try? DTLSTransport(
                            identity: one, role: .client, peerFingerprints: [two.fingerprint]),
                        let server = try? DTLSTransport(
                            identity: two, role: .server, peerFingerprints: [one.fingerprint])
                    else { return false }
                    _ = DTLSNetwork(seed: seed).run(client, server, timeouts: 5)
                    return client.keys != nil && client.keys?.localKey == server.keys?.remoteKey
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(finished == 32)
    }

    @Test("every DTLS identity has its own certificate, with a SHA-256 fingerprint")
    func identities() {
        #expect(self.one.fingerprint != self.two.fingerprint)
        #expect(self.one.fingerprint.algorithm == "sha-256" && self.one.fingerprint.bytes.count == 32)
        #expect(self.one.fingerprint.isUsable)
    }

    @Test("descriptions and dumps of SRTP keys show only their profile")
    func redaction() throws {
        let keys = SRTPKeys(
            profile: .aes128GCM, localKey: [171, 171], localSalt: [171], remoteKey: [171], remoteSalt: [171])
        var dumped = ""
        dump(DTLSTransport.State.connected(keys), to: &dumped)
        let texts = ["\(keys)", String(reflecting: keys), "\(DTLSTransport.State.connected(keys))", dumped]
        for text in texts {
            #expect(text.contains("AEAD_AES_128_GCM") && !text.contains("171"), "\(text)")
        }
    }
}
