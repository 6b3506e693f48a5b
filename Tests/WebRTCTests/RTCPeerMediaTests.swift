import MediaTypes
import Testing
import WebRTC

/// A peer, and what it gave out and sent.
private struct Peer {
    var media: RTCPeerMedia
    var output: [TrackPacket] = []
    var sent: [RTCPPacket] = []
    var datagrams: [[UInt8]] = []

    init(_ tracks: [NegotiatedTrack], change: (inout RTCPeerMediaSettings) -> Void = { _ in }) {
        var settings = RTCPeerMediaSettings()
        change(&settings)
        self.media = RTCPeerMedia(tracks: tracks, settings: settings)
    }

    @discardableResult mutating func receive(_ packet: PacketBuilder, at now: Int64) -> RTPVerdict {
        self.media.receiveRTP(packet.bytes, at: now, into: &self.output)
    }

    @discardableResult mutating func receiveRTCP(at now: Int64, _ write: (inout RTCPWriter) -> Void) -> Bool {
        var writer = RTCPWriter()
        write(&writer)
        return self.media.receiveRTCP(writer.bytes, at: now)
    }

    /// Lets time pass, at each deadline.
    mutating func advance(to now: Int64) {
        var rounds = 0
        while let deadline = self.media.deadline, deadline <= now, rounds < 10_000 {
            rounds += 1
            let datagrams = self.media.advance(to: deadline, into: &self.output)
            self.datagrams += datagrams
            self.sent += datagrams.flatMap { RTCPPacket.parse($0) ?? [] }
        }
        #expect(rounds < 10_000, "a deadline that does not move")
    }

    func count(_ matches: (RTCPPacket) -> Bool) -> Int { self.sent.count(where: matches) }
}

@Suite("The media of one WebRTC publisher: tracks, reports, retransmission, simulcast")
struct RTCPeerMediaTests {
    private static func isPictureLoss(_ packet: RTCPPacket) -> Bool {
        if case .pictureLoss = packet { true } else { false }
    }

    private static func feedbackNumber(_ number: UInt16) -> [(id: UInt8, bytes: [UInt8])] {
        [(3, [UInt8(number >> 8), UInt8(number & 0xFF)])]
    }

    @Test(
        "audio and video are delivered with track, orientation and time; reports are sent every second, feedback every 50 ms"
    )
    func normal() {
        var peer = Peer([.audio, .video])
        #expect(peer.media.deadline == nil)
        for number in 0..<100 as Range<UInt16> {
            let now = ms(1_000 + 10 * Int64(number))
            peer.advance(to: now)
            var audio = PacketBuilder(payloadType: 111, ssrc: 5, sequence: number, timestamp: UInt32(number) * 480)
            audio.elements = Self.feedbackNumber(2 * number)
            peer.receive(audio, at: now)
            var video = PacketBuilder(sequence: number, timestamp: UInt32(number) * 900)
            video.elements = Self.feedbackNumber(2 * number + 1) + [(13, [1])]
            peer.receive(video, at: now)
        }
        peer.advance(to: ms(2_100))
        #expect(peer.output.count == 200)
        #expect(peer.output.count { $0.track == 0 } == 100)
        #expect(peer.output.allSatisfy { $0.layer == 0 && ($0.track == 1) == ($0.packet.orientation == 1) })
        #expect(peer.output.last?.time == ms(1_990))
        let reports = peer.sent.compactMap { if case .receiverReport(1, let blocks) = $0 { blocks } else { nil } }
        #expect(reports.map { $0.map(\.ssrc) } == [[5, 0x1111_1111]])
        #expect(peer.count { if case .referenceTime = $0 { true } else { false } } == 1)
        #expect((18...21).contains(peer.count { if case .transportFeedback = $0 { true } else { false } }))
        #expect(peer.datagrams.allSatisfy { $0.count <= 1_150 })
        let statistics = peer.media.statistics(at: ms(1_999))
        #expect(statistics.tracks.map(\.packets) == [100, 100])
        #expect(statistics.tracks[1].bitRate > 20_000)
        #expect(statistics.feedbackMessages > 10)
        #expect(statistics.estimate == nil)
    }

