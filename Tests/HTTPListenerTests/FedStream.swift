import Glibc
import HTTPProbe
import Logging
import NIOCore
import Synchronization
import TLSFiles
import Testing

import HTTPListener

/// A body that a test feeds piece by piece, and the listener that sends it: at `/stream` as it is, at `/socket` over a
/// WebSocket; any other path gets `hello` and as many bytes as the request body had.
final class FedStream: ReplyStream {
    private struct State {
        var pieces: [ReplyStreamPiece] = []
        var more: (@Sendable () -> Void)?
        var isCancelled = false
    }

    private let state = Mutex(State())

    var isCancelled: Bool { self.state.withLock(\.isCancelled) }

    func feed(_ piece: ReplyStreamPiece) {
        let more = self.state.withLock { state in
            state.pieces.append(piece)
            return state.more
        }
        more?()
    }

    func feed(_ bytes: [UInt8]) { self.feed(.bytes(ByteBuffer(bytes: bytes))) }

    func next() -> ReplyStreamPiece {
        self.state.withLock { $0.pieces.isEmpty ? .later : $0.pieces.removeFirst() }
    }

    func whenMore(_ body: @escaping @Sendable () -> Void) { self.state.withLock { $0.more = body } }

    func cancel() { self.state.withLock { ($0.isCancelled, $0.more) = (true, nil) } }

    private func reply(to request: ListenerRequest) -> ListenerReply {
        switch request.target?.path {
        case "/stream": return ListenerReply(.ok, body: .stream(self))
        case "/socket":
            return ListenerReply(
                .switchingProtocols, fields: [.upgrade: "websocket", .connection: "Upgrade"], body: .socket(self))
        default:
            guard case .bytes(let body) = request.body else { return ListenerReply(.contentTooLarge) }
            return ListenerReply(.ok, body: .text("hello \(body.count)"))
        }
    }

    /// - Parameter group: See ``HTTPListener``.
    static func serve(
        tls: Bool, group: (any EventLoopGroup)? = nil, _ body: (FedStream, HTTPListener) async throws -> Void
    ) async throws {
        if tls { try CertificateMaker.require() }
        let holder = try TemporaryDirectory()
        let (certificate, key) = (holder.path + "/a.crt", holder.path + "/a.key")
        var store: CertificateStore?
        if tls {
            try CertificateMaker.make(certificate: certificate, key: key)
            store = try CertificateStore(CertificateFiles(certificate: certificate, key: key), place: "test")
        }
        let stream = FedStream()
        let listener = try await HTTPListener.start(
            listen: .tcp(host: "127.0.0.1", port: 0), limits: HTTPListenerLimits(connections: 64, bodyBytes: 100),
            certificates: store, group: group, place: "test", logger: Logger(label: "test")
        ) { $1(stream.reply(to: $0)) }
        do {
            try await body(stream, listener)
        } catch {
            Issue.record(error)
        }
        await listener.stop(within: .milliseconds(100))
        unlink(certificate)
        unlink(key)
        holder.remove()
    }
}
