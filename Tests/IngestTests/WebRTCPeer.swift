import MediaTypes
import OpenSSLCrypto
import WebRTC

/// A WebRTC publisher without sockets: makes an offer, checks, DTLS messages and protected H.264 and Opus packets.
final class WebRTCPeer {
    static let identity = Result { try DTLSIdentity() }

    let credentials = ICECredentials(ufrag: "peer", password: "passwordofthewebrtctestpeer")
    let isDTLSServer: Bool
    /// This program's ICE credentials, from the answer.
    var remote = ICECredentials(ufrag: "", password: "")
    /// UDP port of the first candidate in the answer.
    private(set) var port = 0
    private var transport: DTLSTransport?
    private var keys: SRTPKeys?
    private var sender: SRTPSender?
    private var receiver: SRTPReceiver?
    /// Decrypted RTCP packets that arrived.
    private(set) var reports: [[UInt8]] = []
    /// Successful answers to checks.
    private(set) var answeredChecks = 0
    private var checks: UInt8 = 0
    /// Number and time of the last video packet, and its SSRC.
    var sequence: UInt16 = 65_530
    var videoTime: UInt32 = 0xFFFF_F000
    let videoSSRC: UInt32 = 0x1111
    private var audioSequence: UInt16 = 100
    private var audioTime: UInt32 = 7
    private var hasStarted = false

    init(isDTLSServer: Bool = false) { self.isDTLSServer = isDTLSServer }

    var isConnected: Bool { self.sender != nil }
    var isClosed: Bool { self.transport?.state == .closed }
    var failure: String? { if case .failed(let reason)? = self.transport?.state { reason } else { nil } }

    // MARK: SDP

    /// - Parameter fingerprint: nil: that of the peer's certificate.
    func offer(video: String? = "H264/90000", audio: String? = "opus/48000/2", fingerprint: String? = nil) throws
        -> String
    {
        let own = try Self.identity.get().fingerprint
        let digest = fingerprint ?? SDPFingerprint(algorithm: own.algorithm, bytes: own.bytes).text
        let common = [
            "c=IN IP4 0.0.0.0", "a=sendonly", "a=rtcp-mux", "a=ice-ufrag:\(self.credentials.ufrag)",
            "a=ice-pwd:\(self.credentials.password)", "a=fingerprint:\(digest)",
            "a=setup:\(self.isDTLSServer ? "passive" : "actpass")",
        ]
        var lines = ["v=0", "o=- 1 2 IN IP4 127.0.0.1", "s=-", "t=0 0"]
        let mids = [audio.map { _ in "0" }, video.map { _ in "1" }].compactMap(\.self)
        lines.append("a=group:BUNDLE \(mids.joined(separator: " "))")
        if let audio { lines += ["m=audio 9 UDP/TLS/RTP/SAVPF 111", "a=mid:0", "a=rtpmap:111 \(audio)"] + common }
        if let video {
            lines += ["m=video 9 UDP/TLS/RTP/SAVPF 96", "a=mid:1", "a=rtpmap:96 \(video)"]
            lines += ["a=rtcp-fb:96 nack", "a=rtcp-fb:96 nack pli"]
            if video.hasPrefix("H264") { lines.append("a=fmtp:96 packetization-mode=1;profile-level-id=42e01f") }
            lines += common
        }
        return lines.map { $0 + "\r\n" }.joined()
    }

    func accept(answer: String) throws {
        func value(_ name: String) -> Substring? {
            answer.split(separator: "\r\n").first { $0.hasPrefix("a=\(name):") }?.dropFirst(name.count + 3)
        }
        self.remote = ICECredentials(
            ufrag: String(value("ice-ufrag") ?? ""), password: String(value("ice-pwd") ?? ""))
        self.port = value("candidate").flatMap { Int($0.split(separator: " ").dropFirst(5).first ?? "") } ?? 0
        guard let print = value("fingerprint").flatMap({ SDPFingerprint($0) }) else { return }
        self.transport = try DTLSTransport(
            identity: Self.identity.get(), role: self.isDTLSServer ? .server : .client,
            peerFingerprints: [DTLSFingerprint(algorithm: print.algorithm, bytes: print.bytes)], timer: .long)
    }

    // MARK: ICE and DTLS

