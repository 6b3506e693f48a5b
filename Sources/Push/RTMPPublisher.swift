import Egress
import Dispatch
package import MediaTypes
import NIOCore
import NIOPosix
import RTMP
import Threading
import Synchronization

/// Publishes one input to an RTMP server in real time, as an encoder does.
package final class RTMPPublisher: Sendable {
    /// Progress of the publication, reported on the thread that calls ``run(url:duration:makeInput:)``.
    package enum Event: Sendable {
        case connected
        case publishing
        /// Reported with the first packet after each second: packets and bytes so far, and how far sending is behind real
        /// time, in milliseconds.
        case progress(packets: Int, bytes: Int, behindMs: Int)
    }

    /// Why the publication failed.
    package enum Failure: Error, Sendable {
        case badURL(String)
        case cannotConnect(String)
        /// The server refused the publication; `code` and `text` are from its status message.
        case refused(code: String, text: String)
        case connectionLost
        case input(MediaError)
    }

    /// Number of unsent bytes above which the publisher pauses: two seconds of media at 4 Mbit/s.
    private static let outboundLimit = 1 << 20
    /// Interval at which the sending thread checks whether ``stop()`` was called, in nanoseconds.
    private static let patience: Int64 = 100_000_000
    /// Nanoseconds after the connection was made within which the server must accept the publication.
    private static let agreement: Int64 = 10 * TimeMath.nanoseconds

    private let stopping = Mutex(false)
    private let events: @Sendable (Event) -> Void

    package init(events: @escaping @Sendable (Event) -> Void = { _ in }) { self.events = events }

    /// Makes ``run(url:duration:makeInput:)`` end the publication and return.
    package func stop() { self.stopping.withLock { $0 = true } }

    private var isStopped: Bool { self.stopping.withLock { $0 } }

    /// Publishes until the input ends, `duration` has passed or ``stop()`` is called. Blocks; call it on a thread.
    ///
    /// - Parameters:
    ///   - url: `rtmp://host[:port]/app/key`.
    ///   - duration: Nanoseconds of media to send; `nil`: all of the input.
    ///   - makeInput: Creates the input; called on the calling thread.
    package func run(
        url: String, duration: Int64?, makeInput: () throws(MediaError) -> any PublishInput
    ) throws(Failure) {
        guard let address = RTMPURL(url) else { throw .badURL(url) }
        let input: any PublishInput
        do { input = try makeInput() } catch { throw .input(error) }
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        defer { try? group.syncShutdownGracefully() }
        let outcome = PublishOutcome()
        let channel: any Channel
        do {
            channel = try ClientBootstrap(group: group)
                .connectTimeout(.seconds(5))
                .channelOption(.tcpOption(.tcp_nodelay), value: 1)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(PublishHandler(url: address, outcome: outcome))
                    }
                }
                .connect(host: address.host, port: address.port).wait()
        } catch {
            throw .cannotConnect("\(address.host):\(address.port): \(ConnectionFailure.text(error) ?? "\(error)")")
        }
        self.events(.connected)
        let begun = SystemClock().now()
        let isAnswered = outcome.wait {
            self.isStopped || SystemClock().now() &- begun > Self.agreement
        }
        if let failure = outcome.failure { throw failure }
        guard isAnswered else {
            // The shutdown of the group closes the connection.
            if self.isStopped { return }
            throw .cannotConnect("\(address.host):\(address.port): the server did not accept the stream in time")
        }
        self.events(.publishing)
        defer { try? channel.close().wait() }
        try self.send(input, over: channel, outcome, duration)
        try? channel.triggerUserOutboundEvent(PublishHandler.Command.finish).wait()
    }

    private func send(
        _ input: any PublishInput, over channel: any Channel, _ outcome: PublishOutcome, _ duration: Int64?
    ) throws(Failure) {
        let clock = SystemClock()
        let codecs = Dictionary(input.parameters.map { (PublishTrack($0), $0.codec) }) { first, _ in first }
        channel.triggerUserOutboundEvent(
            PublishHandler.Command.describe(input.parameters, input.picture.map { .init($0) }), promise: nil)
        let start = clock.now()
        var (packets, bytes, reported) = (0, 0, start)
        while !self.isStopped {
            let packet: CodedPacket?
            do { packet = try input.next() } catch { throw .input(error) }
            guard let packet, let codec = codecs[PublishTrack(packet)] else { return }
            let due = TimeMath.rescale(max(0, packet.dts), from: Int64(packet.timescale), to: TimeMath.nanoseconds)
            if let duration, due >= duration { return }
            // Sleeps in short steps, because a file may have a gap of hours.
            while !self.isStopped, outcome.failure == nil, clock.now() < start &+ due {
                clock.sleep(until: min(start &+ due, clock.now() &+ Self.patience))
            }
            if self.isStopped { return }
            if let failure = outcome.failure { throw failure }
            while outcome.outbound > Self.outboundLimit, !self.isStopped, outcome.failure == nil {
                clock.sleep(until: clock.now() &+ 5_000_000)
            }
            guard let message = FLVTagWriter.packet(packet, codec: codec) else { continue }
            outcome.add(message.payload.count)
            channel.triggerUserOutboundEvent(PublishHandler.Command.media(message), promise: nil)
            packets += 1
            bytes += message.payload.count
            if clock.now() &- reported >= TimeMath.nanoseconds {
                reported = clock.now()
                let behind = Int((reported &- start &- due) / 1_000_000)
                self.events(.progress(packets: packets, bytes: bytes, behindMs: behind))
            }
        }
    }
}

/// State shared by the sending thread and the connection.
final class PublishOutcome: Sendable {
    private struct State {
        var isReady = false
        var failure: RTMPPublisher.Failure?
        var outbound = 0
    }

    private let state = Mutex(State())
    private let changed = DispatchSemaphore(value: 0)

    var failure: RTMPPublisher.Failure? { self.state.withLock { $0.failure } }
    var outbound: Int { self.state.withLock { $0.outbound } }

    func add(_ bytes: Int) { self.state.withLock { $0.outbound += bytes } }
    func sent(_ bytes: Int) { self.state.withLock { $0.outbound -= bytes } }

    func ready() {
        self.state.withLock { $0.isReady = true }
        self.changed.signal()
    }

    /// Records a failure. Only the first failure is kept, because later ones are its consequences.
    func fail(_ failure: RTMPPublisher.Failure) {
        self.state.withLock { if $0.failure == nil { $0.failure = failure } }
        self.changed.signal()
    }

    /// Waits until the server has answered the publish request.
    ///
    /// - Parameter isGivenUp: Called several times per second; true ends the wait.
    /// - Returns: True if the server has accepted, or the publication has failed.
    func wait(unless isGivenUp: () -> Bool) -> Bool {
        while !self.state.withLock({ $0.isReady || $0.failure != nil }) {
            if isGivenUp() { return false }
            _ = self.changed.wait(timeout: .now() + .milliseconds(100))
        }
        return true
    }
}
