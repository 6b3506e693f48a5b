import MediaTypes
import OpenSSLCrypto
import WebRTC

/// A WebRTC viewer without sockets: makes an offer, checks and DTLS messages, and receives media by the code that receives
/// publishers.
final class TestViewer {
    static let identity = Result { try DTLSIdentity() }

    let credentials = ICECredentials(ufrag: "peer", password: "passwordofthewebrtctestpeer")
    let isDTLSServer: Bool
    let hasRtx: Bool
    /// This program's ICE credentials, from the answer.
    private(set) var remote = ICECredentials(ufrag: "", password: "")
    /// UDP port of the first candidate in the answer.
    private(set) var port = 0
    private(set) var answer = ""
    private var transport: DTLSTransport?
    private var sender: SRTPSender?
    private var receiver: SRTPReceiver?
    private var media: RTCPeerMedia?
    private var assemblies: [MediaAssembly?] = []
    private var tracks: [NegotiatedTrack] = []
    private var checks: UInt8 = 0
    private var hasStarted = false

    /// Decrypted media packets, in order of arrival.
    private(set) var rtp: [RTPPacket] = []
    /// RTCP packets that arrived.
    private(set) var reports: [RTCPPacket] = []
    private(set) var items: [SourceItem] = []
    /// Times at which frames of video were given out, with their numbers.
    private(set) var frames: [(number: Int64, at: Int64, pts: Int64, isKey: Bool)] = []
    private(set) var audioPackets: [(number: Int64, at: Int64, pts: Int64)] = []
    private(set) var forged = 0
    /// Checks of the server that were answered.
    private(set) var answeredChecks = 0
    /// Whether packets are kept in ``rtp``.
    var keepsPackets = true

    init(isDTLSServer: Bool = false, hasRtx: Bool = true) {
        self.isDTLSServer = isDTLSServer
        self.hasRtx = hasRtx
    }

    var isConnected: Bool { self.sender != nil }
    var isClosed: Bool { self.transport?.state == .closed }
    var failure: String? { if case .failed(let reason)? = self.transport?.state { reason } else { nil } }
    var statistics: RTCMediaStatistics? { self.media?.statistics(at: 0) }

    // MARK: SDP

    /// - Parameters:
    ///   - video: Format parameters of H.264; nil: no video section.
    ///   - fingerprint: nil: that of the viewer's certificate.
    func offer(
        video: String? = "packetization-mode=1;profile-level-id=42e01f", audio: String? = "opus/48000/2",
        direction: String = "recvonly", encoding: String = "H264/90000", fingerprint: String? = nil
    ) throws -> String {
        let own = try Self.identity.get().fingerprint
        let digest = fingerprint ?? SDPFingerprint(algorithm: own.algorithm, bytes: own.bytes).text
        let common = [
            "c=IN IP4 0.0.0.0", "a=\(direction)", "a=rtcp-mux", "a=ice-ufrag:\(self.credentials.ufrag)",
            "a=ice-pwd:\(self.credentials.password)", "a=fingerprint:\(digest)",
            "a=setup:\(self.isDTLSServer ? "passive" : "actpass")",
        ]
        var lines = ["v=0", "o=- 1 2 IN IP4 127.0.0.1", "s=-", "t=0 0"]
        let mids = [audio.map { _ in "0" }, video.map { _ in "1" }].compactMap(\.self)
        lines.append("a=group:BUNDLE \(mids.joined(separator: " "))")
        if let audio { lines += ["m=audio 9 UDP/TLS/RTP/SAVPF 111", "a=mid:0", "a=rtpmap:111 \(audio)"] + common }
        if let video {
            lines += [
                "m=video 9 UDP/TLS/RTP/SAVPF 96\(self.hasRtx ? " 97" : "")", "a=mid:1", "a=rtpmap:96 \(encoding)",
            ]
            lines += ["a=rtcp-fb:96 nack", "a=rtcp-fb:96 nack pli", "a=fmtp:96 \(video)"]
            if self.hasRtx { lines += ["a=rtpmap:97 rtx/90000", "a=fmtp:97 apt=96"] }
            lines += common
        }
        return lines.map { $0 + "\r\n" }.joined()
    }

