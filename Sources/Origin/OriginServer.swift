import HTTPListener
package import Logging
package import MediaTypes
package import NIOCore

/// The viewers' listener: public and read-only. Serves the published objects, and at `/` a page that plays them.
package final class OriginServer: Sendable {
    private let listener: HTTPListener

    private init(listener: HTTPListener) {
        self.listener = listener
    }

    /// The page's URL on this machine, without trailing slash: `http://127.0.0.1:8080`; or `unix:/path`.
    package var boundAddress: String { self.listener.boundAddress }
    /// The port that was bound; `nil` for a Unix socket.
    package var boundPort: Int? { self.listener.boundPort }
    /// Open connections now.
    package var connectionCount: Int { self.listener.connectionCount }

    /// - Parameters:
    ///   - allowOrigins: See ``CORSPolicy/init(allowOrigins:)``.
    ///   - roomTitle: Shown by the page.
    ///   - connections: Open connections at once, 1 or more. Browsers hold up to six per viewer.
    ///   - group: Event loops to use; `nil` makes one thread for this listener.
    /// - Throws: ``MediaError/Code/bindFailed``.
    package static func start(
        listen: ListenAddress, content: any OriginContent, allowOrigins: [String], roomTitle: String,
        connections: Int = 1_024, group: (any EventLoopGroup)? = nil, logger: Logger
    ) async throws(MediaError) -> OriginServer {
        let responder = OriginResponder(
            content: content, policy: CORSPolicy(allowOrigins: allowOrigins), roomTitle: roomTitle)
        // Nothing here reads a body; a few bytes are read all the same, so that a polite client hears its 405.
        let limits = HTTPListenerLimits(connections: connections, bodyBytes: 4 << 10)
        let listener = try await HTTPListener.start(
            listen: listen, limits: limits, group: group, place: "viewer", logger: logger
        ) { responder.reply(to: $0) }
        return OriginServer(listener: listener)
    }

    /// Takes no more connections, lets replies that have begun end within `grace`, closes the rest.
    package func stop(within grace: TimeAmount = .seconds(3)) async {
        await self.listener.stop(within: grace)
    }
}
