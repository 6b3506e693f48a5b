import MediaKernels
import MediaTypes
import WebRTC

/// Sequences of RTP payloads to configurations and packets.
///
/// Input: codec (1 byte, modulo the number of codecs), then records of flags (1 byte), step of the RTP timestamp in
/// units of 900 ticks (1 byte, signed), length (2 bytes) and payload.
enum DepacketizerCase {
    static let entry = FuzzCase(
        "depacketizers", longest: 4000, mutate: Self.mutate, seeds: Self.seeds, run: Self.run)

    static let codecs: [CodecName] = [.h264, .vp8, .vp9, .opus]

    /// Bits of a record's flags.
    private enum Flag {
        static let marker: UInt8 = 1
        static let isAfterLoss: UInt8 = 2
        /// The orientation byte is the upper half of the flags.
        static let hasOrientation: UInt8 = 4
    }

    static func read(_ bytes: [UInt8]) -> (codec: CodecName, packets: [OrderedPacket]) {
        var input = FuzzInput(bytes)
        let codec = Self.codecs[Int(input.byte()) % Self.codecs.count]
        var packets: [OrderedPacket] = []
        var time: UInt32 = 0xFFFF_F000
        while input.left > 0, packets.count < 2000 {
            let flags = input.byte()
            time = time &+ UInt32(bitPattern: Int32(Int8(bitPattern: input.byte())) * 900)
            let payload = input.take(Int(input.number(2)))
            if payload.isEmpty { continue }
            packets.append(
                OrderedPacket(
                    sequence: Int64(packets.count), timestamp: time, marker: flags & Flag.marker != 0,
                    payload: payload[...], orientation: flags & Flag.hasOrientation != 0 ? flags >> 4 : nil,
                    arrival: Int64(packets.count), isAfterLoss: packets.isEmpty || flags & Flag.isAfterLoss != 0))
        }
        return (codec, packets)
    }

    static func run(_ bytes: [UInt8]) -> String? {
        let (codec, packets) = Self.read(bytes)
        let kind = CodecParameters(codec: codec, configuration: []).kind
        let track = NegotiatedTrack(
            mid: "0", kind: kind, codec: codec, payloadType: 96, clockRate: kind == .audio ? 48_000 : 90_000)
        guard var assembly = MediaAssembly(track: track) else { return "no assembly of \(codec)" }
        var isConfigured = false
        var isWaiting = kind == .video
        var sent = 0
        var given = 0
        for packet in packets {
            let damage = Self.damages(assembly)
            var items: [SourceItem] = []
            assembly.receive(packet, time: Int64(packet.timestamp) * 11_111, into: &items)
            sent += packet.payload.count
            if items.count > 4 { return "\(items.count) items of one packet" }
            if let broken = TagCase.check(items) { return broken }
            // The frame before the packet may be complete, and that of the packet.
            if kind == .video, Self.damages(assembly) != damage, items.isEmpty { isWaiting = true }
            for item in items {
                switch item {
                case .configuration: isConfigured = true
                case .packet(let packet):
                    guard isConfigured else { return "a packet before its configuration" }
                    if isWaiting, !packet.isKey { return "a frame after damage and before a key frame" }
                    isWaiting = false
                    given += packet.count
                case .end: return "a packet ends the source"
                }
            }
        }
        // Lengths take four bytes where STAP-A has two.
        return given <= sent * 2 + 4 * packets.count ? nil : "\(given) bytes are made from \(sent)"
    }

    private static func damages(_ assembly: MediaAssembly) -> UInt64 {
        let counters = assembly.counters
        return counters.lost + counters.malformed + counters.tooLarge + counters.noParameterSets
    }

    static func record(_ payload: RTPPayload, step: Int8, flags: UInt8 = 0) -> [UInt8] {
        [flags | (payload.marker ? Flag.marker : 0), UInt8(bitPattern: step)]
            + [UInt8(payload.bytes.count >> 8), UInt8(payload.bytes.count & 0xFF)] + payload.bytes
    }

