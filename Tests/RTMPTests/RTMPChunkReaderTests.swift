import MediaKernels
import RTMP
import Testing

/// A message by value.
struct Received: Hashable {
    let type: UInt8
    let timestamp: UInt32
    let streamID: UInt32
    let payload: [UInt8]

    init(type: UInt8, timestamp: UInt32, streamID: UInt32, payload: [UInt8]) {
        self.type = type
        self.timestamp = timestamp
        self.streamID = streamID
        self.payload = payload
    }

    init(_ message: RTMPMessage) {
        self.init(
            type: message.type.rawValue, timestamp: message.timestamp, streamID: message.streamID,
            payload: message.payload.bytes)
    }

    /// Reads `bytes` in pieces of `step`; also returns the error, if the reader threw one.
    static func read(
        _ bytes: [UInt8], step: Int = .max, limits: RTMPLimits = RTMPLimits()
    ) -> (messages: [Received], failure: RTMPFailure?) {
        var reader = RTMPChunkReader(limits: limits)
        var messages: [RTMPMessage] = []
        var offset = 0
        do throws(RTMPFailure) {
            while offset < bytes.count {
                let end = offset + min(step, bytes.count - offset)
                try reader.receive(bytes[offset..<end].span, into: &messages)
                offset = end
            }
        } catch {
            return (messages.map(Received.init), error)
        }
        return (messages.map(Received.init), nil)
    }
}

