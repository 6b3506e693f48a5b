import Egress
import MediaTypes
import NIOCore
import NIOSSL
import Synchronization

/// Settings of one RTMP output.
package struct PushSettings: Sendable {
    /// Id of the output in events and in the room's state.
    package var outputID: String
    /// Name of the rendition that is sent.
    package var rendition: String
    package var core: PushCore.Settings
    /// PEM file with the CA certificates that are trusted; `nil`: the system's.
    package var authorities: String?
    /// True to accept any server certificate.
    package var trustsAnybody = false

    package init(outputID: String, rendition: String, core: PushCore.Settings) {
        self.outputID = outputID
        self.rendition = rendition
        self.core = core
    }

    /// Returns the TLS settings of the connection; nil for an unencrypted output.
    ///
    /// - Throws: ``MediaError/Code/notReadable`` if the CA file cannot be read.
    func tlsContext() throws(MediaError) -> NIOSSLContext? {
        guard self.core.url.isSecure else { return nil }
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        // A server that does not read does not answer the TLS shutdown either.
        configuration.shutdownTimeout = .seconds(1)
        if self.trustsAnybody { configuration.certificateVerification = .none }
        if let file = self.authorities { configuration.trustRoots = .file(file) }
        do {
            return try NIOSSLContext(configuration: configuration)
        } catch {
            throw MediaError(
                .notReadable, "the CA certificates cannot be read: \(error)", at: "output[\(self.outputID)]",
                fix: "set `tls.authorities` to a PEM file with certificates")
        }
    }
}

/// One RTMP output. Any thread may call; the work happens in its ``PushDriver``.
///
/// Life cycle: it starts when it is created, and ends with ``stop(reason:)`` once.
final class PushOutput: LiveReader {
    private let loop: any EventLoop
    private let shown: Mutex<PushStatus>
    private let driver: NIOLoopBoundBox<PushDriver?>
    private let earlier: EventLoopFuture<Void>
    let feed: LiveFeed

    /// Creates an output that sends the rendition of `feed`, and starts it.
    ///
    /// - Parameter earlier: The output starts when this future completes; `nil`: it starts at once. A server may refuse
    ///   a key that is still in use.
    init(
        _ settings: PushSettings, feed: LiveFeed, tls: NIOSSLContext?, egress: EgressGate?,
        clock: any MonotonicClock, loop: any EventLoop, after earlier: EventLoopFuture<Void>? = nil,
        events: @escaping @Sendable (PushStatus, PushCore.Event) -> Void
    ) {
        self.feed = feed
        self.loop = loop
        self.earlier = earlier ?? loop.makeSucceededVoidFuture()
        self.shown = Mutex(
            PushStatus(outputID: settings.outputID, url: settings.core.url.redacted, rendition: feed.name))
        self.driver = NIOLoopBoundBox.makeEmptyBox(valueType: PushDriver.self, eventLoop: loop)
        let core = settings.core
        feed.hold()
        loop.execute {
            self.driver.value = PushDriver(
                output: self, core: core, tls: tls, egress: egress, clock: clock, loop: loop, events: events)
        }
        self.earlier.whenComplete { _ in self.begin() }
    }

    private func begin() {
        // The output may have been stopped meanwhile.
        guard let driver = self.driver.value else { return }
        driver.start()
        self.feed.add(self)
    }

    var status: PushStatus { self.shown.withLock { $0 } }

    func show(_ change: (inout PushStatus) -> Void) { self.shown.withLock { change(&$0) } }

    /// Ends the publication if the output is live, after the queued tags unless the server is behind, and disconnects.
    ///
    /// - Returns: A future that completes when the connection, if there was one, is closed, and so is that of the
    ///   output which this one replaced, if any.
    func stop(reason: String) -> EventLoopFuture<Void> {
        self.feed.remove(self)
        self.feed.letGo()
        return self.loop.flatSubmit {
            // The driver and the output retain each other.
            let driver = self.driver.value
            self.driver.value = nil
            let closed = driver?.stop(reason: reason) ?? self.loop.makeSucceededVoidFuture()
            return self.earlier.and(closed).map { _ in }
        }
    }

    func receive(_ tags: [LiveTag], now: Int64) { self.driver.value?.receive(tags, now: now) }

    /// Does nothing when the feed ends: the room stops its outputs separately.
    func ended() {}
}
