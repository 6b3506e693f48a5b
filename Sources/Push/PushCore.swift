package import MediaTypes
import RTMP
import Stages

/// One RTMP output: a rendition's tags in, the bytes of one connection after the other out.
///
/// Pure: no socket, no clock, no chance of its own; the driver performs the actions and tells what came of them. Times are
/// nanoseconds of one monotonic clock.
///
/// States: *waiting* (nothing is on air) → *connecting* (until the server agrees) → *live* → *failed* (until the back-off is
/// over) → connecting …; any → *stopped*. Invariants: (1) what is sent over a connection begins with metadata, sequence
/// headers and a key picture, and its times go on where those of the connection before ended; (2) no more than
/// ``inFlightLimit`` and one tag are with the socket, the rest waits in a ``TagQueue``; (3) whoever takes or acknowledges
/// nothing for ``Settings/stallTimeout`` is given up.
package struct PushCore: ~Copyable {
    package struct Settings: Sendable {
        package var url: RTMPURL
        /// Nanoseconds without progress after which a connection is given up.
        package var stallTimeout: Int64 = 4 * TimeMath.nanoseconds
        /// Nanoseconds of the longest first wait and of the longest wait.
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
        /// It is tried again after so many milliseconds.
        case failed(PushFailure, reason: String, retryMs: Int)
        case stopped(reason: String)
    }

    package enum Action: Sendable, Hashable {
        /// Connect, and tell ``connected(now:)`` or ``disconnected(_:now:)``.
        case connect(RTMPURL)
        /// Write and flush; tell ``flushed(_:now:)`` when the kernel has it.
        case send([UInt8])
        /// Hand over the feed's backlog, then each tag as it comes.
        case begin
        /// Close behind what is written, within a second.
        case finish
        /// Close at once.
        case close
        case report(Event)
    }

    /// Nanoseconds from the attempt to the server's word.
    package static let agreement: Int64 = 5 * TimeMath.nanoseconds
    /// A connection that held this long was a good one: the back-off begins anew.
    package static let steady: Int64 = 10 * TimeMath.nanoseconds
    /// Bytes with the socket, beyond one tag, that the kernel has not taken.
    package static let inFlightLimit: UInt64 = 64 << 10
    /// Redirections in a row that are followed.
    private static let mostRedirects = 3

    package private(set) var state = State.waiting
    /// Bytes over all connections, and what of them servers have acknowledged.
    package private(set) var bytes: UInt64 = 0
    /// Attempts after the first.
    package private(set) var retries = 0
    package private(set) var lastError: String?
    package private(set) var lastFailure: PushFailure?

    private let settings: Settings
    private let random: @Sendable () -> UInt64
    private var session: RTMPClientSession?
    private var target: RTMPURL
    private var secrets: PushSecrets
    private var redirects = 0
    private var backoff: Backoff
    private var queue = TagQueue()
    private var ledger: AckLedger
    private var droppedBefore = 0
    /// Of this connection: bytes handed to the driver, and bytes the kernel has taken.
    private var sent: UInt64 = 0
    private var flushed: UInt64 = 0
    /// When the kernel last took something, or had nothing to take.
    private var progress: Int64 = 0
    /// When the state began.
    private var since: Int64 = 0
    private var retryAt: Int64 = 0
    /// Milliseconds of the rendition that are 0 on the far side; the last that were sent.
    private var base: Int64?
    private var lastTime = Int64.min
    private var actions: [Action] = []

    /// - Parameter random: Chance, for the handshake and the back-off.
    package init(_ settings: Settings, random: @escaping @Sendable () -> UInt64) {
        self.settings = settings
        self.random = random
        self.target = settings.url
        self.secrets = PushSecrets(settings.url)
        self.backoff = Backoff(first: settings.firstRetry, longest: settings.longestRetry)
        self.ledger = AckLedger(window: settings.acknowledgementWindow)
    }

    /// Packets that were dropped.
    package var dropped: Int { self.droppedBefore + self.queue.dropped }
    /// Milliseconds of media that wait.
    package var queued: Int64 { self.queue.duration }
    /// Bytes of this connection that the server's program has acknowledged; `nil`: it does not acknowledge.
    package var acknowledged: UInt64? { self.ledger.isKept ? self.ledger.acknowledged : nil }

    // MARK: What happens

    /// A tag of the rendition, from the feed as it comes or, after ``Action/begin``, from its backlog.
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

    /// The connection that was asked for is there.
    package mutating func connected(now: Int64) -> [Action] {
        guard self.state == .connecting else { return [] }
        let filler = (0..<191).flatMap { _ in
            let value = self.random()
            return (0..<8).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
        }
        if let bytes = self.session?.start(random: filler) { self.send(bytes, now) }
        return self.takeActions()
    }

    /// Bytes came from the server.
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
                // A server that asks and does not read must not fill memory with answers.
                if self.state == .connecting || self.inFlight < Self.inFlightLimit { self.send(bytes, now) }
            case .ready: self.agreed(now)
            case .failed(.rejected(let status)): self.rejected(status, now)
            case .failed(.server(let failure)):
                self.fail(.unreachable, "it does not speak RTMP: \(failure)", now)
            }
        }
        return self.takeActions()
    }

    /// The kernel has taken so many bytes more.
    package mutating func flushed(_ count: Int, now: Int64) -> [Action] {
        self.flushed &+= UInt64(max(0, count))
        self.progress = now
        if self.state == .live { self.pump(now) }
        return self.takeActions()
    }

    /// The connection is over, or could not be made.
    package mutating func disconnected(_ reason: String, now: Int64) -> [Action] {
        guard self.state == .connecting || self.state == .live else { return [] }
        self.fail(.unreachable, reason, now)
        return self.takeActions()
    }

    /// Time has passed; a few times a second.
    package mutating func tick(now: Int64) -> [Action] {
        switch self.state {
        case .connecting where now &- self.since >= Self.agreement:
            self.fail(
                self.sent > 0 ? .wedged : .unreachable,
                self.sent > 0 ? "the server has taken the connection and does not agree" : "no connection in time", now)
        case .live where self.inFlight > 0 && now &- self.progress >= self.settings.stallTimeout:
            self.fail(.wedged, "the server takes nothing", now)
        case .live:
            if let overdue = self.ledger.overdue(now), overdue >= self.settings.stallTimeout {
                self.fail(.wedged, "the server acknowledges nothing", now)
            }
        case .failed where now >= self.retryAt:
            self.retries += 1
            self.connect(now)
        case .waiting, .connecting, .failed, .stopped: break
        }
        return self.takeActions()
    }

    /// It is over: what waits is sent, and the server is taken leave of.
    package mutating func stop(reason: String, now: Int64) -> [Action] {
        guard self.state != .stopped else { return [] }
        if self.state == .live {
            var bytes: [UInt8] = []
            // To a server that is behind already, nothing more than the leave.
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
        self.ledger = AckLedger(window: self.settings.acknowledgementWindow)
        (self.sent, self.flushed, self.progress) = (0, 0, now)
        self.enter(.connecting, now)
        self.actions += [.report(.connecting), .connect(self.target)]
    }

    private mutating func agreed(_ now: Int64) {
        self.enter(.live, now)
        self.droppedBefore += self.queue.dropped
        // Behind what the far side had before: its players would take a second time for a fault.
        self.queue = TagQueue(after: self.lastTime)
        self.actions += [.report(.live), .begin]
    }

    private mutating func rejected(_ status: RTMPClientStatus, _ now: Int64) {
        // In a row are those that come before anything has held: servers that are renewed now and then are followed for ever.
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

    /// Where to go instead; never from TLS to plain text, which would show the key.
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

    /// Sends as much as the socket takes.
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
