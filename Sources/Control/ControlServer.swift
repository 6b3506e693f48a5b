import HTTPListener
package import Logging
package import MediaTypes
package import NIOCore

/// The operator's listener: the `/v1` API and the health endpoints.
package final class ControlServer: Sendable {
    private let listener: HTTPListener

    private init(listener: HTTPListener) {
        self.listener = listener
    }

    /// `http://127.0.0.1:41234`, or `unix:/path`.
    package var boundAddress: String { self.listener.boundAddress }
    /// The port that was bound; `nil` for a Unix socket.
    package var boundPort: Int? { self.listener.boundPort }

    /// - Parameters:
    ///   - token: The bearer token every `/v1` request must carry; `nil` for none. Not empty.
    ///   - group: Event loops to use; `nil` makes one thread for this listener.
    /// - Throws: ``MediaError/Code/bindFailed``; ``MediaError/Code/rejected`` if other machines could connect and there is
    ///   no token.
    package static func start(
        listen: ListenAddress, token: String?, room: any RoomControlling, group: (any EventLoopGroup)? = nil,
        logger: Logger
    ) async throws(MediaError) -> ControlServer {
        try Self.checkAccess(listen: listen, hasToken: token != nil)
        let responder = ControlResponder(room: room, guardian: AccessGuard(listen: listen, token: token))
        let limits = HTTPListenerLimits(connections: 64, bodyBytes: ControlResponder.bodyLimit)
        let listener = try await HTTPListener.start(
            listen: listen, limits: limits, group: group, place: "control", logger: logger
        ) { request, answer in
            // A command may take a moment, and who asks for the health must not wait for it.
            Task { responder.answer(request, answer) }
        }
        return ControlServer(listener: listener)
    }

    /// What ``start(listen:token:room:group:logger:)`` checks first; also for those who validate without starting.
    ///
    /// - Throws: ``MediaError/Code/rejected`` if other machines could connect and there is no token.
    package static func checkAccess(listen: ListenAddress, hasToken: Bool) throws(MediaError) {
        guard !listen.isLoopback, !hasToken else { return }
        throw MediaError(
            .rejected, "\(listen) lets other machines control this room without a token", at: "control",
            fix: "listen on 127.0.0.1 or a unix:/path, or configure a bearer token")
    }

    /// Takes no more connections, lets replies that have begun end within `grace`, closes the rest.
    package func stop(within grace: TimeAmount = .seconds(3)) async {
        await self.listener.stop(within: grace)
    }
}
