import Dispatch
import LibAV
import MediaKernels
import MediaTypes
import Program
import RTMP
import Threading
import Synchronization
import TestSupport
import Testing

@Suite("Endless format changes: five decoders are opened at once, then one per second")
struct DecoderOpenLimiterTests {
    /// A clock that the test sets.
    private final class HandClock: MonotonicClock {
        private let time = Atomic<Int64>(3_600_000_000_000)
        func now() -> Int64 { self.time.load(ordering: .relaxed) }
        func advance(by step: Int64) { self.time.add(step, ordering: .relaxed) }
    }

    /// A live publisher's decode stage and its clock.
    private struct Live {
        let clock = HandClock()
        let log = StageLog()
        let stage: DecodeStage

        init() {
            let program = ProgramClock(machine: self.clock)
            program.start(at: 0, program: 0)
            let log = self.log
            self.stage = DecodeStage(
                settings: DecodeStage.Settings(
                    source: StageRun.source, jitterBuffer: 200_000_000, offset: 0, sampleRate: 48_000),
                buffer: SourceBuffer(source: StageRun.source, isPaced: false), clock: program,
                machine: SystemClock(),
                events: { log.take($0) })
            let stage = self.stage
            DispatchQueue(label: "decode").async { stage.run { .max / 2 } }
        }

        /// A whole publication, decoded to its end.
        func publish(_ items: [SourceItem]) {
            self.stage.offer(items + [.end])
            self.log.ended.wait(for: "the end of a publication")
        }
    }

    private static func changes(_ parameters: [CodecParameters], _ packet: CodedPacket, count: Int) -> [SourceItem] {
        (0..<count).flatMap { index -> [SourceItem] in
            var packet = packet
            (packet.pts, packet.dts) = (Int64(index) * 33, Int64(index) * 33)
            packet.timescale = 1000
            return [.configuration(parameters[index % parameters.count]), .packet(packet)]
        }
    }

    /// Twenty changes at once, and one more after `wait`.
    ///
    /// - Returns: Packets without a decoder, among the twenty and in all.
    private func dropped(_ parameters: [CodecParameters], _ packet: CodedPacket, wait: Int64) -> [Int] {
        let live = Live()
        defer { live.stage.stop() }
        live.publish(Self.changes(parameters, packet, count: 20))
        let first = live.stage.stats.dropped
        live.clock.advance(by: wait)
        live.publish(Self.changes(parameters, packet, count: 1))
        return [first, live.stage.stats.dropped]
    }

    @Test(
        "of 20 video format changes at once, five are decoded; another one is decoded 1.1 s later, but not 0.5 s later")
    func frames() throws {
        let (sets, packets) = try Material.frames(1)
        var record = try #require(AVCRecord(annexB: sets)).record
        let first = CodecParameters(codec: .h264, configuration: record)
        record[3] &+= 1  // The level, which decoders read from the SPS.
        let formats = [first, CodecParameters(codec: .h264, configuration: record)]
        let key = try #require(packets.first)
        #expect(self.dropped(formats, key, wait: 1_100_000_000) == [15, 15])
        #expect(self.dropped(formats, key, wait: 500_000_000) == [15, 16])
    }

    @Test("changes of only the orientation open no new decoder, so that no packet is dropped")
    func turned() throws {
        let (sets, packets) = try Material.frames(1)
        let record = try #require(AVCRecord(annexB: sets)).record
        let formats = [0, 1].map {
            CodecParameters(codec: .h264, configuration: record, orientation: VideoOrientation(quarterTurns: $0))
        }
        let key = try #require(packets.first)
        #expect(self.dropped(formats, key, wait: 0) == [0, 0])
    }

    @Test(
        "of 20 audio format changes of a track at once, five are decoded; another one is decoded 1.1 s later, but not 0.5 s later"
    )
    func audio() {
        let formats = [[0x11, 0x90], [0x12, 0x10]].map { CodecParameters(codec: .aac, configuration: $0) }
        let packet = CodedPacket(
            kind: .audio, memory: PacketMemory([0x21, 0x10, 0x04, 0x60, 0x8C, 0x1C]), pts: 0, dts: 0, timescale: 1000,
            isKey: true)
        #expect(self.dropped(formats, packet, wait: 1_100_000_000) == [15, 15])
        #expect(self.dropped(formats, packet, wait: 500_000_000) == [15, 16])
        // Formats of another track have a budget of their own.
        let live = Live()
        defer { live.stage.stop() }
        let others = (UInt8(0)..<4).flatMap { track -> [SourceItem] in
            var (parameters, own) = (formats[0], packet)
            (parameters.track, own.track) = (track, track)
            return [.configuration(parameters), .packet(own)] + Self.changes([parameters], own, count: 4)
        }
        live.publish(others)
        #expect(live.stage.stats.dropped == 0 && live.stage.stats.audioPackets == 20)
    }

    @Test("ten seconds after the limit of opened decoders was reached, five can be opened at once again")
    func refills() {
        let live = Live()
        defer { live.stage.stop() }
        let formats = [[0x11, 0x90], [0x12, 0x10]].map { CodecParameters(codec: .aac, configuration: $0) }
        let packet = CodedPacket(
            kind: .audio, memory: PacketMemory([0x21, 0x10, 0x04, 0x60, 0x8C, 0x1C]), pts: 0, dts: 0, timescale: 1000,
            isKey: true)
        live.publish(Self.changes(formats, packet, count: 6))
        #expect(live.stage.stats.dropped == 1)
        live.clock.advance(by: 10_000_000_000)
        live.publish(Self.changes(formats, packet, count: 5))
        #expect(live.stage.stats.dropped == 1, "the budget is full again")
    }
}
