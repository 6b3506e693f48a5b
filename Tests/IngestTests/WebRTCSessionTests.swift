import Ingest
import MediaKernels
import MediaTypes
import OpenSSLCrypto
import Testing
import WebRTC

@Suite("WebRTC session of a publisher: handshake, addresses, media, end")
struct WebRTCSessionTests {
    /// A session and its peer, connected by a network without loss.
    final class Pair {
        static let here = ICEAddress(ipv4: 0xC000_0202, port: 6000)
        static let stranger = ICEAddress(ipv4: 0xC000_0299, port: 6000)
        static let second: Int64 = 1_000_000_000

        let peer: WebRTCPeer
        let session: WebRTCSession
        var now: Int64 = 1_000_000_000
        var output = WebRTCSessionOutput()
        /// Everything that the session has given out.
        var items: [SourceItem] = []
        var changes: [SessionChange] = []
        /// Every datagram that the session has sent.
        var sent: [WebRTCSessionOutput.Datagram] = []

        init(_ peer: WebRTCPeer = WebRTCPeer(), fingerprint: String? = nil, video: String? = "H264/90000") throws {
            let own = ICECredentials(ufrag: "ours", password: "thepasswordofthissideofit")
            let identity = try WebRTCPeer.identity.get()
            let settings = AnswerSettings(
                credentials: own,
                fingerprint: SDPFingerprint(
                    algorithm: identity.fingerprint.algorithm, bytes: identity.fingerprint.bytes),
                candidates: [.init(address: "192.0.2.1", port: 8189)], sessionID: 1)
            let offer = try peer.offer(video: video, fingerprint: fingerprint)
            let (negotiated, answer) = try SDPNegotiation.answer(to: Array(offer.utf8), settings: settings)
            try peer.accept(answer: answer)
            self.peer = peer
            self.session = try WebRTCSession(
                negotiated, credentials: own, identity: identity, localSSRC: 9, now: self.now, timer: .long)
        }

        /// Sends a datagram of the peer and delivers what the session and the peer answer.
        func send(_ datagram: [UInt8], from address: ICEAddress = Pair.here) {
            var bytes = datagram
            if let check = STUNMessage(datagram) {
                self.session.receive(check, from: address, now: self.now, into: &self.output)
            } else {
                self.session.receive(&bytes, from: address, now: self.now, into: &self.output)
            }
            self.takeOutput()
        }

        func advance(seconds: Double) {
            let end = self.now + Int64(seconds * 1e9)
            while let due = self.session.deadline, due <= end {
                self.now = max(self.now, due)
                self.session.advance(to: self.now, into: &self.output)
                self.takeOutput()
                self.now += 1_000_000
            }
            self.now = max(self.now, end)
        }

        func takeOutput() {
            let output = self.output
            self.output.clear()
            self.items += output.items
            self.changes += output.changes
            self.sent += output.datagrams
            for datagram in output.datagrams where datagram.address == Pair.here {
                for answer in self.peer.receive(datagram.bytes) { self.send(answer) }
            }
        }

        /// Sends checks until one is answered, and with the first answer the handshake runs.
        func connect() {
            for _ in 0..<20 where self.peer.answeredChecks == 0 { self.send(self.peer.check()) }
        }

        /// Bytes that the session has sent to the address.
        func sentBytes(to address: ICEAddress) -> Int {
            self.sent.reduce(0) { $0 + ($1.address == address ? $1.bytes.count : 0) }
        }

        func sendMedia(isKey: Bool = true) {
            for packet in self.peer.videoFrame(isKey: isKey) { self.send(packet) }
            self.send(self.peer.audioPacket())
        }

        var packets: [CodedPacket] {
            self.items.compactMap { if case .packet(let packet) = $0 { packet } else { nil } }
        }
    }

