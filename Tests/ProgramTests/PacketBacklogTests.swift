import LibAV
import MediaKernels
import MediaTypes
import Program
import RTMP
import Testing

@Suite("Packets waiting for the decoder: limit in bytes")
struct PacketBacklogTests {
    private static let video = CodecParameters(codec: .h264, configuration: [1])

    private static func packet(_ kind: TrackKind, isKey: Bool = false, bytes: Int = 14) -> SourceItem {
        .packet(
            CodedPacket(
                kind: kind, memory: PacketMemory([UInt8](repeating: 0, count: bytes)), pts: 0, dts: 0, timescale: 1000,
                isKey: isKey))
    }

    private static func audioConfiguration(_ number: UInt8, track: UInt8 = 0) -> SourceItem {
        var parameters = CodecParameters(codec: .aac, configuration: [number])
        parameters.track = track
        return .configuration(parameters)
    }

    /// C video configuration, D and its number audio configuration, K key frame, v frame, a audio, E end.
    private static func letters(_ items: [SourceItem]) -> String {
        items.map { item in
            switch item {
            case .configuration(let parameters):
                parameters.kind == .video ? "C" : "D\(parameters.configuration.first ?? 0)"
            case .packet(let packet): packet.kind == .audio ? "a" : packet.isKey ? "K" : "v"
            case .end: "E"
            }
        }.joined()
    }

    @Test(
        "a source's backlog of packets stays within its limit in bytes for empty and large packets and for configurations"
    )
    func bound() {
        for item in [Self.packet(.audio, bytes: 0), Self.packet(.audio, bytes: 60_000), Self.audioConfiguration(1)] {
            var budget = PacketBacklog()
            var count = 0
            for _ in 0..<200_000 {
                let (taken, _) = budget.admit([item])
                count += taken.count
                #expect(budget.bytes <= PacketBacklog.limit)
                if taken.isEmpty { break }
            }
            #expect(count == PacketBacklog.limit / item.cost)
        }
    }

