package import Egress
package import MediaTypes
import NIOCore
import NIOPosix
import NIOSSL
import Stages
import Synchronization

/// An RTMP output with everything read that it needs: nothing is left that could fail.
package struct PreparedOutput: Sendable {
    fileprivate var outputID: String { self.settings.outputID }
    fileprivate let settings: PushSettings
    fileprivate let feed: LiveFeed
    fileprivate let tls: NIOSSLContext?
}

/// The renditions of a room as FLV tags, and its RTMP outputs, which may come, go and change.
///
/// Any thread may call. One event-loop thread of its own, so that whatever a far side does touches neither publishers nor
/// encoders. Life: made, calls, ``stop(reason:)`` once.
package final class LiveOutputs: Sendable {
    private struct State {
        var outputs: [PushOutput] = []
        var isStopped = false
    }

    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let gate = Gate()
    private let clock: any MonotonicClock
    private let egress: EgressGate?
    /// In the order they were asked for.
    private let feeds: [LiveFeed]
    private let state = Mutex(State())

    /// - Parameters:
    ///   - feeds: The renditions that somebody may ask for.
    ///   - makesFiles: Viewers may ask for them over HTTP.
    ///   - egress: Judges the addresses of servers; `nil`: any address.
    package init(
        _ feeds: [FeedDescription], makesFiles: Bool, egress: EgressGate? = nil, clock: any MonotonicClock
    ) {
        self.clock = clock
        self.egress = egress
        let (loop, gate) = (self.group.next(), self.gate)
        self.feeds = feeds.map { LiveFeed($0, makesFiles: makesFiles, clock: clock, loop: loop, gate: gate) }
    }

    /// The rendition of that name, if it is among them.
    package func feed(named name: String) -> LiveFeed? { self.feeds.first { $0.name == name } }

    /// Reads what outputs need, and begins nothing.
    ///
    /// - Returns: Those whose rendition there is.
    /// - Throws: ``MediaError/Code/notReadable`` for authorities that cannot be read.
    package func prepare(_ settings: [PushSettings]) throws(MediaError) -> [PreparedOutput] {
        var made: [PreparedOutput] = []
        for one in settings {
            guard let feed = self.feed(named: one.rendition) else { continue }
            made.append(PreparedOutput(settings: one, feed: feed, tls: try one.tlsContext()))
        }
        return made
    }

    /// Begins to send, once there is something on air.
    ///
    /// - Parameter events: Gets the output's status with each event, on the outputs' thread; must not block.
    /// - Throws: ``MediaError/Code/notReadable`` for authorities that cannot be read; then none begins.
    package func start(
        _ settings: [PushSettings], events: @escaping @Sendable (PushStatus, PushCore.Event) -> Void
    ) throws(MediaError) {
        self.change(
            removing: [], adding: try self.prepare(settings), order: settings.map(\.outputID), reason: "",
            events: events)
    }

    /// Ends some outputs and begins others; all the rest goes on untouched. Nothing happens once ``stop(reason:)`` was called.
    ///
    /// One that ends takes leave of its server. One that begins with the id of one that ends begins when that has left, so that its
    /// server does not see one key twice.
    ///
    /// - Parameters:
    ///   - gone: Ids of those that end.
    ///   - order: Ids in the order of the pipeline, for ``statuses``.
    ///   - reason: Why those end.
    ///   - events: See ``start(_:events:)``.
    package func change(
        removing gone: Set<String>, adding made: [PreparedOutput], order: [String], reason: String,
        events: @escaping @Sendable (PushStatus, PushCore.Event) -> Void
    ) {
        let (clock, egress, loop) = (self.clock, self.egress, self.group.next())
        let places = Dictionary(zip(order, order.indices)) { first, _ in first }
        self.state.withLock { state in
            guard !state.isStopped else { return }
            // A feed that changes hands keeps what it has: whoever takes it over need not wait for the next key picture.
            for one in made { one.feed.hold() }
            defer { for one in made { one.feed.letGo() } }
            var left: [String: EventLoopFuture<Void>] = [:]
            for output in state.outputs {
                let id = output.status.outputID
                if gone.contains(id) { left[id] = output.stop(reason: reason) }
            }
            state.outputs.removeAll { left.keys.contains($0.status.outputID) }
            state.outputs += made.map { one in
                PushOutput(
                    one.settings, feed: one.feed, tls: one.tls, egress: egress, clock: clock, loop: loop,
                    after: left[one.outputID], events: events)
            }
            state.outputs.sort { one, other in
                (places[one.status.outputID] ?? order.count) < (places[other.status.outputID] ?? order.count)
            }
        }
    }

    /// In the order of the pipeline.
    package var statuses: [PushStatus] { self.state.withLock { $0.outputs }.map(\.status) }

    /// Hands out what is there, takes leave of every server, and ends the thread.
    package func stop(reason: String) async {
        let outputs = self.state.withLock { state -> [PushOutput]? in
            guard !state.isStopped else { return nil }
            state.isStopped = true
            return state.outputs
        }
        guard let outputs else { return }
        for feed in self.feeds { feed.end() }
        // All at once; each takes a second at most, over TLS two. None can fail in a way that leaves something to do.
        for closed in outputs.map({ $0.stop(reason: reason) }) { try? await closed.get() }
        try? await self.group.next().submit {}.get()
        self.gate.close()
        try? await self.group.shutdownGracefully()
    }
}
