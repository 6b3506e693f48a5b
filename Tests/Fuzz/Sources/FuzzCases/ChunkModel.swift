import MediaKernels
import RTMP

/// A writer of chunks that follows the specification literally and makes every legal choice, with the messages it
/// means.
///
/// It is independent of the project's own writer.
///
/// Spec: RTMP 1.0 §5.3.1 (headers, extended timestamps), §5.4.1 (Set Chunk Size), §5.4.2 (Abort).
public struct ChunkModel {
    /// A message and how much of it is written.
    private struct Open {
        var message: ChunkCase.Message
        var written = 0
        /// The extended timestamp that its type 3 chunks repeat.
        var extended: UInt32?
    }

    private struct Last {
        var timestamp: UInt32
        var delta: UInt32
        var length: Int
        var type: UInt8
        var streamID: UInt32
        var extended: UInt32?
        /// Whether a type 3 header starts a message with the same delta for every receiver.
        var repeatsDelta: Bool
    }

    /// First bytes of headers and extended timestamps.
    private static let confusing: [UInt8] = [0, 1, 0xFF, 0xC3, 0xC0]

    private var random: FuzzRandom
    private var lasts: [UInt32: Last] = [:]
    private var chunkSize = 128
    /// Whether type 3 chunks repeat the extended timestamp; old librtmp omits it.
    private let repeatsExtended: Bool
    private(set) var bytes: [UInt8] = []
    private(set) var expected: [ChunkCase.Message] = []
    /// The choices made, so that a test can check that all occur.
    private var forms: Set<String> = []
    /// Number of chunk size changes that are hidden from the reader.
    private var forgets: Int

    public static let allForms: Set<String> = [
        "type 0", "type 1", "type 2", "type 3", "id of 1 byte", "id of 2 bytes", "id of 3 bytes",
        "64 to 319 in 3 bytes", "extended", "extended repeated", "extended left out", "abort", "chunk size", "control",
        "empty", "interleaved",
    ]

    /// - Parameter repeatsExtended: nil: three schedules of four do.
    init(seed: UInt64, forgets: Int = 0, repeatsExtended: Bool? = nil) {
        self.random = FuzzRandom(seed: seed)
        self.forgets = forgets
        let repeats = !self.random.chance(4)
        self.repeatsExtended = repeatsExtended ?? repeats
    }

    /// - Parameter steps: Approximate number of chunks.
    static func schedule(
        seed: UInt64, steps: Int, forgets: Int = 0
    ) -> (bytes: [UInt8], expected: [ChunkCase.Message], forms: Set<String>) {
        var model = ChunkModel(seed: seed, forgets: forgets)
        var open: [Open] = []
        for _ in 0..<steps { model.step(&open) }
        while !open.isEmpty { model.goOn(&open, at: model.random.below(open.count)) }
        return (model.bytes, model.expected, model.forms)
    }

    /// The choices that a schedule contains.
    public static func forms(seed: UInt64, steps: Int) -> Set<String> { self.schedule(seed: seed, steps: steps).forms }

    /// Writes these messages, started in this order, interleaved with each other and with control messages;
    /// ``expected`` has them in the order of completion.
    mutating func write(_ messages: [ChunkCase.Message]) {
        var rest = messages[...]
        var open: [Open] = []
        while !rest.isEmpty || !open.isEmpty {
            if self.random.chance(14) { self.changeChunkSize() }
            if self.random.chance(14) { self.control() }
            if let next = rest.first, open.count < 5, self.random.chance(2),
                !open.contains(where: { $0.message.chunkStreamID == next.chunkStreamID })
            {
                rest.removeFirst()
                self.open(next, &open)
            } else if !open.isEmpty {
                self.goOn(&open, at: self.random.below(open.count))
            }
        }
    }

    /// Checks that a reader gets the intended messages from pieces of at most `largest` bytes.
    ///
    /// - Parameter forgets: Number of chunk size changes that are hidden from the reader, which should then fail.
    /// - Returns: What differs; nil: nothing.
    public static func holds(seed: UInt64, steps: Int, largest: Int, forgets: Int = 0) -> String? {
        let (bytes, expected, _) = Self.schedule(seed: seed, steps: steps, forgets: forgets)
        let read = ChunkCase.read(bytes, largest: largest, seed: seed)
        if let failure = read.failure { return "refused: \(failure)" }
        if read.messages.count != expected.count { return "\(read.messages.count) of \(expected.count) messages" }
        for (index, pair) in zip(read.messages, expected).enumerated() where pair.0 != pair.1 {
            return "message \(index) of \(expected.count) differs, on chunk stream \(pair.1.chunkStreamID)"
        }
        return nil
    }