    static func seeds() -> [(name: String, bytes: [UInt8])] {
        let sets = [TagRecords.parameterSets.sps, TagRecords.parameterSets.pps]
        let idr: [UInt8] = [0x65, 0x88, 0x84, 0x21, 0xA0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
        let slice: [UInt8] = [0x41, 0x9A, 0x84, 0x21, 0xA0, 1, 2, 3]
        let recovery: [UInt8] = [0x06, 0x06, 0x01, 0x84, 0x80]
        let vp8Key: [UInt8] = [0x50, 0, 0, 0x9D, 0x01, 0x2A, 0x80, 0x02, 0x68, 0x01] + [UInt8](repeating: 7, count: 20)
        let vp9Key: [UInt8] = [0x82, 0x49, 0x83, 0x42, 0x40, 0x27, 0xF0, 0x16, 0x78] + [UInt8](repeating: 7, count: 20)
        var seeds: [(name: String, bytes: [UInt8])] = []
        for size in [16, 1200] {
            let h264 = H264Packetizer(largestPayload: size)
            var vp8 = VP8Packetizer(largestPayload: size, firstPictureID: 0x7FFE)
            var vp9 = VP9Packetizer(largestPayload: size, firstPictureID: 0x7FFE)
            let units = [sets + [idr], [slice], [recovery, slice, slice], [idr], sets + [idr]]
            seeds.append(("h264.\(size)", Self.input(0, units.map { h264.payloads($0) })))
            let frames = [vp8Key, [0x31, 0, 0, 4, 5], vp8Key].map { vp8.payloads($0) }
            seeds.append(("vp8.\(size)", Self.input(1, frames)))
            let payloads = [vp9Key, [0x86, 1, 2], vp9Key].map { vp9.payloads($0, isKey: $0.count > 9) }
            seeds.append(("vp9.\(size)", Self.input(2, payloads)))
        }
        let single = H264Packetizer(largestPayload: 1200, isModeOne: false)
        seeds.append(("h264.single", Self.input(0, [single.payloads(sets + [idr]), single.payloads([slice])])))
        // VP8 with all fields, VP9 with layers, references and a scalability structure.
        let full = [[0x90, 0xF0, 0x80, 0x11, 7, 0x43] + vp8Key].map { RTPPayload(bytes: $0, marker: true) }
        seeds.append(("vp8.fields", Self.input(1, [full])))
        let layers: [[UInt8]] = [
            [0xAE, 0x91, 0x22, 0x00, 7, 0x18, 2, 0x80, 1, 0x68, 1, 0] + vp9Key, [0xBC, 0x11, 0x02, 0x86, 1],
            [0xFC, 0x12, 0x00, 3, 2, 0x86, 1],
        ]
        let layered = layers.map { [RTPPayload(bytes: $0, marker: true)] }
        seeds.append(("vp9.layers", Self.input(2, layered)))
        let opus: [[UInt8]] = [
            [0xFC, 1, 2], [0xF9, 1, 2], [0xFA, 1, 9, 9], [0xFB, 3, 1, 2, 3], [0xFB, 0xC2, 255, 1, 1, 7, 8],
        ]
        let audio = opus.map { [OpusPacketizer.payload($0)] }
        seeds.append(("opus", Self.input(3, audio)))
        return seeds
    }

    private static func input(_ codec: UInt8, _ frames: [[RTPPayload]]) -> [UInt8] {
        var bytes = [codec]
        for (number, payloads) in frames.enumerated() {
            for (index, payload) in payloads.enumerated() {
                bytes += Self.record(
                    payload, step: index == 0 ? 3 : 0, flags: number == 1 ? Flag.hasOrientation | 0x10 : 0)
            }
        }
        return bytes
    }

    /// Mutates records: their order, number, flags, times, and bytes, with valid lengths.
    static func mutate(_ bytes: [UInt8], _ seed: UInt64) -> [UInt8] {
        var random = FuzzRandom(seed: seed)
        var input = FuzzInput(bytes)
        let codec = input.byte()
        var records: [(flags: UInt8, step: UInt8, payload: [UInt8])] = []
        while input.left > 0, records.count < 2000 {
            records.append((input.byte(), input.byte(), input.take(Int(input.number(2)))))
        }
        for _ in 0..<(1 + random.below(3)) where !records.isEmpty {
            let at = random.below(records.count)
            switch random.below(12) {
            case 0:
                if records.count > 1 { records.remove(at: at) }
                if at < records.count { records[at].flags |= Flag.isAfterLoss }
            case 1: records.insert(records[at], at: random.below(records.count))
            case 2: records.swapAt(at, random.below(records.count))
            case 3: records[at].payload = Array(records[at].payload.prefix(random.below(records[at].payload.count)))
            case 4: records[at].payload += (0..<(1 + random.below(12))).map { _ in UInt8(random.below(256)) }
            case 5: records[at].step = random.pick([0, 1, 3, 0xFD, 0x7F, 0x80], or: 0)
            case 6: records[at].flags ^= random.pick([Flag.marker, Flag.isAfterLoss, Flag.hasOrientation, 0x10], or: 1)
            default: SessionMutator.flip(&records[at].payload, &random)
            }
        }
        var out = [codec]
        for record in records {
            out += [
                record.flags, record.step, UInt8(record.payload.count >> 8 & 0xFF), UInt8(record.payload.count & 0xFF),
            ]
            out += record.payload
        }
        return out
    }
}
