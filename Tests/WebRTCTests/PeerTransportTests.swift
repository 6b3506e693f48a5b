import MediaTypes
import OpenSSLCrypto
import Testing
import WebRTC

@Suite("Transport of a WebRTC peer: ICE, DTLS and SRTP")
struct PeerTransportTests {
    private struct Output: SessionOutput {
        var changes: [SessionChange] = []
        var datagrams: [(bytes: [UInt8], address: ICEAddress)] = []

        mutating func addAlone(_ bytes: [UInt8], to address: ICEAddress) { self.datagrams.append((bytes, address)) }
    }

    /// A transport and a peer with the same certificate, without a network between them.
    private final class Pair {
        static let identity = Result { try DTLSIdentity() }
        static let here = ICEAddress(ipv4: 0xC000_0202, port: 6_000)
        static let there = ICEAddress(ipv4: 0xC000_0203, port: 7_000)

        let transport: PeerTransport
        let peer: DTLSTransport
        private let own = ICECredentials(ufrag: "ours", password: "thepasswordofthissideofit")
        private let theirs = ICECredentials(ufrag: "peer", password: "passwordofthewebrtctestpeer")
        var now: Int64 = ms(1_000)
        var changes: [SessionChange] = []
        /// Bytes in each direction, by the address of the peer.
        var received: [ICEAddress: Int] = [:]
        var sent: [ICEAddress: Int] = [:]
        /// Checks of the transport.
        var probes: [STUNMessage] = []
        private var checks: UInt8 = 0

        init(peerIsServer: Bool = false, probes: Bool = true) throws {
            let identity = try Self.identity.get()
            let print = identity.fingerprint
            self.transport = try PeerTransport(
                NegotiatedSession(
                    tracks: [.audio], remoteUfrag: self.theirs.ufrag, remotePassword: self.theirs.password,
                    fingerprints: [SDPFingerprint(algorithm: print.algorithm, bytes: print.bytes)],
                    peerIsDTLSServer: peerIsServer),
                credentials: self.own, identity: identity, probes: probes, now: self.now, timer: .long)
            self.peer = try DTLSTransport(
                identity: identity, role: peerIsServer ? .server : .client, peerFingerprints: [print], timer: .long)
        }

        /// Sends a check.
        @discardableResult
        func check(from address: ICEAddress = Pair.here, isControlled: Bool = false) -> PeerTransport.CheckResult? {
            self.checks += 1
            var writer = STUNWriter(.request, transactionID: [UInt8](repeating: self.checks, count: 12))
            writer.add(0x0006, Array("\(self.own.ufrag):\(self.theirs.ufrag)".utf8))
            writer.add(isControlled ? 0x8029 : 0x802A, [0, 0, 0, 0, 0, 0, 0, 1])
            writer.add(0x0025, [])
            writer.add(0x0024, [0x6E, 0, 1, 0xFF])
            let bytes = writer.finished(password: Array(self.own.password.utf8)) { HMACSHA1.digest(key: $0, $1) }
            guard let check = STUNMessage(bytes) else { return nil }
            self.received[address, default: 0] += bytes.count
            var output = Output()
            let result = self.transport.receive(check, from: address, now: self.now, into: &output)
            self.deliver(output)
            return result
        }

        /// Sends any other datagram, and delivers the answers to it.
        @discardableResult
        func send(_ datagram: [UInt8], from address: ICEAddress = Pair.here) -> PeerTransport.Content {
            self.received[address, default: 0] += datagram.count
            var (bytes, output) = (datagram, Output())
            let content = self.transport.receive(&bytes, from: address, now: self.now, into: &output)
            self.deliver(output)
            return content
        }

        private func deliver(_ output: Output) {
            self.changes += output.changes
            for (bytes, address) in output.datagrams {
                self.sent[address, default: 0] += bytes.count
                if let message = STUNMessage(bytes) {
                    if message.kind == .request { self.probes.append(message) }
                } else if address == Self.here {
                    for answer in self.peer.receive(bytes, from: [1]) { self.send(answer) }
                }
            }
        }

        func connect() {
            for _ in 0..<8 where !self.transport.isConnected {
                self.check()
                for datagram in self.peer.start() { self.send(datagram) }
            }
        }

        /// The peer's answer to a check of the transport.
        func answer(to probe: STUNMessage, password: String? = nil) -> STUNMessage? {
            var writer = STUNWriter(.success, transactionID: probe.transactionID)
            writer.addMappedAddress(Self.there)
            return STUNMessage(
                writer.finished(password: Array((password ?? self.theirs.password).utf8)) {
                    HMACSHA1.digest(key: $0, $1)
                })
        }
    }

    @Test(
        "after the handshake, in either DTLS role, media may be sent to the peer's address", arguments: [false, true])
    func handshake(peerIsServer: Bool) throws {
        let pair = try Pair(peerIsServer: peerIsServer)
        #expect(pair.send([22, 254, 253, 0]) == .stranger)
        #expect(pair.transport.media == nil && pair.transport.cipher == nil && pair.transport.selected == nil)
        pair.connect()
        #expect(pair.transport.isConnected && pair.transport.connectedAt == pair.now)
        #expect(pair.transport.cipher == "AEAD_AES_128_GCM" && pair.transport.media?.address == Pair.here)
        #expect(pair.changes.first == .known(Pair.here) && pair.changes.last == .connected)
        #expect(pair.transport.isUsing(Pair.here, now: pair.now, silence: ms(100)))
        #expect(!pair.transport.isUsing(Pair.here, now: pair.now + ms(100), silence: ms(100)))
        #expect(!pair.transport.isUsing(Pair.there, now: pair.now, silence: ms(100)))
    }

