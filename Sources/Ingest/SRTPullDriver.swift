package import MediaTypes
import NIOCore

/// Settings of one source that is pulled from an SRT listener.
package struct SRTPullSettings: Sendable {
    package let source: SourceID
    package let url: SRTURL
    /// Nanoseconds within which the listener must accept and send its first access unit.
    package var openTimeout: Int64 = 20 * TimeMath.nanoseconds
    /// Nanoseconds without media after which the connection is closed; the next attempt follows after the back-off.
    package var idleTimeout: Int64 = 90 * TimeMath.nanoseconds
    /// Largest access unit in bytes.
    package var maximumBytes = 8 << 20
    /// Codecs that the server may send.
    package var codecs: Set<CodecName>

    package init(source: SourceID, url: SRTURL, codecs: Set<CodecName>) {
        self.source = source
        self.url = url
        self.codecs = codecs
    }
}

/// Pulls one source from an SRT listener.
///
/// Each connection is a ``MPEGTSFeed`` of its own; reports of earlier ones are ignored.
final class SRTPullDriver: SourcePuller {
    private let settings: SRTPullSettings
    private var feed: MPEGTSFeed?
    /// The last feed, kept after it was stopped so that ``PullService/stop()`` can wait for its thread.
    private(set) var lastFeed: MPEGTSFeed?
    /// Identifies the current connection: the time at which it was started.
    private var connection: Int64 = 0

    init(
        _ settings: SRTPullSettings, hub: SourceHub, clock: any MonotonicClock, loop: any EventLoop,
        emit: @escaping @Sendable (IngestEvent) -> Void
    ) {
        self.settings = settings
        super.init(hub: hub, clock: clock, loop: loop, emit: emit)
    }

    override func connect() {
        self.emit(.pulling(self.source, url: self.settings.url.redacted))
        var settings = MPEGTSFeed.Settings(
            address: self.settings.url.caller, codecs: self.settings.codecs, place: "source[\(self.source)]")
        settings.maximumBytes = self.settings.maximumBytes
        settings.openTimeout = self.settings.openTimeout
        settings.idleTimeout = self.settings.idleTimeout
        let box = NIOLoopBound(self, eventLoop: self.loop)
        let (loop, number) = (self.loop, self.clock.now())
        self.connection = number
        let feed = MPEGTSFeed(settings, clock: self.clock) { event in
            loop.execute { box.value.told(event, by: number) }
        }
        self.feed = feed
        self.lastFeed = feed
        if self.hub.isFull { feed.setPaused(true) }
        feed.deliver(into: self.hub)
        feed.start()
    }

    override func disconnect() {
        self.feed?.stop()
        self.feed = nil
    }

    override func setPaused(_ isPaused: Bool) { self.feed?.setPaused(isPaused) }

    private func told(_ event: MPEGTSFeed.Event, by number: Int64) {
        guard number == self.connection, self.state == .connecting || self.state == .live else { return }
        switch event {
        case .opened:
            self.opened(
                encoder: "srt-pull", remote: String(self.settings.url.redacted.dropFirst("srt://".count)))
        case .ended(let reason): self.failed(reason)
        case .firstVideo, .firstAudio:
            self.delivered()
            event.reported(of: self.source).map(self.emit)
        case .configuration, .unsupportedCodec: event.reported(of: self.source).map(self.emit)
        }
    }
}
