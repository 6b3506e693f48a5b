import MediaTypes
import TestSupport
import WebRTC

/// Model of a publisher: 30 frames and 50 audio packets a second, key frames on request, and what it resends.
///
/// As libwebrtc does, it forgets packets that transport-wide feedback acknowledges, and does not resend a packet twice
/// within a round trip and 5 ms.
struct SimulatedSender {
    enum Resending { case rtx, plain, none }

    private struct Sent {
        let packet: PacketBuilder
        var lastResend: Int64 = .min / 2
        var isAcknowledged = false
    }

    let resending: Resending
    /// Whether RTX padding with repeated packets is sent, as for bandwidth probes.
    var hasProbes = true
    /// Whether key frames are sent on request; otherwise every two seconds.
    var answersKeyFrameRequests = true
    private var random: TestRandom
    private var transport: UInt16
    private var video: PacketBuilder
    private var audio: PacketBuilder
    private var rtxSequence: UInt16
    /// By sequence number modulo the size.
    private var history = [Sent?](repeating: nil, count: 1024)
    /// Media sequence number by transport-wide number modulo the size.
    private var numbers = [UInt16?](repeating: nil, count: 4096)
    private(set) var frames = 0
    private var wantsKeyFrame = true
    private(set) var keyFrames = 0
    private var lastReference: (middle: UInt32, arrival: Int64)?
    /// Packets to send, one a millisecond.
    private var pacer: [[UInt8]] = []
    private var paced = 0
    private(set) var requestsForAcknowledged = 0

    /// - Parameter roundTrip: As the sender knows it, in nanoseconds.
    init(seed: UInt64, resending: Resending, roundTrip: Int64) {
        self.resending = resending
        self.roundTrip = roundTrip
        self.random = TestRandom(state: seed &* 0xA24B_AED4_963E_E407)
        self.transport = UInt16.random(in: 0...65_535, using: &self.random)
        self.rtxSequence = UInt16.random(in: 0...65_535, using: &self.random)
        // Numbers and times wrap within seconds.
        self.video = PacketBuilder(
            ssrc: 0x1111, sequence: 65_000, timestamp: 0xFFFF_0000, elements: [(3, [0, 0])], payload: [])
        self.audio = PacketBuilder(
            payloadType: 111, ssrc: 0x2222, sequence: 65_500, timestamp: 0xFFFF_FF00, elements: [(3, [0, 0])],
            payload: [0xFC, 1, 2, 3])
    }

    private let roundTrip: Int64

    /// The datagrams of one millisecond; RTCP is marked.
    ///
    /// - Parameter isOver: Whether only retransmissions are left.
    mutating func tick(_ millisecond: Int, isOver: Bool) -> [(bytes: [UInt8], isRTCP: Bool)] {
        let now = ms(Int64(millisecond))
        var datagrams: [(bytes: [UInt8], isRTCP: Bool)] = []
        if !isOver, millisecond * 30 / 1_000 != (millisecond - 1) * 30 / 1_000 { self.sendFrame() }
        if !isOver, millisecond % 20 == 0 {
            self.audio.sequence &+= 1
            self.audio.timestamp &+= 960
            datagrams.append((self.numbered(self.audio, media: nil), false))
        }
        if self.hasProbes, self.resending == .rtx, millisecond % 100 == 50,
            let old = self.history[Int(self.video.sequence &- 40) & 1023]
        {
            datagrams.append((self.retransmission(of: old.packet), false))
        }
        if self.paced < self.pacer.count {
            datagrams.append((self.pacer[self.paced], false))
            self.paced += 1
            if self.paced == self.pacer.count {
                self.pacer.removeAll(keepingCapacity: true)
                self.paced = 0
            }
        }
        if millisecond % 1_000 == 400 { datagrams.append((self.report(self.video, rate: 90, at: now), true)) }
        if millisecond % 5_000 == 2_400 { datagrams.append((self.report(self.audio, rate: 48, at: now), true)) }
        return datagrams
    }

