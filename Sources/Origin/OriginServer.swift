import Glibc
import HTTPListener
package import Logging
package import MediaTypes
package import NIOCore
package import Push
import Synchronization
package import TLSFiles

/// The viewers' listener: public and read-only. Serves the published objects, and at `/` a page that plays them.
package final class OriginServer: Sendable {
    private let listener: HTTPListener
    private let content: Audience
    private let expiry: RepeatedTask
    private let isStopped = Mutex(false)

    private init(listener: HTTPListener, content: Audience) {
        self.listener = listener
        self.content = content
        self.expiry = listener.eventLoop.scheduleRepeatedTask(initialDelay: Self.expiryPace, delay: Self.expiryPace) {
            _ in content.expire()
        }
    }

    /// Descriptors the process may have, less what the room itself needs: viewers must not take those.
    private static var descriptors: Int { max(192, sysconf(Int32(_SC_OPEN_MAX)) - 256) }

    /// Of those what files may take that are sent to viewers: more than the listener keeps open by itself, since many viewers
    /// share each.
    private static var mostFiles: Int { min(max(128, Self.descriptors / 6), 2_048) }

    /// Of the viewers' thread, on Linux each thread's own (setpriority(2)): a third of the weight of a thread at 0, so that
    /// with the machine full it still gets its turn within milliseconds.
    private static let niceness: Int32 = 5

    /// How often requests that wait are looked at; their limit is several seconds.
    private static let expiryPace = TimeAmount.milliseconds(500)

    /// The page's URL on this machine, without trailing slash: `http://127.0.0.1:8080`; or `unix:/path`.
    package var boundAddress: String { self.listener.boundAddress }
    /// The port that was bound; `nil` for a Unix socket.
    package var boundPort: Int? { self.listener.boundPort }
    /// Open connections now.
    package var connectionCount: Int { self.listener.connectionCount }

    /// - Parameters:
    ///   - allowOrigins: See ``CORSPolicy/init(allowOrigins:)``.
    ///   - roomTitle: Shown by the page.
    ///   - gate: Who may watch; `nil`: anybody.
    ///   - live: Renditions over HTTP-FLV and WebSocket-FLV; `nil`: none.
    ///   - playlist: File name of the multivariant playlist, for the page.
    ///   - keyURI: Where players get keys; `nil`: here.
    ///   - certificates: HTTPS with HTTP/2 by these; `nil`: HTTP/1.1 in clear text.
    ///   - connections: Open connections at once, 1 or more, within what the process may open. Browsers hold up to six per viewer; what a connection
    ///     costs besides shared bytes is about 12 KB.
    ///   - connectionsPerAddress: See ``HTTPListenerLimits/connectionsPerAddress``.
    ///   - group: Event loops to use; `nil` makes one thread for this listener.
    /// - Throws: ``MediaError/Code/bindFailed``.
    package static func start(
        listen: ListenAddress, content: any OriginContent, allowOrigins: [String], roomTitle: String,
        gate: PlaybackGate? = nil, live: LiveOutputs? = nil, playlist: String = "index.m3u8", keyURI: String? = nil,
        certificates: CertificateStore? = nil, connections: Int = 8_192, connectionsPerAddress: Int? = nil,
        group: (any EventLoopGroup)? = nil, logger: Logger
    ) async throws(MediaError) -> OriginServer {
        let content = Audience(content)
        let responder = OriginResponder(
            content: content, policy: CORSPolicy(allowOrigins: allowOrigins), roomTitle: roomTitle, gate: gate,
            live: live, playlist: playlist, keyURI: keyURI)
        // Nothing here reads a body; a few bytes are read all the same, so that a polite client hears its 405.
        let limits = HTTPListenerLimits(
            connections: min(connections, Self.descriptors - Self.mostFiles), bodyBytes: 4 << 10,
            connectionsPerAddress: connectionsPerAddress, files: Self.mostFiles)
        let listener = try await HTTPListener.start(
            listen: listen, limits: limits, certificates: certificates, group: group, place: "viewer", logger: logger
        ) { responder.reply(to: $0, $1) }
        // The listener's own thread: a flood of viewers takes what the clock, the mixer and the encoders leave.
        if group == nil {
            listener.eventLoop.execute { _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, Self.niceness) }
        }
        return OriginServer(listener: listener, content: content)
    }

    /// Nanoseconds since a viewer asked for a playlist; `nil`: nobody has.
    package var sinceRequest: Int64? { self.content.sinceList }

    /// Takes no more connections, lets replies that have begun end within `grace`, closes the rest. May be called twice.
    package func stop(within grace: TimeAmount = .seconds(3)) async {
        let isFirst = self.isStopped.withLock { isStopped in
            defer { isStopped = true }
            return !isStopped
        }
        // Once: the timer's event loop ends with the listener.
        if isFirst {
            self.expiry.cancel()
            self.content.close()
        }
        await self.listener.stop(within: grace)
    }
}
