import NIOCore
import Stages

/// What all connections of one listener share.
final class RequestService: Sendable {
    let limits: HTTPListenerLimits
    let respond: HTTPListener.Responder
    let date = DateField()
    /// To the event loops, for answers that come from elsewhere: one that comes later finds its client gone and is dropped.
    let gate = Gate()
    let pieces = FilePieces()
    let files: OpenFiles
    private let connections: OpenConnections

    init(limits: HTTPListenerLimits, connections: OpenConnections, respond: @escaping HTTPListener.Responder) {
        self.limits = limits
        self.files = OpenFiles(most: limits.files)
        self.connections = connections
        self.respond = respond
    }

    /// A connection has a request, or has none any more: what decides who gives way in a crowd.
    func note(_ channel: any Channel, hasRequest: Bool) {
        guard self.limits.crowd != nil else { return }
        if hasRequest { self.connections.busy(channel) } else { self.connections.idle(channel) }
    }

    /// Pieces of files that may be in memory at once: as many as there may be unsent bytes.
    func takeFilePiece() -> Bool {
        self.connections.takeFilePiece(limit: self.limits.unsentBytes / HTTPListenerLimits.fileChunkBytes)
    }

    func giveFilePieceBack() { self.connections.giveFilePieceBack() }
}
