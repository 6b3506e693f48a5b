import MediaKernels
package import MediaTypes

/// The client side of a connection, which publishes or plays.
///
/// Pure: bytes in, actions out. States: `awaitingServer` (C0 and C1 sent) → `connecting` → `creating` (createStream
/// sent; a publisher sends releaseStream and FCPublish before it) → `requested` (publish or play sent) → `ready`; any →
/// `closed`.
///
/// Spec: RTMP 1.0 §5.2, §7.2.
package struct RTMPClientSession: ~Copyable {
    /// What the client does with the stream.
    package enum Purpose: Sendable, Hashable { case publish, play }
    enum State: Hashable { case awaitingServer, connecting, creating, requested, ready, closed }

    private static let connectTransaction: Double = 1
    private static let createTransaction: Double = 4
    private static let publishTransaction: Double = 5
    /// Maximum number of bytes that the server may send before it accepts the request; a real server needs four
    /// kilobytes.
    private static let setupBytes: UInt64 = 256 << 10

    let url: RTMPURL
    let purpose: Purpose
    private let flashVersion: String
    private let chunkSize: Int
    private let acknowledgementWindow: UInt32?
    private let followsReconnectRequests: Bool
    var state = State.awaitingServer
    /// The bytes of S0, S1 and S2 received so far.
    private var handshake: [UInt8] = []
    private var reader = RTMPChunkReader()
    private var writer = RTMPChunkWriter()
    private var output: [UInt8] = []
    var actions: [RTMPClientAction] = []
    private(set) var streamID: UInt32 = 0
    /// Enhanced RTMP features that the server announces; empty until it has answered `connect`.
    package private(set) var peer = EnhancedCapabilities()
    /// Media that a player has received and that ``takeMedia()`` has not returned yet.
    var media: [RTMPMediaMessage] = []
    private var received: UInt64 = 0
    private var acknowledged: UInt64 = 0
    /// Number of acknowledgements received from the server; ``acknowledgement`` is the value of the last one.
    package private(set) var acknowledgements = 0
    /// Value of the server's last acknowledgement: number of bytes received, modulo a value of the server's choice.
    package private(set) var acknowledgement: UInt32 = 0

    /// Creates the session of a connection that was just opened.
    ///
    /// - Parameters:
    ///   - url: The stream to publish or to play.
    ///   - flashVersion: The client's name for itself.
    ///   - chunkSize: Payload bytes per chunk that the client sends, 128 to 65,536.
    ///   - acknowledgementWindow: Bytes after which the server must acknowledge (§5.4.4); `nil`: the server chooses.
    ///   - followsReconnectRequests: If the server asks the client to reconnect, the session ends with
    ///     ``RTMPClientStatus/reconnectRequest``; otherwise the request is ignored.
    package init(
        url: RTMPURL, purpose: Purpose = .publish, flashVersion: String = "FMLE/3.0 (compatible; Tandem)",
        chunkSize: Int = 4096, acknowledgementWindow: UInt32? = nil, followsReconnectRequests: Bool = false
    ) {
        self.url = url
        self.purpose = purpose
        self.flashVersion = flashVersion
        self.chunkSize = min(max(128, chunkSize), 65_536)
        self.acknowledgementWindow = acknowledgementWindow
        self.followsReconnectRequests = followsReconnectRequests
    }

    /// True if the server has accepted the publish or play request: media may be sent, or will arrive.
    package var isReady: Bool { self.state == .ready }

    /// Returns C0 and C1, the bytes that begin the handshake.
    ///
    /// - Parameter random: 1,528 random bytes; missing ones are 0.
    package func start(random: [UInt8]) -> [UInt8] {
        let filler = random.prefix(RTMPServerHandshake.packetLength - 8)
        let zeros = [UInt8](repeating: 0, count: RTMPServerHandshake.packetLength - 8 - filler.count)
        return [3] + [UInt8](repeating: 0, count: 8) + filler + zeros
    }

    /// Reads bytes from the server, split at any position.
    package mutating func receive(_ bytes: Span<UInt8>) -> [RTMPClientAction] {
        guard self.state != .closed else { return [] }
        self.received += UInt64(bytes.count)
        do throws(RTMPFailure) {
            try self.consume(bytes)
        } catch {
            self.fail(.server(error))
        }
        if self.state != .ready, self.state != .closed, self.received > RTMPClientSession.setupBytes {
            self.fail(.server(.limit(.setupBytes)))
        }
        if self.received &- self.acknowledged >= 1_250_000 {
            self.acknowledged = self.received
            self.write(.acknowledgement, UInt32(truncatingIfNeeded: self.received % 0xF000_0000))
        }
        return self.takeActions()
    }

    /// Returns the bytes of one audio or video message; empty if the server has not accepted the request.
    package mutating func bytes(for media: RTMPMediaMessage) -> [UInt8] {
        guard self.state == .ready else { return [] }
        let isVideo = media.kind == .video
        var bytes: [UInt8] = []
        bytes.reserveCapacity(media.payload.count + media.payload.count / self.chunkSize + 32)
        self.writer.write(
            RTMPMessage(
                chunkStreamID: isVideo ? 6 : 4, type: isVideo ? .video : .audio, streamID: self.streamID,
                timestamp: media.timestamp, payload: media.payload), into: &bytes)
        return bytes
    }

    /// Returns the bytes of `@setDataFrame onMetaData`; empty if the server has not accepted the request.
    package mutating func bytes(forMetadata properties: [AMF0Property]) -> [UInt8] {
        guard self.state == .ready else { return [] }
        let payload = AMF0Writer.bytes([.string("@setDataFrame"), .string("onMetaData"), .ecmaArray(properties)])
        var bytes: [UInt8] = []
        self.writer.write(
            RTMPMessage(
                chunkStreamID: 8, type: .dataAMF0, streamID: self.streamID, timestamp: 0, payload: PacketMemory(payload)
            ),
            header: .full, into: &bytes)
        return bytes
    }

    /// Returns the bytes that end the stream; close the connection after sending them.
    package mutating func finish() -> [UInt8] {
        if self.state == .ready && self.purpose == .play {
            self.command(RTMPCommand("deleteStream", [.null, .number(Double(self.streamID))]))
        } else if self.state == .ready {
            self.command(RTMPCommand("FCUnpublish", transaction: 6, [.null, .string(self.url.streamName)]))
            self.command(RTMPCommand("deleteStream", transaction: 7, [.null, .number(Double(self.streamID))]))
        }
        self.state = .closed
        defer { self.output = [] }
        return self.output
    }

    // MARK: Input

    private mutating func consume(_ bytes: Span<UInt8>) throws(RTMPFailure) {
        var position = 0
        if self.state == .awaitingServer {
            let length = 1 + 2 * RTMPServerHandshake.packetLength
            while position < bytes.count, self.handshake.count < length {
                self.handshake.append(bytes[position])
                position += 1
            }
            if let version = self.handshake.first, version != 3 { throw .version(RTMPVersionFault(version)) }
            guard self.handshake.count == length else { return }
            // C2 repeats S1 (§5.2.4).
            self.output += self.handshake[1...RTMPServerHandshake.packetLength]
            self.handshake = []
            self.connect()
        }
        var messages: [RTMPMessage] = []
        var failure: RTMPFailure?
        do throws(RTMPFailure) {
            try self.reader.receive(bytes.extracting(position...), into: &messages)
        } catch {
            failure = error
        }
        // A refusal is the reason for the failure, whatever the server sent after it.
        for message in messages where self.state != .closed { self.received(message) }
        if let failure { throw failure }
    }

    private mutating func connect() {
        self.state = .connecting
        self.write(.setChunkSize, UInt32(self.chunkSize))
        self.writer.chunkSize = self.chunkSize
        var extensions: EnhancedCapabilities.Extensions = [.multitrack, .modifiers, .nanoseconds]
        if self.followsReconnectRequests { extensions.insert(.reconnect) }
        let enhanced = EnhancedCapabilities(codecs: FLVTagWriter.codecs, extensions: extensions)
        let object = AMF0Value.object(
            [
                AMF0Property("app", .string(self.url.app)), AMF0Property("type", .string("nonprivate")),
                AMF0Property("flashVer", .string(self.flashVersion)), AMF0Property("tcUrl", .string(self.url.tcURL)),
            ] + enhanced.properties(use: self.purpose == .publish ? 4 : 1))
        self.command(RTMPCommand("connect", transaction: RTMPClientSession.connectTransaction, [object]))
    }

    private mutating func received(_ message: RTMPMessage) {
        switch message.type {
        case .commandAMF0, .commandAMF3:
            var fault: AMF0Reader.Fault?
            if let command = RTMPCommand(message, fault: &fault) { self.received(command) }
        case .userControl where message.payload.byte(at: 1) == 6 && message.payload.byte(at: 0) == 0:
            self.write(.userControl, [0, 7] + message.payload.bytes(in: 2..<6))
        case .acknowledgement:
            guard message.payload.count == 4, let sequence = message.payload.unsigned32(at: 0) else { return }
            self.acknowledgements &+= 1
            self.acknowledgement = sequence
        case .audio, .video, .aggregate: self.received(media: message)
        default: break
        }
    }

    private mutating func received(_ command: RTMPCommand) {
        switch command.name {
        case "_result" where command.transaction == RTMPClientSession.connectTransaction && self.state == .connecting:
            self.state = .creating
            self.peer = EnhancedCapabilities(command.argument(1))
            if !self.peer.isSpoken { self.peer = EnhancedCapabilities(command.argument(0)) }
            // Not earlier: some servers accept only a chunk size before `connect`.
            if let window = self.acknowledgementWindow { self.write(.windowAcknowledgementSize, window) }
            if self.purpose == .publish {
                let name = AMF0Value.string(self.url.streamName)
                self.command(RTMPCommand("releaseStream", transaction: 2, [.null, name]))
                self.command(RTMPCommand("FCPublish", transaction: 3, [.null, name]))
            }
            self.command(RTMPCommand("createStream", transaction: RTMPClientSession.createTransaction))
        case "_result" where command.transaction == RTMPClientSession.createTransaction && self.state == .creating:
            self.state = .requested
            // A server that sends anything but a 32-bit number means its first stream, 1.
            self.streamID = command.argument(1)?.number.flatMap { UInt32(exactly: $0) } ?? 1
            if self.purpose == .play {
                self.requestPlay()
                return
            }
            let arguments = [AMF0Value.null, .string(self.url.streamName), .string("live")]
            let publish = RTMPCommand("publish", transaction: RTMPClientSession.publishTransaction, arguments)
            self.command(publish, streamID: self.streamID)
        case "_error" where command.transaction == RTMPClientSession.connectTransaction:
            self.fail(.rejected(RTMPClientSession.status(command)))
        case "_error" where command.transaction == RTMPClientSession.createTransaction,
            "_error" where command.transaction == RTMPClientSession.publishTransaction:
            self.fail(.rejected(RTMPClientSession.status(command)))
        case "onStatus": self.received(status: RTMPClientSession.status(command))
        default: break
        }
    }

    private mutating func received(status: RTMPClientStatus) {
        if status.level == "error" || self.isReconnectRequest(status) {
            self.fail(.rejected(status))
        } else if self.purpose == .play {
            self.received(playStatus: status)
        } else if status.code == "NetStream.Publish.Start" && self.state == .requested {
            self.state = .ready
            self.actions.append(.ready)
        }
    }

    /// Spec: Enhanced RTMP v2, "Reconnect Request": the client must reconnect, to `tcUrl` if present.
    private func isReconnectRequest(_ status: RTMPClientStatus) -> Bool {
        status.code == RTMPClientStatus.reconnectRequest && self.followsReconnectRequests
    }

    private static func status(_ command: RTMPCommand) -> RTMPClientStatus {
        let information = command.arguments.last { $0.properties != nil }
        return RTMPClientStatus(
            level: information?["level"]?.string ?? (command.name == "_error" ? "error" : "status"),
            code: information?["code"]?.string ?? "", text: information?["description"]?.string ?? "",
            redirect: information?["ex"]?["redirect"]?.string ?? information?["tcUrl"]?.string)
    }

    // MARK: Output

    mutating func fail(_ failure: RTMPClientFailure) {
        guard self.state != .closed else { return }
        self.state = .closed
        self.actions.append(.failed(failure))
    }

    mutating func command(_ command: RTMPCommand, streamID: UInt32 = 0) {
        let message = command.message(chunkStreamID: streamID == 0 ? 3 : 8, streamID: streamID)
        self.writer.write(message, header: .full, into: &self.output)
    }

    private mutating func write(_ type: RTMPMessageType, _ value: UInt32) {
        self.write(type, RTMPServerSession.bytes(value))
    }

    mutating func write(_ type: RTMPMessageType, _ payload: [UInt8]) {
        let message = RTMPMessage(
            chunkStreamID: 2, type: type, streamID: 0, timestamp: 0, payload: PacketMemory(payload))
        self.writer.write(message, header: .full, into: &self.output)
    }

    private mutating func takeActions() -> [RTMPClientAction] {
        var actions = self.actions
        if !self.output.isEmpty { actions.insert(.send(self.output), at: 0) }
        self.actions = []
        self.output = []
        return actions
    }
}
