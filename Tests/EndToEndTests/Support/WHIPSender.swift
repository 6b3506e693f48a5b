import Foundation
import MediaTypes
import OpenSSLCrypto
import Synchronization
import WebRTC

/// H.264 access units of a file, each a list of NAL units.
struct CodedClip: Sendable {
    let accessUnits: [[[UInt8]]]
    /// Positions of key frames.
    let keyFrames: [Int]

    /// Encodes a test pattern of 8 s: baseline profile, a key frame per second, delimiters between access units.
    init(_ media: Media, _ work: WorkDirectory, size: String = "640x360", kilobits: Int = 1_000) throws {
        let path = work.path("clip.h264")
        let made = try Command.run(
            media.ffmpeg,
            [
                "-nostdin", "-v", "error", "-y", "-f", "lavfi", "-i", "testsrc2=size=\(size):rate=30", "-t", "8",
                "-c:v",
                "libx264", "-preset", "ultrafast", "-profile:v", "baseline", "-tune", "zerolatency", "-g", "30",
                "-keyint_min", "30", "-sc_threshold", "0", "-b:v", "\(kilobits)k", "-maxrate", "\(kilobits)k",
                "-bufsize",
                "\(kilobits / 4)k", "-threads", "1", "-pix_fmt", "yuv420p", "-x264-params", "aud=1:repeat-headers=1",
                "-f", "h264", path,
            ])
        guard made.code == 0 else { throw Missing("ffmpeg \(path): \(made.errors)") }
        var units: [[[UInt8]]] = []
        for unit in Self.units([UInt8](try Files.bytes(path))) {
            switch unit[0] & 31 {
            case 9: units.append([])
            // Supplemental information is left out.
            case 6: continue
            default: units[units.count - 1].append(unit)
            }
        }
        self.accessUnits = units
        self.keyFrames = units.indices.filter { units[$0].contains { $0[0] & 31 == 5 } }
        guard self.keyFrames.count >= 8, self.keyFrames.first == 0 else { throw Missing("a clip without key frames") }
    }

    /// Splits Annex B at its start codes.
    private static func units(_ bytes: [UInt8]) -> [[UInt8]] {
        var units: [[UInt8]] = []
        var start: Int?
        var index = 0
        while index + 3 <= bytes.count {
            guard bytes[index] == 0, bytes[index + 1] == 0, bytes[index + 2] == 1 else {
                index += 1
                continue
            }
            if let start {
                var end = index
                while end > start, bytes[end - 1] == 0 { end -= 1 }
                units.append(Array(bytes[start..<end]))
            }
            index += 3
            start = index
        }
        if let start { units.append(Array(bytes[start...])) }
        return units.filter { !$0.isEmpty }
    }
}

/// A WebRTC publisher in this process, until ``delete()`` or ``vanish()``. It sends a coded clip in a loop and silent Opus
/// packets, resends packets by RFC 4588 when NACKs ask for them, and continues with the clip's next key frame when a PLI
/// asks for one.
final class WHIPSender: Sendable {
    struct Counters: Sendable {
        var frames = 0
        var keyFrames = 0
        /// Media packets, without those that were resent.
        var packets = 0
        var resent = 0
        /// PLIs that arrived.
        var requests = 0
        var isConnected = false
        var isClosed = false
    }

    private struct State: Sendable {
        var counters = Counters()
        /// Whether frames are sent.
        var isSending = true
        var isStopped = false
    }

    private let state = Mutex(State())
    private let done = DispatchSemaphore(value: 0)
    private let whip: String
    private let key: String
    private let session: String

