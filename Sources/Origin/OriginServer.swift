import Libc
import HTTPListener
package import Logging
package import MediaTypes
package import NIOCore
package import Push
import Synchronization
package import TLSFiles
import WHEP

/// The playback listener, a public HTTP server that is read-only except for the sessions of WebRTC viewers. It serves the
/// published objects, and at `/` a page that plays them.
package final class OriginServer: Sendable {
    private let listener: HTTPListener
    private let content: ViewerActivity
    private let streams: StreamViewers
    private let webRTC: WebRTCViewers?
    private let expiry: RepeatedTask
    private let isStopped = Mutex(false)

    private init(
        listener: HTTPListener, content: ViewerActivity, streams: StreamViewers, webRTC: WebRTCViewers?
    ) {
        self.listener = listener
        self.content = content
        self.streams = streams
        self.webRTC = webRTC
        self.expiry = listener.eventLoop.scheduleRepeatedTask(initialDelay: Self.expiryPace, delay: Self.expiryPace) {
            _ in content.expire()
        }
    }

    /// Number of file descriptors that viewers may use: the process's limit minus 256 for the room itself, at least
    /// 192.
    private static var descriptors: Int { max(192, sysconf(Int32(_SC_OPEN_MAX)) - 256) }

    /// Maximum number of open files that are being sent: a sixth of ``descriptors``, at least 128 and at most 2,048.
    /// Viewers of the same segment share one open file.
    private static var mostFiles: Int { min(max(128, Self.descriptors / 6), 2_048) }

    /// Nice value of the listener's thread; on Linux each thread has its own (setpriority(2)). The thread has a third
    /// of the weight of a thread with nice value 0, so that it still runs within milliseconds on a fully loaded
    /// machine.
    private static let niceness: Int32 = 5

    /// Interval at which waiting requests are checked for a timeout; the timeouts are several seconds.
    private static let expiryPace = TimeAmount.milliseconds(500)

    /// URL of the listener on this machine without a trailing slash, such as `http://127.0.0.1:8080`, or `unix:/path`.
    package var boundAddress: String { self.listener.boundAddress }
    /// Number of open connections.
    package var connectionCount: Int { self.listener.connectionCount }

    /// Statistics of the replies so far, and the current number of viewers.
    package var traffic: ViewerTraffic {
        ViewerTraffic(
            connections: self.connectionCount, replies: self.listener.counters.rows,
            sentBytes: self.listener.counters.sentBytes, playlistViewers: self.content.viewers,
            streamViewers: self.streams.count, webRTCViewers: self.webRTC?.count() ?? 0, watched: self.content.watched)
    }

    /// Binds the address and starts to serve.
    ///
    /// - Parameters:
    ///   - allowOrigins: See ``CORSPolicy/init(allowOrigins:)``.
    ///   - page: What the player page contains, besides whether it offers WebRTC.
    ///   - status: Returns the room's status for the player page; `nil`: only its end is known.
    ///   - gate: Checks the signed URLs of viewers; `nil`: anyone may watch.
    ///   - live: Renditions over HTTP-FLV and WebSocket-FLV; `nil` for none.
    ///   - webRTC: Answers the requests of WebRTC viewers; `nil`: the room has no WebRTC output.
    ///   - players: The playlists whose requests are counted to estimate the number of players.
    ///   - certificates: Certificates for HTTPS with HTTP/2; `nil`: unencrypted HTTP/1.1.
    ///   - connections: Maximum number of open connections, 1 or more, also limited by ``descriptors`` minus
    ///     ``mostFiles``. Browsers open up to six per viewer.
    ///   - connectionsPerAddress: See ``HTTPListenerLimits/connectionsPerAddress``.
    ///   - group: Event loops to use; `nil` makes one thread for this listener.
    /// - Throws: ``MediaError/Code/bindFailed``.
    package static func start(
        listen: ListenAddress, content: any OriginContent, allowOrigins: [String], page: ViewerPage.Options,
        gate: SignedURLVerifier? = nil, live: LiveOutputs? = nil, webRTC: WebRTCViewers? = nil,
        status: (@Sendable () -> ViewerStatus)? = nil, players: PlayerPlaylists = PlayerPlaylists(),
        certificates: CertificateStore? = nil, connections: Int = 8_192, connectionsPerAddress: Int? = nil,
        group: (any EventLoopGroup)? = nil, logger: Logger
    ) async throws(MediaError) -> OriginServer {
        let content = ViewerActivity(content, playlists: players)
        let streams = StreamViewers()
        let responder = OriginResponder(
            content: content, policy: CORSPolicy(allowOrigins: allowOrigins), page: page, gate: gate,
            live: live, webRTC: webRTC, status: status, streams: streams)
        // Only offers of WebRTC viewers have a body; a few bytes of others are still read, so that a well-behaved client
        // receives its 405.
        let body = webRTC == nil ? 4 << 10 : WHEPServer.largestBody
        let limits = HTTPListenerLimits(
            connections: min(connections, Self.descriptors - Self.mostFiles), bodyBytes: body,
            connectionsPerAddress: connectionsPerAddress, files: Self.mostFiles)
        let listener = try await HTTPListener.start(
            listen: listen, limits: limits, certificates: certificates, group: group, place: "viewer", logger: logger
        ) { responder.reply(to: $0, $1) }
        // The listener's own thread has lower priority: a flood of viewers only gets the time that clock, mixer and
        // encoders leave.
        if group == nil {
            listener.eventLoop.execute { _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, Self.niceness) }
        }
        return OriginServer(listener: listener, content: content, streams: streams, webRTC: webRTC)
    }

    /// Nanoseconds since a viewer requested a playlist; `nil` if none has.
    package var sinceRequest: Int64? { self.content.sinceList }

    /// Stops the listener: accepts no more connections, lets running replies finish within `grace`, and closes the
    /// remaining connections. May be called twice.
    package func stop(within grace: TimeAmount = .seconds(3)) async {
        let isFirst = self.isStopped.withLock { isStopped in
            defer { isStopped = true }
            return !isStopped
        }
        // The timer is cancelled only once, because its event loop ends with the listener.
        if isFirst {
            self.expiry.cancel()
            self.content.close()
        }
        await self.listener.stop(within: grace)
    }
}
