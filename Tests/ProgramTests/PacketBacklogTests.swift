import LibAV
import MediaKernels
import MediaTypes
import Program
import RTMP
import Testing

@Suite("What waits for its decoding has a bound in bytes")
struct PacketBudgetTests {
    private static let video = CodecParameters(codec: .h264, configuration: [1])

    private static func packet(_ kind: TrackKind, isKey: Bool = false, bytes: Int = 14) -> SourceItem {
        .packet(
            CodedPacket(
                kind: kind, memory: PacketMemory([UInt8](repeating: 0, count: bytes)), pts: 0, dts: 0, timescale: 1000,
                isKey: isKey))
    }

    private static func sound(_ number: UInt8, track: UInt8 = 0) -> SourceItem {
        var parameters = CodecParameters(codec: .aac, configuration: [number])
        parameters.track = track
        return .configuration(parameters)
    }

    /// C video's configuration, D and its number sound's, K key picture, v picture, a sound, E end.
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

    @Test("however small its packets, and however many configurations are among them, no more than the limit waits")
    func bound() {
        for item in [Self.packet(.audio, bytes: 0), Self.packet(.audio, bytes: 60_000), Self.sound(1)] {
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

    @Test("what is too much goes, up to the next key picture that finds half of the room; formats are not lost with it")
    func overflow() {
        var budget = PacketBacklog()
        let large = Self.packet(.video, bytes: 8 << 20)
        var waiting: [SourceItem] = []
        func admit(_ items: [SourceItem]) -> String {
            let (taken, dropped) = budget.admit(items)
            waiting += taken
            return Self.letters(taken) + " \(dropped)"
        }
        #expect(admit([.configuration(Self.video), Self.sound(1), large, large, large]) == "CD1vvv 0")
        #expect(admit([large, Self.packet(.audio), Self.sound(2), Self.sound(7, track: 1), Self.sound(3)]) == " 2")
        #expect(budget.isOverflowed)
        #expect(admit([Self.packet(.video, isKey: true)]) == " 1", "there is no room for what follows it")
        for item in waiting.prefix(4) { budget.release(item) }
        #expect(admit([Self.packet(.video), Self.packet(.audio)]) == " 2", "only a key picture begins anew")
        #expect(admit([Self.packet(.video, isKey: true), Self.packet(.audio)]) == "D7D3Ka 0")
        #expect(!budget.isOverflowed)
        for item in waiting.dropFirst(4) { budget.release(item) }
        #expect(budget.bytes == 0)
    }

    @Test("a publication without key pictures goes on, too, when there has been room for a while")
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

    @Test("sound alone begins anew with any packet; an end is always taken, and the next publication begins")
    func soundAndEnds() {
        var budget = PacketBacklog()
        let large = Self.packet(.audio, bytes: 8 << 20)
        #expect(Self.letters(budget.admit([Self.sound(1), large, large, large, large]).taken) == "D1aaa")
        #expect(budget.admit([Self.packet(.audio)]).dropped == 1)
        budget.release(large)
        budget.release(large)
        #expect(Self.letters(budget.admit([Self.packet(.audio)]).taken) == "a")
        // Too much again, and then somebody else.
        #expect(budget.admit([large, large, large]).dropped == 1)
        #expect(Self.letters(budget.admit([Self.sound(5), .end]).taken) == "E")
        #expect(!budget.isOverflowed)
    }

    @Test("a source that is shown ten seconds late may have ten seconds of 20 Mbit/s more, and is not held for them")
    func offset() {
        var budget = PacketBacklog()
        budget.allow(offset: 10_000_000_000)
        #expect(budget.allowance == 25_000_000)
        budget.allow(offset: -10_000_000_000)
        #expect(budget.allowance == 25_000_000, "what waits already stays")
        budget.allow(offset: .max)
        #expect(budget.allowance == 25_000_000, "there is a bound")
        let large = Self.packet(.video, bytes: 8 << 20)
        let taken = (0..<10).count { _ in !budget.admit([large]).taken.isEmpty }
        #expect(taken == 5, "three without an offset; the block of each is a quarter larger")

        let stage = StageRun.idle(offset: 10_000_000_000)
        // Ten seconds of it, and one and a half of the largest jitter buffer.
        for _ in 0..<115 { stage.offer(Self.packet(.video, bytes: 250_000)) }
        #expect(stage.waitingBytes > 24 << 20 && stage.crowdingBytes < 16 << 20 && stage.stats.dropped == 0)
        let usual = StageRun.idle(offset: 0)
        usual.setOffset(milliseconds: 2_000)
        for _ in 0..<20 { usual.offer(Self.packet(.video, bytes: 250_000)) }
        #expect(usual.crowdingBytes < 1_000_000, "a new offset counts from now on")
    }

    @Test("what waits of a publisher who was sent away is left out, up to its end; the next one's is not")
    func cut() {
        let sounds = (0..<5).map { _ in Self.packet(.audio) }
        let run = StageRun.publications([([Self.sound(1)] + sounds, true), (Array(sounds.prefix(3)), false)])
        #expect(run.stats.audioPackets == 3 && run.stats.dropped == 5 && run.waitingBytes == 0)
    }

    @Test("nor is what waits of one who was sent away when he had left; the next one's is")
    func cutPast() {
        let sounds = (0..<5).map { _ in Self.packet(.audio) }
        let run = StageRun.cutPast([Self.sound(1)] + sounds, before: Array(sounds.prefix(3)))
        #expect(run.stats.audioPackets == 3 && run.stats.dropped == 5 && run.waitingBytes == 0)
    }

    @Test("the last picture of a publisher who was sent away is not held")
    func cutPicture() throws {
        let stage = StageRun.idle(offset: 0)
        stage.buffer.setStatus(.live, at: 0)
        stage.buffer.push(
            try PictureCanvas.open(width: 16, height: 16, fill: .black).finish(), time: 0, arrival: nil)
        #expect(stage.buffer.select(at: 0, interval: 33_333_333) != nil)
        stage.cut()
        #expect(stage.buffer.select(at: 33_333_333, interval: 33_333_333) == nil)
    }

    @Test("nor is its first one, if that is on its way into the decoder just then")
    func cutFirstPicture() throws {
        let (sets, packets) = try Material.pictures(1)
        let configuration = try #require(AVCRecord(annexB: sets))
        let packet = try #require(packets.first)
        let left = StageRun.cutAtPicture(CodecParameters(codec: .h264, configuration: configuration.record), packet)
        #expect(left == nil)
    }

    @Test("what has its place already, and is not due, is left out, too")
    func cutOff() {
        let run = StageRun.cutOff([Self.packet(.video, isKey: true), Self.packet(.video), Self.packet(.audio)])
        #expect(run.stats.videoPackets + run.stats.audioPackets == 0)
        #expect(run.stats.dropped == 3 && run.waitingBytes == 0)
    }

    @Test("one item that is larger than everything is taken when nothing else waits")
    func giant() {
        var budget = PacketBacklog()
        let giant = Self.packet(.video, isKey: true, bytes: PacketBacklog.limit)
        #expect(budget.admit([giant]).taken.count == 1)
        #expect(budget.admit([Self.packet(.video)]).dropped == 1)
    }
}
