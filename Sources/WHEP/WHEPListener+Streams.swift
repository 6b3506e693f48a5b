import HTTPListener
import NIOCore
import PipelineSpec
import PublishAuth
import WebRTC

/// The TCP connections of viewers (ICE-TCP).
extension WHEPListener: PeerStreamHost {
    typealias Stream = PeerStreamHandler<WHEPListener>

    /// A connection to which more bytes wait is full: its viewer gets no media until half of them are sent.
    static let mostWaiting = 64 << 10
    /// Size of the system's buffer for what a viewer is sent; the kernel doubles it. A larger one would only delay the media of a
    /// viewer that is too slow.
    static let sendBuffer: Int32 = 128 << 10
    /// Limits of a full connection, which still takes reports and answers to checks.
    static var backlog: StreamBacklog.Limits { StreamBacklog.Limits(beyond: 64 << 10, patience: 10_000_000_000) }
    /// Maximum number of connections of one network that have sent no valid check. Browsers open one for each address of
    /// an answer.
    static let mostWaitingPerPlace = 32

    var now: Int64 { self.clock.now() }

    /// Makes the handler of a new connection; nil if the listener has stopped, or the client's address is unknown.
    func stream(from remote: SocketAddress?) -> Stream? {
        guard !self.isStopped, let remote, let address = ICEAddress(remote, isTCP: true) else { return nil }
        self.connectionCount &+= 1
        return PeerStreamHandler(self, number: self.connectionCount, address: address)
    }

    /// Registers an open connection. If there are too many, some are closed; see ``ConnectionLimiter``.
    func opened(_ stream: Stream) {
        self.connections[stream.number] = stream
        let leaving = self.streamLimiter.opened(stream.number, from: stream.address.ipAddress, now: self.now)
        for number in leaving { self.connections[number]?.close() }
    }

    /// Checks networks with too many connections again.
    func sweepStreams() {
        guard self.streamLimiter.isCrowded else { return }
        for number in self.streamLimiter.sweep(now: self.now) { self.connections[number]?.close() }
    }

    func bound(_ stream: Stream) { self.streamLimiter.published(stream.number) }

    func closed(_ stream: Stream, of viewer: Viewer?) {
        self.connections[stream.number] = nil
        self.streamLimiter.closed(stream.number)
        viewer?.session.lost(stream.address)
    }

    func changed(_ stream: Stream, isFull: Bool) {
        guard let viewer = self.streams.owner(of: stream), !viewer.hasEnded else { return }
        let now = self.now
        viewer.session.setFull(isFull, stream.address, now: now)
        guard !isFull else { return }
        self.with(viewer) { $0.send(viewer.rendition.stream, now: now, into: &$1) }
    }

    func owner(ofCheck bytes: [UInt8]) -> (STUNMessage, Viewer)? {
        guard let check = STUNMessage(bytes), let ufrag = check.receiverUfrag,
            let viewer = self.routes.owner(ofUfrag: ufrag)
        else { return nil }
        return (check, viewer)
    }

    func isKnown(_ address: ICEAddress, to viewer: Viewer) -> Bool {
        !viewer.hasEnded && viewer.session.isKnown(address, now: self.now)
    }

    func receive(_ check: STUNMessage, of viewer: Viewer, from address: ICEAddress) {
        let now = self.now
        self.with(viewer) { $0.receive(check, from: address, viewer.rendition.stream, now: now, into: &$1) }
    }

    func receive(_ packet: inout [UInt8], of viewer: Viewer, from address: ICEAddress) {
        let now = self.now
        self.with(viewer) { $0.receive(&packet, from: address, viewer.rendition.stream, now: now, into: &$1) }
    }
}