    @Test("a backlog over its limit drops packets until a key frame arrives while enough of the limit is free")
    func overflow() {
        var budget = PacketBacklog()
        let large = Self.packet(.video, bytes: 8 << 20)
        var waiting: [SourceItem] = []
        func admit(_ items: [SourceItem]) -> String {
            let (taken, dropped) = budget.admit(items)
            waiting += taken
            return Self.letters(taken) + " \(dropped)"
        }
        #expect(admit([.configuration(Self.video), Self.audioConfiguration(1), large, large, large]) == "CD1vvv 0")
        #expect(
            admit([
                large, Self.packet(.audio), Self.audioConfiguration(2), Self.audioConfiguration(7, track: 1),
                Self.audioConfiguration(3),
            ]) == " 2")
        #expect(budget.isOverflowed)
        #expect(admit([Self.packet(.video, isKey: true)]) == " 1", "there is no space for what follows it")
        for item in waiting.prefix(4) { budget.release(item) }
        #expect(admit([Self.packet(.video), Self.packet(.audio)]) == " 2", "it restarts only at a key frame")
        #expect(admit([Self.packet(.video, isKey: true), Self.packet(.audio)]) == "D7D3Ka 0")
        #expect(!budget.isOverflowed)
        for item in waiting.dropFirst(4) { budget.release(item) }
        #expect(budget.bytes == 0)
    }

    @Test("after an overflow of its backlog, video without key frames continues once there was room for a while")
    func noKeys() {
        var budget = PacketBacklog()
        let large = Self.packet(.video, bytes: 8 << 20)
        let (waiting, dropped) = budget.admit([.configuration(Self.video), large, large, large, large])
        #expect(Self.letters(waiting) == "Cvvv" && dropped == 1)
        let small = [Self.packet(.video), Self.packet(.audio)]
        for _ in 0..<2 * PacketBacklog.keyPatience { #expect(budget.admit(small).taken.isEmpty, "no room") }
        for item in waiting { budget.release(item) }
        for _ in 0..<PacketBacklog.keyPatience { #expect(budget.admit(small).taken.isEmpty) }
        #expect(Self.letters(budget.admit(small).taken) == "va")
        #expect(!budget.isOverflowed)
    }

    @Test(
        "after an overflow of its backlog, audio continues with any packet; the end of a publication is always queued")
    func audioAndEnds() {
        var budget = PacketBacklog()
        let large = Self.packet(.audio, bytes: 8 << 20)
        #expect(Self.letters(budget.admit([Self.audioConfiguration(1), large, large, large, large]).taken) == "D1aaa")
        #expect(budget.admit([Self.packet(.audio)]).dropped == 1)
        budget.release(large)
        budget.release(large)
        #expect(Self.letters(budget.admit([Self.packet(.audio)]).taken) == "a")
        // Over the limit again, and then the next publisher.
        #expect(budget.admit([large, large, large]).dropped == 1)
        #expect(Self.letters(budget.admit([Self.audioConfiguration(5), .end]).taken) == "E")
        #expect(!budget.isOverflowed)
    }

    @Test("a source delayed by ten seconds may queue 25 MB more")
    func offset() {
        var budget = PacketBacklog()
        budget.allow(offset: 10_000_000_000)
        #expect(budget.allowance == 25_000_000)
        budget.allow(offset: -10_000_000_000)
        #expect(budget.allowance == 25_000_000, "packets already queued stay")
        let large = Self.packet(.video, bytes: 8 << 20)
        let taken = (0..<10).count { _ in !budget.admit([large]).taken.isEmpty }
        #expect(taken == 5, "three without an offset; the block of each is a quarter larger")
        budget.allow(offset: .max)
        #expect(budget.allowance == 50_000_000, "there is a limit: ten seconds of an offset and of the program's delay")

        let stage = StageRun.idle(offset: 10_000_000_000)
        // Ten seconds of it, and one and a half of the largest jitter buffer.
        for _ in 0..<115 { stage.offer(Self.packet(.video, bytes: 250_000)) }
        #expect(stage.waitingBytes > 24 << 20 && stage.crowdingBytes < 16 << 20 && stage.stats.dropped == 0)
        let usual = StageRun.idle(offset: 0)
        usual.setOffset(milliseconds: 2_000)
        for _ in 0..<20 { usual.offer(Self.packet(.video, bytes: 250_000)) }
        #expect(usual.crowdingBytes < 1_000_000, "a new offset applies from now on")
        usual.setDelay(milliseconds: 3_000)
        #expect(
            usual.wantedOffset == 5_000_000_000 && usual.delay == 3_000_000_000, "the program's delay is added to it")
        usual.setDelay(milliseconds: 0)
        #expect(usual.wantedOffset == 2_000_000_000)
    }

    @Test("a kick drops the publisher's waiting packets and not those of the next publisher")
    func cut() {
        let audioPackets = (0..<5).map { _ in Self.packet(.audio) }
        let run = StageRun.publications([
            ([Self.audioConfiguration(1)] + audioPackets, true), (Array(audioPackets.prefix(3)), false),
        ])
        #expect(run.stats.audioPackets == 3 && run.stats.dropped == 5 && run.waitingBytes == 0)
    }

    @Test("a kick drops the publisher's waiting packets, too, if the publisher has already left")
    func cutPast() {
        let audioPackets = (0..<5).map { _ in Self.packet(.audio) }
        let run = StageRun.cutPast([Self.audioConfiguration(1)] + audioPackets, before: Array(audioPackets.prefix(3)))
        #expect(run.stats.audioPackets == 3 && run.stats.dropped == 5 && run.waitingBytes == 0)
    }

    @Test("after a kick the publisher's last frame is not shown any longer")
    func cutPicture() throws {
        let stage = StageRun.idle(offset: 0)
        stage.buffer.setStatus(.live, at: 0)
        stage.buffer.push(
            try PictureCanvas.open(width: 16, height: 16, fill: .black).finish(), time: 0, arrival: nil)
        #expect(stage.buffer.select(at: 0, interval: 33_333_333) != nil)
        stage.cut()
        #expect(stage.buffer.select(at: 33_333_333, interval: 33_333_333) == nil)
    }

    @Test("a frame that is being decoded when its publisher is kicked is not shown")
    func cutFirstPicture() throws {
        let (sets, packets) = try Material.frames(1)
        let configuration = try #require(AVCRecord(annexB: sets))
        let packet = try #require(packets.first)
        let left = StageRun.cutAtPicture(CodecParameters(codec: .h264, configuration: configuration.record), packet)
        #expect(left == nil)
    }

    @Test("a kick drops the publisher's packets that are not yet due")
    func cutOff() {
        let run = StageRun.cutOff([Self.packet(.video, isKey: true), Self.packet(.video), Self.packet(.audio)])
        #expect(run.stats.videoPackets + run.stats.audioPackets == 0)
        #expect(run.stats.dropped == 3 && run.waitingBytes == 0)
    }

    @Test("a packet larger than the limit is queued if no other waits")
    func giant() {
        var budget = PacketBacklog()
        let giant = Self.packet(.video, isKey: true, bytes: PacketBacklog.limit)
        #expect(budget.admit([giant]).taken.count == 1)
        #expect(budget.admit([Self.packet(.video)]).dropped == 1)
    }
}
