import MediaKernels
import MediaTypes

/// The server side of one publisher's connection, from the first byte to the last.
///
/// Pure: bytes and time in, actions out. States:
///
///     handshake ─C2─▶ connecting ─connect─▶ connected ─publish─▶ deciding ─accept─▶ publishing
///                                              ▲                    │deny               │FCUnpublish, closeStream,
///                                              │                    ▼                   │deleteStream
///                                              └──────────────── closed ◀─failure       │
///                                              └────────────────────────────────────────┘
///
/// Every state goes to `closed` on a failure, a passed deadline, ``refuse(_:)``, ``handOver()`` or ``inputEnded()``; in
/// `closed` all input is discarded.
///
/// Spec: RTMP 1.0 §5, §7.2.
package struct RTMPServerSession: ~Copyable {
    enum State: Hashable { case handshake, connecting, connected, deciding, publishing, closed }

    let configuration: RTMPServerConfiguration
    var state = State.handshake
    private var handshake: RTMPServerHandshake
    private var reader: RTMPChunkReader
    var writer = RTMPChunkWriter()
    /// Bytes to send at the end of the current call.
    var output: [UInt8] = []
    /// Actions of the current call, in order; bytes to send are placed before them.
    var actions: [RTMPServerAction] = []
    /// Always empty between calls; kept to reuse its memory.
    private var messages: [RTMPMessage] = []
    /// Maximum capacity, in elements, of the arrays of messages and actions whose memory is kept for the next read; a
    /// typical read needs no more.
    private static let kept = 64

    // Times in nanoseconds of the injected clock.
    private let accepted: Int64
    private var setupBegan: Int64
    private var decisionDue: Int64 = 0
    private var published: Int64 = 0
    private var lastBytes: Int64
    private var hasMedia = false

    /// Bytes received, handshake included.
    package private(set) var bytesReceived: UInt64 = 0
    private var setupBytes = 0
    private var acknowledged: UInt64 = 0
    var acknowledgementWindow: UInt64 = 2_500_000
    private var commandBudget: TokenBucket
    private var tinyBudget: TokenBucket
    private var metadataBudget: TokenBucket
    private var clockBudget: TokenBucket
    private var dataBudget: TokenBucket
    private var unknownMessages = 0
    var ownQuirks: RTMPQuirks = []

    // Values from the client.
    var app = ""
    var tcURL = ""
    var flashVersion = ""
    var capabilities = EnhancedCapabilities()
    /// Number of stream ids that were assigned.
    var createdStreams = 0
    /// Streams that were created and not closed or deleted. The end of its publication also closes a stream.
    var openStreams: Set<UInt32> = []
    var fcPublishTransaction: Double = 0
    var requests = 0
    var publishStreamID: UInt32 = 1
    var publishName = ""
    /// The stream name of the previous publication; nil if there was none.
    var earlierName: String?
    /// The answer to `connect` if the client's address is not allowed; otherwise nil.
    package var connectRefusal: PublishRefusal?
    /// Messages other than control messages that arrived between `publish` and the decision. They are handled in order
    /// after an acceptance, and dropped after a denial.
    private var undecided: [RTMPMessage] = []
    private var undecidedBytes = 0
    private var lastMetadata: [UInt8] = []

    /// Creates the session of a connection that was just accepted.
    ///
    /// - Parameters:
    ///   - now: Nanoseconds of a monotonic clock, as in every later call.
    ///   - random: 1,528 random bytes for the handshake.
    package init(configuration: RTMPServerConfiguration = RTMPServerConfiguration(), now: Int64, random: [UInt8]) {
        self.configuration = configuration
        self.handshake = RTMPServerHandshake(random: random)
        self.reader = RTMPChunkReader(limits: configuration.limits)
        self.accepted = now
        self.setupBegan = now
        self.lastBytes = now
        let limits = configuration.limits
        self.commandBudget = TokenBucket(limits.commandRate, now: now)
        self.tinyBudget = TokenBucket(limits.tinyMessageRate, now: now)
        self.metadataBudget = TokenBucket((perSecond: 2, burst: 4), now: now)
        self.clockBudget = TokenBucket((perSecond: 5, burst: 10), now: now)
        self.dataBudget = TokenBucket((perSecond: 20, burst: 20), now: now)
    }

    /// Deviations of the peer from the specification so far.
    package var quirks: RTMPQuirks { self.reader.quirks.union(self.ownQuirks) }

    /// Whether publish request `id` waits for ``decide(_:on:now:)``.
    package func isDeciding(_ id: Int) -> Bool { self.state == .deciding && id == self.requests }

    /// The client's progress towards a publication: 0 handshake or closed, 1 `connect` awaited, 2 `publish` awaited, 3
    /// decision awaited, 4 publishing.
    package var progress: Int {
        switch self.state {
        case .handshake: 0
        case .connecting: 1
        case .connected: 2
        case .deciding: 3
        case .publishing: 4
        case .closed: 0
        }
    }

    /// Minimum number of bytes that must arrive before another message is complete; 0 between two messages.
    package var missingBytes: Int { self.reader.missingBytes }

    /// Whether a publication is accepted and has not ended.
    package var isPublishing: Bool { self.state == .publishing }

    // MARK: Events

    /// Reads bytes from the client, split at any position.
    package mutating func receive(_ bytes: Span<UInt8>, now: Int64) -> [RTMPServerAction] {
        guard self.state != .closed else { return [] }
        self.bytesReceived += UInt64(bytes.count)
        self.lastBytes = now
        do throws(RTMPFailure) {
            try self.consume(bytes, now: now)
        } catch {
            self.fail(error)
        }
        self.acknowledge()
        return self.takeActions()
    }

    /// Handles a passed deadline. Call it when ``nextDeadline`` may have passed.
    package mutating func deadlineReached(now: Int64) -> [RTMPServerAction] {
        guard let deadline = self.deadline, deadline.time <= now else { return [] }
        switch deadline.phase {
        case .decision: self.deny(.undecided)
        case .firstMedia, .mediaIdle:
            self.status(
                PublishRefusal(code: "NetStream.Publish.Denied", text: "No media arrived in time."), details: "")
            self.fail(.deadline(deadline.phase))
        default: self.fail(.deadline(deadline.phase))
        }
        return self.takeActions()
    }

    /// Applies the decision on a ``RTMPServerAction/publishRequested(_:)``; it is ignored if request `id` does not wait
    /// for a decision.
    package mutating func decide(_ decision: PublishDecision, on id: Int, now: Int64) -> [RTMPServerAction] {
        guard self.state == .deciding, id == self.requests else { return [] }
        switch decision {
        case .accept:
            self.state = .publishing
            self.published = now
            self.hasMedia = false
            self.lastMetadata = []
            self.confirmPublish()
            self.receiveUndecided(now: now)
        case .deny(let refusal): self.deny(refusal)
        }
        return self.takeActions()
    }

    /// Ends the connection with a status that the encoder understands: taken over, unsupported codec, room ended. Before
    /// `connect`, no status is sent.
    package mutating func refuse(_ refusal: PublishRefusal) -> [RTMPServerAction] {
        guard self.state != .closed else { return [] }
        self.deny(refusal)
        return self.takeActions()
    }

    /// Whether ``handOver()`` can ask the client to reconnect.
    package var canReconnect: Bool {
        self.state == .publishing && self.capabilities.extensions.contains(.reconnect)
    }

    /// Ends the connection because another server takes over. A publisher that announced support is asked to reconnect
    /// to the same address; other clients are refused with ``PublishRefusal/handedOver``.
    ///
    /// Spec: Enhanced RTMP v2, "Reconnect Request".
    package mutating func handOver() -> [RTMPServerAction] {
        guard self.canReconnect else { return self.refuse(.handedOver) }
        self.askToReconnect()
        self.fail(.refused(.handedOver))
        return self.takeActions()
    }

    /// Records that the peer or the network has closed the connection.
    package mutating func inputEnded() -> [RTMPServerAction] {
        let wasPublishing = self.state == .publishing
        self.state = .closed
        return wasPublishing ? [.unpublished(.disconnected)] : []
    }

    /// When ``deadlineReached(now:)`` must be called, in nanoseconds; nil if no deadline runs.
    package var nextDeadline: Int64? { self.deadline?.time }

    private var deadline: (time: Int64, phase: RTMPDeadline)? {
        switch self.state {
        case .handshake: (self.accepted &+ self.configuration.handshakeTimeout, .handshake)
        case .connecting, .connected: (self.setupBegan &+ self.configuration.publishTimeout, .publish)
        case .deciding: (self.decisionDue, .decision)
        case .publishing:
            self.hasMedia
                ? (self.lastBytes &+ self.configuration.mediaIdleTimeout, .mediaIdle)
                : (self.published &+ self.configuration.firstMediaTimeout, .firstMedia)
        case .closed: nil
        }
    }

    // MARK: Input

    private mutating func consume(_ bytes: Span<UInt8>, now: Int64) throws(RTMPFailure) {
        var position = 0
        if self.state == .handshake {
            try self.handshake.receive(bytes, &position, output: &self.output)
            guard self.handshake.state == .done else { return }
            self.state = .connecting
        }
        if self.state == .connecting || self.state == .connected {
            self.setupBytes += bytes.count - position
        }
        // Moved out of the property, so that the array is not copied.
        var messages = self.messages
        self.messages = []
        defer {
            messages.removeAll(keepingCapacity: messages.capacity <= Self.kept)
            self.messages = messages
        }
        var failure: RTMPFailure?
        do throws(RTMPFailure) {
            try self.reader.receive(bytes.extracting(position...), into: &messages)
        } catch {
            failure = error
        }
        for message in messages {
            try self.received(message, now: now)
            if self.state == .closed { return }
        }
        // These messages were not delivered, but count for the rate limit.
        for _ in 0..<self.reader.takeApplied() { try self.spendCommand(now) }
        if let failure { throw failure }
        // Checked at the end, so that media sent directly after `publish` does not count.
        if (self.state == .connecting || self.state == .connected)
            && self.setupBytes > self.configuration.limits.setupBytes
        {
            throw .limit(.setupBytes)
        }
    }

    private mutating func receiveUndecided(now: Int64) {
        let messages = self.undecided
        self.undecided = []
        self.undecidedBytes = 0
        do throws(RTMPFailure) {
            for message in messages {
                try self.received(message, now: now)
                if self.state == .closed { return }
            }
        } catch {
            self.fail(error)
        }
    }

    private mutating func queueUndecided(_ message: RTMPMessage) throws(RTMPFailure) {
        self.ownQuirks.insert(.impatientMedia)
        // A queued message takes more memory than its payload.
        let cost = message.payload.count + 128
        guard self.undecidedBytes + cost <= self.configuration.limits.undecidedBytes else {
            if message.type == .audio || message.type == .video { return }
            throw .limit(.undecidedBytes)
        }
        self.undecidedBytes += cost
        self.undecided.append(message)
    }

    private mutating func received(_ message: RTMPMessage, now: Int64) throws(RTMPFailure) {
        if self.state == .deciding && !message.type.isControl {
            try self.queueUndecided(message)
            return
        }
        if message.payload.count < 16 && !self.tinyBudget.take(now: now) { throw .limit(.tinyMessageRate) }
        switch message.type {
        case .audio: self.received(media: message, kind: .audio)
        case .video: self.received(media: message, kind: .video)
        case .dataAMF0, .dataAMF3: self.received(data: message, now: now)
        case .commandAMF0, .commandAMF3:
            try self.spendCommand(now)
            try self.received(command: message, now: now)
        case .aggregate:
            for inner in RTMPAggregate(message) { try self.received(inner, now: now) }
        case .sharedObjectAMF0, .sharedObjectAMF3: break
        case let type where type.isControl:
            // Acknowledgements depend on what we send, which the peer does not control.
            if type != .acknowledgement { try self.spendCommand(now) }
            self.received(control: message)
        default:
            self.ownQuirks.insert(.unknownMessageType)
            self.unknownMessages += 1
            if self.unknownMessages > 8 { throw .desync(.unknownMessages) }
        }
    }

    private mutating func spendCommand(_ now: Int64) throws(RTMPFailure) {
        guard self.commandBudget.take(now: now) else { throw .limit(.commandRate) }
    }

    private mutating func received(media message: RTMPMessage, kind: RTMPMediaMessage.Kind) {
        guard self.state == .publishing else {
            self.ownQuirks.insert(.impatientMedia)
            return
        }
        self.hasMedia = true
        self.actions.append(
            .message(RTMPMediaMessage(kind: kind, timestamp: message.timestamp, payload: message.payload)))
    }

    private mutating func received(data message: RTMPMessage, now: Int64) {
        guard self.state == .publishing, message.payload.count <= self.configuration.limits.metadataLength else {
            return
        }
        let bytes = message.payload.bytes
        let start = message.type == .dataAMF3 ? 1 : 0
        let (isTime, isData) = (
            DataMessageTime.isNamed(bytes, from: start), DataEvent.isNamed(bytes, from: start)
        )
        if isTime || isData {
            let tells = isTime && self.clockBudget.take(now: now)
            let says = isData && self.dataBudget.take(now: now)
            guard tells || says else { return }
            let values = AMF0Reader.values(in: bytes, from: start).values
            if tells { self.tell(DataMessageTime.find(values.dropFirst()), of: message) }
            if says, let name = values.first?.string, let text = DataEvent.text(values.dropFirst()) {
                self.actions.append(.data(name: name, values: text))
            }
            return
        }
        guard bytes != self.lastMetadata, self.metadataBudget.take(now: now) else { return }
        let parsed = AMF0Reader.values(in: bytes, from: start, depth: self.configuration.limits.amfDepth)
        if parsed.fault != nil { self.ownQuirks.insert(.malformedAMF) }
        var values = parsed.values[...]
        if values.first?.string == "@setDataFrame" { values.removeFirst() }
        guard values.first?.string == "onMetaData" else { return }
        self.lastMetadata = bytes
        self.actions.append(.metadata(values.dropFirst().first?.properties ?? []))
        self.tell(DataMessageTime.find(values.dropFirst()), of: message)
    }

    private mutating func tell(_ time: WallClockTime?, of message: RTMPMessage) {
        if let time { self.actions.append(.wallClock(time, timestamp: message.timestamp)) }
    }

    // MARK: Ends

    /// Ends the publication. Another one may follow, so the setup deadline and the setup bytes start again.
    mutating func endPublication(now: Int64) {
        guard self.state == .publishing else { return }
        self.actions.append(.unpublished(.client))
        self.earlierName = self.publishName
        // A client that publishes again may use this stream or a new one, and need not delete this one first.
        self.openStreams.remove(self.publishStreamID)
        self.setupBytes = 0
        self.setupBegan = now
        self.state = .connected
    }

    mutating func awaitDecision(now: Int64) {
        self.state = .deciding
        self.decisionDue = now &+ self.configuration.decisionTimeout
    }

    mutating func deny(_ refusal: PublishRefusal) {
        if self.state == .deciding || self.state == .publishing || self.state == .connected {
            self.status(refusal, details: "")
        }
        self.fail(.refused(refusal))
    }

    mutating func fail(_ failure: RTMPFailure) {
        if self.state == .publishing { self.actions.append(.unpublished(.closed(failure))) }
        self.undecided = []
        self.state = .closed
        self.actions.append(.close(failure))
    }

    private mutating func takeActions() -> [RTMPServerAction] {
        if !self.output.isEmpty { self.actions.insert(.send(self.output), at: 0) }
        self.output = []
        defer { self.actions = [] }
        return self.actions
    }

    /// Returns the array of performed actions to the session, which reuses its memory.
    package mutating func reuse(_ actions: consuming [RTMPServerAction]) {
        guard self.actions.isEmpty, actions.capacity <= Self.kept else { return }
        actions.removeAll(keepingCapacity: true)
        self.actions = actions
    }

    /// Sends an Acknowledgement (§5.4.3) if half the peer's window has arrived since the last one; at most one per call.
    private mutating func acknowledge() {
        // Not before `connect` has been answered: HaishinKit counts the bytes after S2.
        guard self.state != .closed, self.state != .handshake, self.state != .connecting else { return }
        guard self.bytesReceived &- self.acknowledged >= self.acknowledgementWindow / 2 else { return }
        self.acknowledged = self.bytesReceived
        // FMLE stops when the sequence number approaches 2³²; other servers wrap here too.
        let sequence = UInt32(truncatingIfNeeded: self.bytesReceived % 0xF000_0000)
        self.control(.acknowledgement, sequence)
    }
}
