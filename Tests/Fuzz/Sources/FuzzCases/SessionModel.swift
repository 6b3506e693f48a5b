import MediaKernels
import RTMP

/// A publisher that follows the specification literally, with media in messages and aggregates of every legal form, and
/// the expected result.
public enum SessionModel {
    /// Checks that a session delivers the intended media from pieces of at most `largest` bytes.
    ///
    /// - Returns: What differs; nil: nothing.
    public static func holds(seed: UInt64, largest: Int) -> String? {
        var random = FuzzRandom(seed: seed)
        // An aggregate may contain bytes that look like an extended timestamp.
        var model = ChunkModel(seed: seed, repeatsExtended: true)
        for values in self.setup { model.write([self.command(values)]) }
        let begun = model.expected.count
        model.write((0..<40).map { _ in self.media(&random) })
        let meant = model.expected[begun...].flatMap(self.parts)
        let peer = SessionCase.Peer([])
        peer.feed(SessionCase.handshake[...])
        var offset = 0
        while offset < model.bytes.count {
            let end = largest == .max ? model.bytes.count : min(model.bytes.count, offset + 1 + random.below(largest))
            peer.feed(model.bytes[offset..<end])
            offset = end
        }
        if let broken = peer.broken { return broken }
        if peer.isClosed { return "the session closed" }
        var media: [SessionCase.Peer.Event] = []
        for event in peer.events {
            switch event {
            case .media: media.append(event)
            case .request(let request):
                if request.address.key(app: "live") != "key1" { return "another key" }
            default: return "unexpected event \(event)"
            }
        }
        if media.count != meant.count { return "\(media.count) of \(meant.count) messages" }
        return media == meant ? nil : "media or its order differs"
    }

    private static let setup: [[AMF0Value]] = [
        [.string("connect"), .number(1), .object([AMF0Property("app", .string("live"))])],
        [.string("releaseStream"), .number(2), .null, .string("key1")],
        [.string("createStream"), .number(3), .null],
        [.string("publish"), .number(4), .null, .string("key1"), .string("live")],
    ]

    private static func command(_ values: [AMF0Value]) -> ChunkCase.Message {
        ChunkCase.Message(type: 20, chunkStreamID: 3, streamID: 0, payload: AMF0Writer.bytes(values))
    }

    private static func media(_ random: inout FuzzRandom) -> ChunkCase.Message {
        if random.chance(5) {
            let inner = (0..<(1 + random.below(5))).map { _ in self.single(&random) }
            var whole = SessionMutator.aggregate(inner[...])
            whole.timestamp = random.pick([0, 40, 0xFF_FFFF, 0x0100_0000, 0xFFFF_FFF0], or: 0)
            return whole
        }
        return self.single(&random)
    }

    private static func single(_ random: inout FuzzRandom) -> ChunkCase.Message {
        let length = random.pick([0, 1, 5, 127, 128, 129, 700, 4100], or: 0)
        // None of these bytes equals one of the extended timestamps below.
        let payload = (0..<length).map { _ in UInt8(0x20 + random.below(64)) }
        var message = ChunkCase.Message(
            type: random.pick([8, 9], or: 8), chunkStreamID: random.pick([4, 6, 64, 320, 65_599], or: 4), streamID: 1,
            payload: payload)
        message.timestamp = random.pick([0, 1, 40, 9_999, 0xFF_FFFE, 0xFF_FFFF, 0x0100_0000, 0xFFFF_FFE0], or: 0)
        return message
    }

    /// Spec: RTMP 1.0 §7.1.6: the first message of an aggregate has the aggregate's time, the others keep their distance.
    private static func parts(_ message: ChunkCase.Message) -> [SessionCase.Peer.Event] {
        guard message.type == 22 else {
            guard message.type == 8 || message.type == 9 else { return [] }
            return [.media(message.type == 8 ? .audio : .video, message.timestamp, message.payload)]
        }
        var events: [SessionCase.Peer.Event] = []
        var input = FuzzInput(message.payload)
        var first: UInt32?
        while input.left > 0 {
            let type = input.byte()
            let length = Int(input.number(3))
            let low = input.number(3)
            let time = input.number(1) << 24 | low
            _ = input.number(3)
            let payload = input.take(length)
            _ = input.number(4)
            let base = first ?? time
            first = base
            events.append(.media(type == 8 ? .audio : .video, message.timestamp &+ (time &- base), payload))
        }
        return events
    }
}
