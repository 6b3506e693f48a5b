import Egress
import MediaTypes
import NIOCore
import NIOSSL
import Synchronization

/// What one RTMP output is to do.
package struct PushSettings: Sendable {
    /// Names it in events and in the state.
    package var outputID: String
    /// Name of the rendition that is sent.
    package var rendition: String
    package var core: PushCore.Settings
    /// PEM file of the authorities that may have signed the server's certificate; `nil`: the system's.
    package var authorities: String?
    /// Whoever answers is trusted, whatever its certificate.
    package var trustsAnybody = false

    package init(outputID: String, rendition: String, core: PushCore.Settings) {
        self.outputID = outputID
        self.rendition = rendition
        self.core = core
    }

    /// - Throws: ``MediaError/Code/notReadable`` for authorities that cannot be read.
    func tlsContext() throws(MediaError) -> NIOSSLContext? {
        guard self.core.url.isSecure else { return nil }
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        // A server that reads nothing says no farewell either.
        configuration.shutdownTimeout = .seconds(1)
        if self.trustsAnybody { configuration.certificateVerification = .none }
        if let file = self.authorities { configuration.trustRoots = .file(file) }
        do {
            return try NIOSSLContext(configuration: configuration)
        } catch {
            throw MediaError(
                .notReadable, "the authorities cannot be read: \(error)", at: "output[\(self.outputID)]",
                fix: "name a PEM file of certificates in tls.authorities")
        }
    }
}

/// One RTMP output as everybody sees it: any thread may ask, what it does happens in its ``PushDriver``.
///
/// Life: made, begins by itself, ``stop(reason:)`` once.
final class PushOutput: LiveReader {
    private let loop: any EventLoop
    private let shown: Mutex<PushStatus>
    private let driver: NIOLoopBoundBox<PushDriver?>
    private let earlier: EventLoopFuture<Void>
    let feed: LiveFeed

    /// - Parameter earlier: It begins when this is over; `nil`: at once. A server may refuse a key that is still in use.
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
        // It may have been stopped while it waited.
        guard let driver = self.driver.value else { return }
        driver.start()
        self.feed.add(self)
    }

    var status: PushStatus { self.shown.withLock { $0 } }

    func show(_ change: (inout PushStatus) -> Void) { self.shown.withLock { change(&$0) } }

    /// Sends what waits and takes leave.
    ///
    /// - Returns: When the connection, if there was one, is closed, and whatever it waited for is over.
    func stop(reason: String) -> EventLoopFuture<Void> {
        self.feed.remove(self)
        self.feed.letGo()
        return self.loop.flatSubmit {
            // The driver holds the output and the output holds the driver.
            let driver = self.driver.value
            self.driver.value = nil
            let closed = driver?.stop(reason: reason) ?? self.loop.makeSucceededVoidFuture()
            return self.earlier.and(closed).map { _ in }
        }
    }

    func receive(_ tags: [LiveTag], now: Int64) { self.driver.value?.receive(tags, now: now) }

    /// The room stops its outputs by itself.
    func ended() {}
}
