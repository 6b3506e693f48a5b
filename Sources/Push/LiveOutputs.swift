package import MediaTypes
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// The renditions of a room as FLV tags, and its RTMP outputs.
///
/// Any thread may call. One event-loop thread of its own, so that whatever a far side does touches neither publishers nor
/// encoders. Life: made, calls, ``stop(reason:)`` once.
package final class LiveOutputs: Sendable {
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let clock: any MonotonicClock
    /// In the order they were asked for.
    private let feeds: [LiveFeed]
    private let outputs: Mutex<[PushOutput]>
    private let isStopped = Mutex(false)

    /// - Parameters:
    ///   - feeds: The renditions that somebody may ask for.
    ///   - makesFiles: Viewers may ask for them over HTTP.
    package init(_ feeds: [FeedDescription], makesFiles: Bool, clock: any MonotonicClock) {
        self.clock = clock
        let loop = self.group.next()
        self.feeds = feeds.map { LiveFeed($0, makesFiles: makesFiles, clock: clock, loop: loop) }
        self.outputs = Mutex([])
    }

    /// The rendition of that name, if it is among them.
    package func feed(named name: String) -> LiveFeed? { self.feeds.first { $0.name == name } }

    /// Begins to send, once there is something on air.
    ///
    /// - Parameter events: Gets the output's status with each event, on the outputs' thread; must not block.
    /// - Throws: ``MediaError/Code/notReadable`` for authorities that cannot be read; then none begins.
    package func start(
        _ settings: [PushSettings], events: @escaping @Sendable (PushStatus, PushCore.Event) -> Void
    ) throws(MediaError) {
        var made: [(PushSettings, LiveFeed, NIOSSLContext?)] = []
        for one in settings {
            guard let feed = self.feed(named: one.rendition) else { continue }
            made.append((one, feed, try one.tlsContext()))
        }
        let (clock, loop) = (self.clock, self.group.next())
        let outputs = made.map { PushOutput($0, feed: $1, tls: $2, clock: clock, loop: loop, events: events) }
        self.outputs.withLock { $0 += outputs }
    }

    /// In the order of the pipeline.
    package var statuses: [PushStatus] { self.outputs.withLock { $0 }.map(\.status) }

    /// Hands out what is there, takes leave of every server, and ends the thread.
    package func stop(reason: String) async {
        let wasStopped = self.isStopped.withLock { isStopped in
            defer { isStopped = true }
            return isStopped
        }
        if wasStopped { return }
        for feed in self.feeds { feed.end() }
        // All at once; each takes a second at most. None can fail in a way that leaves something to do.
        for closed in self.outputs.withLock({ $0 }).map({ $0.stop(reason: reason) }) { try? await closed.get() }
        try? await self.group.next().submit {}.get()
        try? await self.group.shutdownGracefully()
    }
}
