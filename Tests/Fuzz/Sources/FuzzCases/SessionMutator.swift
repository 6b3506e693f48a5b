import MediaKernels
import RTMP

/// Mutates a client's bytes by their meaning: extracts the messages from their chunks, changes them and their order,
/// and writes them in other chunks.
enum SessionMutator {
    static func mutate(_ bytes: [UInt8], _ seed: UInt64) -> [UInt8] {
        guard bytes.count > 2 else { return bytes }
        var random = FuzzRandom(seed: seed)
        var head = Array(bytes.prefix(2))
        if random.chance(8) { head[0] ^= 1 << UInt8(random.below(5)) }
        if random.chance(4) { head[1] = UInt8(random.below(256)) }
        let hasHandshake = SessionCase.Flags(rawValue: bytes[0]).contains(.handshake)
        let skipped = hasHandshake ? 2 : min(bytes.count, 2 + 3073)
        // Bytes before the chunks stay.
        return head + bytes[2..<skipped] + Self.rechunk(bytes[skipped...], &random)
    }

    static func mutateChunks(_ bytes: [UInt8], _ seed: UInt64) -> [UInt8] {
        var random = FuzzRandom(seed: seed)
        return bytes.prefix(1) + Self.rechunk(bytes.dropFirst(), &random)
    }

    private static func rechunk(_ bytes: ArraySlice<UInt8>, _ random: inout FuzzRandom) -> [UInt8] {
        var messages = ChunkCase.read(Array(bytes), largest: .max, seed: 0).messages
        for _ in 0..<(1 + random.below(4)) { Self.change(&messages, &random) }
        return Self.write(messages, &random)
    }

    // MARK: Messages

    private static func change(_ messages: inout [ChunkCase.Message], _ random: inout FuzzRandom) {
        guard !messages.isEmpty else {
            messages.append(Self.invented(&random))
            return
        }
        let at = random.below(messages.count)
        switch random.below(16) {
        case 0: messages.remove(at: at)
        case 1: messages.insert(messages[at], at: random.below(messages.count))
        case 2: messages.swapAt(at, random.below(messages.count))
        case 3: messages[at].payload = Array(messages[at].payload.prefix(random.below(messages[at].payload.count)))
        case 4: messages[at].payload += (0..<random.below(40)).map { _ in random.pick([0, 1, 9, 0xFF], or: 0) }
        case 5:
            messages[at].timestamp = random.pick(
                [0, 1, 0xFF_FFFE, 0xFF_FFFF, 0x100_0000, 0x7FFF_FFFF, 0x8000_0000, .max], or: 0)
        case 6: messages[at].timestamp &+= random.pick([1, 40, 10_000, 0xFFFF_FFD8, 0x8000_0000], or: 1)
        case 7: messages[at].type = random.pick([3, 4, 5, 6, 8, 9, 15, 16, 17, 18, 19, 20, 22, 7, 23], or: 8)
        case 8: messages[at].streamID = random.pick([0, 1, 2, .max], or: 0)
        case 9: messages[at].chunkStreamID = random.pick([2, 3, 4, 63, 64, 319, 320, 65_599], or: 3)
        case 10: messages.insert(Self.invented(&random), at: at)
        case 11: messages[at] = Self.aggregate(messages[at...].prefix(1 + random.below(4)))
        case 12: messages.removeSubrange(at..<min(messages.count, at + 1 + random.below(8)))
        default: Self.flip(&messages[at].payload, &random)
        }
    }

    /// Changes some bytes in place.
    static func flip(_ payload: inout [UInt8], _ random: inout FuzzRandom) {
        guard !payload.isEmpty else { return }
        for _ in 0..<(1 + random.below(3)) {
            // The first bytes determine the meaning of the rest.
            let at = random.below(random.chance(2) ? min(16, payload.count) : payload.count)
            switch random.below(4) {
            case 0: payload[at] ^= 1 << UInt8(random.below(8))
            case 1: payload[at] = random.pick([0, 1, 2, 3, 8, 9, 10, 0x7F, 0x80, 0xFF], or: 0)
            case 2: payload[at] &+= random.pick([1, 0xFF], or: 1)
            default: payload[at] = UInt8(random.below(256))
            }
        }
    }