    @Test("packets that belong to no track are counted by their kind and not delivered, and their SSRCs are not kept")
    func refused() {
        var peer = Peer([.audio, .video])
        #expect(peer.media.receiveRTP([], at: 0, into: &peer.output) == .malformed)
        #expect(peer.media.receiveRTP([1, 2, 3], at: 0, into: &peer.output) == .malformed)
        peer.receive(PacketBuilder(sequence: 1), at: 0)
        #expect(peer.receive(PacketBuilder(payloadType: 20), at: 0) == .unknownPayloadType)
        for ssrc in 0..<5_000 as Range<UInt32> {
            #expect(peer.receive(PacketBuilder(ssrc: ssrc, sequence: 9), at: ms(1)) == .refusedSource)
        }
        #expect(peer.media.sourceCount == 1)
        let isGoodbye = peer.media.receiveRTCP([0x80, 201, 0, 9], at: 0)
        #expect(!isGoodbye)
        let statistics = peer.media.statistics(at: ms(1))
        #expect(statistics.malformed == 2 && statistics.unknownPayloadType == 1)
        #expect(statistics.refusedSource == 5_000 && statistics.malformedRTCP == 1)
        peer.advance(to: ms(20))
        #expect(peer.output.count == 1)
    }

    @Test("padding-only probes and rtx packets that bring nothing new are not delivered and count as no loss")
    func probes() {
        var peer = Peer([.video])
        peer.receive(PacketBuilder(sequence: 1, payload: [0x67]), at: 0)
        peer.receive(PacketBuilder(sequence: 2, payload: [], padding: 200), at: ms(1))
        for payload: [UInt8] in [[], [0], [0, 1], [0, 1, 0x67]] {
            let probe = PacketBuilder(payloadType: 97, ssrc: 3, sequence: 9, payload: payload, padding: 4)
            #expect(peer.receive(probe, at: ms(2)) == .taken)
        }
        peer.receive(PacketBuilder(sequence: 3), at: ms(3))
        peer.advance(to: ms(500))
        #expect(peer.output.map { Array($0.packet.payload) } == [[0x67], [0x41, 0]])
        #expect(peer.output.map(\.packet.isAfterLoss) == [true, false])
        let track = peer.media.statistics(at: ms(500)).tracks[0]
        #expect(track.ordering.lost == 0 && track.ordering.empty == 1 && track.nacks == 0 && track.networkLost == 0)
        #expect(track.ordering.duplicates == 2)
    }

    @Test(
        "a missing packet is requested by NACK and delivered in order once rtx brings it; it counts as lost by the network"
    )
    func rtx() {
        var peer = Peer([.video])
        peer.receive(PacketBuilder(sequence: 1, timestamp: 10, payload: [0x67]), at: 0)
        peer.advance(to: ms(10))
        peer.receive(PacketBuilder(sequence: 3, timestamp: 20, payload: [0x41, 3]), at: ms(100))
        peer.advance(to: ms(110))
        #expect(peer.sent == [.nack(sender: 1, media: 0x1111_1111, lost: [2])])
        peer.receive(
            PacketBuilder(payloadType: 97, ssrc: 3, sequence: 77, timestamp: 20, payload: [0, 2, 0x41, 2]), at: ms(170))
        #expect(peer.output.map { Array($0.packet.payload) } == [[0x67], [0x41, 2], [0x41, 3]])
        #expect(peer.media.statistics(at: ms(170)).roundTrip == ms(62))
        #expect(peer.media.statistics(at: ms(170)).tracks[0].networkLost == 1, "the network lost it")
    }