    // MARK: Schedule

    private mutating func step(_ open: inout [Open]) {
        switch self.random.below(16) {
        case 0: self.changeChunkSize()
        case 1: self.abort(&open)
        case 2: self.control()
        case 3..<8 where open.count < 5: self.begin(&open)
        default:
            if open.isEmpty { self.begin(&open) } else { self.goOn(&open, at: self.random.below(open.count)) }
        }
    }

    private mutating func changeChunkSize() {
        let size = self.random.pick([128, 129, 1000, 4096, 65_536, 0x7FFF_FFFF], or: 128)
        self.forms.insert("chunk size")
        if self.forgets > 0, size != self.chunkSize {
            self.forgets -= 1
        } else {
            self.whole(type: 1, Self.big(UInt32(size)))
        }
        // §5.4.1: a message has 16,777,215 bytes at most.
        self.chunkSize = min(size, 0xFF_FFFF)
    }

    private mutating func control() {
        self.forms.insert("control")
        let value = self.random.pick([0, 1, 2_500_000, UInt32.max], or: 0)
        switch self.random.below(4) {
        case 0: self.whole(type: 3, Self.big(value))
        case 1: self.whole(type: 5, Self.big(value))
        case 2: self.whole(type: 6, Self.big(value) + [2])
        default: self.whole(type: 4, [0, 6] + Self.big(value))
        }
    }

    /// A message of one chunk on chunk stream 2, between two chunks of others.
    private mutating func whole(type: UInt8, _ payload: [UInt8]) {
        var message = ChunkCase.Message(type: type, chunkStreamID: 2, streamID: 0, payload: payload)
        message.timestamp = self.lasts[2]?.timestamp ?? 0
        var open = self.start(message)
        self.continuation(&open)
        if type != 1, type != 2 { self.expected.append(message) }
    }

    private mutating func abort(_ open: inout [Open]) {
        // For a chunk stream without an incomplete message it has no meaning.
        let victim = open.indices.randomElement(using: &self.random)
        let id = victim.map { open[$0].message.chunkStreamID } ?? 40
        self.whole(type: 2, Self.big(id))
        if let victim {
            self.forms.insert("abort")
            open.remove(at: victim)
        }
    }

    private mutating func begin(_ open: inout [Open]) {
        let ids: [UInt32] = [3, 4, 6, 63, 64, 65, 200, 319, 320, 1000, 65_599]
        let id = self.random.pick(ids.filter { id in !open.contains { $0.message.chunkStreamID == id } }, or: 3)
        if open.contains(where: { $0.message.chunkStreamID == id }) { return }
        let last = self.lasts[id]
        let first = self.random.pick([0, 5, 9_999, 0x00FF_FFFE, 0x00FF_FFFF, 0x0100_0000, 0xFFFF_FFF0], or: 0)
        let step = self.random.pick([0, 0, 1, 23, 40, 40, 0x00FF_FFFE, 0x00FF_FFFF, 17_000_000, 0xFFFF_FFE2], or: 0)
        let lengths = [0, 1, 2, 127, 128, 129, 256, 1000, 5000, self.random.below(900)]
        var message = ChunkCase.Message(
            type: self.random.pick([8, 8, 9, 9, 15, 16, 17, 18, 19, 20, 22], or: 8), chunkStreamID: id,
            streamID: self.random.pick([0, 1, 1, 1, 0x0102_0304, .max], or: 1), payload: [])
        message.timestamp = last.map { $0.timestamp &+ UInt32(step) } ?? UInt32(first)
        var length = self.random.pick(lengths, or: 0)
        if let last, self.random.chance(2) {
            (message.type, message.streamID, length) = (last.type, last.streamID, last.length)
            if self.random.chance(2) { message.timestamp = last.timestamp &+ last.delta }
        }
        for _ in 0..<length {
            let byte = Self.confusing[self.random.below(Self.confusing.count)]
            message.payload.append(self.random.chance(3) ? byte &+ 9 : byte)
        }
        self.open(message, &open)
    }