    @Test(
        "an offer without a fingerprint that can be used gets 422; if there is no memory for its session, it gets 503")
    func noSession() throws {
        let error = try #require(throws: MediaError.self) {
            _ = try PeerTransport(
                NegotiatedSession(
                    tracks: [.audio], remoteUfrag: "peer", remotePassword: "passwordofthewebrtctestpeer",
                    fingerprints: [SDPFingerprint(algorithm: "sha-1", bytes: [UInt8](repeating: 1, count: 20))],
                    peerIsDTLSServer: false),
                credentials: ICECredentials(ufrag: "ours", password: "thepasswordofthissideofit"),
                identity: Pair.identity.get(), probes: true, now: 0)
        }
        let refusal = WHIPError.noSession(error)
        #expect(refusal.status == 422 && refusal.fix.contains("sha-256"))
        let memory = WHIPError.noSession(MediaError(.internal, "there is no memory", at: "dtls", fix: "none"))
        #expect(memory.status == 503 && memory.detail == "there is no memory" && memory.retryAfter == 5)
    }

    @Test("media before the handshake, packets from other addresses, and malformed and forged packets are told apart")
    func contents() throws {
        let pair = try Pair()
        let rtp = [0x80, 96] + [UInt8](repeating: 0, count: 40)
        #expect(pair.send(rtp) == .stranger)
        pair.check()
        #expect(pair.send(rtp) == .early && pair.send([0x80, 200] + rtp) == .early && pair.send([1]) == .malformed)
        pair.connect()
        #expect(pair.send(rtp) == .rtp(.forged) && pair.send(rtp, from: Pair.there) == .stranger)
    }

    @Test(
        "a STUN check in the controlled role is answered with an error and changes nothing, also from a known address")
    func roleConflict() throws {
        let pair = try Pair()
        #expect(pair.check(isControlled: true) == .error && pair.changes.isEmpty)
        pair.connect()
        let (changes, sent) = (pair.changes.count, pair.sent[Pair.here] ?? 0)
        #expect(pair.check(isControlled: true) == .error)
        #expect(pair.changes.count == changes && pair.sent[Pair.here] ?? 0 > sent)
    }

    @Test("a peer that moves to another address is sent a STUN check there, and media only after its authentic answer")
    func moved() throws {
        let pair = try Pair()
        pair.connect()
        #expect(pair.check(from: Pair.there) == .probed)
        #expect(pair.transport.selected == Pair.there && pair.transport.media == nil)
        let probe = try #require(pair.probes.last)
        // A wrong password, another address, another transaction.
        let forged = try #require(pair.answer(to: probe, password: "another password of somebody"))
        let right = try #require(pair.answer(to: probe))
        #expect(!pair.transport.receive(answer: forged, from: Pair.there))
        #expect(!pair.transport.receive(answer: right, from: Pair.here))
        #expect(pair.transport.media == nil)
        #expect(pair.transport.receive(answer: right, from: Pair.there))
        #expect(pair.transport.media?.address == Pair.there)
        #expect(!pair.transport.receive(answer: right, from: Pair.there), "an answer is used once")
        #expect(pair.check(from: Pair.there) == .valid)
    }

    @Test(
        "an address that has not answered a STUN check gets no more bytes than came from it", arguments: [false, true])
    func forgedAddress(probes: Bool) throws {
        let pair = try Pair(probes: probes)
        pair.connect()
        var output = Output()
        for _ in 0..<40 {
            pair.check(from: Pair.there)
            pair.now += ms(100)
            pair.transport.sendRTCP([0x80, 201, 0, 1, 0, 0, 0, 1], into: &output)
            pair.transport.sendRTCP([0x80, 201, 0, 1, 0, 0, 0, 1], into: &output)
            let reports = output.datagrams.reduce(0) { $0 + $1.bytes.count }
            #expect((pair.sent[Pair.there] ?? 0) + reports <= pair.received[Pair.there] ?? 0)
        }
        #expect(output.datagrams.allSatisfy { $0.address == Pair.there } && !output.datagrams.isEmpty)
        #expect(pair.probes.isEmpty == !probes)
    }

    @Test(
        "a session ends without STUN checks or handshake, and then ignores packets; it also ends by close_notify or by this side"
    )
    func ends() throws {
        for (isChecked, end) in [(false, SessionEnd.neverChecked), (true, .handshakeTimedOut)] {
            let pair = try Pair()
            if isChecked { pair.check() }
            var output = Output()
            while let due = pair.transport.deadline {
                #expect(due > pair.now && due < ms(13_000))
                pair.now = due
                pair.transport.advance(to: due, into: &output)
            }
            #expect(output.changes == [.ended(end)] && pair.transport.end == end)
            #expect(pair.check() == .ignored && pair.send([22]) == .stranger)
        }
        let pair = try Pair()
        pair.connect()
        for datagram in pair.peer.close() { pair.send(datagram) }
        #expect(pair.changes.last == .ended(.closedByPeer) && pair.transport.media == nil)
        let other = try Pair()
        other.connect()
        var output = Output()
        other.transport.finish(.closed, into: &output)
        other.transport.finish(.idle, into: &output)
        #expect(output.changes == [.ended(.closed)] && output.datagrams.count == 1)
        for datagram in output.datagrams { _ = other.peer.receive(datagram.bytes, from: [1]) }
        #expect(other.peer.state == .closed)
    }
}
