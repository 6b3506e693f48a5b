import MediaKernels
import MediaTypes
import RTMP

/// Audio and video messages as encoded in an input.
enum TagRecords {
    static func read(_ bytes: [UInt8]) -> (flags: UInt8, messages: [RTMPMediaMessage]) {
        var input = FuzzInput(bytes)
        let flags = input.byte()
        var messages: [RTMPMediaMessage] = []
        var time: UInt32 = 0
        while input.left > 0, messages.count < 200 {
            let kind = input.byte()
            // Signed, since timestamps go back too, and sometimes far.
            let step = Int32(Int16(truncatingIfNeeded: input.number(2)))
            time = time &+ UInt32(bitPattern: kind & 0x40 != 0 ? step &* 65_521 : step)
            let payload = input.take(Int(input.number(2)))
            messages.append(
                RTMPMediaMessage(kind: kind & 1 == 1 ? .audio : .video, timestamp: time, payload: PacketMemory(payload))
            )
        }
        return (flags, messages)
    }

    static func record(isAudio: Bool, step: Int16, _ payload: [UInt8]) -> [UInt8] {
        let step = UInt16(bitPattern: step)
        let length = UInt16(clamping: payload.count)
        return [isAudio ? 1 : 0, UInt8(step >> 8), UInt8(step & 0xFF), UInt8(length >> 8), UInt8(length & 0xFF)]
            + payload.prefix(Int(length))
    }

    /// Parameter sets of a small video.
    static let parameterSets: (sps: [UInt8], pps: [UInt8]) = (
        [
            0x67, 0x42, 0xC0, 0x0A, 0xDA, 0x11, 0x1A, 0x10, 0x00, 0x00, 0x03, 0x00, 0x10, 0x00, 0x00, 0x03, 0x03, 0xC0,
            0xF1, 0x22, 0x6A,
        ],
        [0x68, 0xCE, 0x0F, 0xC8]
    )

    /// A sequence header of that codec; nil if there is none here.
    static func head(of codec: CodecName) -> RTMPMediaMessage? {
        switch codec {
        case .h264:
            return AVCRecord(
                sequenceParameterSets: [self.parameterSets.sps], pictureParameterSets: [self.parameterSets.pps]
            ).flatMap { FLVTagWriter.configuration(CodecParameters(codec: .h264, configuration: $0.record)) }
        case .hevc: return FLVTagWriter.configuration(CodecParameters(codec: .hevc, configuration: Self.hevc))
        case .aac: return FLVTagWriter.configuration(CodecParameters(codec: .aac, configuration: [0x12, 0x10]))
        case .opus, .av1, .vp9, .vp8, .mp3, .ac3, .eac3: return nil
        case .flac:
            return FLVTagWriter.configuration(
                CodecParameters(codec: .flac, configuration: Self.flac))
        default: return nil
        }
    }

    /// The start of a FLAC stream: 48 kHz, two channels, 16 bits.
    static let flac: [UInt8] =
        Array("fLaC".utf8) + [0x80, 0, 0, 34, 0x12, 0, 0x12, 0, 0, 0, 0, 0, 0, 0, 0x0B, 0xB8, 0x02, 0xF0]
        + [UInt8](repeating: 0, count: 20)

    /// An hvcC with one parameter set of each kind.
    static let hevc: [UInt8] =
        [1, 1, 0x60, 0, 0, 0, 0x90, 0, 0, 0, 0, 0, 30, 0xF0, 0, 0xFC, 0xFD, 0xF8, 0xF8, 0, 0, 0x0F, 3]
        + [0xA0, 0, 1, 0, 4, 0x40, 1, 0x0C, 1] + [0xA1, 0, 1, 0, 5, 0x42, 1, 1, 1, 0x60]
        + [0xA2, 0, 1, 0, 4, 0x44, 1, 0xC1, 0x72]

    static func seeds() -> [(name: String, bytes: [UInt8])] {
        var seeds: [(name: String, bytes: [UInt8])] = []
        for (name, bytes) in FuzzFiles.captures() {
            let messages = ChunkCase.read(Array(bytes.dropFirst(3073)), largest: .max, seed: 0).messages
            var out: [UInt8] = [1]
            for message in messages where message.type == 8 || message.type == 9 {
                if out.count + message.payload.count > 2900 { continue }
                out += self.record(isAudio: message.type == 8, step: 20, message.payload)
            }
            seeds.append((name, out))
        }
        for (name, bytes) in FuzzFiles.media() {
            seeds.append((name, bytes))
        }
        return seeds + self.enhanced()
    }

