import LibAV
import MediaKernels
import MediaTypes
import Program
import RTMP
import Testing

@Suite("Unusual H.264 payloads of FLV messages: the decoded frames do not change")
struct PayloadFaultTests {
    /// How a publisher writes an access unit.
    enum Form: String, CaseIterable {
        case plain, startCodes, shortStartCodes, lengthAndStartCode, twoByteLengths, threeByteLengths, emptyUnits

        var lengthSize: Int {
            switch self {
            case .twoByteLengths: 2
            case .threeByteLengths: 3
            default: 4
            }
        }

        func payload(_ units: [[UInt8]]) -> [UInt8] {
            units.flatMap { unit -> [UInt8] in
                switch self {
                case .plain, .twoByteLengths, .threeByteLengths:
                    FLVBytes.length(unit.count, self.lengthSize) + unit
                case .startCodes: [0, 0, 0, 1] + unit
                case .shortStartCodes: [0, 0, 1] + unit
                case .lengthAndStartCode: FLVBytes.length(unit.count + 4, 4) + [0, 0, 0, 1] + unit
                case .emptyUnits: [0, 0, 0, 0] + FLVBytes.length(unit.count, 4) + unit + [0, 0, 0, 0]
                }
            }
        }
    }

    private static func record(_ sets: [[UInt8]], lengthSize: Int) throws -> [UInt8] {
        var record = try #require(
            AVCRecord(sequenceParameterSets: [sets[0]], pictureParameterSets: [sets[1]])
        ).record
        record[4] = 0xFC | UInt8(lengthSize - 1)
        return record
    }

    /// The decode stage's output for messages that pass the demuxer.
    private static func run(_ messages: [(body: [UInt8], time: UInt32)], ticks: Int) -> StageRun {
        var demuxer = FLVDemuxer()
        var items: [SourceItem] = []
        for message in messages {
            let media = RTMPMediaMessage(kind: .video, timestamp: message.time, payload: PacketMemory(message.body))
            demuxer.receive(media, arrival: 0, into: &items)
        }
        return StageRun.video(items, ticks: ticks)
    }

    private static func tag(_ packet: CodedPacket, _ index: Int, _ payload: [UInt8]) -> (body: [UInt8], time: UInt32) {
        ([packet.isKey ? 0x17 : 0x27, 1, 0, 0, 0] + payload, UInt32(index * 1000 / 30))
    }

    @Test(
        "H.264 with start codes, NAL lengths of two or three bytes, or empty units decodes to the same frames, sample for sample",
        arguments: Form.allCases)
    func forms(form: Form) throws {
        let (parameterSets, packets) = try Material.frames(35)
        let sets = AnnexB.units(of: parameterSets)
        func messages(_ form: Form) throws -> [(body: [UInt8], time: UInt32)] {
            let record = try Self.record(sets, lengthSize: form.lengthSize)
            return [([0x17, 0, 0, 0, 0] + record, 0)]
                + packets.enumerated().map { Self.tag($1, $0, form.payload(Material.units($1))) }
        }
        let plain = Self.run(try messages(.plain), ticks: 35)
        let run = Self.run(try messages(form), ticks: 35)
        #expect(plain.ticks.map(\.index) == Array(0..<35))
        #expect(run.ticks.map(\.index) == Array(0..<35))
        #expect(run.ticks.map(\.picture.digest) == plain.ticks.map(\.picture.digest))
        #expect(run.stats.damaged == 0 && run.failures.isEmpty)
    }

    @Test("a message with only empty NAL units gives no packet and damages none")
    func onlyEmptyUnits() throws {
        let (parameterSets, packets) = try Material.frames(10)
        let record = try Self.record(AnnexB.units(of: parameterSets), lengthSize: 4)
        var messages = [(body: [UInt8], time: UInt32)]()
        messages.append(([0x17, 0, 0, 0, 0] + record, 0))
        for (index, packet) in packets.enumerated() {
            messages.append(Self.tag(packet, index, Form.plain.payload(Material.units(packet))))
            messages.append(([0x27, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], UInt32(index * 1000 / 30 + 5)))
        }
        let run = Self.run(messages, ticks: 10)
        #expect(run.ticks.map(\.index) == Array(0..<10) && run.stats.videoPackets == 10 && run.stats.damaged == 0)
    }

    @Test("parameter sets and SEI in separate messages add no packet and damage none")
    func apart() throws {
        let (parameterSets, packets) = try Material.frames(35)
        let sets = AnnexB.units(of: parameterSets)
        let sei: [UInt8] = [0x06, 5, 17] + [UInt8](repeating: 7, count: 17) + [0x80]
        var messages = [(body: [UInt8], time: UInt32)]()
        messages.append(([0x17, 0, 0, 0, 0] + (try Self.record(sets, lengthSize: 4)), 0))
        for (index, packet) in packets.enumerated() {
            if packet.isKey { messages.append(Self.tag(packet, index, Form.plain.payload(sets))) }
            messages.append(Self.tag(packet, index, Form.plain.payload([sei])))
            messages.append(Self.tag(packet, index, Form.plain.payload(Material.units(packet))))
        }
        let run = Self.run(messages, ticks: 35)
        #expect(run.ticks.map(\.index) == Array(0..<35))
        #expect(run.stats.videoPackets == 35 && run.stats.damaged == 0 && run.failures.isEmpty)
    }

    @Test("with parameter sets only in the stream, decoding starts at the first IDR frame")
    func inBandOnly() throws {
        let (parameterSets, packets) = try Material.frames(45)
        let sets = AnnexB.units(of: parameterSets)
        let messages = packets.enumerated().dropFirst(20).map { index, packet in
            let units = (packet.isKey ? sets : []) + Material.units(packet)
            return Self.tag(packet, index, Form.startCodes.payload(units))
        }
        let run = Self.run(messages, ticks: 45)
        #expect(run.ticks.map(\.index) == Array(30..<45))
        #expect(run.stats.damaged == 0 && run.failures.isEmpty)
    }
}
