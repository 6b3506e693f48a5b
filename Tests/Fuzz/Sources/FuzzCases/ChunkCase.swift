import MediaKernels
import RTMP

/// Chunks only: the reader must give the same messages for any split, with the usual limits and with limits that a few
/// bytes reach; and the messages that were read are written again with several forms of header and read back.
///
/// Input: a seed for the splits (1 byte), then chunks.
enum ChunkCase {
    static let entry = FuzzCase(
        "chunks", longest: 3000, mutate: SessionMutator.mutateChunks, seeds: Self.seeds, run: Self.run)

    static func seeds() -> [(name: String, bytes: [UInt8])] {
        var seeds: [(name: String, bytes: [UInt8])] = []
        for (name, bytes) in FuzzFiles.captures() {
            seeds.append((name, [9] + bytes.dropFirst(3073).prefix(2500)))
        }
        for seed in UInt8(0)..<24 {
            let cuts = 8 + seed % 8
            seeds.append(("model.\(seed)", [cuts] + ChunkModel.schedule(seed: UInt64(seed), steps: 30).bytes))
        }
        return seeds
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

    /// Limits that an input of this case can reach.
    static let tight: RTMPLimits = {
        var limits = RTMPLimits()
        limits.chunkStreams = 4
        limits.partialMessages = 2
        limits.partialBytes = 600
        limits.mediaLength = 500
        limits.dataLength = 300
        limits.commandLength = 200
        limits.controlLength = 8
        return limits
    }()

    /// Reads pieces of at most `largest` bytes.
    static func read(
        _ bytes: [UInt8], largest: Int, seed: UInt64, limits: RTMPLimits = RTMPLimits()
    ) -> (messages: [Message], failure: RTMPFailure?) {
        var reader = RTMPChunkReader(limits: limits)
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
            if cut.failure != whole.failure { return "another failure in pieces of \(largest)" }
        }
        return Self.bounded(stream, seed, whole.messages) ?? Self.rewrite(whole.messages, seed)
    }

    /// Tight limits end the stream earlier, at the same position for any split, and change nothing before.
    private static func bounded(_ stream: [UInt8], _ seed: UInt64, _ messages: [Message]) -> String? {
        let whole = Self.read(stream, largest: .max, seed: 0, limits: Self.tight)
        let cut = Self.read(stream, largest: 40, seed: seed, limits: Self.tight)
        if cut.messages != whole.messages || cut.failure != whole.failure {
            return "another result in pieces within tight limits"
        }
        if !messages.starts(with: whole.messages) { return "other messages within tight limits" }
        for message in whole.messages {
            let type = RTMPMessageType(rawValue: message.type)
            if message.payload.count > Self.tight.length(of: type) { return "a message above the limit of its type" }
        }
        return nil
    }

    /// The messages read are written and read again: with the shortest headers, or with those the seed selects.
    private static func rewrite(_ messages: [Message], _ seed: UInt64) -> String? {
        var writer = RTMPChunkWriter()
        var bytes: [UInt8] = []
        var random = FuzzRandom(seed: seed)
        // Type 3 at the start of a message is ambiguous after a type 0: only the writer knows where it is allowed.
        let forms: [RTMPChunkWriter.Header] =
            seed & 1 == 0 ? [.automatic] : [.automatic, .full, .sameStream, .sameLength]
        writer.prefersLongBasicHeader = seed & 2 == 2
        if seed & 4 == 4, let first = messages.first {
            let size = 128 + random.below(1000)
            let payload: [UInt8] = [0, 0, UInt8(truncatingIfNeeded: size >> 8), UInt8(truncatingIfNeeded: size)]
            // On an existing chunk stream, since their number is limited.
            writer.write(
                RTMPMessage(
                    chunkStreamID: first.chunkStreamID, type: .setChunkSize, streamID: 0, timestamp: 0,
                    payload: PacketMemory(payload)),
                into: &bytes)
            writer.chunkSize = size
        }
        for message in messages {
            writer.write(
                RTMPMessage(
                    chunkStreamID: message.chunkStreamID, type: RTMPMessageType(rawValue: message.type),
                    streamID: message.streamID, timestamp: message.timestamp, payload: PacketMemory(message.payload)),
                header: random.pick(forms, or: .automatic), into: &bytes)
        }
        let again = Self.read(bytes, largest: .max, seed: 0)
        if let failure = again.failure { return "cannot read what was written: \(failure)" }
        return again.messages == messages ? nil : "the messages differ when they are written and read again"
    }
}