    /// One of each form of Enhanced RTMP.
    private static func enhanced() -> [(name: String, bytes: [UInt8])] {
        var seeds: [(name: String, bytes: [UInt8])] = []
        let picture: [UInt8] = [0, 0, 0, 5, 0x65, 0x88, 0x84, 0x21, 0xA0]
        for codec in FLVTagWriter.codecs.sorted(by: { $0.rawValue < $1.rawValue }) {
            let isAudio = CodecParameters(codec: codec, configuration: []).kind == .audio
            for track in [UInt8(0), 1] {
                var out: [UInt8] = [1]
                if track == 0, let head = self.head(of: codec) {
                    out += self.record(isAudio: isAudio, step: 0, head.payload.bytes)
                }
                var packet = CodedPacket(
                    kind: isAudio ? .audio : .video,
                    memory: PacketMemory(codec == .hevc ? [0, 0, 0, 5, 0x26, 1, 1, 2, 3] : picture),
                    pts: 40, dts: 0, timescale: 1000, isKey: true)
                packet.track = track
                if let message = FLVTagWriter.enhanced(packet, codec: codec) {
                    out += self.record(isAudio: isAudio, step: 10, message.payload.bytes)
                }
                seeds.append(("\(codec).\(track)", out))
            }
        }
        // A nanosecond modifier before an avc1 frame; many tracks with one codec; with several codecs.
        let nano: [UInt8] = [0x97, 2, 0, 1, 0, 0x01] + Array("avc1".utf8) + [0, 0, 0] + picture
        let many: [UInt8] = [0x95, 0x11] + Array("mp4a".utf8) + [0, 0, 0, 2, 1, 2, 1, 0, 0, 2, 3, 4]
        let each: [UInt8] =
            [0x95, 0x21] + Array(".mp3".utf8) + [0, 0, 0, 2, 1, 2] + Array("Opus".utf8) + [1, 0, 0, 1, 9]
        let color: [UInt8] =
            [0x94] + Array("hvc1".utf8)
            + AMF0Writer.bytes([
                .string("colorInfo"),
                .object([AMF0Property("colorConfig", .object([AMF0Property("colorPrimaries", .number(9))]))]),
            ])
        seeds.append(("modifier", [1] + self.record(isAudio: false, step: 0, nano)))
        seeds.append(
            ("tracks", [1] + self.record(isAudio: true, step: 0, many) + self.record(isAudio: true, step: 9, each)))
        seeds.append(("colors", [1] + self.record(isAudio: false, step: 0, color)))
        return seeds
    }

    /// Mutates records: their order, number, timestamps, and bytes, with valid lengths.
    static func mutate(_ bytes: [UInt8], _ seed: UInt64) -> [UInt8] {
        var random = FuzzRandom(seed: seed)
        var input = FuzzInput(bytes)
        var flags = input.byte()
        if random.chance(16) { flags ^= 1 << UInt8(random.below(8)) }
        var records: [(kind: UInt8, step: Int16, payload: [UInt8])] = []
        while input.left > 0, records.count < 200 {
            let kind = input.byte()
            let step = Int16(truncatingIfNeeded: input.number(2))
            records.append((kind, step, input.take(Int(input.number(2)))))
        }
        for _ in 0..<(1 + random.below(3)) where !records.isEmpty {
            let at = random.below(records.count)
            switch random.below(12) {
            case 0: if records.count > 1 { records.remove(at: at) }
            case 1: records.insert(records[at], at: random.below(records.count))
            case 2: records.swapAt(at, random.below(records.count))
            case 3: records[at].payload = Array(records[at].payload.prefix(random.below(records[at].payload.count)))
            case 4: records[at].payload += (0..<(1 + random.below(12))).map { _ in UInt8(random.below(256)) }
            case 5: records[at].step = random.pick([0, 1, 20, -1, -40, .max, .min], or: 0)
            case 6: records[at].kind ^= random.pick([1, 0x40], or: 1)
            default: SessionMutator.flip(&records[at].payload, &random)
            }
        }
        var out: [UInt8] = [flags]
        for record in records {
            out += [record.kind] + self.record(isAudio: false, step: record.step, record.payload).dropFirst()
        }
        return out
    }
}

extension FuzzFiles {
    /// Small media files made by encoders, as records: `Tests/Fuzz/Media`.
    static func media() -> [(name: String, bytes: [UInt8])] {
        let folder = self.tests + "/Fuzz/Media"
        return self.names(folder).map { ($0, self.bytes("\(folder)/\($0)")) }
    }
}
