import Dispatch
package import LibAV
import MediaKernels
package import MediaTypes
import Stages
import Synchronization

/// The thread of one source: coded packets in, pictures and sound on program time out.
package final class DecodeStage: Sendable {
    package struct Settings: Sendable {
        package var source: SourceID
        package var jitterBuffer: Int64
        package var offset: Int64
        package var sampleRate: Int
        package var threads: Int
        package var maxPixels: Int64
        /// Quarter turns clockwise at the start; see ``setRotation(_:)``.
        package var rotation: Int
        /// Pictures the decoder had to guess are not shown; the last good one stays until the next key picture.
        package var holdsDamaged: Bool

        package init(
            source: SourceID, jitterBuffer: Int64, offset: Int64, sampleRate: Int, threads: Int = 1,
            maxPixels: Int64 = 1920 * 1920, rotation: Int = 0, holdsDamaged: Bool = false
        ) {
            self.source = source
            self.jitterBuffer = jitterBuffer
            self.offset = offset
            self.sampleRate = sampleRate
            self.threads = threads
            self.maxPixels = maxPixels
            self.rotation = rotation
            self.holdsDamaged = holdsDamaged
        }
    }

    /// What the stage reports, from its own thread.
    package enum Event: Sendable {
        case firstPicture(PictureFormat)
        case formatChanged(PictureFormat)
        case firstSound
        case undecodable(MediaError)
        case reanchored
        case ended
    }

    /// Counters since the start.
    package struct Stats: Sendable, Equatable {
        package var videoPackets = 0
        package var audioPackets = 0
        package var damaged = 0
        package var dropped = 0
    }

    /// Coded packets that may wait: about 25 s of a usual publisher, 10 MB.
    private static let queueLimit = 2048

    package let buffer: SourceBuffer
    private let settings: Settings
    private let clock: ProgramClock
    private let queue = BoundedQueue<SourceItem>(capacity: queueLimit)
    private let overflowed = Mutex(false)
    private let counters = Mutex(Stats())
    private let stopping = Mutex(false)
    private let quarterTurns: Atomic<Int>
    private let wake = DispatchSemaphore(value: 0)
    private let events: @Sendable (Event) -> Void

    package init(
        settings: Settings, buffer: SourceBuffer, clock: ProgramClock, events: @escaping @Sendable (Event) -> Void
    ) {
        self.settings = settings
        self.buffer = buffer
        self.clock = clock
        self.events = events
        self.quarterTurns = Atomic(settings.rotation & 3)
    }

    /// Turns the source's pictures, from the next one that is decoded on, on top of what the stream says of itself.
    ///
    /// - Parameter quarterTurns: Clockwise, 0…3.
    package func setRotation(_ quarterTurns: Int) { self.quarterTurns.store(quarterTurns & 3, ordering: .relaxed) }

    /// Quarter turns clockwise, 0…3.
    package var rotation: Int { self.quarterTurns.load(ordering: .relaxed) }

    package var stats: Stats { self.counters.withLock { $0 } }
    /// Packets that wait for their decoding.
    package var queued: Int { self.queue.count }

    /// Takes one item from ingest. Never blocks: when the queue is full, packets are dropped up to the next key picture.
    package func offer(_ item: SourceItem) {
        guard case .packet(let packet) = item else {
            self.queue.force(item)
            return
        }
        if self.overflowed.withLock({ $0 }) {
            guard packet.kind == .video, packet.isKey, self.queue.count < Self.queueLimit / 2 else {
                self.counters.withLock { $0.dropped += 1 }
                return
            }
            self.overflowed.withLock { $0 = false }
        }
        if !self.queue.offer(item) {
            self.overflowed.withLock { $0 = true }
            self.counters.withLock { $0.dropped += 1 }
        }
    }

    /// Takes one item from a file, waiting for room.
    package func put(_ item: SourceItem) { self.queue.put(item) }

    package func stop() {
        self.stopping.withLock { $0 = true }
        self.queue.close()
        self.wake.signal()
    }

    package var isStopped: Bool { self.stopping.withLock { $0 } }

    /// Runs until ``stop()``. `soundWantedUntil` tells a paced source how far the program's sound has come.
    package func run(soundWantedUntil: @Sendable @escaping () -> Int64) {
        var worker = DecodeWorker(stage: self, settings: self.settings, clock: self.clock)
        while let item = self.queue.take(), !self.isStopped {
            if self.buffer.isPaced {
                self.buffer.waitUntilWanted({ self.isStopped }, soundWantedUntil: soundWantedUntil)
            }
            worker.handle(item)
        }
    }

    fileprivate func report(_ event: Event) { self.events(event) }
    fileprivate func count(_ change: (inout Stats) -> Void) { self.counters.withLock { change(&$0) } }

    /// Waits until program time reaches `time`, at most `limit`.
    fileprivate func wait(until time: Int64) {
        while !self.isStopped {
            guard let now = self.clock.now() else {
                _ = self.wake.wait(timeout: .now() + .milliseconds(2))
                continue
            }
            guard now < time else { return }
            _ = self.wake.wait(timeout: .now() + .nanoseconds(Int(min(time &- now, 50_000_000))))
        }
    }
}

/// The decoders and the timeline of a source, alive only on its thread.
private struct DecodeWorker {
    /// How long before they are due packets are decoded: more than any reorder depth and any stall of this thread, and
    /// at 60 fps still fewer pictures than ``SourceBuffer/pictureLimit``. What a longer jitter buffer holds stays coded.
    static let decodeLead: Int64 = 300_000_000

