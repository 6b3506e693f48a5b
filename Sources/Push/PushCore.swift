package import MediaTypes
import RTMP
import Threading

/// State machine of one RTMP output: a rendition's tags in, the bytes of its connections out, one after another.
///
/// Pure: no socket, no clock, no random source; the driver performs the actions and reports the results. Times are
/// nanoseconds of one monotonic clock.
///
/// States: *waiting* (no packets yet) → *connecting* (until the server accepts) → *live* → *failed* (until the back-off
/// ends) → connecting …; any → *stopped*. Invariants: (1) each connection begins with metadata, sequence headers and a
/// key frame, and its timestamps continue after those of the connection before; (2) at most ``inFlightLimit`` and one
/// tag are in the socket, the rest waits in a ``TagQueue``; (3) a server that reads nothing for
/// ``Settings/stallTimeout``, or whose acknowledgement is overdue for so long, is disconnected.
package struct PushCore: ~Copyable {
    package struct Settings: Sendable {
        package var url: RTMPURL
        /// Nanoseconds after which a live connection is closed if the server reads nothing or its acknowledgement is overdue.
        package var stallTimeout: Int64 = 4 * TimeMath.nanoseconds
        /// Upper bound of the first retry delay, in nanoseconds.
        package var firstRetry: Int64 = TimeMath.nanoseconds
        package var longestRetry: Int64 = 30 * TimeMath.nanoseconds
        /// Bytes after which the server is asked to acknowledge.
        package var acknowledgementWindow: UInt32 = 64 << 10

        package init(url: RTMPURL) { self.url = url }
    }

    package enum State: String, Sendable, CaseIterable { case waiting, connecting, live, failed, stopped }

    package enum Event: Sendable, Hashable {
        case connecting
        case live
        /// The connection failed or ended; the next attempt follows after `retryMs` milliseconds.
        case failed(PushFailure, reason: String, retryMs: Int)
        case stopped(reason: String)
    }

    package enum Action: Sendable, Hashable {
        /// Connect to the server, and then call ``PushCore/connected(now:)`` or ``PushCore/disconnected(_:now:)``.
        case connect(RTMPURL)
        /// Write these bytes and flush; call ``PushCore/flushed(_:now:)`` when the kernel has accepted them.
        case send([UInt8])
        /// Pass the feed's backlog to ``PushCore/push(_:now:)``, then each new tag.
        case begin
        /// Close the connection after everything written so far, within a second.
        case finish
        /// Close the connection at once.
        case close
        case report(Event)
    }

    /// Nanoseconds from the start of a connection attempt within which the server must accept the publication.
    package static let agreement: Int64 = 5 * TimeMath.nanoseconds
    /// A connection that was live for at least this long resets the back-off when it fails, in nanoseconds.
    package static let steady: Int64 = 10 * TimeMath.nanoseconds
    /// Maximum number of bytes in the socket that the kernel has not accepted, not counting one tag.
    package static let inFlightLimit: UInt64 = 64 << 10
    /// Maximum number of redirects in a row.
    private static let mostRedirects = 3

    package private(set) var state = State.waiting
    /// Bytes sent over all connections.
    package private(set) var bytes: UInt64 = 0
    /// Number of connection attempts after a failure; redirects are not counted.
    package private(set) var retries = 0
    package private(set) var lastError: String?
    package private(set) var lastFailure: PushFailure?

    private let settings: Settings
    private let random: @Sendable () -> UInt64
    private var session: RTMPClientSession?
    private var target: RTMPURL
    private var secrets: URLSecrets
    private var redirects = 0
    private var backoff: Backoff
    private var queue = TagQueue()
    private var ledger: AcknowledgementTracker
    private var droppedBefore = 0
    /// Bytes of the current connection that were passed to the driver; ``flushed`` counts those that the kernel has
    /// accepted.
    private var sent: UInt64 = 0
    private var flushed: UInt64 = 0
    /// Time at which the kernel last accepted bytes, or had none to accept, in nanoseconds.
    private var progress: Int64 = 0
    /// Time at which the current state began, in nanoseconds.
    private var since: Int64 = 0
    private var retryAt: Int64 = 0
    /// Timestamp of the rendition that corresponds to timestamp 0 on the server, in milliseconds; nil before the first
    /// tag.
    private var base: Int64?
    private var lastTime = Int64.min
    private var actions: [Action] = []

    /// Creates the state machine of one output, in the state *waiting*.
    ///
    /// - Parameter random: Random numbers for the handshake and the back-off.
    package init(_ settings: Settings, random: @escaping @Sendable () -> UInt64) {
        self.settings = settings
        self.random = random
        self.target = settings.url
        self.secrets = URLSecrets(settings.url)
        self.backoff = Backoff(first: settings.firstRetry, longest: settings.longestRetry)
        self.ledger = AcknowledgementTracker(window: settings.acknowledgementWindow)
    }

    /// Number of packets dropped over all connections.
    package var dropped: Int { self.droppedBefore + self.queue.dropped }
    /// Duration of the queued media, in milliseconds.
    package var queued: Int64 { self.queue.duration }
    /// Bytes of this connection that the server has acknowledged; `nil` if the server sends no acknowledgements.
    package var acknowledged: UInt64? { self.ledger.isKept ? self.ledger.acknowledged : nil }

    // MARK: Events

    /// Handles a tag of the rendition: a new one, or one of the backlog after ``Action/begin``.
    package mutating func push(_ tag: LiveTag, now: Int64) -> [Action] {
        switch self.state {
        case .waiting: if tag.isPacket { self.connect(now) }
        case .live:
            self.queue.push(tag, now: now)
            self.pump(now)
        case .connecting, .failed, .stopped: break
        }
        return self.takeActions()
    }

    /// Records that the requested connection is established.
    package mutating func connected(now: Int64) -> [Action] {
        guard self.state == .connecting else { return [] }
        let filler = (0..<191).flatMap { _ in
            let value = self.random()
            return (0..<8).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
        }
        if let bytes = self.session?.start(random: filler) { self.send(bytes, now) }
        return self.takeActions()
    }

    /// Reads bytes from the server.
    package mutating func receive(_ bytes: Span<UInt8>, now: Int64) -> [Action] {
        guard self.state == .connecting || self.state == .live else { return [] }
        let known = self.session?.acknowledgements ?? 0
        let answers = self.session?.receive(bytes) ?? []
        if let count = self.session?.acknowledgements, count != known, let sequence = self.session?.acknowledgement {
            self.ledger.acknowledge(sequence, sent: self.sent, now: now)
        }
        for answer in answers where self.state == .connecting || self.state == .live {
            switch answer {
            case .send(let bytes):
                // A server that sends requests and does not read must not fill our memory with answers.
                if self.state == .connecting || self.inFlight < Self.inFlightLimit { self.send(bytes, now) }
            case .ready: self.agreed(now)
            case .failed(.rejected(let status)): self.rejected(status, now)
            case .failed(.server(let failure)):
                self.fail(.unreachable, "the server does not speak RTMP: \(failure)", now)
            }
        }
        return self.takeActions()
    }

    /// Records that the kernel has accepted `count` more bytes.
    package mutating func flushed(_ count: Int, now: Int64) -> [Action] {
        self.flushed &+= UInt64(max(0, count))
        self.progress = now
        if self.state == .live { self.pump(now) }
        return self.takeActions()
    }

    /// Records that the connection ended or could not be made.
    package mutating func disconnected(_ reason: String, now: Int64) -> [Action] {
        guard self.state == .connecting || self.state == .live else { return [] }
        self.fail(.unreachable, reason, now)
        return self.takeActions()
    }

    /// Checks timeouts; call it a few times per second.
    package mutating func tick(now: Int64) -> [Action] {
        switch self.state {
        case .connecting where now &- self.since >= Self.agreement:
            self.fail(
                self.sent > 0 ? .wedged : .unreachable,
                self.sent > 0 ? "the server did not accept the stream in time" : "no connection in time", now)
        case .live where self.inFlight > 0 && now &- self.progress >= self.settings.stallTimeout:
            self.fail(.wedged, "the server reads no data", now)
        case .live:
            if let overdue = self.ledger.overdue(now), overdue >= self.settings.stallTimeout {
                self.fail(.wedged, "the server acknowledges no data", now)
            }
        case .failed where now >= self.retryAt:
            self.retries += 1
            self.connect(now)
        case .waiting, .connecting, .failed, .stopped: break
        }
        return self.takeActions()
    }

    /// Stops the output. If it is live, sends what is queued, unless the server is behind, and ends the publication.
    package mutating func stop(reason: String, now: Int64) -> [Action] {
        guard self.state != .stopped else { return [] }
        if self.state == .live {
            var bytes: [UInt8] = []
            // If the server is behind already, only the end of the publication is sent.
            while self.inFlight < Self.inFlightLimit, let tag = self.queue.pop() { bytes += self.bytes(of: tag) }
            bytes += self.session?.finish() ?? []
            self.send(bytes, now)
            self.actions.append(.finish)
        } else if self.state == .connecting {
            self.actions.append(.close)
        }
        self.enter(.stopped, now)
        self.session = nil
        self.actions.append(.report(.stopped(reason: reason)))
        return self.takeActions()
    }

    // MARK: Steps

    private var inFlight: UInt64 { self.sent > self.flushed ? self.sent - self.flushed : 0 }

    private mutating func enter(_ state: State, _ now: Int64) {
        self.state = state
        self.since = now
    }

    private mutating func connect(_ now: Int64) {
        self.session = RTMPClientSession(
            url: self.target, acknowledgementWindow: self.settings.acknowledgementWindow,
            followsReconnectRequests: true)
        self.ledger = AcknowledgementTracker(window: self.settings.acknowledgementWindow)
        (self.sent, self.flushed, self.progress) = (0, 0, now)
        self.enter(.connecting, now)
        self.actions += [.report(.connecting), .connect(self.target)]
    }

    private mutating func agreed(_ now: Int64) {
        self.enter(.live, now)
        self.droppedBefore += self.queue.dropped
        // Starts after the last time sent: players would treat repeated timestamps as an error.
        self.queue = TagQueue(after: self.lastTime)
        self.actions += [.report(.live), .begin]
    }

    private mutating func rejected(_ status: RTMPClientStatus, _ now: Int64) {
        // The limit counts redirects in a row. A connection that lasted for a while resets the count, so a server that
        // redirects now and then is followed each time.
        if self.state == .live, now &- self.since >= Self.steady { self.redirects = 0 }
        let isRequest = status.code == RTMPClientStatus.reconnectRequest
        if let next = self.redirection(status, isRequest: isRequest), self.redirects < Self.mostRedirects {
            self.redirects += 1
            self.target = next
            self.secrets.add(next)
            self.actions.append(.close)
            return self.connect(now)
        }
        let code = status.code.isEmpty ? "no" : status.code
        self.fail(isRequest ? .unreachable : .refused, "the server says \(code): \(status.text)", now)
    }

    /// The redirect target; nil if there is none. Never from TLS to an unencrypted connection, which would expose the
    /// key.
    private func redirection(_ status: RTMPClientStatus, isRequest: Bool) -> RTMPURL? {
        guard let text = status.redirect else { return isRequest ? self.target : nil }
        guard text.utf8.count <= 1_024,
            let url = RTMPURL(text, allowsTLS: true, key: self.settings.url.streamName)
        else { return nil }
        return self.settings.url.isSecure && !url.isSecure ? nil : url
    }

    private mutating func fail(_ failure: PushFailure, _ reason: String, _ now: Int64) {
        if self.state == .live, now &- self.since >= Self.steady { self.backoff.reset() }
        let wait = self.backoff.next(random: self.random())
        self.retryAt = now &+ wait
        self.target = self.settings.url
        self.redirects = 0
        self.session = nil
        self.queue.clear()
        self.enter(.failed, now)
        let shown = self.secrets.presentable(reason)
        (self.lastError, self.lastFailure) = (shown, failure)
        self.actions += [.close, .report(.failed(failure, reason: shown, retryMs: Int(wait / 1_000_000)))]
    }

    /// Sends queued tags until ``inFlightLimit`` bytes are in the socket.
    private mutating func pump(_ now: Int64) {
        var bytes: [UInt8] = []
        while self.inFlight &+ UInt64(bytes.count) < Self.inFlightLimit, let tag = self.queue.pop() {
            bytes += self.bytes(of: tag)
        }
        self.send(bytes, now)
    }

    private mutating func bytes(of tag: LiveTag) -> [UInt8] {
        switch tag.content {
        case .metadata(let properties): return self.session?.bytes(forMetadata: properties) ?? []
        case .configuration(var message), .packet(var message):
            let base = self.base ?? tag.time
            self.base = base
            message.timestamp = UInt32(truncatingIfNeeded: max(0, tag.time &- base))
            if tag.isPacket { self.lastTime = max(self.lastTime, tag.time) }
            return self.session?.bytes(for: message) ?? []
        }
    }

    private mutating func send(_ bytes: [UInt8], _ now: Int64) {
        guard !bytes.isEmpty else { return }
        if self.inFlight == 0 { self.progress = now }
        self.sent &+= UInt64(bytes.count)
        self.bytes &+= UInt64(bytes.count)
        self.ledger.sent(self.sent, now: now)
        self.actions.append(.send(bytes))
    }

    private mutating func takeActions() -> [Action] {
        defer { self.actions = [] }
        return self.actions
    }
}