    private static func invented(_ random: inout FuzzRandom) -> ChunkCase.Message {
        func command(_ values: [AMF0Value]) -> ChunkCase.Message {
            ChunkCase.Message(type: 20, chunkStreamID: 3, streamID: 0, payload: AMF0Writer.bytes(values))
        }
        let transaction = AMF0Value.number(Double(random.below(9)))
        let name = random.pick(["key1", "", "a?b=c&d", "..//x", "uid_1001?sign=1"], or: "key1")
        switch random.below(12) {
        case 0: return command([.string("publish"), transaction, .null, .string(name), .string("live")])
        case 1: return command([.string("deleteStream"), transaction, .null, .number(1)])
        case 2: return command([.string("FCUnpublish"), transaction, .null, .string(name)])
        case 3: return command([.string("createStream"), transaction, .null])
        case 4: return command([.string("connect"), transaction, .object([AMF0Property("app", .string("live"))])])
        case 5:
            let word = random.pick(
                ["releaseStream", "FCPublish", "closeStream", "_checkbw", "play", "getTime"], or: "")
            return command([.string(word), transaction, .null, .string(name)])
        case 6: return ChunkCase.Message(type: 3, chunkStreamID: 2, streamID: 0, payload: [0, 0, 1, 0])
        case 7: return ChunkCase.Message(type: 5, chunkStreamID: 2, streamID: 0, payload: [0, 0, 0, 1])
        case 8: return ChunkCase.Message(type: 4, chunkStreamID: 2, streamID: 0, payload: [0, 6, 0, 0, 0, 9])
        case 9: return ChunkCase.Message(type: 2, chunkStreamID: 2, streamID: 0, payload: [0, 0, 0, 4])
        case 10:
            let size = random.pick([0, 1, 127, 128, 4096, 0xFF_FFFF, 0x8000_0000], or: 128)
            let payload = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: UInt32(size) >> $0) }
            return ChunkCase.Message(type: 1, chunkStreamID: 2, streamID: 0, payload: payload)
        default:
            let data: [AMF0Value] = [
                .string("@setDataFrame"), .string("onMetaData"), .ecmaArray([AMF0Property("width", .number(64))]),
            ]
            return ChunkCase.Message(type: 18, chunkStreamID: 4, streamID: 1, payload: AMF0Writer.bytes(data))
        }
    }

    /// Spec: RTMP 1.0 §7.1.6.
    static func aggregate(_ messages: ArraySlice<ChunkCase.Message>) -> ChunkCase.Message {
        var payload: [UInt8] = []
        for message in messages {
            let length = UInt32(message.payload.count)
            payload.append(message.type)
            for value in [length, message.timestamp & 0xFF_FFFF] {
                payload += [16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
            }
            payload += [UInt8(truncatingIfNeeded: message.timestamp >> 24), 0, 0, 0]
            payload += message.payload
            payload += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: (length + 11) >> $0) }
        }
        var whole = ChunkCase.Message(
            type: 22, chunkStreamID: messages.first?.chunkStreamID ?? 4, streamID: messages.first?.streamID ?? 1,
            payload: payload)
        whole.timestamp = messages.first?.timestamp ?? 0
        return whole
    }

    // MARK: Chunks

    /// Messages on different chunk streams, one after another or interleaved, with headers of any form.
    private static func write(_ messages: [ChunkCase.Message], _ random: inout FuzzRandom) -> [UInt8] {
        var writer = RTMPChunkWriter()
        writer.prefersLongBasicHeader = random.chance(4)
        writer.repeatsExtendedTimestamp = !random.chance(4)
        let interleaves = random.chance(3)
        var bytes: [UInt8] = []
        var open: [RTMPOutgoingMessage] = []
        for message in messages {
            while open.count > 3 || open.contains(where: { $0.message.chunkStreamID == message.chunkStreamID }) {
                Self.advance(&open, &writer, &bytes, &random)
            }
            if random.chance(24) {
                writer.chunkSize = random.pick([128, 129, 400, 4096, 65_536], or: 128)
                let payload = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: UInt32(writer.chunkSize) >> $0) }
                bytes += [2, 0, 0, 0, 0, 0, 4, 1, 0, 0, 0, 0] + payload
            }
            let header = interleaves ? random.pick(RTMPChunkWriter.Header.allCases, or: .automatic) : .automatic
            open.append(
                writer.begin(
                    RTMPMessage(
                        chunkStreamID: message.chunkStreamID, type: RTMPMessageType(rawValue: message.type),
                        streamID: message.streamID, timestamp: message.timestamp,
                        payload: PacketMemory(message.payload)), header: header))
            if !interleaves { while !open.isEmpty { Self.advance(&open, &writer, &bytes, &random) } }
        }
        while !open.isEmpty { Self.advance(&open, &writer, &bytes, &random) }
        return bytes
    }

    private static func advance(
        _ open: inout [RTMPOutgoingMessage], _ writer: inout RTMPChunkWriter, _ bytes: inout [UInt8],
        _ random: inout FuzzRandom
    ) {
        let index = random.below(open.count)
        writer.writeChunk(of: &open[index], into: &bytes)
        if open[index].isFinished { open.remove(at: index) }
    }
}