    @Test("a peer in either DTLS role connects, and its H.264 and Opus are delivered", arguments: [false, true])
    func onAir(isDTLSServer: Bool) throws {
        let pair = try Pair(WebRTCPeer(isDTLSServer: isDTLSServer))
        pair.connect()
        #expect(Set(pair.changes.dropLast().map { "\($0)" }) == ["\(SessionChange.known(Pair.here))"])
        #expect(pair.changes.last == .connected, "\(pair.peer.failure ?? "")")
        #expect(pair.session.isConnected && pair.session.cipher == "AEAD_AES_128_GCM")
        pair.sendMedia()
        pair.sendMedia(isKey: false)
        pair.advance(seconds: 0.1)
        let codecs = pair.items.compactMap {
            if case .configuration(let parameters) = $0 { parameters.codec } else { nil }
        }
        #expect(Set(codecs) == [.h264, .opus] && codecs.count == 2)
        #expect(pair.packets.filter { $0.kind == .video }.map(\.isKey) == [true, false])
        #expect(pair.packets.count { $0.kind == .audio } == 2)
    }

    @Test("the peer gets receiver reports that it can decrypt")
    func reports() throws {
        let pair = try Pair()
        pair.connect()
        pair.sendMedia()
        pair.advance(seconds: 1.5)
        #expect(!pair.peer.reports.isEmpty)
        #expect(pair.peer.reports.allSatisfy { RTCPPacket.parse($0) != nil })
    }

    @Test(
        "nothing is sent before a valid STUN check; packets of other addresses, forged and repeated packets are refused"
    )
    func strangers() throws {
        let pair = try Pair()
        pair.send(pair.peer.check(password: "wrong password of 22 characters"), from: Pair.stranger)
        #expect(pair.sent.isEmpty && pair.session.counters.badChecks == 1)
        pair.connect()
        let before = pair.sent.count
        let frame = pair.peer.videoFrame(isKey: true)
        for packet in frame { pair.send(packet, from: Pair.stranger) }
        pair.send([22, 254, 253] + [UInt8](repeating: 0, count: 60), from: Pair.stranger)
        #expect(pair.items.isEmpty && pair.sent.count == before)
        #expect(pair.session.counters.strangers == UInt64(frame.count + 1))
        // A forged packet and a copy from the right address are refused as well.
        var forged = try #require(frame.first)
        forged[forged.count - 1] ^= 1
        pair.send(forged)
        #expect(pair.session.counters.forged == 1 && pair.items.isEmpty)
        for packet in frame { pair.send(packet) }
        for packet in frame { pair.send(packet) }
        #expect(pair.session.counters.replayed == UInt64(frame.count))
        #expect(pair.packets.count <= 1)
    }