    /// POSTs an offer and begins to connect.
    ///
    /// - Parameters:
    ///   - whip: URL of the endpoint.
    ///   - connect: Called with the room's UDP port; returns the port to send to.
    init(_ whip: String, key: String, clip: CodedClip, through connect: (UInt16) throws -> UInt16 = { $0 }) throws {
        let peer = try MediaPeer(clip)
        let reply = try Self.request("POST", whip, key, body: peer.offer)
        guard reply.status == 201 else { throw Missing("POST \(whip): \(reply.status) \(reply.body)") }
        let room = try peer.accept(reply.body)
        let location = reply.head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("location:") }
        self.session = location.map { $0.dropFirst(9).trimmingCharacters(in: .whitespaces) } ?? ""
        self.whip = whip
        self.key = key
        let socket = try UDPSocket(to: try connect(room))
        // The thread is the only user of the peer from here on.
        nonisolated(unsafe) let moved = peer
        Thread.detachNewThread { self.run(moved, socket) }
    }

    var counters: Counters { self.state.withLock { $0.counters } }

    /// Sends no more frames, but still resends packets.
    func finish() { self.state.withLock { $0.isSending = false } }

    /// Ends the session by DELETE.
    ///
    /// - Returns: The status of the reply.
    func delete() throws -> Int {
        let status = try Self.request("DELETE", Self.origin(self.whip) + self.session, self.key).status
        self.vanish()
        return status
    }

    /// Stops without a word to the room.
    func vanish() {
        self.state.withLock { $0.isStopped = true }
        self.done.wait()
        self.done.signal()
    }

    private static func origin(_ url: String) -> String {
        "http://" + (url.split(separator: "/").dropFirst().first.map(String.init) ?? "")
    }

    private static func request(
        _ method: String, _ url: String, _ key: String, body: String = ""
    ) throws -> HTTPClient.Reply {
        let origin = Self.origin(url)
        return try HTTPClient.request(
            method, origin, String(url.dropFirst(origin.count)), body: body,
            fields: ["Authorization": "Bearer \(key)"].merging(body.isEmpty ? [:] : ["Content-Type": "application/sdp"])
            {
                $1
            })
    }

    private func run(_ peer: MediaPeer, _ socket: UDPSocket) {
        var isStopped = false
        while !isStopped {
            UDPSocket.wait(for: [socket], seconds: 0.001)
            var out: [[UInt8]] = []
            while let (bytes, _) = socket.receive() { out += peer.receive(bytes) }
            let isSending = self.state.withLock { $0.isSending }
            out += peer.tick(isSending: isSending)
            for datagram in out { socket.send(datagram) }
            isStopped = self.state.withLock { state in
                state.counters = peer.counters
                return state.isStopped
            }
        }
        self.done.signal()
    }
}

/// The protocol of a ``WHIPSender``, without sockets. Used by one thread.
final class MediaPeer {
    private static let identity = Result { try DTLSIdentity() }
    /// Silence in stereo: 20 ms of CELT.
    private static let silence: [UInt8] = [0xFC, 0xFF, 0xFE]
    /// Time within which a packet is not resent again, in seconds. As in libwebrtc, 5 ms more than the round trip.
    private static let resendPause = 0.065
    private static let (videoSSRC, resendSSRC, audioSSRC): (UInt32, UInt32, UInt32) = (0x1111, 0x1112, 0x2222)

    private let clip: CodedClip
    private let credentials = ICECredentials(ufrag: "sndr", password: "passwordofthesendingpeer")
    private var remote = ICECredentials(ufrag: "", password: "")
    private var transport: DTLSTransport?
    private var sender: SRTPSender?
    private var receiver: SRTPReceiver?
    private(set) var counters = WHIPSender.Counters()

    private var checks: UInt32 = 0
    private var lastCheck = -1.0
    private var isChecked = false
    private var started = 0.0
    private var lastTick = 0.0
    private var lastReport = 0.0
    private var audioPackets = 0
    /// Position in the clip.
    private var position = 0
    private var wantsKeyFrame = false
    private var sequence: UInt16 = 65_000
    private var resendSequence: UInt16 = 7
    private var videoTime: UInt32 = 0xFFFF_0000
    /// Packets to send, one per millisecond.
    private var pacer: [[UInt8]] = []
    /// Packets by sequence number modulo the size, and when they were last sent.
    private var history = [(packet: [UInt8], sent: Double)](repeating: ([], 0), count: 2048)

    init(_ clip: CodedClip) throws { self.clip = clip }

    // MARK: SDP

    var offer: String {
        get throws {
            let print = try Self.identity.get().fingerprint
            let common = [
                "c=IN IP4 0.0.0.0", "a=sendonly", "a=rtcp-mux", "a=ice-ufrag:\(self.credentials.ufrag)",
                "a=ice-pwd:\(self.credentials.password)", "a=setup:actpass",
                "a=fingerprint:\(SDPFingerprint(algorithm: print.algorithm, bytes: print.bytes).text)",
            ]
            let lines =
                ["v=0", "o=- 1 2 IN IP4 127.0.0.1", "s=-", "t=0 0", "a=group:BUNDLE 0 1"]
                + ["m=audio 9 UDP/TLS/RTP/SAVPF 111", "a=mid:0", "a=rtpmap:111 opus/48000/2"] + common
                + [
                    "m=video 9 UDP/TLS/RTP/SAVPF 96 97", "a=mid:1", "a=rtpmap:96 H264/90000", "a=rtcp-fb:96 nack",
                    "a=rtcp-fb:96 nack pli", "a=fmtp:96 packetization-mode=1;profile-level-id=42e01f",
                    "a=rtpmap:97 rtx/90000", "a=fmtp:97 apt=96",
                    "a=ssrc-group:FID \(Self.videoSSRC) \(Self.resendSSRC)",
                ] + common
            return lines.map { $0 + "\r\n" }.joined()
        }
    }