    let stage: DecodeStage
    let settings: DecodeStage.Settings
    let clock: ProgramClock
    var timeline: SourceTimeline
    var video: VideoTrack
    var audio: AudioDecoder?
    /// Times of the pictures inside the decoder, by the pts it will hand back.
    var arrivals: [Int64: (time: Int64, arrival: Int64?)] = [:]
    var format: PictureFormat?
    var hasSound = false
    /// The next sound lies where its timestamp says, and does not continue what came before.
    var soundRestarts = true

    var place: String { "decode[\(self.settings.source)]" }
    var buffer: SourceBuffer { self.stage.buffer }

    init(stage: DecodeStage, settings: DecodeStage.Settings, clock: ProgramClock) {
        self.stage = stage
        self.settings = settings
        self.clock = clock
        self.video = VideoTrack(
            settings: VideoTrack.Settings(
                threads: settings.threads, maxPixels: settings.maxPixels, holdsDamaged: settings.holdsDamaged,
                place: "decode[\(settings.source)]"))
        self.timeline = SourceTimeline(
            jitterBuffer: stage.buffer.isPaced ? 0 : settings.jitterBuffer, offset: settings.offset)
        // A file's reader has already moved its first timestamp to zero.
        if stage.buffer.isPaced { self.timeline.anchor(timestamp: 0, at: 0) }
    }

    mutating func handle(_ item: SourceItem) {
        switch item {
        case .configuration(let parameters): self.configure(parameters)
        case .packet(let packet): self.decode(packet)
        case .end: self.end()
        }
    }

    private mutating func configure(_ parameters: CodecParameters) {
        switch parameters.kind {
        case .video: self.take(self.video.configure(parameters, rotation: self.stage.rotation))
        case .audio:
            do {
                self.audio = try AudioDecoder.open(parameters, sampleRate: self.settings.sampleRate, place: self.place)
            } catch {
                // The track before is over all the same: its decoder would make noise of what comes.
                self.audio = nil
                self.stage.report(.undecodable(error))
            }
        }
    }

    /// Shows what a step of the video track gave, and reports what it could not.
    private mutating func take(_ outcome: VideoTrack.Outcome) {
        if outcome.isSkipped { self.stage.count { $0.dropped += 1 } }
        if outcome.isDamaged { self.stage.count { $0.damaged += 1 } }
        for picture in outcome.pictures { self.show(picture) }
        if let failure = outcome.failure { self.stage.report(.undecodable(failure)) }
    }

    private mutating func decode(_ packet: CodedPacket) {
        let pts = TimeMath.rescale(packet.pts, from: Int64(packet.timescale), to: TimeMath.nanoseconds)
        let dts = TimeMath.rescale(packet.dts, from: Int64(packet.timescale), to: TimeMath.nanoseconds)
        var arrival: Int64?
        if !self.buffer.isPaced {
            // Nothing is placed before the program runs; the room starts it with this very packet.
            if self.clock.zero == nil { self.stage.wait(until: .min) }
            arrival = self.clock.program(of: packet.arrival)
            if arrival == nil { return }
        }
        let mapped = self.timeline.map(kind: packet.kind, pts: pts, dts: dts, arrival: arrival)
        if mapped.isReanchored {
            self.soundRestarts = true
            self.stage.report(.reanchored)
        }
        if !self.buffer.isPaced {
            // A burst is decoded when it is due, not when it came: pictures are a hundred times the size of packets.
            self.stage.wait(until: mapped.dts &- Self.decodeLead)
            self.buffer.setStatus(.live, at: arrival ?? 0)
        }
        switch packet.kind {
        case .video: self.decodeVideo(packet, mapped, arrival)
        case .audio: self.decodeAudio(packet, mapped)
        }
    }

    private mutating func decodeVideo(_ packet: CodedPacket, _ mapped: SourceTimeline.Mapped, _ arrival: Int64?) {
        self.stage.count { $0.videoPackets += 1 }
        self.arrivals[packet.pts] = (mapped.pts, arrival)
        let outcome = self.video.decode(packet, rotation: self.stage.rotation)
        if outcome.isSkipped { self.arrivals[packet.pts] = nil }
        self.take(outcome)
        // A decoder that swallowed pictures leaves their times behind; far more than any reorder depth is garbage.
        if self.arrivals.count > 64 { self.arrivals.removeAll() }
    }

    private mutating func show(_ picture: Picture) {
        guard let pts = picture.pts, let (time, arrival) = self.arrivals.removeValue(forKey: pts) else { return }
        if self.format != picture.format {
            self.stage.report(self.format == nil ? .firstPicture(picture.format) : .formatChanged(picture.format))
            self.format = picture.format
        }
        self.buffer.push(picture, time: time, arrival: arrival)
    }

    private mutating func decodeAudio(_ packet: CodedPacket, _ mapped: SourceTimeline.Mapped) {
        self.stage.count { $0.audioPackets += 1 }
        guard let decoder = self.audio else { return }
        let position = TimeMath.rescale(mapped.pts, from: TimeMath.nanoseconds, to: Int64(self.settings.sampleRate))
        var next = position
        let buffer = self.buffer
        let restarts = self.soundRestarts
        self.soundRestarts = false
        let intact = decoder.decode(packet) { block in
            buffer.push(block.samples, at: next, restart: restarts)
            next &+= Int64(block.frames)
        }
        if !intact { self.stage.count { $0.damaged += 1 } }
        if !self.hasSound {
            self.hasSound = true
            self.stage.report(.firstSound)
        }
    }

    private mutating func end() {
        self.take(self.video.finish(rotation: self.stage.rotation))
        self.video.reset()
        self.arrivals.removeAll()
        self.audio = nil
        self.format = nil
        self.hasSound = false
        self.soundRestarts = true
        self.timeline.reset()
        if self.buffer.isPaced {
            self.buffer.finish()
        } else {
            self.buffer.setStatus(.lost, at: self.clock.now() ?? 0)
        }
        self.stage.report(.ended)
    }
}