    private mutating func open(_ message: ChunkCase.Message, _ open: inout [Open]) {
        if message.payload.isEmpty { self.forms.insert("empty") }
        if !open.isEmpty { self.forms.insert("interleaved") }
        var one = self.start(message)
        if one.extended != nil, !self.repeatsExtended { self.disambiguate(&one) }
        self.continuation(&one)
        if one.written >= one.message.payload.count { self.expected.append(one.message) } else { open.append(one) }
    }

    /// Without the repeated timestamp, payload that looks like one would be ambiguous; no encoder sends such payload.
    private mutating func disambiguate(_ open: inout Open) {
        for index in open.message.payload.indices { open.message.payload[index] = 0x55 }
    }

    private mutating func goOn(_ open: inout [Open], at index: Int) {
        self.basicHeader(3, open[index].message.chunkStreamID)
        if let extended = open[index].extended {
            self.forms.insert(self.repeatsExtended ? "extended repeated" : "extended left out")
            if self.repeatsExtended { self.bytes += Self.big(extended) }
        }
        self.continuation(&open[index])
        if open[index].written >= open[index].message.payload.count {
            self.expected.append(open.remove(at: index).message)
        }
    }

    // MARK: Bytes

    private static func big(_ value: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }

    /// Writes the header of a message in any form that is correct.
    private mutating func start(_ message: ChunkCase.Message) -> Open {
        let last = self.lasts[message.chunkStreamID]
        var formats: [UInt8] = [0]
        let delta = last.map { message.timestamp &- $0.timestamp } ?? 0
        if let last, last.streamID == message.streamID {
            formats.append(1)
            if last.length == message.payload.count, last.type == message.type {
                formats.append(2)
                if delta == last.delta, last.repeatsDelta { formats += [3, 3] }
            }
        }
        let format = self.random.pick(formats, or: 0)
        let field = format == 0 ? message.timestamp : delta
        var extended: UInt32? = field >= 0xFF_FFFF ? field : nil
        if format == 3 { extended = last?.extended }
        self.forms.insert("type \(format)")
        if extended != nil { self.forms.insert("extended") }
        self.basicHeader(format, message.chunkStreamID)
        if format <= 2 { self.bytes += Self.big(extended == nil ? field : 0xFF_FFFF).dropFirst() }
        if format <= 1 { self.bytes += Self.big(UInt32(message.payload.count)).dropFirst() + [message.type] }
        if format == 0 { self.bytes += Self.big(message.streamID).reversed() }
        if let extended, format < 3 || self.repeatsExtended { self.bytes += Self.big(extended) }
        self.lasts[message.chunkStreamID] = Last(
            timestamp: message.timestamp, delta: format == 0 ? message.timestamp : delta, length: message.payload.count,
            type: message.type, streamID: message.streamID, extended: extended,
            // After a type 0 header of over ten seconds real writers mean "no delta" (see RTMPChunkReader).
            repeatsDelta: format != 0 || message.timestamp <= 10_000)
        return Open(message: message, extended: extended)
    }

    private mutating func continuation(_ open: inout Open) {
        let end = min(open.message.payload.count, open.written + self.chunkSize)
        self.bytes += open.message.payload[open.written..<end]
        open.written = end
    }

    /// One, two or three bytes; ids of 64 to 319 in two or three.
    private mutating func basicHeader(_ format: UInt8, _ id: UInt32) {
        let high = format << 6
        switch id {
        case ..<64:
            self.forms.insert("id of 1 byte")
            self.bytes.append(high | UInt8(truncatingIfNeeded: id))
        case ..<320 where self.random.chance(2):
            self.forms.insert("id of 2 bytes")
            self.bytes += [high, UInt8(truncatingIfNeeded: id - 64)]
        default:
            self.forms.formUnion(id < 320 ? ["id of 3 bytes", "64 to 319 in 3 bytes"] : ["id of 3 bytes"])
            self.bytes += [high | 1, UInt8(truncatingIfNeeded: id - 64), UInt8(truncatingIfNeeded: (id - 64) >> 8)]
        }
    }
}

extension ChunkCase.Message {
    init(type: UInt8, chunkStreamID: UInt32, streamID: UInt32, payload: [UInt8]) {
        self.chunkStreamID = chunkStreamID
        self.type = type
        self.streamID = streamID
        self.timestamp = 0
        self.payload = payload
    }
}
