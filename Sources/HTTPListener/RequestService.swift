import NIOCore
import Threading

/// State shared by all connections of one listener.
final class RequestService: Sendable {
    let limits: HTTPListenerLimits
    let respond: HTTPListener.Responder
    let date = DateField()
    /// Access to the event loops for answers from other threads; an answer after the end of the loop is dropped.
    let gate = Gate()
    let pieces = FilePieceCache()
    let files: FileSlots
    let counters: ReplyCounters
    let proxies: HTTPProxies?
    private let connections: OpenConnections

    init(
        limits: HTTPListenerLimits, connections: OpenConnections, counters: ReplyCounters, proxies: HTTPProxies?,
        respond: @escaping HTTPListener.Responder
    ) {
        self.limits = limits
        self.files = FileSlots(most: limits.files)
        self.connections = connections
        self.counters = counters
        self.proxies = proxies
        self.respond = respond
    }

    /// Records that a connection has one more request, or one less. If there are too many connections, those without a
    /// request are closed first.
    func note(_ connection: any Channel, hasRequest: Bool) {
        guard self.limits.crowd != nil else { return }
        if hasRequest { self.connections.busy(connection) } else { self.connections.idle(connection) }
    }

    /// Reserves memory for one piece of a file; returns false if all pieces together would exceed the limit of unsent
    /// bytes.
    func takeFilePiece() -> Bool {
        self.connections.takeFilePiece(limit: self.limits.unsentBytes / HTTPListenerLimits.fileChunkBytes)
    }

    func giveFilePieceBack() { self.connections.giveFilePieceBack() }
}
