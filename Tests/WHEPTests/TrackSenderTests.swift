import MediaTypes
import Testing
import WHEP
import WebRTC

@Suite("Packets of one viewer: RFC 3550 §5.1, RFC 4588")
struct TrackSenderTests {
    private static let sources = ViewerSources(video: 100, videoRepair: 101, audio: 102, canonicalName: "c")

    private static func track(hasRtx: Bool = true) -> NegotiatedTrack {
        NegotiatedTrack(
            mid: "1", kind: .video, codec: .h264, payloadType: 96, rtxPayloadType: hasRtx ? 97 : nil, clockRate: 90_000,
            hasNACK: true)
    }

    /// A history of frames with two packets each, the first of which is a key frame.
    private static func history(_ frames: Range<Int64>) -> PacketHistory {
        var history = PacketHistory()
        for frame in frames { self.add(frame, to: &history) }
        return history
    }

    private static func add(_ frame: Int64, to history: inout PacketHistory) {
        let packets = [false, true].map { marker in
            HistoryPacket(
                payload: [UInt8(truncatingIfNeeded: frame), marker ? 1 : 0], marker: marker, time: frame * 3_000,
                frame: frame, arrival: ms(10 * frame))
        }
        history.append(packets, isKey: frame == 0)
    }

    private static func take(_ sender: inout TrackSender, _ history: PacketHistory) -> [RTPPacket] {
        var (packets, bytes): ([RTPPacket], [UInt8]) = ([], [])
        while sender.take(from: history, into: &bytes) { if let packet = RTPPacket(bytes) { packets.append(packet) } }
        return packets
    }

    @Test(
        "a viewer's sequence numbers start below 32,768 and are consecutive across pauses; RTP times differ as in the program"
    )
    func numbers() {
        var history = Self.history(0..<10)
        var sender = TrackSender(Self.track(), sources: Self.sources, random: .max)
        #expect(Self.take(&sender, history).isEmpty)
        sender.begin(4)
        let first = Self.take(&sender, history)
        sender.begin(nil)
        #expect(Self.take(&sender, history).isEmpty)
        for frame in 10..<12 as Range<Int64> { Self.add(frame, to: &history) }
        sender.begin(20)
        let second = Self.take(&sender, history)
        let all = first + second
        #expect(first.count == 16 && second.count == 4)
        #expect(all[0].sequence < 32_768)
        #expect(zip(all, all.dropFirst()).allSatisfy { $1.sequence == $0.sequence &+ 1 })
        #expect(all.allSatisfy { $0.ssrc == 100 && $0.payloadType == 96 })
        #expect(all.enumerated().allSatisfy { $1.marker == !$0.isMultiple(of: 2) })
        #expect(second[0].timestamp &- first[0].timestamp == 8 * 3_000)
        #expect(sender.packets == 20 && sender.octets == 40)
    }

    @Test(
        "a GOP that is sent late has RTP times 1 ms apart up to its last frame; later frames have the program's times"
    )
    func catchUp() {
        var history = Self.history(0..<20)
        var sender = TrackSender(Self.track(), sources: Self.sources, random: 1)
        sender.beginGroup(at: 0, in: history)
        var packets = Self.take(&sender, history)
        for frame in 20..<22 as Range<Int64> { Self.add(frame, to: &history) }
        packets += Self.take(&sender, history)
        let times = packets.filter(\.marker).map { Int32(bitPattern: $0.timestamp &- packets[0].timestamp) }
        var expected: [Int32] = (0..<20).map { $0 * 90 }
        expected += [1_710 + 3_000, 1_710 + 6_000]
        #expect(times == expected)
        // Both packets of a frame have one time.
        #expect(Set(packets.map(\.timestamp)).count == 22)
    }

    @Test("a GOP that is sent again has RTP times between those of the frame sent before and of the next new frame")
    func again() {
        var history = Self.history(0..<20)
        var sender = TrackSender(Self.track(), sources: Self.sources, random: 1)
        sender.beginGroup(at: 0, in: history)
        var packets = Self.take(&sender, history)
        sender.beginGroup(at: 0, in: history)
        packets += Self.take(&sender, history)
        Self.add(20, to: &history)
        packets += Self.take(&sender, history)
        let times = packets.map { Int32(bitPattern: $0.timestamp &- packets[0].timestamp) }
        #expect(zip(times, times.dropFirst()).allSatisfy { $1 >= $0 })
        #expect(Set(times).count == 41)
        #expect(times.last == Int32(4_710))
    }

    @Test(
        "rtx repeats a lost packet with its original sequence number and RTP time; a second request 10 ms later gets nothing",
        arguments: [0, 1, 7, 30])
    func rtx(position: Int) throws {
        var history = Self.history(0..<10)
        var sender = TrackSender(Self.track(), sources: Self.sources, random: 77)
        sender.beginGroup(at: 0, in: history)
        var packets = Self.take(&sender, history)
        sender.beginGroup(at: 0, in: history)
        packets += Self.take(&sender, history)
        Self.add(10, to: &history)
        packets += Self.take(&sender, history)
        let lost = packets[position]
        #expect(sender.has(lost.sequence, in: history))
        guard case .packet(let bytes) = sender.repair(lost.sequence, from: history, now: 0) else {
            Issue.record("no repair")
            return
        }
        let repair = try #require(RTPPacket(bytes))
        #expect(repair.ssrc == 101 && repair.payloadType == 97)
        #expect(repair.timestamp == lost.timestamp && repair.marker == lost.marker)
        let payload = Array(bytes[repair.payload])
        #expect(payload.prefix(2) == [UInt8(lost.sequence >> 8), UInt8(lost.sequence & 0xFF)])
        #expect(Array(payload.dropFirst(2)) == Array(lost.bytes[lost.payload]))
        // A repetition of the request a moment later is not answered, one after some time is.
        #expect(sender.repair(lost.sequence, from: history, now: ms(10)) == .none)
        #expect(sender.repair(lost.sequence, from: history, now: ms(50)) != .none)
    }

    @Test("packets that were never sent or are not kept any more are not sent again")
    func unknown() {
        var history = Self.history(0..<10)
        var sender = TrackSender(Self.track(), sources: Self.sources, random: 5)
        sender.begin(0)
        let packets = Self.take(&sender, history)
        let last = packets.map(\.sequence).last ?? 0
        for number in [last &+ 1, last &+ 100, last &+ 30_000, packets[0].sequence &- 1] {
            #expect(!sender.has(number, in: history) && sender.repair(number, from: history, now: 0) == .none)
        }
        history.removeAll()
        #expect(!sender.has(last, in: history) && sender.repair(last, from: history, now: 0) == .none)
    }

    @Test("without rtx, the latest 512 packets can be sent again, as the protected bytes of the first transmission")
    func plain() {
        let history = Self.history(0..<400)
        var sender = TrackSender(Self.track(hasRtx: false), sources: Self.sources, random: 5)
        sender.begin(0)
        var (bytes, sent): ([UInt8], [UInt16: [UInt8]]) = ([], [:])
        var numbers: [UInt16] = []
        while sender.take(from: history, into: &bytes) {
            guard let number = RTPPacket(bytes)?.sequence else { continue }
            let protected = bytes + [0xEE]
            sender.keep(protected)
            sent[number] = protected
            numbers.append(number)
        }
        #expect(numbers.count == 800)
        for number in numbers.suffix(512) {
            #expect(sender.repair(number, from: history, now: 0) == .protected(sent[number] ?? []))
        }
        #expect(!sender.has(numbers[200], in: history))
    }
}
