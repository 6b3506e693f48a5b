import MediaKernels
import RTMP

/// Chunks alone, beside a plain reader of the specification's letter; and what the reader gives, written again.
///
/// Input: a seed of the cuts (1 byte), then chunks.
enum ChunkCase {
    static let entry = FuzzCase(
        "chunks", longest: 3000, mutate: SessionMutator.mutateChunks, seeds: Self.seeds, run: Self.run)

    static func seeds() -> [(name: String, bytes: [UInt8])] {
        FuzzFiles.captures().map { name, bytes in (name, [9] + bytes.dropFirst(3073).prefix(2500)) }
            + (0..<24).map { seed in ("model.\(seed)", [9] + ChunkModel.schedule(seed: UInt64(seed), steps: 30).bytes) }
    }

    struct Message: Hashable {
        var chunkStreamID: UInt32
        var type: UInt8
        var streamID: UInt32
        var timestamp: UInt32
        var payload: [UInt8]

        init(_ message: RTMPMessage) {
            self.chunkStreamID = message.chunkStreamID
            self.type = message.type.rawValue
            self.streamID = message.streamID
            self.timestamp = message.timestamp
            self.payload = message.payload.bytes
        }
    }

    /// Pieces of at most `largest` bytes.
    static func read(_ bytes: [UInt8], largest: Int, seed: UInt64) -> (messages: [Message], failure: RTMPFailure?) {
        var reader = RTMPChunkReader()
        var random = FuzzRandom(seed: seed)
        var messages: [RTMPMessage] = []
        var offset = 0
        while offset < bytes.count {
            let end = largest == .max ? bytes.count : min(bytes.count, offset + 1 + random.below(largest))
            do throws(RTMPFailure) {
                try reader.receive(Array(bytes[offset..<end]).span, into: &messages)
            } catch {
                return (messages.map { Message($0) }, error)
            }
            offset = end
        }
        return (messages.map { Message($0) }, nil)
    }

    static func run(_ bytes: [UInt8]) -> String? {
        let seed = UInt64(bytes.first ?? 0)
        let stream = Array(bytes.dropFirst())
        let whole = Self.read(stream, largest: .max, seed: 0)
        for largest in [1, 40] {
            let cut = Self.read(stream, largest: largest, seed: seed)
            if cut.messages != whole.messages { return "other messages in pieces of \(largest)" }
            if cut.failure != whole.failure { return "another end in pieces of \(largest)" }
        }
        return Self.rewrite(whole.messages)
    }

    /// What was read is written and read again.
    private static func rewrite(_ messages: [Message]) -> String? {
        var writer = RTMPChunkWriter()
        var bytes: [UInt8] = []
        for message in messages {
            writer.write(
                RTMPMessage(
                    chunkStreamID: message.chunkStreamID, type: RTMPMessageType(rawValue: message.type),
                    streamID: message.streamID, timestamp: message.timestamp, payload: PacketMemory(message.payload)),
                into: &bytes)
        }
        let again = Self.read(bytes, largest: .max, seed: 0)
        if let failure = again.failure { return "cannot read what was written: \(failure)" }
        return again.messages == messages ? nil : "what was written reads otherwise"
    }
}