    /// Takes RTCP of the receiver.
    mutating func receive(_ bytes: [UInt8], at now: Int64) {
        for packet in RTCPPacket.parse(bytes) ?? [] {
            switch packet {
            case .pictureLoss(_, 0x1111):
                if self.answersKeyFrameRequests { self.wantsKeyFrame = true }
            case .nack(_, 0x1111, let lost): for number in lost { self.resend(number, at: now) }
            case .transportFeedback(let feedback): self.acknowledge(feedback)
            case .referenceTime(_, let ntp): self.lastReference = (NTPTime.middle(ntp), now)
            default: continue
            }
        }
    }

    private mutating func sendFrame() {
        let isKey = self.answersKeyFrameRequests ? self.wantsKeyFrame : self.frames % 60 == 0
        self.wantsKeyFrame = false
        if isKey { self.keyFrames += 1 }
        let count = isKey ? 24 : 8
        self.video.timestamp &+= 3_000
        for index in 0..<count {
            self.video.sequence &+= 1
            self.video.marker = index == count - 1
            // A parameter set begins a key frame; the rest of it and other frames are slices.
            var payload: [UInt8] = [isKey && index == 0 ? 0x67 : 0x41]
            PacketBuilder.append(UInt32(self.frames), 4, &payload)
            payload += [UInt8(index), UInt8(count), isKey ? 1 : 0]
            self.video.payload = payload
            self.history[Int(self.video.sequence) & 1023] = Sent(packet: self.video)
            self.pacer.append(self.numbered(self.video, media: self.video.sequence))
        }
        self.frames += 1
    }

    private mutating func numbered(_ packet: PacketBuilder, media: UInt16?) -> [UInt8] {
        var packet = packet
        self.transport &+= 1
        packet.elements = [(3, [UInt8(self.transport >> 8), UInt8(self.transport & 0xFF)])]
        self.numbers[Int(self.transport) & 4095] = media
        return packet.bytes
    }

    private mutating func retransmission(of packet: PacketBuilder) -> [UInt8] {
        self.rtxSequence &+= 1
        var copy = packet
        copy.payloadType = 97
        copy.ssrc = 0x3333
        copy.sequence = self.rtxSequence
        copy.payload = [UInt8(packet.sequence >> 8), UInt8(packet.sequence & 0xFF)] + packet.payload
        return self.numbered(copy, media: packet.sequence)
    }

    private mutating func resend(_ number: UInt16, at now: Int64) {
        let index = Int(number) & 1023
        guard let sent = self.history[index], sent.packet.sequence == number else { return }
        if sent.isAcknowledged {
            self.requestsForAcknowledged += 1
            return
        }
        // RTPSender::OnReceivedNack, RtpPacketHistory::VerifyRtt.
        guard now - sent.lastResend >= self.roundTrip + ms(5) else { return }
        self.history[index]?.lastResend = now
        switch self.resending {
        case .none: return
        case .plain: self.pacer.append(self.numbered(sent.packet, media: number))
        case .rtx: self.pacer.append(self.retransmission(of: sent.packet))
        }
    }

    private mutating func acknowledge(_ feedback: RTCPTransportFeedback) {
        for (offset, arrival) in feedback.arrivals.enumerated() where arrival != nil {
            let number = feedback.base &+ UInt16(offset)
            guard let media = self.numbers[Int(number) & 4095] else { continue }
            if self.history[Int(media) & 1023]?.packet.sequence == media {
                self.history[Int(media) & 1023]?.isAcknowledged = true
            }
        }
    }

    /// SR of a stream, with the answer to the last reference time.
    private func report(_ stream: PacketBuilder, rate: Int64, at now: Int64) -> [UInt8] {
        var writer = RTCPWriter()
        let ntp = NTPTime.timestamp(now + 3_900_000_000_000_000_000)
        writer.senderReport(RTCPSenderReport(ssrc: stream.ssrc, ntp: ntp, timestamp: stream.timestamp))
        if let reference = self.lastReference {
            let delay = UInt32((now - reference.arrival) * 65_536 / 1_000_000_000)
            writer.delaySinceReferenceTime(
                ssrc: stream.ssrc, blocks: [RTCPDelayBlock(ssrc: 1, lastReference: reference.middle, delay: delay)])
        }
        return writer.bytes
    }
}
