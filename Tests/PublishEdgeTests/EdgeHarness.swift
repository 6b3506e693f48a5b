import Glibc
import MediaKernels
import PublishEdge
import RTMP
import Testing

/// Drives an ``EdgeSession`` like its owner, with a room in memory, and records what happens.
final class EdgeHarness {
    private(set) var session: EdgeSession
    /// Bytes that the publisher has received.
    private(set) var told: [UInt8] = []
    /// Names of all lookups.
    private(set) var lookups: [[String]] = []
    /// Locations that were connected to.
    private(set) var connects: [RoomLocation] = []
    private(set) var end: EdgeEnd?
    private(set) var isPaused = false
    private(set) var isForwarding = false
    private(set) var closings = 0
    /// Bytes that the last room has received.
    private(set) var toRoom: [UInt8] = []
    private(set) var room: MemoryRoom?
    var now: Int64 = 0

    /// What a lookup finds, by its number from 0; nil: the test answers it.
    var lookup: (Int) -> EdgeSession.LookupResult? = { _ in .room(RoomLocation(host: "10.0.0.1", port: 1935)) }
    /// Whether the connection attempt with this number, from 0, succeeds; nil: it gets no answer.
    var reaches: (Int) -> Bool? = { _ in true }
    var roomConfiguration = RTMPServerConfiguration()
    var roomDecision: PublishDecision? = .accept
    var roomRefusal: PublishRefusal?
    /// Bytes of the room per delivery; 0: as they are sent.
    var roomPiece = 0
    /// Replaces what the room sends.
    var mangle: ([UInt8]) -> [UInt8] = { $0 }

    init(_ settings: EdgeSession.Settings = EdgeSession.Settings()) {
        self.session = EdgeSession(settings: settings, now: 0, random: [UInt8](repeating: 0xE0, count: 1528))
    }

    func setProxyHeader(_ bytes: [UInt8]) { self.session.proxyHeader = bytes }

    func feed(_ bytes: [UInt8]) { self.perform(self.session.receive(bytes.span, now: self.now)) }

    /// Feeds pieces of this size.
    func feed(_ bytes: [UInt8], by size: Int) {
        for start in stride(from: 0, to: bytes.count, by: size) {
            self.feed(Array(bytes[start..<min(bytes.count, start + size)]))
        }
    }

    func found(_ found: EdgeSession.LookupResult) { self.perform(self.session.found(found, now: self.now)) }

    /// Lets time pass up to the next deadline, and returns whether there was one.
    @discardableResult
    func passTime() -> Bool {
        guard let due = self.session.nextDeadline else { return false }
        self.now = max(self.now, due)
        self.perform(self.session.deadlineReached(now: self.now))
        return true
    }

    func closeRoom() {
        self.room = nil
        self.perform(self.session.roomClosed(now: self.now))
    }

    func roomSends(_ bytes: [UInt8]) { self.deliver(bytes) }

    func roomDecides(_ decision: PublishDecision) {
        if let bytes = self.room?.decide(decision) { self.deliver(bytes) }
    }

    func publisherCloses() { self.perform(self.session.publisherClosed()) }

    func close(_ reason: EdgeEnd) { self.perform(self.session.close(reason)) }

    private func perform(_ actions: [EdgeAction]) {
        for action in actions {
            #expect(self.end == nil, "\(action) after the end")
            switch action {
            case .sendToPublisher(let bytes): self.told += bytes
            case .sendToRoom(let bytes):
                self.toRoom += bytes
                if let answer = self.room?.receive(bytes) { self.deliver(answer) }
            case .pausePublisher: self.isPaused = true
            case .lookUp(let names):
                self.lookups.append(names)
                if let found = self.lookup(self.lookups.count - 1) { self.found(found) }
            case .connect(let location):
                self.connects.append(location)
                switch self.reaches(self.connects.count - 1) {
                case true?:
                    self.toRoom = []
                    self.room = MemoryRoom(self.roomConfiguration, self.roomDecision, self.roomRefusal)
                    self.perform(self.session.roomConnected(now: self.now))
                case false?: self.perform(self.session.roomClosed(now: self.now))
                case nil: break
                }
            case .forward: self.isForwarding = true
            case .closeRoom:
                self.closings += 1
                self.room = nil
            case .close(let reason): self.end = reason
            }
        }
    }

    private func deliver(_ bytes: [UInt8]) {
        let bytes = self.mangle(bytes)
        let size = self.roomPiece > 0 ? self.roomPiece : max(1, bytes.count)
        for start in stride(from: 0, to: bytes.count, by: size) {
            let piece = Array(bytes[start..<min(bytes.count, start + size)])
            self.perform(self.session.receiveFromRoom(piece.span))
        }
    }

    /// Messages that the publisher has received after the handshake.
    var answers: [Heard] { Heard.all(self.told) }

    /// Codes of the `onStatus` messages that the publisher has received.
    var statusCodes: [String] { self.answers.compactMap(\.statusCode) }
}

/// A message of a server by value.
struct Heard: Hashable {
    let type: UInt8
    let streamID: UInt32
    let payload: [UInt8]

