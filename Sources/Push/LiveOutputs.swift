package import Egress
package import MediaTypes
import NIOCore
import NIOPosix
import NIOSSL
import Threading
import Synchronization

/// An RTMP output whose CA file has been read, so that its start cannot fail.
package struct PreparedOutput: Sendable {
    fileprivate var outputID: String { self.settings.outputID }
    fileprivate let settings: PushSettings
    fileprivate let feed: LiveFeed
    fileprivate let tls: NIOSSLContext?
}

/// The live renditions of a room as FLV tags, and the room's RTMP outputs, which can be added, removed and changed.
///
/// Any thread may call. Runs one event-loop thread of its own, so that a slow server affects neither publishers nor
/// encoders. Life cycle: calls, then ``stop(reason:)`` once.
package final class LiveOutputs: Sendable {
    private struct State {
        var outputs: [PushOutput] = []
        var isStopped = false
    }

    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let gate = Gate()
    private let clock: any MonotonicClock
    private let egress: EgressGate?
    /// The live renditions, in the order in which they were passed to the initializer.
    private let feeds: [LiveFeed]
    private let state = Mutex(State())

    /// Creates the outputs of a room; none is started yet.
    ///
    /// - Parameters:
    ///   - feeds: The renditions that can be read.
    ///   - makesFiles: True if viewers may read the renditions over HTTP-FLV.
    ///   - egress: Checks whether the address of a server is allowed; `nil`: any address is.
    package init(
        _ feeds: [FeedDescription], makesFiles: Bool, egress: EgressGate? = nil, clock: any MonotonicClock
    ) {
        self.clock = clock
        self.egress = egress
        let (loop, gate) = (self.group.next(), self.gate)
        self.feeds = feeds.map { LiveFeed($0, makesFiles: makesFiles, clock: clock, loop: loop, gate: gate) }
    }

    /// Returns the feed of the rendition with this name; nil if there is none.
    package func feed(named name: String) -> LiveFeed? { self.feeds.first { $0.name == name } }

    /// Reads the files that outputs need, without starting them.
    ///
    /// - Returns: The outputs whose rendition exists.
    /// - Throws: ``MediaError/Code/notReadable`` if a CA file cannot be read.
    package func prepare(_ settings: [PushSettings]) throws(MediaError) -> [PreparedOutput] {
        var made: [PreparedOutput] = []
        for one in settings {
            guard let feed = self.feed(named: one.rendition) else { continue }
            made.append(PreparedOutput(settings: one, feed: feed, tls: try one.tlsContext()))
        }
        return made
    }

    /// Starts outputs. Each output connects and sends as soon as its rendition has packets.
    ///
    /// - Parameter events: Receives the output's status with each event, on the outputs' thread; must not block.
    /// - Throws: ``MediaError/Code/notReadable`` if a CA file cannot be read; then no output starts.
    package func start(
        _ settings: [PushSettings], events: @escaping @Sendable (PushStatus, PushCore.Event) -> Void
    ) throws(MediaError) {
        self.change(
            removing: [], adding: try self.prepare(settings), order: settings.map(\.outputID), reason: "",
            events: events)
    }

    /// Removes some outputs and adds others; outputs named in neither list are not affected. Does nothing after
    /// ``stop(reason:)``.
    ///
    /// A removed output ends its publication on the server. An output with the same id as a removed one starts when the
    /// removed one has disconnected, so that the server does not see two connections with one key.
    ///
    /// - Parameters:
    ///   - gone: Ids of the outputs to remove.
    ///   - order: Ids of all outputs in the order of the pipeline, for ``statuses``.
    ///   - reason: Why outputs are removed, for events and logs.
    ///   - events: See ``start(_:events:)``.
    package func change(
        removing gone: Set<String>, adding made: [PreparedOutput], order: [String], reason: String,
        events: @escaping @Sendable (PushStatus, PushCore.Event) -> Void
    ) {
        let (clock, egress, loop) = (self.clock, self.egress, self.group.next())
        let places = Dictionary(zip(order, order.indices)) { first, _ in first }
        self.state.withLock { state in
            guard !state.isStopped else { return }
            // A feed stays awake while one output replaces another, so that the new one need not wait for the next key
            // frame.
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

    /// Statuses of the outputs in the order of the pipeline.
    package var statuses: [PushStatus] { self.state.withLock { $0.outputs }.map(\.status) }

    /// Ends the publication on every connected server, each after the tags that are queued unless the server is behind,
    /// and ends the thread. Takes at most about two seconds.
    package func stop(reason: String) async {
        let outputs = self.state.withLock { state -> [PushOutput]? in
            guard !state.isStopped else { return nil }
            state.isStopped = true
            return state.outputs
        }
        guard let outputs else { return }
        for feed in self.feeds { feed.end() }
        // All outputs stop at the same time; each takes at most one second, or two over TLS. An error needs no handling
        // here.
        for closed in outputs.map({ $0.stop(reason: reason) }) { try? await closed.get() }
        try? await self.group.next().submit {}.get()
        self.gate.close()
        try? await self.group.shutdownGracefully()
    }
}