    @Test(
        "a key frame is requested by PLI or FIR, but not before the first packet, without both, or if a key frame has begun"
    )
    func keyFrames() {
        var peer = Peer([.video])
        peer.media.requestKeyFrame(track: 0, at: 0)
        peer.advance(to: ms(100))
        #expect(peer.sent.isEmpty)
        peer.receive(PacketBuilder(sequence: 1, payload: [0x67]), at: ms(200))
        peer.advance(to: ms(400))
        #expect(peer.count(Self.isPictureLoss) == 0, "the first packet begins a key frame")
        peer.media.requestKeyFrame(track: 0, at: ms(400))
        peer.media.requestKeyFrame(track: 9, at: ms(400))
        peer.advance(to: ms(450))
        #expect(peer.sent == [.pictureLoss(sender: 1, media: 0x1111_1111)])
        peer = Peer([.video.with { ($0.hasPLI, $0.hasFIR) = (false, true) }])
        peer.receive(PacketBuilder(sequence: 1), at: 0)
        peer.media.requestKeyFrame(track: 0, at: 0)
        peer.advance(to: ms(310))
        let request = RTCPPacket.fullIntraRequest(sender: 1, media: 0x1111_1111, number: 0)
        #expect(peer.sent == [request, request], "a repetition has the same number")
        peer = Peer([.video.with { $0.hasPLI = false }])
        peer.receive(PacketBuilder(sequence: 1), at: 0)
        peer.media.requestKeyFrame(track: 0, at: 0)
        peer.advance(to: ms(400))
        #expect(peer.sent.isEmpty)
    }

    @Test("without reduced-size RTCP, each datagram begins with a receiver report and a source name")
    func fullSize() {
        var peer = Peer([.video]) { $0.hasReducedSize = false }
        peer.receive(PacketBuilder(sequence: 1), at: 0)
        peer.media.requestKeyFrame(track: 0, at: 0)
        peer.advance(to: ms(2_000))
        #expect(peer.datagrams.count >= 3)
        for datagram in peer.datagrams {
            guard let packets = RTCPPacket.parse(datagram), packets.count >= 2, case .receiverReport = packets[0],
                case .sourceDescription = packets[1]
            else {
                Issue.record("\(datagram)")
                continue
            }
        }
    }

    @Test("thousands of missing packets are requested in datagrams of at most 1,150 bytes")
    func manyRequests() {
        var peer = Peer([.video])
        peer.receive(PacketBuilder(sequence: 1), at: 0)
        for number in 1...1_000 as ClosedRange<UInt16> {
            peer.receive(PacketBuilder(sequence: 1 + 3 * number), at: ms(20))
        }
        peer.advance(to: ms(40))
        var lost: Set<UInt16> = []
        for case .nack(_, _, let numbers) in peer.sent { lost.formUnion(numbers) }
        #expect(lost.count == 2_000)
        #expect(peer.datagrams.allSatisfy { $0.count <= 1_150 })
    }

    @Test("REMB is sent each second to a sender without transport-wide feedback")
    func remb() {
        let track = NegotiatedTrack.video.with {
            ($0.hasTransportCC, $0.hasREMB, $0.transportCCExtension) = (false, true, nil)
        }
        var peer = Peer([track]) { ($0.startBitRate, $0.highestBitRate) = (1_000_000, 1_500_000) }
        peer.receive(PacketBuilder(sequence: 1, elements: Self.feedbackNumber(1)), at: 0)
        peer.advance(to: ms(2_600))
        let rates = peer.sent.compactMap { if case .remb(1, let rate, let ssrcs) = $0 { (rate, ssrcs) } else { nil } }
        #expect(rates.count == 3)
        #expect(rates.allSatisfy { $0.1 == [0x1111_1111] && $0.0 > 990_000 && $0.0 <= 1_500_000 })
        #expect(peer.media.statistics(at: ms(2_600)).estimate == 1_000_000)
        #expect(peer.count { if case .transportFeedback = $0 { true } else { false } } == 0)
    }

