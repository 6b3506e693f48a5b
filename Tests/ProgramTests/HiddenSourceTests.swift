import LibAV
import MediaKernels
import MediaTypes
import Program
import RTMP
import Testing

@Suite("Hidden sources (neither shown nor about to be) are decoded only as far as needed")
struct HiddenSourceTests {
    private static let count = 300

    private static func items(
        gop: Int, bFrames: Int, count: Int = Self.count, words: String = ""
    ) throws -> [SourceItem] {
        let (sets, packets) = try Material.frames(count, gop: gop, bFrames: bFrames, words: words)
        let configuration = try #require(AVCRecord(annexB: sets))
        return [.configuration(CodecParameters(codec: .h264, configuration: configuration.record))]
            + packets.map { .packet($0) }
    }

    @Test(
        "a source that becomes visible shows the same frames as one that was never hidden, from the first tick on",
        arguments: [(30, 0), (30, 2), (60, 1), (300, 0)])
    func returns(gop: Int, bFrames: Int) throws {
        let items = try Self.items(gop: gop, bFrames: bFrames)
        let plain = StageRun.video(items, ticks: Self.count)
        #expect(plain.ticks.map(\.index) == Array(0..<Self.count))
        #expect(plain.stats.undecoded == 0)
        // Before, at and after key frames; short and long.
        let hidden = [5..<20, 29..<31, 40..<90, 95..<119, 130..<151, 170..<285]
        let run = StageRun.video(items, ticks: Self.count, hidden: hidden)
        for tick in 0..<Self.count where !hidden.contains(where: { $0.contains(tick) }) {
            #expect(run.ticks[tick].index == tick, "tick \(tick)")
            #expect(run.ticks[tick].picture.digest == plain.ticks[tick].picture.digest, "tick \(tick)")
        }
        #expect(run.failures.isEmpty && run.stats.damaged == 0 && run.stats.videoPackets == Self.count)
        if gop == 30 { #expect(run.stats.undecoded > 60, "\(run.stats.undecoded)") }
    }

    @Test("a source hidden to the end decodes its key frames, and skips more than half of its frames")
    func toTheEnd() throws {
        let run = StageRun.video(try Self.items(gop: 30, bFrames: 0), ticks: Self.count, hidden: [10..<Self.count])
        #expect(run.stats.undecoded > 150)
        let shown = Set(run.ticks[10...].map(\.index))
        #expect(shown.isSuperset(of: stride(from: 30, to: 270, by: 30)), "\(shown.sorted())")
    }

    @Test(
        "the frame that is held of a lost publisher is its last one, also if only its key frames were decoded before",
        arguments: [0, 2])
    func lost(bFrames: Int) throws {
        let items = try Self.items(gop: 30, bFrames: bFrames, count: 75)
        let (plain, hidden) = (StageRun.newest(items, isHidden: false), StageRun.newest(items, isHidden: true))
        #expect(try #require(hidden.picture).digest == #require(plain.picture).digest)
        #expect(plain.undecoded == 0 && hidden.undecoded > 20, "\(hidden.undecoded)")
    }

    @Test(
        "a source that becomes visible shows the right frames at once; on an overloaded machine, from its next key frame on"
    )
    func thrifty() throws {
        // A GOP of 270 frames is longer than the queue of a hidden source (240 packets), one of 30 is not.
        for (gop, isThrifty, back) in [(270, true, 270), (270, false, 262), (30, true, 270), (30, false, 262)] {
            let items = try Self.items(gop: gop, bFrames: 0)
            let plain = StageRun.video(items, ticks: Self.count)
            let run = StageRun.video(items, ticks: Self.count, hidden: [5..<262], isThrifty: isThrifty)
            for tick in back..<Self.count {
                #expect(run.ticks[tick].picture.digest == plain.ticks[tick].picture.digest, "tick \(tick)")
            }
            #expect(run.stats.damaged == 0)
            if gop == 270 { #expect((run.stats.undecoded > 200) == isThrifty, "\(run.stats.undecoded)") }
            if !isThrifty || gop == 270 { #expect((run.keyFrameRequests > 0) == isThrifty, "\(run.keyFrameRequests)") }
            // It was really skipped: two ticks later the frame is not the right one yet.
            if isThrifty { #expect(run.ticks[264].index != 264, "\(run.ticks[264].index)") }
        }
    }

    @Test(
        "on an overloaded machine, a source with gradual refresh and one IDR frame has right frames 220 ticks after it becomes visible"
    )
    func gradualRefresh() throws {
        let count = 600
        let items = try Self.items(
            gop: count, bFrames: 0, count: count, words: "keyint=30:min-keyint=1:intra-refresh=1")
        let beginnings = items.filter {
            if case .packet(let packet) = $0 { HiddenSourceQueue.beginning(packet, codec: .h264) != .no } else { false }
        }
        #expect(beginnings.count == 1)
        let plain = StageRun.video(items, ticks: count)
        let run = StageRun.video(items, ticks: count, hidden: [5..<260], isThrifty: true)
        #expect(run.stats.undecoded > 300, "\(run.stats.undecoded)")
        try #require(run.ticks.count == count && plain.ticks.count == count)
        for tick in 480..<count {
            #expect(run.ticks[tick].index == tick, "tick \(tick)")
            #expect(run.ticks[tick].picture.digest == plain.ticks[tick].picture.digest, "tick \(tick)")
        }
    }

    @Test("a hidden source's decoder is flushed only if packets before a key frame were skipped")
    func flushes() {
        var withheld = HiddenSourceQueue()
        for time in Int64(0)..<10 {
            let packet = CodedPacket(
                kind: .video, memory: PacketMemory([0]), pts: time, dts: time, timescale: 1_000, isKey: time % 4 == 0)
            withheld.append(
                HiddenSourceQueue.QueuedPacket(
                    packet: packet, pts: time, arrival: nil, beginning: packet.isKey ? .afterFlush : .no))
        }
        #expect(withheld.popFirst()?.beginning == .yes, "it continues what was shown")
        #expect(withheld.advance(to: 5) == 3)
        var beginnings: [HiddenSourceQueue.Beginning] = []
        while let item = withheld.popFirst() { beginnings.append(item.beginning) }
        #expect(beginnings == [.afterFlush, .no, .no, .no, .yes, .no])
    }

    @Test("H.264 decoding starts at IDR frames and, after a flush, at open-GOP key frames, and at no other frame")
    func beginnings() {
        func beginning(_ units: [[UInt8]], isKey: Bool = true) -> HiddenSourceQueue.Beginning {
            let memory = PacketMemory(units.flatMap { [0, 0, 0, UInt8($0.count)] + $0 })
            let packet = CodedPacket(
                kind: .video, memory: memory, pts: 0, dts: 0, timescale: 1_000, isKey: isKey)
            return HiddenSourceQueue.beginning(packet, codec: .h264)
        }
        #expect(beginning([[0x67, 1], [0x65, 1]]) == .yes)
        #expect(beginning([[0x06, 6, 1, 0xC4, 0x80], [0x41, 1]]) == .afterFlush)
        #expect(beginning([[0x06, 6, 2, 0x26, 0x40, 0x80], [0x41, 1]]) == .no)
        #expect(beginning([[0x41, 1]]) == .no)
        #expect(beginning([[0x65, 1]], isKey: false) == .no)
        #expect(beginning([[0x09, 0xF0], [0x67, 1], [0x68, 1], [0x06, 5, 1], [0x65, 1]]) == .yes)
        #expect(beginning([]) == .no)
        #expect(beginning([[], [0x65, 1]]) == .no, "nothing follows an empty unit")
    }

    @Test("a hidden source keeps at most as many packets as can be decoded in 0.1 s, from 8 to 240")
    func bounds() {
        #expect(HiddenSourceQueue.limit(pixels: 1280 * 720) == 65)
        #expect(HiddenSourceQueue.limit(pixels: 1920 * 1080) == 28)
        #expect(HiddenSourceQueue.limit(pixels: 320 * 180) == 240)
        #expect(HiddenSourceQueue.limit(pixels: 0) == 240)
        #expect(HiddenSourceQueue.limit(pixels: .max) == 8)
    }
}