    /// - Returns: The room's UDP port.
    func accept(_ answer: String) throws -> UInt16 {
        func value(_ name: String) throws -> Substring {
            let line = answer.split(separator: "\r\n").first { $0.hasPrefix("a=\(name):") }
            guard let line else { throw Missing("the answer has no \(name): \(answer)") }
            return line.dropFirst(name.count + 3)
        }
        self.remote = ICECredentials(ufrag: String(try value("ice-ufrag")), password: String(try value("ice-pwd")))
        guard let print = SDPFingerprint(try value("fingerprint")),
            let port = try value("candidate").split(separator: " ").dropFirst(5).first.flatMap({ UInt16($0) })
        else { throw Missing("the answer has no port or fingerprint: \(answer)") }
        self.transport = try DTLSTransport(
            identity: Self.identity.get(), role: .client,
            peerFingerprints: [DTLSFingerprint(algorithm: print.algorithm, bytes: print.bytes)])
        return port
    }

    // MARK: Datagrams

    /// Takes a datagram.
    ///
    /// - Returns: Datagrams to send.
    func receive(_ datagram: [UInt8]) -> [[UInt8]] {
        switch DatagramKind(datagram) {
        case .stun:
            guard let answer = STUNMessage(datagram), answer.kind == .success, !self.isChecked else { return [] }
            self.isChecked = true
            return self.transport?.start() ?? []
        case .dtls:
            let out = self.transport?.receive(datagram, from: []) ?? []
            switch self.transport?.state {
            case .connected(let keys):
                guard self.sender == nil else { break }
                self.sender = try? SRTPSender(keys: keys)
                self.receiver = try? SRTPReceiver(keys: keys)
                self.started = LossyRelay.now()
                (self.lastTick, self.lastReport) = (self.started, self.started - 0.7)
                self.counters.isConnected = true
            case .closed, .failed: self.counters.isClosed = true
            default: break
            }
            return out
        case .rtcp:
            var bytes = datagram
            if self.receiver?.unprotectRTCP(&bytes) == .ok { self.takeFeedback(bytes) }
            return []
        case .rtp, .other: return []
        }
    }

    private func takeFeedback(_ bytes: [UInt8]) {
        let now = LossyRelay.now()
        for packet in RTCPPacket.parse(bytes) ?? [] {
            switch packet {
            case .pictureLoss(_, Self.videoSSRC):
                self.counters.requests += 1
                self.wantsKeyFrame = true
            case .nack(_, Self.videoSSRC, let lost):
                for number in lost {
                    let (packet, sent) = self.history[Int(number) & 2047]
                    guard packet.count > 12, packet[2] == UInt8(number >> 8), packet[3] == UInt8(number & 255),
                        now - sent >= Self.resendPause
                    else { continue }
                    self.history[Int(number) & 2047].sent = now
                    self.counters.resent += 1
                    self.resendSequence &+= 1
                    self.pacer.append(
                        Self.header(
                            packet[1] & 0x80 | 97, self.resendSequence, packet[4..<8], Self.resendSSRC)
                            + packet[2..<4] + packet[12...])
                }
            default: continue
            }
        }
    }

