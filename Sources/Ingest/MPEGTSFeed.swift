import Dispatch
package import LibAV
package import MediaTypes
import RTMP
import Threading
import Synchronization

/// Reads one MPEG transport stream on a thread of its own and delivers its packets to a source's hub.
///
/// libavformat blocks, so it never runs on an event loop. Life cycle: ``start()``; ``deliver(into:)`` once the source
/// is known; ``stop()``. Any thread may call.
package final class MPEGTSFeed: Sendable {
    package struct Settings: Sendable {
        package var address: MPEGTSReader.Address
        package var codecs: Set<CodecName>
        /// Largest access unit in bytes.
        package var maximumBytes = 8 << 20
        /// Nanoseconds within which the SRT connection must be made and the first access unit must arrive; otherwise the
        /// feed ends.
        package var openTimeout: Int64 = 20_000_000_000
        /// Nanoseconds without an access unit after which the feed ends.
        package var idleTimeout: Int64 = 90_000_000_000
        /// Nanoseconds from the first access unit until the feed ends if no track is supported, or if the video codec is
        /// not.
        package var codecTimeout: Int64 = 5_000_000_000
        package var place: String
    }

    enum Event: Sendable {
        /// The SRT connection is made.
        case opened
        case configuration(CodecParameters)
        case firstVideo
        case firstAudio
        case unsupportedCodec(String)
        /// The feed has ended; no event follows.
        case ended(reason: String)

        /// Returns the end of a feed whose codec has changed. A sender that reconnects is read from its program tables
        /// on, so the new codec is recognized then.
        static func codecChanged(to codec: CodecName) -> Event {
            .ended(reason: "the codec changed to \(codec) in mid-stream")
        }
    }

    private struct Gate {
        var hub: SourceHub?
        var isClosed = false
        var isPaused = false
    }

    private let settings: Settings
    private let clock: any MonotonicClock
    private let tell: @Sendable (Event) -> Void
    private let interrupt = StreamInterrupt()
    // Held while items are handed out, so that nothing is handed out after `stop()`.
    private let gate = Mutex(Gate())
    private let resumed = DispatchSemaphore(value: 0)
    private let finished = DispatchGroup()

    /// Creates a feed; call ``start()`` to begin reading.
    ///
    /// - Parameter tell: Called for every event on the feed's thread; must not block.
    init(_ settings: Settings, clock: any MonotonicClock, tell: @escaping @Sendable (Event) -> Void) {
        self.settings = settings
        self.clock = clock
        self.tell = tell
    }

    func start() {
        self.finished.enter()
        _ = StageThread("srt") {
            self.run()
            self.finished.leave()
        }
    }

    /// Sets the hub that gets the packets. Packets read before this call are dropped.
    func deliver(into hub: SourceHub) { self.gate.withLock { $0.hub = hub } }

    /// Stops the feed: no packets are delivered from now on, and its thread closes the connection.
    func stop() {
        self.gate.withLock { $0.isClosed = true }
        self.interrupt.raise()
        self.resumed.signal()
    }

    /// Stops reading while paused; SRT drops what gets too late meanwhile.
    func setPaused(_ isPaused: Bool) {
        self.gate.withLock { $0.isPaused = isPaused }
        if !isPaused { self.resumed.signal() }
    }

    /// Waits until the threads of `feeds` have ended, after ``stop()``.
    static func join(_ feeds: [MPEGTSFeed]) async {
        guard !feeds.isEmpty else { return }
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                for feed in feeds { feed.finished.wait() }
                continuation.resume()
            }
        }
    }

    /// Whether the thread has ended; also true before ``start()``.
    var hasFinished: Bool { self.finished.wait(timeout: .now()) == .success }

    // MARK: The thread

    private func run() {
        let reader: MPEGTSReader
        var allowed = self.settings.openTimeout
        self.interrupt.allow(allowed)
        do throws(MediaError) {
            reader = try MPEGTSReader.open(
                self.settings.address, interrupt: self.interrupt, place: self.settings.place)
        } catch {
            self.tell(.ended(reason: self.interrupt.wasRaised ? "stopped" : error.what))
            return
        }
        self.tell(.opened)
        var demuxer = ElementaryDemuxer(codecs: self.settings.codecs, maximumBytes: self.settings.maximumBytes)
        var seen: Set<TrackKind> = []
        var isTold = false
        var began: Int64?
        while true {
            // While reading is paused, silence is not the sender's fault.
            if self.waitWhilePaused() {
                allowed = self.settings.idleTimeout
                self.interrupt.allow(allowed)
            }
            switch reader.next() {
            case .ended: return self.tell(.ended(reason: "connection closed"))
            case .overrun: return self.tell(.ended(reason: "64 MiB of data arrived without a complete access unit"))
            case .interrupted:
                let silence = allowed / 1_000_000
                let reason = self.interrupt.wasRaised ? "stopped" : "no media arrived for \(silence) ms"
                return self.tell(.ended(reason: reason))
            case .changed(let codec, let track):
                if track < ElementaryDemuxer.maximumAudioTracks { return self.tell(.codecChanged(to: codec)) }
            case .unreadable(let codec):
                return self.tell(.ended(reason: "an audio track no longer contains \(codec)"))
            case .unit(let unit):
                allowed = self.settings.idleTimeout
                self.interrupt.allow(allowed)
                let now = self.clock.now()
                if began == nil { began = now }
                var items: [SourceItem] = []
                demuxer.receive(unit, arrival: now, into: &items)
                self.handOut(items, unit.payload.count, demuxer.counters)
                self.report(items, &seen)
                if let codec = demuxer.changedCodec { return self.tell(.codecChanged(to: codec)) }
                guard let codec = demuxer.unsupportedCodec else { continue }
                if !isTold {
                    isTold = true
                    self.tell(.unsupportedCodec(codec))
                }
                let isUseless = !demuxer.hasSupportedTrack || demuxer.unsupportedVideo != nil
                if isUseless, let began, now &- began >= self.settings.codecTimeout {
                    return self.tell(.ended(reason: "the codec \(codec) is not supported"))
                }
            }
        }
    }

    /// Blocks while reading is paused.
    ///
    /// - Returns: True if reading was paused.
    private func waitWhilePaused() -> Bool {
        var hasWaited = false
        while self.gate.withLock({ $0.isPaused && !$0.isClosed }) {
            self.resumed.wait()
            hasWaited = true
        }
        return hasWaited
    }

    private func handOut(_ items: [SourceItem], _ bytes: Int, _ counters: FLVDemuxer.Counters) {
        self.gate.withLock { gate in
            guard !gate.isClosed, let hub = gate.hub else { return }
            hub.updateStatistics {
                $0.bytes += UInt64(bytes)
                $0.demuxed = counters
            }
            hub.receive(items)
        }
    }

    private func report(_ items: [SourceItem], _ seen: inout Set<TrackKind>) {
        for item in items {
            switch item {
            case .configuration(let parameters): self.tell(.configuration(parameters))
            case .packet(let packet):
                if seen.count < 2, seen.insert(packet.kind).inserted {
                    self.tell(packet.kind == .video ? .firstVideo : .firstAudio)
                }
            case .end: break
            }
        }
    }
}

extension MPEGTSFeed.Event {
    /// Converts the event to one for the room; nil if the event concerns only the owner of the feed.
    func reported(of source: SourceID) -> IngestEvent? {
        switch self {
        case .configuration(let parameters): .configuration(source, parameters)
        case .firstVideo: .firstVideo(source)
        case .firstAudio: .firstAudio(source)
        case .unsupportedCodec(let codec): .unsupportedCodec(source, codec: codec)
        case .opened, .ended: nil
        }
    }
}