    @Test("a forged sender address gets no more bytes than came from it, whether STUN checks or ClientHellos are sent")
    func forgedAddress() throws {
        let pair = try Pair()
        var received = 0
        func forge(_ datagram: [UInt8]) {
            received += datagram.count
            pair.send(datagram, from: Pair.stranger)
            #expect(pair.sentBytes(to: Pair.stranger) <= received)
        }
        forge(pair.peer.check())
        // The forger's own client: it sees no answer, but knows what it would be.
        let hello = pair.peer.receive(try #require(pair.sent.last).bytes)
        #expect(!hello.isEmpty)
        for _ in 0..<20 { hello.forEach { forge($0) } }
        for _ in 0..<5 { forge(pair.peer.check()) }
        // A cookie that was sent to another address.
        pair.send(pair.peer.check())
        var cookie: [[UInt8]] = []
        for datagram in hello {
            let before = pair.sent.count
            var bytes = datagram
            pair.session.receive(&bytes, from: Pair.here, now: pair.now, into: &pair.output)
            let answers = pair.output.datagrams
            pair.output.clear()
            #expect(answers.allSatisfy { $0.address == Pair.here } && pair.sent.count == before)
            for answer in answers { cookie += pair.peer.receive(answer.bytes) }
        }
        #expect(!cookie.isEmpty)
        cookie.forEach { forge($0) }
        pair.advance(seconds: 9)
        #expect(pair.sentBytes(to: Pair.stranger) <= received && !pair.session.isConnected)
    }

    @Test("a peer that is the DTLS server gets no answer until it has sent enough bytes for two ClientHellos")
    func passivePeer() throws {
        let pair = try Pair(WebRTCPeer(isDTLSServer: true))
        var received = 0
        for _ in 0..<20 where pair.sent.isEmpty {
            let check = pair.peer.check()
            received += check.count
            let message = try #require(STUNMessage(check))
            pair.session.receive(message, from: Pair.here, now: pair.now, into: &pair.output)
            // Not delivered, as if the address were forged.
            pair.sent += pair.output.datagrams
            pair.output.clear()
            #expect(pair.sentBytes(to: Pair.here) <= received)
        }
        let hello = try #require(pair.sent.last).bytes
        #expect(pair.sent.count == 2 && DatagramKind(hello) == .dtls)
        #expect(received - pair.sentBytes(to: Pair.here) >= hello.count, "a lost ClientHello can be repeated")
    }

    @Test(
        "a session counts as using an address until its handshake is complete, then only its media's address, for two seconds"
    )
    func use() throws {
        let pair = try Pair()
        let other = ICEAddress(ipv4: 0xC000_0203, port: 1)
        #expect(!pair.session.isUsing(Pair.here, now: pair.now))
        pair.send(pair.peer.check(), from: other)
        #expect(pair.session.isUsing(other, now: pair.now) && !pair.session.isUsing(Pair.here, now: pair.now))
        pair.connect()
        #expect(pair.session.isConnected && pair.session.isUsing(Pair.here, now: pair.now))
        #expect(!pair.session.isUsing(other, now: pair.now) && pair.session.isKnown(other, now: pair.now))
        pair.advance(seconds: 1.5)
        pair.sendMedia()
        pair.advance(seconds: 1.5)
        #expect(pair.session.isUsing(Pair.here, now: pair.now))
        pair.advance(seconds: 1)
        #expect(!pair.session.isUsing(Pair.here, now: pair.now) && pair.session.isKnown(Pair.here, now: pair.now))
    }

    @Test("only authentic media counts as received bytes")
    func bytes() throws {
        let pair = try Pair()
        pair.connect()
        #expect(pair.session.mediaBytes == 0)
        let packet = pair.peer.audioPacket()
        var forged = packet
        forged[forged.count - 1] ^= 1
        pair.send(forged)
        pair.send(packet, from: Pair.stranger)
        pair.send([UInt8](repeating: 0xFF, count: 1200))
        pair.send(pair.peer.check())
        #expect(pair.session.mediaBytes == 0)
        pair.send(packet)
        pair.send(packet)
        #expect(pair.session.mediaBytes == UInt64(packet.count), "a copy does not count")
    }

    @Test("a STUN check that is copied and sent from another address does not move the session")
    func copiedCheck() throws {
        let pair = try Pair()
        let check = pair.peer.check()
        pair.send(check)
        pair.send(check, from: Pair.stranger)
        #expect(!pair.session.isKnown(Pair.stranger, now: pair.now))
        #expect(!pair.sent.contains { $0.address == Pair.stranger })
    }

    @Test("a certificate that is not the one of the offer ends the session without keys")
    func otherCertificate() throws {
        let pair = try Pair(
            fingerprint: "sha-256 " + [String](repeating: "AB", count: 32).joined(separator: ":"))
        pair.connect()
        guard case .ended(.handshakeFailed(let reason))? = pair.changes.last else {
            Issue.record("\(pair.changes)")
            return
        }
        #expect(reason.contains("fingerprint") && !pair.session.isConnected && pair.session.cipher == nil)
    }

    @Test("close_notify of the peer ends the session, and close() sends the peer close_notify")
    func close() throws {
        let pair = try Pair()
        pair.connect()
        for datagram in pair.peer.close() { pair.send(datagram) }
        #expect(pair.changes.last == .ended(.closedByPeer) && pair.session.deadline == nil)
        let other = try Pair()
        other.connect()
        other.session.close(into: &other.output)
        other.takeOutput()
        #expect(other.changes.last == .ended(.closed) && other.peer.isClosed)
    }

    @Test(
        "silence is reported after two seconds, and media that returns as well; after 30 s without STUN checks the session ends"
    )
    func silence() throws {
        let pair = try Pair()
        pair.connect()
        pair.sendMedia()
        pair.advance(seconds: 1.9)
        #expect(!pair.changes.contains(.silent))
        pair.advance(seconds: 0.7)
        #expect(pair.changes.count { $0 == .silent } == 1)
        pair.send(pair.peer.audioPacket())
        #expect(pair.changes.last == .resumed)
        pair.advance(seconds: 31)
        #expect(pair.changes.last == .ended(.consentLost))
    }

    @Test(
        "a session ends after ten seconds without a STUN check, or ten seconds after the first check without a handshake"
    )
    func deadlines() throws {
        let pair = try Pair()
        pair.advance(seconds: 11)
        #expect(pair.changes == [.ended(.neverChecked)] && pair.sent.isEmpty)
        let other = try Pair()
        var output = WebRTCSessionOutput()
        let check = try #require(STUNMessage(other.peer.check()))
        other.session.receive(check, from: Pair.here, now: other.now, into: &output)
        #expect(output.changes == [.known(Pair.here)])
        other.advance(seconds: 11)
        #expect(other.changes == [.ended(.handshakeTimedOut)])
    }

    @Test("an ICE restart moves the session to a new address, and media continues")
    func restart() throws {
        let pair = try Pair()
        pair.connect()
        pair.sendMedia()
        let next = ICECredentials(ufrag: "next", password: "thenextpasswordofthisside")
        pair.session.restart(credentials: next, remote: pair.peer.credentials)
        #expect(pair.session.ufrags == ["ours", "next"])
        pair.peer.remote = next
        let moved = Pair.stranger
        pair.send(pair.peer.check(), from: moved)
        #expect(pair.session.ufrags == ["next"] && pair.changes.last == .known(moved))
        for packet in pair.peer.videoFrame(isKey: false) { pair.send(packet, from: moved) }
        pair.advance(seconds: 0.1)
        #expect(pair.packets.count { $0.kind == .video } == 2)
    }
}

@Suite("Frames of a WebRTC publisher while the room is full")
struct WebRTCFrameGateTests {
    private func packet(_ kind: TrackKind, isKey: Bool = false) -> SourceItem {
        .packet(
            CodedPacket(
                kind: kind, memory: PacketMemory([1]), pts: 0, dts: 0, timescale: 90_000, isKey: isKey, arrival: 0))
    }