    /// The next connectivity check, with USE-CANDIDATE.
    func check(password: String? = nil) -> [UInt8] {
        self.checks &+= 1
        var writer = STUNWriter(.request, transactionID: [UInt8](repeating: self.checks, count: 12))
        writer.add(0x0006, Array("\(self.remote.ufrag):\(self.credentials.ufrag)".utf8))
        writer.add(0x802A, [0, 0, 0, 0, 0, 0, 0, 1])
        writer.add(0x0025, [])
        writer.add(0x0024, [0x6E, 0, 1, 0xFF])
        return writer.finished(password: Array((password ?? self.remote.password).utf8)) {
            HMACSHA1.digest(key: $0, $1)
        }
    }

    /// Takes a datagram.
    ///
    /// - Returns: Datagrams to send.
    func receive(_ datagram: [UInt8]) -> [[UInt8]] {
        switch DatagramKind(datagram) {
        case .stun:
            guard let answer = STUNMessage(datagram), answer.kind == .success else { return [] }
            self.answeredChecks += 1
            guard !self.hasStarted else { return [] }
            self.hasStarted = true
            return self.transport?.start() ?? []
        case .dtls:
            let out = self.transport?.receive(datagram, from: []) ?? []
            if case .connected(let keys)? = self.transport?.state, self.sender == nil {
                self.keys = keys
                self.sender = try? SRTPSender(keys: keys)
                self.receiver = try? SRTPReceiver(keys: keys)
            }
            return out
        case .rtcp:
            var bytes = datagram
            if self.receiver?.unprotectRTCP(&bytes) == .ok { self.reports.append(bytes) }
            return []
        case .rtp, .other: return []
        }
    }

    func close() -> [[UInt8]] { self.transport?.close() ?? [] }

    // MARK: Media

    private static let sps: [UInt8] = [0x67, 0x42, 0xC0, 0x20, 0xDA, 0x01, 0x40, 0x16, 0xE4]
    private static let pps: [UInt8] = [0x68, 0xCE, 0x38, 0x80]

    /// The packets of one H.264 frame of 1280×720, whose slice has a fixed content.
    func videoFrame(isKey: Bool, size: Int = 3000) -> [[UInt8]] {
        self.videoTime &+= 3000
        let slice = (isKey ? [0x65, 0x88, 0xC0] : [0x41, 0x9B]) + (0..<size).map { UInt8(truncatingIfNeeded: $0 | 1) }
        let units = isKey ? [Self.sps, Self.pps, slice] : [slice]
        return H264Packetizer(largestPayload: 1100).payloads(units).map { payload in
            self.sequence &+= 1
            return self.packet(96, self.sequence, self.videoTime, self.videoSSRC, payload)
        }
    }

    /// An Opus packet of 20 ms.
    func audioPacket() -> [UInt8] {
        self.audioTime &+= 960
        self.audioSequence &+= 1
        return self.packet(
            111, self.audioSequence, self.audioTime, 0x2222, OpusPacketizer.payload([0xFC, 1, 2, 3, 4, 5]))
    }

    /// The next video packet with any payload.
    func videoPacket(_ payload: [UInt8], marker: Bool) -> [UInt8] {
        self.sequence &+= 1
        return self.packet(
            96, self.sequence, self.videoTime, self.videoSSRC, RTPPayload(bytes: payload, marker: marker))
    }

    /// A protected packet of another SSRC. It has a sender of its own, since a sender has eight SSRCs at most.
    func packet(ofOther ssrc: UInt32) -> [UInt8] {
        let usual = self.sender
        defer { self.sender = usual }
        self.sender = self.keys.flatMap { try? SRTPSender(keys: $0) }
        return self.packet(96, 1, 1, ssrc, RTPPayload(bytes: [0x41, 0x9A], marker: true))
    }

    /// A protected RTP packet of any content.
    ///
    /// - Parameter isProtected: False: as it would be without SRTP.
    func packet(
        _ type: UInt8, _ sequence: UInt16, _ time: UInt32, _ ssrc: UInt32, _ payload: RTPPayload,
        isProtected: Bool = true
    ) -> [UInt8] {
        func big(_ value: UInt32, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt32(8 * (count - 1 - $0))) }
        }
        var bytes: [UInt8] = [0x80, (payload.marker ? 0x80 : 0) | type]
        bytes += big(UInt32(sequence), 2) + big(time, 4) + big(ssrc, 4) + payload.bytes
        guard isProtected else { return bytes }
        guard self.sender?.protectRTP(&bytes) == .ok else { return [] }
        return bytes
    }
}