    @Test("a sender may continue with another SSRC after 2 s, or at once after BYE; its sequence numbers keep rising")
    func restart() {
        var peer = Peer([.video])
        for number in 1...3 as ClosedRange<UInt16> {
            peer.receive(PacketBuilder(sequence: number), at: ms(Int64(number)))
        }
        peer.advance(to: ms(50))
        peer.receive(PacketBuilder(ssrc: 8, sequence: 2, timestamp: 5_000_000), at: ms(1_500))
        peer.receive(PacketBuilder(ssrc: 8, sequence: 3, timestamp: 5_000_000), at: ms(2_100))
        peer.advance(to: ms(2_200))
        #expect(peer.output.count == 4)
        #expect(peer.output.last?.packet.isAfterLoss == true)
        #expect(abs((peer.output.last?.time ?? 0) - ms(2_100)) < ms(1))
        #expect(peer.output.map(\.packet.sequence) == peer.output.map(\.packet.sequence).sorted())
        let unknown = peer.receiveRTCP(at: ms(2_300)) { $0.goodbye(ssrcs: [99]) }
        let own = peer.receiveRTCP(at: ms(2_300)) { $0.goodbye(ssrcs: [8]) }
        #expect(!unknown && own)
        // A wish and missing packets of the stream that ended do not keep the deadline in the past.
        peer.media.requestKeyFrame(track: 0, at: ms(2_300))
        peer.advance(to: ms(2_400))
        peer.receive(PacketBuilder(ssrc: 9, sequence: 1), at: ms(2_400))
        peer.advance(to: ms(2_500))
        #expect(peer.output.count == 5)
        #expect(peer.media.statistics(at: ms(2_500)).tracks[0].ordering.restarts == 2)
    }

    @Test("simulcast: the largest layer is delivered from a key frame on, and another one while it pauses")
    func simulcast() {
        let track = NegotiatedTrack.video.with { $0.rids = ["l", "h"] }
        var peer = Peer([track])
        var numbers: [UInt16] = [10, 20]
        /// Sends both layers each 10 ms; a key frame each second.
        func run(_ milliseconds: Range<Int64>, isPaused: Bool = false) {
            for time in stride(from: milliseconds.lowerBound, to: milliseconds.upperBound, by: 10) {
                for layer in 0..<2 where layer == 0 || !isPaused {
                    numbers[layer] &+= 1
                    let first: UInt8 = time == 0 || time % 1_000 == 500 ? 0x67 : 0x41
                    let payload = [first] + [UInt8](repeating: 0, count: layer == 0 ? 20 : 200)
                    peer.receive(
                        PacketBuilder(
                            ssrc: UInt32(layer + 1), sequence: numbers[layer],
                            timestamp: UInt32(time * 90) &+ UInt32(layer) * 0x7000_0000, marker: true,
                            elements: [(10, [layer == 0 ? 0x6C : 0x68])], payload: payload),
                        at: ms(time))
                }
                peer.advance(to: ms(time))
            }
        }
        run(0..<6_000)
        #expect(peer.output.first?.layer == 0)
        #expect(peer.output.last?.layer == 1)
        #expect(peer.media.statistics(at: ms(6_000)).tracks[0].layer == 1)
        let requested: Set<UInt32> = Set(
            peer.sent.compactMap { if case .pictureLoss(_, let ssrc) = $0 { ssrc } else { nil } })
        #expect(requested == [2])
        run(6_000..<9_000, isPaused: true)
        #expect(peer.output.last?.layer == 0)
        run(9_000..<15_000)
        #expect(peer.output.last?.layer == 1)
        var layer = -1
        var changes = 0
        for given in peer.output where given.layer != layer {
            layer = given.layer
            changes += 1
            #expect(given.packet.payload.first == 0x67 && given.packet.isAfterLoss)
        }
        #expect(changes == 4)
        // The line continues over changes, though the layers' RTP times are unrelated.
        let times = peer.output.map(\.time)
        let isAscending = times == times.sorted()
        #expect(isAscending)
        #expect(abs((times.last ?? 0) - ms(14_990)) < ms(50))
        #expect(peer.media.statistics(at: ms(15_000)).tracks[0].ordering.lost == 0)
    }
}