    /// The datagrams that are due.
    ///
    /// - Parameter isSending: Whether new frames and audio packets are sent.
    func tick(isSending: Bool) -> [[UInt8]] {
        let now = LossyRelay.now()
        var out: [[UInt8]] = []
        if now - self.lastCheck >= (self.isChecked ? 2.5 : 0.05) {
            self.lastCheck = now
            out.append(self.check())
        }
        if case .handshaking? = self.transport?.state { out += self.transport?.handleTimeout() ?? [] }
        guard self.counters.isConnected, !self.counters.isClosed else { return out }
        if isSending {
            while Double(self.counters.frames) / 30 <= now - self.started { self.addFrame(now) }
            while Double(self.audioPackets) / 50 <= now - self.started {
                self.audioPackets += 1
                out += self.protected(
                    Self.header(111, UInt16(truncatingIfNeeded: self.audioPackets), self.audioTime, Self.audioSSRC)
                        + Self.silence)
            }
        }
        // One packet per millisecond; more after a late wake-up.
        let count = min(self.pacer.count, max(1, Int((now - self.lastTick) * 1_000)))
        self.lastTick = now
        for packet in self.pacer.prefix(count) {
            if packet[1] & 0x7F == 96 {
                let number = UInt16(packet[2]) << 8 | UInt16(packet[3])
                self.history[Int(number) & 2047] = (packet, 0)
            }
            out += self.protected(packet)
        }
        self.pacer.removeFirst(count)
        if now - self.lastReport >= 1 {
            self.lastReport = now
            out += self.reports()
        }
        return out
    }

    private func check() -> [UInt8] {
        self.checks += 1
        let number = (0..<4).map { UInt8(truncatingIfNeeded: self.checks >> (8 * $0)) }
        var writer = STUNWriter(.request, transactionID: number + [UInt8](repeating: 7, count: 8))
        writer.add(0x0006, Array("\(self.remote.ufrag):\(self.credentials.ufrag)".utf8))
        writer.add(0x802A, [0, 0, 0, 0, 0, 0, 0, 1])
        writer.add(0x0025, [])
        writer.add(0x0024, [0x6E, 0, 1, 0xFF])
        return writer.finished(password: Array(self.remote.password.utf8)) { HMACSHA1.digest(key: $0, $1) }
    }

    // MARK: Media

    private var audioTime: [UInt8] { Self.big(UInt32(truncatingIfNeeded: self.audioPackets &* 960)) }

    private func addFrame(_ now: Double) {
        if self.wantsKeyFrame {
            self.position = self.clip.keyFrames.first { $0 >= self.position } ?? 0
            self.wantsKeyFrame = false
        }
        let units = self.clip.accessUnits[self.position]
        if self.clip.keyFrames.contains(self.position) { self.counters.keyFrames += 1 }
        self.position = (self.position + 1) % self.clip.accessUnits.count
        self.counters.frames += 1
        self.videoTime &+= 3000
        for payload in H264Packetizer(largestPayload: 1100).payloads(units) {
            self.sequence &+= 1
            self.counters.packets += 1
            self.pacer.append(
                Self.header(
                    (payload.marker ? 0x80 : 0) | 96, self.sequence, Self.big(self.videoTime)[...], Self.videoSSRC)
                    + payload.bytes)
        }
    }

    private func reports() -> [[UInt8]] {
        let elapsed = LossyRelay.now() - self.started
        let unix = Int64(Date().timeIntervalSince1970 * 1e9)
        let ntp = NTPTime.timestamp(unix + 2_208_988_800_000_000_000)
        // The time of the first frame and of the first audio packet is ``started``.
        let video = UInt32(truncatingIfNeeded: Int64(0xFFFF_0000) + 3000 + Int64(elapsed * 90_000))
        let audio = UInt32(truncatingIfNeeded: 960 + Int64(elapsed * 48_000))
        var writer = RTCPWriter()
        writer.senderReport(RTCPSenderReport(ssrc: Self.videoSSRC, ntp: ntp, timestamp: video))
        writer.sourceDescription(ssrc: Self.videoSSRC, name: "sender")
        writer.senderReport(RTCPSenderReport(ssrc: Self.audioSSRC, ntp: ntp, timestamp: audio))
        var bytes = writer.bytes
        return self.sender?.protectRTCP(&bytes) == .ok ? [bytes] : []
    }

    private func protected(_ packet: [UInt8]) -> [[UInt8]] {
        var bytes = packet
        return self.sender?.protectRTP(&bytes) == .ok ? [bytes] : []
    }

    private static func big(_ value: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> UInt32(24 - 8 * $0)) }
    }

    /// - Parameter type: Payload type, with the marker bit.
    private static func header(
        _ type: UInt8, _ sequence: UInt16, _ time: some Collection<UInt8>, _ ssrc: UInt32
    ) -> [UInt8] {
        [0x80, type, UInt8(sequence >> 8), UInt8(sequence & 255)] + Array(time) + Self.big(ssrc)
    }
}
