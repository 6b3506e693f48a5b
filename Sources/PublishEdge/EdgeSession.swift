import MediaKernels
package import RTMP

/// One publisher at the edge, from its first byte until its bytes are passed to its room unchanged.
///
/// Pure: bytes and time in, actions out. States:
///
///     setup ─publish─▶ lookingUp ─found─▶ connecting ─▶ replaying ─Publish.Start─▶ forwarding
///                       ▲   │unknown          │failed       │closed, first time
///                       │   ▼                 ▼             ▼
///                       │  refusing          waiting ◀──────┘
///                       └─────────────────────┘
///
/// Every state goes to `closed` when the publisher leaves, fails or waits too long; in `closed` all input is discarded.
///
/// The edge answers the handshake and the commands up to `publish` itself, as a room does, because only `publish` names
/// the stream key. It keeps the bytes that the publisher sends after the handshake. When the room is known it does a
/// handshake of its own with the room, and then sends exactly the kept bytes. So the room's chunk reader has seen every
/// byte that the publisher's chunk writer has sent: chunk size, the header of each chunk stream, transaction ids, and
/// the number of bytes that acknowledgements count are the same by construction. From there on the publisher's bytes
/// can be passed on as they are, whatever they contain, Enhanced RTMP included. Rooms number message streams as the edge
/// does, because both use ``RTMPServerSession``; the answers are compared anyway.
///
/// The room's answers to commands that the edge has answered are dropped. Other messages of the room are few and small:
/// they are read and written again with complete headers, so that the chunk state of the room and that of the edge need
/// not be the same. With them the publisher gets the room's decision, acknowledgements and requests to reconnect.
///
/// A room that moves is followed in two ways. Before `publish` is answered, a room that cannot be reached is looked up
/// and tried again until ``Settings/roomTimeout`` has passed. After that, the publisher's connection is closed with the
/// room's, and its encoder connects again.
///
/// Invariants: (1) ``kept`` is every byte of the publisher after C2, until `forwarding`; (2) nothing but messages of the
/// room is sent to the publisher after `publish`, unless the edge refuses it; (3) no status is sent for a failure that
/// may be over soon, because some encoders do not try again after one.
///
/// Spec: RTMP 1.0 §5.2, §5.3, §7.2.
package struct EdgeSession: ~Copyable {
    /// Settings of a publisher's session at the edge; times in nanoseconds, sizes in bytes.
    package struct Settings: Sendable {
        /// What the edge answers as a server until `publish`. Its time limits for a decision are not used.
        package var server = RTMPServerConfiguration()
        /// Time from `publish` until the room must have answered it. Encoders that wait less disconnect by themselves.
        package var roomTimeout: Int64 = 10_000_000_000
        /// Timeout of an attempt to open the TCP connection to the room.
        package var connectTimeout: Int64 = 3_000_000_000
        /// Delay between a failed attempt and the next lookup.
        package var retryDelay: Int64 = 250_000_000
        /// Delay between an unknown key and its refusal, to slow down guessing; rooms use the same delay.
        package var refusalDelay: Int64 = 1_000_000_000
        /// Maximum size of ``EdgeSession/kept``: the setup, and what the publisher sends until the room has accepted it.
        package var keptBytes = 512 << 10

        package init() {}
    }

    /// What a lookup means for the publisher.
    package enum LookupResult: Sendable, Hashable {
        case room(RoomLocation)
        /// No room has the key.
        ///
        /// - Parameter explains: The publisher gets a status, after a delay. False: it is disconnected at once.
        case unknown(explains: Bool)
        /// The directory could not be read; the lookup is repeated.
        case failed
    }

    enum State: Hashable {
        case setup, lookingUp
        case waiting(until: Int64)
        case connecting(until: Int64)
        case replaying, forwarding
        case refusing(until: Int64)
        case closed
    }

    /// Size in bytes of C0, C1 and C2 together, and of S0, S1 and S2 together.
    private static let handshakeLength = 1 + 2 * RTMPServerHandshake.packetLength

    private let settings: Settings
    private(set) var state = State.setup
    private var server: RTMPServerSession
    /// Random bytes for C1 towards the room.
    private let random: [UInt8]
    /// Written before the handshake with the room; empty: no PROXY header.
    package var proxyHeader: [UInt8] = []

    private var received = 0
    /// The publisher's bytes after the handshake.
    private var kept: [UInt8] = []
    private var request: PublishRequest?
    private var names: [String] = []
    private var publishedAt: Int64 = 0
    /// Reads what the edge itself has answered, for ``streamIDs``.
    private var answers = RTMPChunkReader()
    private var answeredBytes = 0
    /// The number in each `_result` of the edge, by transaction id.
    private var streamIDs: [Double: Double] = [:]

    private var isRoomOpen = false
    /// Whether a room has accepted a connection and closed it without an answer to `publish`.
    private var hasFailedOnce = false
    /// The bytes of S0, S1 and S2 received so far.
    private var handshake: [UInt8] = []
    private var reader = RTMPChunkReader()
    private var writer = RTMPChunkWriter()
    /// Messages of the room for the publisher, sent at the end of the current call.
    private var output: [UInt8] = []
    private var actions: [EdgeAction] = []

    /// - Parameters:
    ///   - now: Nanoseconds of a monotonic clock, as in every later call.
    ///   - random: 1,528 random bytes for the handshakes with the publisher and with the room.
    package init(settings: Settings = Settings(), now: Int64, random: [UInt8]) {
        self.settings = settings
        self.random = random
        self.server = RTMPServerSession(configuration: settings.server, now: now, random: random)
        self.writer.chunkSize = settings.server.chunkSize
    }

    /// Whether the publisher's bytes are passed to the room.
    package var isForwarding: Bool { self.state == .forwarding }
    /// The client's progress towards a publication, for limits; see ``RTMPServerSession/progress``.
    package var progress: Int { self.server.progress }
    /// App, stream key and query that the publisher asked for; nil before `publish`.
    package var address: StreamAddress? { self.request?.address }
    /// The encoder's name for itself, as in `connect`; empty before `publish`.
    package var encoder: String { self.request?.flashVersion ?? "" }
    /// The names of the key's files, for checks whether the room has moved; empty before `publish`.
    package var lookupNames: [String] { self.names }

    // MARK: The publisher

    /// Reads bytes from the publisher, split at any position.
    package mutating func receive(_ bytes: Span<UInt8>, now: Int64) -> [EdgeAction] {
        switch self.state {
        case .setup: self.receiveSetup(bytes, now: now)
        case .lookingUp, .waiting, .connecting, .replaying:
            self.keep(bytes, from: 0)
            if self.state == .replaying, self.handshake.count == Self.handshakeLength {
                self.actions.append(.sendToRoom(Self.array(bytes, from: 0)))
            }
        case .forwarding: self.actions.append(.sendToRoom(Self.array(bytes, from: 0)))
        case .refusing, .closed: break
        }
        return self.takeActions()
    }

    /// Records that the publisher or the network has closed the connection.
    package mutating func publisherClosed() -> [EdgeAction] {
        self.state = .closed
        self.forgetRoom()
        return self.takeActions()
    }

    private mutating func receiveSetup(_ bytes: Span<UInt8>, now: Int64) {
        self.keep(bytes, from: max(0, Self.handshakeLength - self.received))
        self.received += bytes.count
        self.perform(self.server.receive(bytes, now: now), now: now)
        // Bytes after `publish` in the same read may have ended the session.
        guard self.state == .setup, let request = self.request, self.server.isDeciding(request.id) else { return }
        self.publishedAt = now
        self.names = KeyDirectory.names(of: request.address)
        self.state = .lookingUp
        self.actions += [.pausePublisher, .lookUp(self.names)]
    }

    private mutating func perform(_ actions: [RTMPServerAction], now: Int64) {
        for action in actions {
            switch action {
            case .send(let bytes):
                self.note(answer: bytes)
                self.actions.append(.sendToPublisher(bytes))
            case .publishRequested(let request): self.request = request
            case .close(let failure): self.end(.publisherFailed(failure))
            // The edge's own server session accepts no publication, so it reports no media.
            case .message, .metadata, .wallClock, .data, .unpublished: break
            }
        }
    }

    private mutating func keep(_ bytes: Span<UInt8>, from start: Int) {
        guard bytes.count > start else { return }
        guard self.kept.count + bytes.count - start <= self.settings.keptBytes else { return self.end(.tooMuchData) }
        self.kept.reserveCapacity(self.kept.count + bytes.count - start)
        for index in start..<bytes.count { self.kept.append(bytes[index]) }
    }

    private static func array(_ bytes: Span<UInt8>, from start: Int) -> [UInt8] {
        (start..<max(start, bytes.count)).map { bytes[$0] }
    }

    /// Remembers the stream ids that the edge gives.
    private mutating func note(answer bytes: [UInt8]) {
        let start = max(0, Self.handshakeLength - self.answeredBytes)
        self.answeredBytes += bytes.count
        guard bytes.count > start else { return }
        var messages: [RTMPMessage] = []
        // The edge's own bytes are valid.
        try? self.answers.receive(bytes.span.extracting(start...), into: &messages)
        for message in messages {
            guard let (transaction, number) = Self.numberedResult(message) else { continue }
            self.streamIDs[transaction] = number
        }
    }

    /// Transaction id and number of a `_result` that carries a stream id.
    private static func numberedResult(_ message: RTMPMessage) -> (Double, Double)? {
        guard let command = Self.command(message), command.name == "_result",
            let number = command.argument(1)?.number, number >= 1
        else { return nil }
        return (command.transaction, number)
    }

    private static func command(_ message: RTMPMessage) -> RTMPCommand? {
        guard message.type == .commandAMF0 || message.type == .commandAMF3 else { return nil }
        var fault: AMF0Reader.Fault?
        return RTMPCommand(message, fault: &fault)
    }

    // MARK: The room

    /// Answers ``EdgeAction/lookUp(_:)``; ignored if no lookup is awaited.
    package mutating func found(_ result: LookupResult, now: Int64) -> [EdgeAction] {
        guard self.state == .lookingUp else { return [] }
        switch result {
        case .room(let location):
            self.state = .connecting(until: min(now &+ self.settings.connectTimeout, self.roomDue))
            self.isRoomOpen = true
            self.actions.append(.connect(location))
        case .unknown(explains: true): self.state = .refusing(until: now &+ self.settings.refusalDelay)
        case .unknown(explains: false): self.end(.unknownKey)
        case .failed: self.retry(now: now)
        }
        return self.takeActions()
    }

    /// Records that the connection to the room is open.
    package mutating func roomConnected(now: Int64) -> [EdgeAction] {
        guard case .connecting = self.state else { return [] }
        self.state = .replaying
        self.handshake = []
        self.reader = RTMPChunkReader()
        let zeros = [UInt8](repeating: 0, count: 8)
        let filler = Self.filled(self.random, to: RTMPServerHandshake.packetLength - zeros.count)
        self.actions.append(.sendToRoom(self.proxyHeader + [3] + zeros + filler))
        return self.takeActions()
    }

    private static func filled(_ bytes: [UInt8], to count: Int) -> [UInt8] {
        bytes.prefix(count) + [UInt8](repeating: 0, count: max(0, count - bytes.count))
    }

    /// Records that the connection to the room has closed, or could not be opened.
    package mutating func roomClosed(now: Int64) -> [EdgeAction] {
        self.isRoomOpen = false
        switch self.state {
        case .connecting: self.retry(now: now)
        case .replaying where self.hasFailedOnce: self.end(.roomClosed)
        case .replaying:
            // A worker that was just replaced. Once only: a room may also close without a word on purpose, and repeating
            // that would multiply the attempts of a client that guesses keys.
            self.hasFailedOnce = true
            self.retry(now: now)
        case .forwarding: self.end(.roomClosed)
        case .setup, .lookingUp, .waiting, .refusing, .closed: break
        }
        return self.takeActions()
    }

    /// Reads bytes from the room, split at any position.
    package mutating func receiveFromRoom(_ bytes: Span<UInt8>) -> [EdgeAction] {
        guard self.state == .replaying || self.state == .forwarding else { return [] }
        var position = 0
        if self.handshake.count < Self.handshakeLength {
            while position < bytes.count, self.handshake.count < Self.handshakeLength {
                self.handshake.append(bytes[position])
                position += 1
            }
            if let version = self.handshake.first, version != 3 {
                self.end(.roomFailed(.version(.other(version))))
                return self.takeActions()
            }
            guard self.handshake.count == Self.handshakeLength else { return [] }
            // C2 repeats S1 (§5.2.4).
            let c2 = self.handshake[1...RTMPServerHandshake.packetLength]
            self.actions.append(.sendToRoom(c2 + self.kept))
        }
        var messages: [RTMPMessage] = []
        var failure: RTMPFailure?
        do throws(RTMPFailure) {
            try self.reader.receive(bytes.extracting(position...), into: &messages)
        } catch {
            failure = error
        }
        for message in messages where self.state != .closed { self.received(message) }
        if let failure, self.state != .closed { self.end(.roomFailed(failure)) }
        return self.takeActions()
    }

    private mutating func received(_ message: RTMPMessage) {
        guard self.state == .replaying else { return self.pass(message) }
        switch message.type {
        // Answers to `connect`, which the edge has given.
        case .windowAcknowledgementSize, .setPeerBandwidth: return
        default: break
        }
        guard let command = Self.command(message) else { return self.pass(message) }
        let status = command.arguments.last { $0.properties != nil }
        switch command.name {
        case "_result":
            guard let (transaction, number) = Self.numberedResult(message),
                let given = self.streamIDs[transaction], given != number
            else { return }
            self.end(.otherStreamID)
        case "_error":
            // The publisher has its answer to `connect`, so the room's refusal must become one of `publish`.
            guard let code = status?["code"]?.string, code.hasPrefix("NetConnection.Connect.") else { return }
            self.deny(
                PublishRefusal(code: "NetStream.Publish.Denied", text: status?["description"]?.string ?? ""),
                .refused(code: code))
        case "onStatus":
            self.pass(message)
            let code = status?["code"]?.string ?? ""
            if status?["level"]?.string == "error" {
                self.end(.refused(code: code))
            } else if code == "NetStream.Publish.Start" {
                self.begin()
            }
        default: self.pass(message)
        }
    }

    private mutating func begin() {
        self.state = .forwarding
        self.kept = []
        self.streamIDs = [:]
        // Frees the messages that the server session has queued; its answer is not sent.
        _ = self.server.refuse(.ended)
        self.flush()
        self.actions.append(.forward)
    }

    /// Sends a message of the room to the publisher.
    private mutating func pass(_ message: RTMPMessage) {
        self.writer.write(message, header: .full, into: &self.output)
    }

    // MARK: Time and ends

    /// When ``deadlineReached(now:)`` must be called, in nanoseconds; nil if no deadline runs.
    package var nextDeadline: Int64? {
        switch self.state {
        case .setup: self.server.nextDeadline
        case .lookingUp, .replaying: self.roomDue
        case .waiting(let time), .connecting(let time), .refusing(let time): time
        case .forwarding, .closed: nil
        }
    }

    private var roomDue: Int64 { self.publishedAt &+ self.settings.roomTimeout }

    /// Call this when ``nextDeadline`` may have passed.
    package mutating func deadlineReached(now: Int64) -> [EdgeAction] {
        guard let due = self.nextDeadline, due <= now else { return [] }
        switch self.state {
        case .setup: self.perform(self.server.deadlineReached(now: now), now: now)
        case .lookingUp: self.end(.unreachable)
        case .waiting:
            self.state = .lookingUp
            self.actions.append(.lookUp(self.names))
        case .connecting:
            self.forgetRoom()
            self.retry(now: now)
        case .replaying: self.end(.roomSilent)
        case .refusing: self.deny(self.request?.address.login == nil ? .denied : .noLogin, .unknownKey)
        case .forwarding, .closed: break
        }
        return self.takeActions()
    }

    /// Ends the publisher's connection for a reason outside of it: its room has moved, or the edge stops.
    package mutating func close(_ reason: EdgeEnd) -> [EdgeAction] {
        guard self.state != .closed else { return [] }
        self.end(reason)
        return self.takeActions()
    }

    private mutating func retry(now: Int64) {
        let next = now &+ self.settings.retryDelay
        if next < self.roomDue { self.state = .waiting(until: next) } else { self.end(.unreachable) }
    }

    /// Refuses `publish` with a status.
    private mutating func deny(_ refusal: PublishRefusal, _ reason: EdgeEnd) {
        self.flush()
        if let request = self.request {
            for case .send(let bytes) in self.server.decide(.deny(refusal), on: request.id, now: 0) {
                self.actions.append(.sendToPublisher(bytes))
            }
        }
        self.end(reason)
    }

    private mutating func end(_ reason: EdgeEnd) {
        guard self.state != .closed else { return }
        self.state = .closed
        self.flush()
        self.forgetRoom()
        self.kept = []
        self.actions.append(.close(reason))
    }

    private mutating func forgetRoom() {
        if self.isRoomOpen { self.actions.append(.closeRoom) }
        self.isRoomOpen = false
    }

    private mutating func flush() {
        if !self.output.isEmpty { self.actions.append(.sendToPublisher(self.output)) }
        self.output = []
    }

    private mutating func takeActions() -> [EdgeAction] {
        if self.state != .closed { self.flush() }
        self.output = []
        defer { self.actions = [] }
        return self.actions
    }
}
