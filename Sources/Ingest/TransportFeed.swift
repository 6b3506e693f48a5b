import Dispatch
package import LibAV
package import MediaTypes
import RTMP
import Stages
import Synchronization

/// Reads one MPEG transport stream on a thread of its own and hands its packets to a source's hub.
///
/// libavformat blocks, so it never runs on an event loop. Life: ``start()``, ``deliver(into:)`` once it is known whose packets
/// they are, ``stop()``. Any thread may call.
package final class TransportFeed: Sendable {
    package struct Settings: Sendable {
        package var address: TransportReader.Address
        package var codecs: Set<CodecName>
        /// Largest access unit in bytes.
        package var maximumBytes = 8 << 20
        /// Nanoseconds until the sender is there, and until the first unit of it.
        package var openTimeout: Int64 = 20_000_000_000
        /// Nanoseconds without a unit until it is given up.
        package var idleTimeout: Int64 = 90_000_000_000
        /// Nanoseconds from the first unit to the end of a stream that holds nothing we can read.
        package var codecTimeout: Int64 = 5_000_000_000
        package var place: String

        package init(address: TransportReader.Address, codecs: Set<CodecName>, place: String) {
            self.address = address
            self.codecs = codecs
            self.place = place
        }
    }

    enum Event: Sendable {
        /// The sender is there.
        case opened
        case configuration(CodecParameters)
        case firstVideo
        case firstAudio
        case unsupportedCodec(String)
        /// Nothing comes after this.
        case ended(reason: String)

        /// Who comes back is read anew, from its tables on.
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

    /// - Parameter tell: Called on the feed's thread; must not block.
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

    /// Whose packets they are. What came before is gone.
    func deliver(into hub: SourceHub) { self.gate.withLock { $0.hub = hub } }

    /// Nothing is handed out from now on; the sender is told within a tenth of a second.
    func stop() {
        self.gate.withLock { $0.isClosed = true }
        self.interrupt.raise()
        self.resumed.signal()
    }

    /// Does not read: SRT drops what gets too late meanwhile.
    func setPaused(_ isPaused: Bool) {
        self.gate.withLock { $0.isPaused = isPaused }
        if !isPaused { self.resumed.signal() }
    }

    /// Waits until their threads have ended, after ``stop()``.
    static func join(_ feeds: [TransportFeed]) async {
        guard !feeds.isEmpty else { return }
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                for feed in feeds { feed.finished.wait() }
                continuation.resume()
            }
        }
    }

    /// The thread has ended.
    var hasFinished: Bool { self.finished.wait(timeout: .now()) == .success }

    // MARK: The thread

    private func run() {
        let reader: TransportReader
        var allowed = self.settings.openTimeout
        self.interrupt.allow(allowed)
        do throws(MediaError) {
            reader = try TransportReader.open(
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
            // A pause of ours is no silence of the sender's.
            if self.waitWhilePaused() {
                allowed = self.settings.idleTimeout
                self.interrupt.allow(allowed)
            }
            switch reader.next() {
            case .ended: return self.tell(.ended(reason: "connection closed"))
            case .overrun: return self.tell(.ended(reason: "64 MiB without a picture's or a sound's end"))
            case .interrupted:
                let silence = allowed / 1_000_000
                let reason = self.interrupt.wasRaised ? "stopped" : "no media for \(silence) ms"
                return self.tell(.ended(reason: reason))
            case .changed(let codec, let track):
                if track < ElementaryDemuxer.maximumAudioTracks { return self.tell(.codecChanged(to: codec)) }
            case .unreadable(let codec):
                return self.tell(.ended(reason: "what comes in the place of \(codec) cannot be read"))
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
                    return self.tell(.ended(reason: "the codec \(codec) is not supported here"))
                }
            }
        }
    }

    /// - Returns: Whether it has waited.
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

extension TransportFeed.Event {
    /// For the room; nil for what is between the feed and whoever runs it.
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
