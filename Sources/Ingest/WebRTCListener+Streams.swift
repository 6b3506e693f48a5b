import HTTPListener
import NIOCore
import PipelineSpec
import PublishAuth
import WebRTC

/// The TCP connections of WebRTC publishers (ICE-TCP).
extension WebRTCListener: PeerStreamHost {
    typealias Stream = PeerStreamHandler<WebRTCListener>

    /// A connection to which more bytes wait is closed. Reports need a few kilobytes per second, so its client does not read.
    static let mostWaiting = 64 << 10
    static var backlog: StreamBacklog.Limits { StreamBacklog.Limits(beyond: 0, patience: 0) }

    var now: Int64 { self.core.clock.now() }

    /// Makes the handler of a new connection; nil if its address may not publish, or the listener has stopped.
    func stream(from remote: SocketAddress?) -> Stream? {
        guard !self.isStopped, let remote, let address = ICEAddress(remote, isTCP: true),
            self.core.admission.allows(address.ipAddress)
        else { return nil }
        self.connectionCount &+= 1
        return PeerStreamHandler(self, number: self.connectionCount, address: address)
    }

    /// Registers an open connection. If a network has too many without a valid connectivity check, some are closed; see
    /// ``ConnectionLimiter``.
    func opened(_ stream: Stream) {
        self.connections[stream.number] = stream
        let leaving = self.streamLimiter.opened(stream.number, from: stream.address.ipAddress, now: self.now)
        for number in leaving { self.connections[number]?.close() }
        self.sweepSoon()
    }

    /// Checks networks with too many connections again, once those that are stalled are known.
    private func sweepSoon() {
        guard !self.isSweepDue, self.streamLimiter.isCrowded else { return }
        self.isSweepDue = true
        let box = NIOLoopBound(self, eventLoop: self.loop)
        self.loop.scheduleTask(in: .nanoseconds(ConnectionLimiter.patience)) {
            let listener = box.value
            listener.isSweepDue = false
            for number in listener.streamLimiter.sweep(now: listener.now) { listener.connections[number]?.close() }
            listener.sweepSoon()
        }
    }

    func bound(_ stream: Stream) { self.streamLimiter.published(stream.number) }

    func closed(_ stream: Stream, of publisher: WebRTCPublisher?) {
        self.connections[stream.number] = nil
        self.streamLimiter.closed(stream.number)
        publisher?.session?.lost(stream.address)
    }

    /// Does nothing: publishers are sent no media that could wait.
    func changed(_ stream: Stream, isFull: Bool) {}

    func owner(ofCheck bytes: [UInt8]) -> (STUNMessage, WebRTCPublisher)? {
        self.session(ofCheck: bytes).map { ($0.0, $0.1) }
    }

    func isKnown(_ address: ICEAddress, to publisher: WebRTCPublisher) -> Bool {
        !publisher.hasEnded && publisher.session?.isKnown(address, now: self.now) ?? false
    }

    func receive(_ check: STUNMessage, of publisher: WebRTCPublisher, from address: ICEAddress) {
        if let session = publisher.session { self.receive(check, of: publisher, session, from: address, self.now) }
    }

    func receive(_ packet: inout [UInt8], of publisher: WebRTCPublisher, from address: ICEAddress) {
        if let session = publisher.session { self.receive(&packet, of: publisher, session, from: address, self.now) }
    }
}
