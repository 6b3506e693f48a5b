import HTTPListener
import NIOCore
import PipelineSpec
import PublishAuth
import WebRTC

/// The TCP connections of WebRTC clients (ICE-TCP).
extension WebRTCListener {
    /// Maximum number of TCP connections of one session. Clients have few network interfaces.
    static let mostStreams = 8

    /// Makes the handler of a new connection; nil if its address may not publish, or the listener has stopped.
    func stream(from remote: SocketAddress?) -> WebRTCStreamHandler? {
        guard !self.isStopped, let remote, let address = ICEAddress(remote, isTCP: true),
            self.core.admission.allows(address.ipAddress)
        else { return nil }
        self.streamCount &+= 1
        return WebRTCStreamHandler(self, number: self.streamCount, remote: remote, address: address)
    }

    /// Registers an open connection. If a network has too many without a valid connectivity check, some are closed; see
    /// ``ConnectionLimiter``.
    func opened(_ stream: WebRTCStreamHandler) {
        self.streams[stream.number] = stream
        let leaving = self.streamLimiter.opened(
            stream.number, from: stream.address.ipAddress, now: self.core.clock.now())
        for number in leaving { self.streams[number]?.close() }
        self.sweepSoon()
    }

    /// Checks networks with too many connections again, once those that are stalled are known.
    private func sweepSoon() {
        guard !self.isSweepDue, self.streamLimiter.isCrowded else { return }
        self.isSweepDue = true
        let box = NIOLoopBound(self, eventLoop: self.loop)
        self.loop.scheduleTask(in: .nanoseconds(ConnectionLimiter.patience)) {
            let door = box.value
            door.isSweepDue = false
            for number in door.streamLimiter.sweep(now: door.core.clock.now()) { door.streams[number]?.close() }
            door.sweepSoon()
        }
    }

    func closed(_ stream: WebRTCStreamHandler) {
        self.streams[stream.number] = nil
        self.streamLimiter.closed(stream.number)
        guard let publisher = stream.publisher, publisher.streams[stream.address] === stream else { return }
        publisher.streams[stream.address] = nil
        publisher.session?.lost(stream.address)
    }

    /// Takes a packet of a TCP connection.
    ///
    /// - Returns: False if the connection must be closed: it is not bound to a publisher, and the packet does not bind it.
    func receive(_ packet: [UInt8], on stream: WebRTCStreamHandler) -> Bool {
        let now = self.core.clock.now()
        guard let first = packet.first, first < 4 else {
            guard let publisher = stream.publisher, let session = publisher.session else {
                self.noteStranger()
                return false
            }
            var bytes = packet
            self.receive(&bytes, of: publisher, session, from: stream.address, now)
            return true
        }
        guard let (check, publisher, session) = self.session(ofCheck: packet),
            stream.publisher == nil || stream.publisher === publisher
        else {
            self.noteStranger()
            return stream.publisher != nil
        }
        let isNew = stream.publisher == nil
        if isNew {
            self.closeStreams(of: publisher) { !session.isKnown($0, now: now) }
            guard publisher.streams.count < Self.mostStreams, publisher.streams[stream.address] == nil else {
                return false
            }
            // Its answer needs it.
            publisher.streams[stream.address] = stream
        }
        self.receive(check, of: publisher, session, from: stream.address, now)
        guard isNew else { return true }
        guard !publisher.hasEnded, session.isKnown(stream.address, now: now) else {
            publisher.streams[stream.address] = nil
            return false
        }
        stream.publisher = publisher
        self.streamLimiter.published(stream.number)
        return true
    }

    /// Closes the connections of a publisher for whose addresses `isOver` returns true.
    func closeStreams(of publisher: WebRTCPublisher, _ isOver: (ICEAddress) -> Bool) {
        for (address, stream) in publisher.streams where isOver(address) {
            publisher.streams[address] = nil
            stream.publisher = nil
            stream.close()
        }
    }
}