    /// - Parameter tracks: What was negotiated; nil: audio and video as offered.
    func accept(answer: String, tracks: [NegotiatedTrack]? = nil) throws {
        func value(_ name: String) -> Substring? {
            answer.split(separator: "\r\n").first { $0.hasPrefix("a=\(name):") }?.dropFirst(name.count + 3)
        }
        self.answer = answer
        self.remote = ICECredentials(
            ufrag: String(value("ice-ufrag") ?? ""), password: String(value("ice-pwd") ?? ""))
        self.port = value("candidate").flatMap { Int($0.split(separator: " ").dropFirst(5).first ?? "") } ?? 0
        guard let print = value("fingerprint").flatMap({ SDPFingerprint($0) }) else { return }
        self.transport = try DTLSTransport(
            identity: Self.identity.get(), role: self.isDTLSServer ? .server : .client,
            peerFingerprints: [DTLSFingerprint(algorithm: print.algorithm, bytes: print.bytes)], timer: .long)
        self.tracks =
            tracks ?? [
                NegotiatedTrack(mid: "0", kind: .audio, codec: .opus, payloadType: 111, clockRate: 48_000),
                NegotiatedTrack(
                    mid: "1", kind: .video, codec: .h264, payloadType: 96, rtxPayloadType: self.hasRtx ? 97 : nil,
                    clockRate: 90_000, hasNACK: true, hasPLI: true),
            ]
        self.media = RTCPeerMedia(tracks: self.tracks, settings: RTCPeerMediaSettings())
        self.assemblies = self.tracks.map { MediaAssembly(track: $0) }
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

    /// The answer to a check of the server.
    private func answer(_ check: STUNMessage) -> [UInt8] {
        self.answeredChecks += 1
        var writer = STUNWriter(.success, transactionID: check.transactionID)
        writer.addMappedAddress(ICEAddress(ipv4: 0xC000_0201, port: 8_189))
        return writer.finished(password: Array(self.credentials.password.utf8)) { HMACSHA1.digest(key: $0, $1) }
    }

    /// Takes a datagram.
    ///
    /// - Returns: Datagrams to send.
    func receive(_ datagram: [UInt8], now: Int64) -> [[UInt8]] {
        var bytes = datagram
        switch DatagramKind(datagram) {
        case .stun:
            guard let message = STUNMessage(datagram) else { return [] }
            if message.kind == .request { return [self.answer(message)] }
            guard message.kind == .success, !self.hasStarted else { return [] }
            self.hasStarted = true
            return self.transport?.start() ?? []
        case .dtls:
            let out = self.transport?.receive(datagram, from: []) ?? []
            if case .connected(let keys)? = self.transport?.state, self.sender == nil {
                self.sender = try? SRTPSender(keys: keys)
                self.receiver = try? SRTPReceiver(keys: keys)
            }
            return out
        case .rtcp:
            guard self.receiver?.unprotectRTCP(&bytes) == .ok else { return [] }
            self.reports += RTCPPacket.parse(bytes) ?? []
            _ = self.media?.receiveRTCP(bytes, at: now)
        case .rtp:
            guard self.receiver?.unprotectRTP(&bytes) == .ok else {
                self.forged += 1
                return []
            }
            if self.keepsPackets, let packet = RTPPacket(bytes) { self.rtp.append(packet) }
            var packets: [TrackPacket] = []
            _ = self.media?.receiveRTP(bytes, at: now, into: &packets)
            self.assemble(packets, now)
        case .other: break
        }
        return []
    }

    private func assemble(_ packets: [TrackPacket], _ now: Int64) {
        var new: [SourceItem] = []
        for packet in packets { self.assemblies[packet.track]?.receive(packet.packet, time: packet.time, into: &new) }
        for track in self.assemblies.indices where self.assemblies[track]?.needsKeyFrame == true {
            self.media?.requestKeyFrame(track: track, at: now)
        }
        self.items += new
        for case .packet(let packet) in new {
            let time = packet.pts * 1_000_000 / Int64(packet.timescale) * 1_000
            if packet.kind == .video, let number = TestProgram.number(in: packet) {
                self.frames.append((number, now, time, packet.isKey))
            } else if packet.kind == .audio {
                let bytes = packet.withBytes { Array($0) }
                self.audioPackets.append((Int64(bytes[1]) << 8 | Int64(bytes[2]), now, time))
            }
        }
    }

    /// - Returns: Protected reports and requests that are due.
    func advance(to now: Int64) -> [[UInt8]] {
        guard let deadline = self.media?.deadline, deadline <= now else { return [] }
        var packets: [TrackPacket] = []
        let reports = self.media?.advance(to: now, into: &packets) ?? []
        self.assemble(packets, now)
        return reports.compactMap { self.protect($0) }
    }

    /// A protected RTCP packet.
    func rtcp(_ write: (inout RTCPWriter) -> Void) -> [UInt8] {
        var writer = RTCPWriter()
        write(&writer)
        return self.protect(writer.bytes) ?? []
    }

    /// An RTCP packet with these bytes, protected whatever they are.
    func protected(_ bytes: [UInt8]) -> [UInt8]? { self.protect(bytes) }

    private func protect(_ report: [UInt8]) -> [UInt8]? {
        var bytes = report
        return self.sender?.protectRTCP(&bytes) == .ok ? bytes : nil
    }

    func close() -> [[UInt8]] { self.transport?.close() ?? [] }
}