@Suite("RTMP chunk reader: RTMP 1.0 §5.3")
struct RTMPChunkReaderTests {
    static func payload(_ count: Int, _ seed: Int = 0) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ seed) }
    }

    /// A type 0 header.
    static func full(id: [UInt8], time: UInt32 = 0, length: Int, type: UInt8, streamID: UInt32 = 1) -> [UInt8] {
        let field = min(time, 0xFF_FFFF)
        var bytes = id + [UInt8(field >> 16), UInt8(field >> 8 & 0xFF), UInt8(field & 0xFF)]
        bytes += [UInt8(length >> 16), UInt8(length >> 8 & 0xFF), UInt8(length & 0xFF), type]
        bytes += (0..<4).map { UInt8(truncatingIfNeeded: streamID >> (8 * $0)) }
        if field == 0xFF_FFFF { bytes += Self.big(time) }
        return bytes
    }

    static func big(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }

    static func control(_ type: UInt8, _ body: [UInt8]) -> [UInt8] {
        Self.full(id: [2], length: body.count, type: type, streamID: 0) + body
    }

    @Test(
        "a continuation chunk may encode its chunk stream id in another legal form than the message's first chunk",
        arguments: [
            ([2], [0xC2]), ([63], [0xC0 | 63]), ([0, 0], [0xC0, 0]), ([1, 0, 0], [0xC0, 0]),
            ([0, 255], [0xC1, 255, 0]),
            ([1, 0, 1], [0xC1, 0, 1]), ([1, 0xFF, 0xFF], [0xC1, 0xFF, 0xFF]),
        ] as [([UInt8], [UInt8])])
    func chunkStreamIDs(first: [UInt8], next: [UInt8]) {
        let body = Self.payload(200)
        let bytes = Self.full(id: first, length: 200, type: 9) + body.prefix(128) + next + body.suffix(72)
        for step in [1, 2, 3, 13, 500] {
            let result = Received.read(bytes, step: step)
            #expect(result.failure == nil)
            #expect(result.messages == [Received(type: 9, timestamp: 0, streamID: 1, payload: body)])
        }
    }

    @Test("chunk headers of types 0, 2 and 3 give the timestamps of the example in §5.3.2.1")
    func exampleOne() {
        var bytes = Self.full(id: [3], time: 1000, length: 32, type: 8, streamID: 12345) + Self.payload(32)
        bytes += [0x83, 0, 0, 20] + Self.payload(32)
        bytes += [0xC3] + Self.payload(32)
        bytes += [0xC3] + Self.payload(32)
        let result = Received.read(bytes)
        #expect(result.messages.map(\.timestamp) == [1000, 1020, 1040, 1060])
        #expect(result.messages.allSatisfy { $0.streamID == 12345 && $0.payload.count == 32 })
    }

    @Test("an RTMP message of 307 bytes in chunks of 128 is read as one message: §5.3.2.2")
    func exampleTwo() {
        let body = Self.payload(307)
        var bytes = Self.full(id: [4], time: 1000, length: 307, type: 9) + body[0..<128]
        bytes += [0xC4] + body[128..<256] + [0xC4] + body[256..<307]
        #expect(Received.read(bytes).messages == [Received(type: 9, timestamp: 1000, streamID: 1, payload: body)])
    }

    @Test("chunks of an audio and a video message may be interleaved")
    func interleaved() {
        let video = Self.payload(300, 1)
        let audio = Self.payload(200, 2)
        var bytes = Self.full(id: [6], length: 300, type: 9) + video[0..<128]
        bytes += Self.full(id: [4], length: 200, type: 8) + audio[0..<128]
        bytes += [0xC6] + video[128..<256]
        bytes += [0xC4] + audio[128..<200]
        bytes += [0xC6] + video[256..<300]
        #expect(Received.read(bytes).messages.map(\.payload) == [audio, video])
    }

    @Test("a new chunk size applies from the next chunk, also to messages already begun")
    func chunkSizeMidMessage() {
        let video = Self.payload(5000)
        var bytes = Self.full(id: [6], length: 5000, type: 9) + video[0..<128]
        bytes += Self.control(1, Self.big(4096))
        bytes += [0xC6] + video[128..<4224] + [0xC6] + video[4224..<5000]
        bytes += Self.control(1, Self.big(128))
        bytes += Self.full(id: [6], length: 130, type: 9) + video[0..<128] + [0xC6] + video[128..<130]
        for step in [1, 7, 1024, 100_000] {
            let result = Received.read(bytes, step: step)
            #expect(result.failure == nil)
            #expect(result.messages.map(\.payload) == [video, Array(video.prefix(130))])
        }
    }

    @Test(
        "a Set Chunk Size below 128, with its first bit set or not four bytes long is refused",
        arguments: [
            Self.big(0), Self.big(1), Self.big(127), Self.big(0x8000_0080), [], [0], [0, 0], [0, 0, 1],
            [0, 0, 1, 0, 0],
        ] as [[UInt8]])
    func refusedChunkSize(body: [UInt8]) {
        #expect(Received.read(Self.control(1, body)).failure == .protocolViolation(.chunkSize))
    }

    @Test(
        "with chunk sizes up to the largest, a message of 60,000 bytes is read from one chunk",
        arguments: [0x7FFF_FFFF, 0x100_0000, 65_537] as [UInt32])
    func hugeChunkSize(size: UInt32) {
        let body = Self.payload(60_000)
        let bytes = Self.control(1, Self.big(size)) + Self.full(id: [6], length: 60_000, type: 9) + body
        #expect(Received.read(bytes).messages.map(\.payload) == [body])
    }

    @Test("a new chunk stream may start with a type 1 header, as from librtmp, but not with type 2 or 3")
    func freshChunkStream() {
        let ping: [UInt8] = [0x42, 0, 0, 0, 0, 0, 6, 4, 0, 6, 0, 0, 0, 9]
        let result = Received.read(ping)
        #expect(result.messages == [Received(type: 4, timestamp: 0, streamID: 0, payload: [0, 6, 0, 0, 0, 9])])
        #expect(Received.read([0x84, 0, 0, 1, 9]).failure == .desync(.headerWithoutPredecessor(chunkStreamID: 4)))
        #expect(Received.read([0xC4, 9]).failure == .desync(.headerWithoutPredecessor(chunkStreamID: 4)))
    }

    @Test("within a message, a header with another length, or of type 0, is a protocol error")
    func headerInsideMessage() {
        let body = Self.payload(200)
        let begin = Self.full(id: [4], length: 200, type: 9) + body.prefix(128)
        let fitting: [UInt8] = [0x44, 0, 0, 5, 0, 0, 200, 9]
        #expect(Received.read(begin + fitting + body.suffix(72)).messages.map(\.payload) == [body])
        for length in [UInt8(199), 201, 72] {
            let other: [UInt8] = [0x44, 0, 0, 5, 0, 0, length, 9]
            #expect(
                Received.read(begin + other + body).failure == .desync(.headerInsideMessage(chunkStreamID: 4)))
        }
        let full = Self.full(id: [4], length: 200, type: 9) + body
        #expect(Received.read(begin + full).failure == .desync(.headerInsideMessage(chunkStreamID: 4)))
    }

    @Test("Abort drops the incomplete message of its chunk stream; later chunks may still refer to its header")
    func abort() {
        let body = Self.payload(200)
        var bytes = Self.full(id: [4], time: 20, length: 200, type: 9) + body.prefix(128)
        bytes += Self.control(2, Self.big(4)) + Self.control(2, Self.big(99)) + Self.control(2, [])
        bytes += [0xC4] + body.prefix(128) + [0xC4] + body.suffix(72)
        let result = Received.read(bytes)
        #expect(result.failure == nil)
        #expect(result.messages == [Received(type: 9, timestamp: 40, streamID: 1, payload: body)])
    }

    @Test("aborted messages do not count against the limits of incomplete messages and bytes")
    func aborts() {
        var limits = RTMPLimits()
        limits.partialBytes = 300
        var bytes: [UInt8] = []
        for id in UInt8(3)..<40 {
            bytes +=
                Self.full(id: [id], length: 200, type: 9) + Self.payload(128) + Self.control(2, Self.big(UInt32(id)))
        }
        #expect(Received.read(bytes, limits: limits).failure == nil)
    }

    @Test("RTMP messages of length 0 are delivered, also with a type 3 header", arguments: [8, 9, 18, 20] as [UInt8])
    func empty(type: UInt8) {
        let bytes = Self.full(id: [4], time: 7, length: 0, type: type) + [0xC4]
        let messages = Received.read(bytes, step: 1).messages
        #expect(messages.map(\.payload) == [[], []])
        #expect(messages.map(\.timestamp) == [7, 14])
    }

    @Test("a 65th RTMP chunk stream on one connection is refused")
    func chunkStreamLimit() {
        let bytes = (0..<65).flatMap { Self.full(id: [0, UInt8($0)], length: 1, type: 8) + [9] }
        let result = Received.read(bytes)
        #expect(result.messages.count == 64)
        #expect(result.failure == .limit(.chunkStreams))
    }

    @Test("a ninth incomplete RTMP message on one connection is refused")
    func partialLimit() {
        let eight = (3..<11).flatMap { Self.full(id: [UInt8($0)], length: 200, type: 9) + Self.payload(128) }
        #expect(Received.read(eight).failure == nil)
        let nine = eight + Self.full(id: [20], length: 200, type: 9)
        #expect(Received.read(nine).failure == .limit(.partialMessages))
    }

    @Test("incomplete messages of one byte more than the limit are refused")
    func partialBytesLimit() {
        var limits = RTMPLimits()
        limits.partialBytes = 1000
        var bytes = Self.control(1, Self.big(4096))
        bytes += Self.full(id: [3], length: 5000, type: 9) + Self.payload(1000)
        #expect(Received.read(bytes, limits: limits).failure == nil)
        bytes += [1]
        #expect(Received.read(bytes, limits: limits).failure == .limit(.partialBytes))
    }

    @Test(
        "an RTMP message longer than the limit of its type is refused at its header",
        arguments: [
            (9, (8 << 20) + 1), (20, (64 << 10) + 1), (18, (1 << 20) + 1), (5, 65), (4, 65),
        ] as [(UInt8, Int)])
    func lengthLimits(type: UInt8, length: Int) {
        #expect(Received.read(Self.full(id: [4], length: length, type: type)).failure == .limit(.messageLength))
    }

    @Test("an RTMP message type above 22 is a protocol error", arguments: [23, 71, 255] as [UInt8])
    func impossibleType(type: UInt8) {
        #expect(Received.read(Self.full(id: [4], length: 10, type: type)).failure == .desync(.messageType(type)))
    }

    @Test("Set Chunk Size on a chunk stream other than 2 applies, and is noted as a quirk")
    func controlOffStream() throws {
        let body = Self.payload(4000)
        let bytes =
            Self.full(id: [4], length: 4, type: 1) + Self.big(4096)
            + Self.full(id: [6], length: 4000, type: 9) + body
        var reader = RTMPChunkReader()
        var messages: [RTMPMessage] = []
        try reader.receive(bytes.span, into: &messages)
        #expect(messages.map(\.payload.bytes) == [body])
        #expect(reader.quirks == .controlOffStream)
    }
}
