import Encoding
import LibAV
import MediaTypes
import Synchronization
import Testing

@Suite("Opus: the mixer's audio in frames of 20 ms")
struct OpusFramerTests {
    /// Pairs whose left sample is their position.
    private static func block(_ position: Int, _ count: Int = 1024) -> [Float] {
        (position..<position + count).flatMap { [Float($0), Float(-$0)] }
    }

    @Test("audio blocks of 1,024 samples become Opus frames of 960 that follow each other and contain each sample once")
    func frames() {
        var framer = OpusFramer()
        var frames: [OpusFramer.Frame] = []
        for index in 0..<45 { frames += framer.add(Self.block(2_048 + index * 1024), at: Int64(2_048 + index * 1024)) }
        #expect(frames.count == 48)
        let positions: [Int64] = (0..<48).map { index -> Int64 in 2_048 + Int64(index) * 960 }
        #expect(frames.map(\.position) == positions)
        #expect(frames.flatMap { Array($0.samples) } == Self.block(2_048, 48 * 960))
        #expect(frames.map(\.isContinued).firstIndex(of: true) == 1)
        #expect(frames.dropFirst().allSatisfy { $0.isContinued })
    }

    @Test("a lost audio block is replaced by silence, so that later samples keep their time")
    func gap() {
        var framer = OpusFramer()
        var frames = framer.add(Self.block(0), at: 0)
        frames += framer.add(Self.block(2_048), at: 2_048)
        let samples = frames.flatMap { Array($0.samples) }
        #expect(samples.count == 3 * 960 * 2)
        let left: [Float] = [1_023, 1_024, 2_047, 2_048].map { samples[2 * $0] }
        #expect(left == [1_023, 0, 0, 2_048])
        #expect(frames.allSatisfy { $0.position == 0 || $0.isContinued })
    }

    @Test("samples of an audio block that overlap the previous block are ignored")
    func overlap() {
        var framer = OpusFramer()
        var frames = framer.add(Self.block(0), at: 0)
        frames += framer.add(Self.block(512), at: 512)
        frames += framer.add(Self.block(1_536), at: 1_536)
        #expect(frames.flatMap { Array($0.samples) } == Self.block(0, 2 * 960))
    }

    @Test("after a long gap in the audio, and after a reset, Opus frames begin at the new position")
    func jump() {
        var framer = OpusFramer()
        _ = framer.add(Self.block(0), at: 0)
        let jumped = framer.add(Self.block(100_000), at: 100_000)
        #expect(jumped.map(\.position) == [100_000] && jumped.map(\.isContinued) == [false])
        framer.reset()
        let again = framer.add(Self.block(101_024), at: 101_024)
        #expect(again.map(\.position) == [101_024] && again.map(\.isContinued) == [false])
    }

    @Test(
        "the Opus encoder makes a packet per frame, with a pts earlier than the frame's by a constant delay of at most 960 samples"
    )
    func packets() throws {
        let encoder = try OpusEncoder.open(bitrate: 128_000, place: "test")
        var packets: [CodedPacket] = []
        for index in 0..<50 {
            let samples = (0..<960).flatMap { pair -> [Float] in
                let value = Float((index * 960 + pair) % 109) / 109 - 0.5
                return [value, value]
            }
            try encoder.encode(samples[...], pts: Int64(4_800 + index * 960)) { packets.append($0) }
        }
        #expect(packets.count == 50)
        #expect(zip(packets, packets.dropFirst()).allSatisfy { $1.pts - $0.pts == 960 })
        let first: Int64 = packets.first?.pts ?? 0
        let delay: Int64 = 4_800 - first
        #expect((0...960).contains(delay), "\(delay)")
        for packet in packets {
            #expect(packet.timescale == 48_000 && packet.duration == 960)
            #expect(packet.count > 0 && packet.kind == .audio)
        }
    }

    @Test("the Opus stage encodes only while packets are needed, and begins anew after a pause")
    func demand() throws {
        let positions = Mutex<[Int64]>([])
        let stage = try OpusStage.open(
            bitrate: 64_000, packet: { packet in positions.withLock { $0.append(packet.pts) } },
            failed: { Issue.record("\($0)") })
        func put(_ blocks: Range<Int>) {
            for block in blocks { stage.put(Self.block(0).map { _ in 0.1 }, position: Int64(block * 1024)) }
        }
        put(0..<10)
        stage.setNeeded(true)
        put(10..<20)
        stage.setNeeded(false)
        put(20..<30)
        stage.setNeeded(true)
        put(30..<40)
        stage.finish()
        let seen = positions.withLock { $0 }
        let first: Int64 = seen.first ?? 0
        let delay: Int64 = 10_240 - first
        #expect((0...960).contains(delay))
        let starts: [Int64] = [10 * 1024, 30 * 1024]
        let expected = starts.flatMap { start -> [Int64] in (0..<10).map { start + Int64($0) * 960 - delay } }
        #expect(seen == expected)
    }
}