    /// All messages in the bytes of a server.
    static func all(_ bytes: [UInt8]) -> [Heard] {
        var reader = RTMPChunkReader()
        var messages: [RTMPMessage] = []
        let rest = Array(bytes.dropFirst(Script.handshakeLength))
        #expect(throws: Never.self) { try reader.receive(rest.span, into: &messages) }
        return messages.map {
            Heard(type: $0.type.rawValue, streamID: $0.streamID, payload: $0.payload.bytes)
        }
    }

    var values: [AMF0Value] { self.type == 20 ? AMF0Reader.values(in: self.payload).values : [] }

    var statusCode: String? {
        self.values.first?.string == "onStatus" ? self.values.last?["code"]?.string : nil
    }
}

/// A room: the server that workers use, in memory.
final class MemoryRoom {
    private var session: RTMPServerSession
    private var decision: PublishDecision?
    private(set) var requests: [PublishRequest] = []
    private(set) var media: [Heard] = []
    private(set) var closed: RTMPFailure?
    private(set) var sent: [UInt8] = []

    init(_ configuration: RTMPServerConfiguration, _ decision: PublishDecision?, _ refusal: PublishRefusal? = nil) {
        self.session = RTMPServerSession(
            configuration: configuration, now: 0, random: [UInt8](repeating: 0xD0, count: 1528))
        self.session.connectRefusal = refusal
        self.decision = decision
    }

    var bytesReceived: UInt64 { self.session.bytesReceived }

    func receive(_ bytes: [UInt8]) -> [UInt8] { self.note(self.perform(self.session.receive(bytes.span, now: 0))) }

    /// The media since the last call.
    func takeMedia() -> [Heard] {
        defer { self.media = [] }
        return self.media
    }

    func decide(_ decision: PublishDecision) -> [UInt8] { self.note(self.apply(decision)) }

    private func note(_ output: [UInt8]) -> [UInt8] {
        self.sent += output
        return output
    }

    private func apply(_ decision: PublishDecision) -> [UInt8] {
        self.perform(self.session.decide(decision, on: self.requests.count, now: 0))
    }

    private func perform(_ actions: [RTMPServerAction]) -> [UInt8] {
        var output: [UInt8] = []
        for action in actions {
            switch action {
            case .send(let bytes): output += bytes
            case .publishRequested(let request):
                self.requests.append(request)
                if let decision { output += self.apply(decision) }
            case .message(let message):
                self.media.append(
                    Heard(
                        type: message.kind == .video ? 9 : 8, streamID: message.timestamp,
                        payload: message.payload.bytes))
            case .close(let failure): self.closed = failure
            case .metadata, .wallClock, .data, .unpublished: break
            }
        }
        return output
    }
}

/// A publisher's bytes, message by message.
struct Script {
    /// C0, C1 and C2.
    static let handshakeLength = 1 + 1536 + 1536

    private var writer = RTMPChunkWriter()
    private(set) var bytes = [3] + [UInt8](repeating: 7, count: 2 * 1536)

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
        self.writer.write(
            RTMPCommand(name, transaction: transaction, arguments).message(chunkStreamID: 3, streamID: streamID),
            into: &self.bytes)
    }

    mutating func chunkSize(_ size: Int) {
        self.message(1, (0..<4).map { UInt8(truncatingIfNeeded: size >> (24 - 8 * $0)) }, id: 2, streamID: 0)
        self.writer.chunkSize = size
    }

    mutating func connect(_ properties: [AMF0Property] = []) {
        self.command(
            "connect", 1,
            [.object([AMF0Property("app", .string("live")), AMF0Property("flashVer", .string("test"))] + properties)])
    }

    mutating func publish(_ name: String = "key") {
        self.command("releaseStream", 2, [.null, .string(name)])
        self.command("FCPublish", 3, [.null, .string(name)])
        self.command("createStream", 4, [.null])
        self.command("publish", 5, [.null, .string(name), .string("live")], streamID: 1)
    }

    /// Everything up to `publish`.
    static func opening(_ name: String = "key") -> [UInt8] {
        var script = Script()
        script.connect()
        script.publish(name)
        return script.bytes
    }
}

/// Bytes sent by real encoders: ffmpeg 5.1 (ff), GStreamer 1.22 rtmp2sink (gst_rtmp2), librtmp 2.4 (gst_rtmp, lib).
enum Captures {
    static let names = ["ff_copy", "ff_ext", "ff_video", "gst_rtmp", "gst_rtmp2", "lib_ext", "lib_rotation"]

    static func bytes(_ name: String) -> [UInt8] {
        let tests = #filePath.split(separator: "/").dropLast(2).map { "/" + $0 }.joined()
        guard let file = fopen("\(tests)/RTMPTests/Fixtures/\(name).c2s.bin", "rb") else {
            Issue.record("no capture \(name)")
            return []
        }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        while case let byte = getc(file), byte != EOF { bytes.append(UInt8(truncatingIfNeeded: byte)) }
        return bytes
    }
}
