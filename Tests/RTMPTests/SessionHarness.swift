import MediaKernels
import MediaTypes
import RTMP

/// Drives a server session like its owner, and records what happens.
final class SessionHarness {
    /// What the session's owner sees, with the payload by value.
    enum Event: Hashable {
        case publishRequested(PublishRequest)
        case media(RTMPMediaMessage.Kind, timestamp: UInt32, payload: [UInt8])
        case metadata([AMF0Property])
        case wallClock(WallClockTime, timestamp: UInt32)
        case unpublished(UnpublishReason)
        case close(RTMPFailure)
    }

    private(set) var session: RTMPServerSession
    private(set) var events: [Event] = []
    /// The encoder's data messages that are forwarded to players, each as its name and JSON.
    private(set) var said: [String] = []
    private(set) var sent: [UInt8] = []
    /// Sizes of the writes.
    private(set) var writes: [Int] = []
    var now: Int64 = 0
    /// nil: requests stay undecided.
    var decision: PublishDecision? = .accept

    init(configuration: RTMPServerConfiguration = RTMPServerConfiguration(), decision: PublishDecision? = .accept) {
        self.session = RTMPServerSession(
            configuration: configuration, now: 0, random: [UInt8](repeating: 0xAB, count: 1528))
        self.decision = decision
    }

    func feed(_ bytes: [UInt8]) { self.perform(self.session.receive(bytes.span, now: self.now)) }

    func feed(_ bytes: [UInt8], pieces: [Int]) {
        var offset = 0
        for piece in pieces where offset < bytes.count {
            let end = min(bytes.count, offset + piece)
            self.feed(Array(bytes[offset..<end]))
            offset = end
        }
        if offset < bytes.count { self.feed(Array(bytes[offset...])) }
    }

    func perform(_ actions: [RTMPServerAction]) {
        for action in actions {
            switch action {
            case .send(let bytes):
                self.sent += bytes
                self.writes.append(bytes.count)
            case .publishRequested(let request):
                self.events.append(.publishRequested(request))
                if let decision = self.decision {
                    self.perform(self.session.decide(decision, on: request.id, now: self.now))
                }
            case .message(let media):
                self.events.append(
                    .media(media.kind, timestamp: media.timestamp, payload: media.payload.bytes))
            case .metadata(let properties): self.events.append(.metadata(properties))
            case .wallClock(let time, let timestamp): self.events.append(.wallClock(time, timestamp: timestamp))
            case .data(let name, let values): self.said.append("\(name) \(values)")
            case .unpublished(let reason): self.events.append(.unpublished(reason))
            case .close(let failure): self.events.append(.close(failure))
            }
        }
    }

    func decide(_ decision: PublishDecision, on id: Int) {
        self.perform(self.session.decide(decision, on: id, now: self.now))
    }

    func deadlineReached() { self.perform(self.session.deadlineReached(now: self.now)) }

    func handOver() { self.perform(self.session.handOver()) }

    func refuse(_ refusal: PublishRefusal) { self.perform(self.session.refuse(refusal)) }

    func inputEnded() { self.perform(self.session.inputEnded()) }

    var isPublishing: Bool { self.session.isPublishing }
    var quirks: RTMPQuirks { self.session.quirks }
    var nextDeadline: Int64? { self.session.nextDeadline }
    var bytesReceived: UInt64 { self.session.bytesReceived }

    /// Why the session closed; nil while it is open.
    var closeReason: RTMPFailure? {
        for case .close(let failure) in self.events { return failure }
        return nil
    }

    /// Messages from the server, after its handshake.
    func answers() -> [RTMPMessage] {
        var reader = RTMPChunkReader()
        var messages: [RTMPMessage] = []
        let bytes = Array(self.sent.dropFirst(Fixtures.handshakeLength))
        try? reader.receive(bytes.span, into: &messages)
        return messages
    }

    /// Commands from the server: name, transaction, arguments.
    func commands() -> [(streamID: UInt32, values: [AMF0Value])] {
        self.answers().filter { $0.type == .commandAMF0 }.map {
            ($0.streamID, AMF0Reader.values(in: $0.payload.bytes).values)
        }
    }

    /// Codes of the server's `onStatus` messages.
    func statusCodes() -> [String] {
        self.commands().filter { $0.values.first?.string == "onStatus" }.compactMap { $0.values.last?["code"]?.string }
    }
}

/// A client's bytes, message by message.
struct ClientScript {
    var writer = RTMPChunkWriter()
    private(set) var bytes: [UInt8] = []

    /// Starts with C0, C1 and C2.
    init(handshake: Bool = true) {
        if handshake { self.bytes = [3] + [UInt8](repeating: 7, count: 2 * 1536) }
    }

    mutating func raw(_ bytes: [UInt8]) { self.bytes += bytes }

    mutating func message(
        _ type: UInt8, _ payload: [UInt8], timestamp: UInt32 = 0, id: UInt32 = 4, streamID: UInt32 = 1
    ) {
        self.writer.write(
            RTMPMessage(
                chunkStreamID: id, type: RTMPMessageType(rawValue: type), streamID: streamID, timestamp: timestamp,
                payload: PacketMemory(payload)), into: &self.bytes)
    }

    mutating func command(_ name: String, _ transaction: Double, _ arguments: [AMF0Value], streamID: UInt32 = 0) {
        let message = RTMPCommand(name, transaction: transaction, arguments)
            .message(chunkStreamID: 3, streamID: streamID)
        self.writer.write(message, into: &self.bytes)
    }

    mutating func connect(app: String = "live", properties: [AMF0Property] = []) {
        let usual = [AMF0Property("app", .string(app)), AMF0Property("flashVer", .string("test"))]
        self.command("connect", 1, [.object(usual + properties)])
    }

    mutating func publish(_ name: String = "key", transaction: Double = 5) {
        self.command("publish", transaction, [.null, .string(name), .string("live")], streamID: 1)
    }

    /// `connect`, `createStream`, `publish`.
    mutating func open(app: String = "live", name: String = "key", properties: [AMF0Property] = []) {
        self.connect(app: app, properties: properties)
        self.command("createStream", 2, [.null])
        self.publish(name)
    }

    /// The bytes added since the last call.
    mutating func take() -> [UInt8] {
        defer { self.bytes = [] }
        return self.bytes
    }
}