    private func kinds(_ gate: inout WebRTCFrameGate, _ items: [SourceItem]) -> [String] {
        var items = items
        gate.filter(&items)
        return items.map { item in
            switch item {
            case .configuration: "configuration"
            case .packet(let packet): packet.kind == .audio ? "audio" : packet.isKey ? "key" : "frame"
            case .end: "end"
            }
        }
    }

    @Test("while a WebRTC source is paused, all its packets are dropped, and then its video until the next key frame")
    func pause() {
        var gate = WebRTCFrameGate()
        #expect(self.kinds(&gate, [self.packet(.video), self.packet(.audio)]) == ["frame", "audio"])
        gate.isPaused = true
        #expect(self.kinds(&gate, [self.packet(.video, isKey: true), self.packet(.audio)]).isEmpty)
        gate.isPaused = false
        #expect(
            self.kinds(&gate, [self.packet(.video), self.packet(.audio), self.packet(.video, isKey: true)])
                == ["audio", "key"])
        #expect(self.kinds(&gate, [self.packet(.video)]) == ["frame"] && gate.dropped == 3)
    }

    @Test("a publication that continues begins with the configurations and a key frame")
    func begin() {
        var gate = WebRTCFrameGate()
        let first = CodecParameters(codec: .vp8, configuration: [])
        _ = self.kinds(&gate, [.configuration(first), .configuration(first), self.packet(.video, isKey: true)])
        #expect(gate.begin().count == 1 && gate.needsKeyFrame)
        #expect(self.kinds(&gate, [self.packet(.video), self.packet(.video, isKey: true)]) == ["key"])
    }
}
