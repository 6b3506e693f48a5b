package import LibAV
import MediaKernels
package import MediaTypes
package import Stages
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
        package var rotation = 0
        /// Pictures the decoder had to guess are not shown; the last good one stays until the next key picture.
        package var holdsDamaged = false
        /// How far the network may make the jitter buffer grow.
        package var maxJitterBuffer: Int64
        /// What a publisher's clock may be off by, in parts per million.
        package var maxDriftPpm: Int64
        /// Pictures a second that are kept.
        package var maxFps: Int
        /// Packets come when they are read, not when they are due: a file's.
        package var isFile: Bool
        /// Decoders that may be opened; `nil`: any, as for the operator's own files.
        package var codecs: Set<CodecName>?
        /// How long before it is due sound has to be there, in nanoseconds; see ``ProgramStage/soundLead(fps:sampleRate:)``.
        package var soundLead: Int64
        /// With whom it is aligned by the world's time; `nil`: its own stamps are not used.
        package var aligner: WallAligner?

        package init(
            source: SourceID, jitterBuffer: Int64, offset: Int64, sampleRate: Int, threads: Int = 1,
            maxPixels: Int64 = 1920 * 1920, maxJitterBuffer: Int64 = 1_500_000_000, maxDriftPpm: Int64 = 500,
            maxFps: Int = 60, isFile: Bool = false, rotation: Int = 0,
            holdsDamaged: Bool = false, soundLead: Int64 = 0
        ) {
            self.source = source
            self.jitterBuffer = jitterBuffer
            self.offset = offset
            self.sampleRate = sampleRate
            self.threads = threads
            self.maxPixels = maxPixels
            self.rotation = rotation
            self.holdsDamaged = holdsDamaged
            self.maxJitterBuffer = maxJitterBuffer
            self.maxDriftPpm = maxDriftPpm
            self.maxFps = maxFps
            self.isFile = isFile
            self.soundLead = soundLead
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
        /// Pictures left out of a source that is faster than the program has a use for.
        package var thinned = 0
        /// Pictures that were never decoded, because nobody would have seen them.
        package var undecoded = 0
        /// Decoders that were opened anew after a long run of errors.
        package var reopened = 0

        package init() {}
    }

    /// What is known about the source's time.
    package struct Timing: Sendable, Equatable {
        /// What the publisher's clock is off by, in parts per million; positive: it is fast. `nil` before half a minute.
        package var driftPpm: Int?
        /// How long its packets are kept before they are due, in nanoseconds.
        package var buffered: Int64?
        /// The jitter buffer in force, in nanoseconds: the network may have made it deeper than configured.
        package var depth: Int64?
        /// How often the mapping was made anew.
        package var reanchors = 0
        /// Why, the last time.
        package var lastReason: SourceTimeline.Reason?
        /// It is shown with others by the world's time, not by its arrival.
        package var isWallAligned = false
        /// How much later that is, in nanoseconds.
        package var wallExtra: Int64 = 0
    }

    /// An object, since a function is wrapped anew, on the heap, whenever it is taken out of a lock.
    private final class Listener: Sendable {
        let call: @Sendable () -> Void

        init(call: @escaping @Sendable () -> Void) { self.call = call }
    }

    /// Packets of a file that a live program reads as a publisher's: about 25 s, 10 MB. What a publisher sends is bounded by
    /// ``PacketBudget``.
    static let queueLimit = 2048
    /// Those of a file the program is paced by: under a second. A file is read when it is needed, not into memory.
    private static let fileLimit = 64

    /// What a publisher's jitter buffer is at least, and what an offset leaves of it, in nanoseconds: the program mixes up to 50 ms
    /// ahead, the limiter looks 5 ms further, and sound comes in frames of 21 ms.
    package static let leastBuffer: Int64 = 80_000_000

    /// Pictures that the decoder leaves out for want of a key picture; then it begins with any. Five seconds at 30 fps.
    package static let keyPatience = VideoTrack.keyPatience

    package let buffer: SourceBuffer
    private let settings: Settings
    private let clock: ProgramClock
    let queue: BoundedQueue<SourceItem>
    private let budget = Mutex(PacketBudget())
    private let relief = Mutex<Listener?>(nil)
    private let counters = Mutex(Stats())
    private let times = Mutex(Timing())
    private let spent = Mutex(DecodeTimes())
    private let offset: Mutex<Int64>
    private let waiting = Atomic<Int>(0)
    private let late = Atomic<Int64>(0)
    /// Publications that were offered whole, and how many of them, from the first on, are left out.
    private let offeredEnds = Atomic<Int>(0)
    private let cutEnds = Atomic<Int>(0)
    private let stopping = Mutex(false)
    private let quarterTurns: Atomic<Int>
    private let wake: any ClockSemaphore
    private let thrift: Mutex<WakeThrift>
    private let events: @Sendable (Event) -> Void

    /// - Parameter machine: The clock that `clock` follows; the stage's thread waits in its time.
    package init(
        settings: Settings, buffer: SourceBuffer, clock: ProgramClock, machine: any SleepClock,
        events: @escaping @Sendable (Event) -> Void
    ) {
        self.settings = settings
        self.wake = machine.makeSemaphore()
        self.buffer = buffer
        // A reader that had to wait reads many packets in a row.
        self.queue =
            buffer.isPaced
            ? BoundedQueue(capacity: Self.fileLimit, places: Self.fileLimit / 2)
            : BoundedQueue(capacity: settings.isFile ? Self.queueLimit : .max)
        self.clock = clock
        self.events = events
        self.quarterTurns = Atomic(settings.rotation & 3)
        self.offset = Mutex(settings.offset)
        self.thrift = Mutex(WakeThrift(jitterBuffer: settings.jitterBuffer, offset: settings.offset))
        self.budget.withLock { $0.allow(offset: settings.offset) }
    }

    package var timing: Timing { self.times.withLock { $0 } }

    /// Shows the source later (positive) or earlier, from its next packets on; see ``wantedOffset``.
    package func setOffset(milliseconds: Int) {
        let offset = Int64(milliseconds) &* 1_000_000
        self.budget.withLock { $0.allow(offset: offset) }
        self.offset.withLock { $0 = offset }
        self.thrift.withLock { $0 = WakeThrift(jitterBuffer: self.settings.jitterBuffer, offset: offset) }
        self.wake.signal()
    }

    /// Turns the source's pictures, from the next one that is decoded on, on top of what the stream says of itself.
    ///
    /// - Parameter quarterTurns: Clockwise, 0…3.
    package func setRotation(_ quarterTurns: Int) { self.quarterTurns.store(quarterTurns & 3, ordering: .relaxed) }

    /// Quarter turns clockwise, 0…3.
    package var rotation: Int { self.quarterTurns.load(ordering: .relaxed) }

    /// How long the packet that was decoded last could have been decoded before, in nanoseconds: how far this thread is
    /// behind, whatever the network did; 0 when nothing waits. Well above what packets are decoded ahead, pictures come late.
    package var lateness: Int64 { self.late.load(ordering: .relaxed) }

    package var stats: Stats { self.counters.withLock { $0 } }
    /// How long its pictures took to decode.
    package var decodeTimes: DecodeTimes { self.spent.withLock { $0 } }
    /// Packets that wait for their decoding.
    package var queued: Int { self.queue.count + self.waiting.load(ordering: .relaxed) }

    /// Bytes that wait for their decoding; see ``PacketBudget``.
    package var waitingBytes: Int { self.budget.withLock { $0.bytes } }
    /// Those of them that do not wait for an offset's sake: what a publisher is held for.
    package var crowdingBytes: Int { self.budget.withLock { max(0, $0.bytes - $0.allowance) } }

    /// Who is told that something of what waited has been decoded, and that time goes on; on the stage's thread, a few times a
    /// second at least while the program runs. Must not block.
    package func onRelief(_ listener: @escaping @Sendable () -> Void) {
        self.relief.withLock { $0 = Listener(call: listener) }
    }

    /// Takes one item from ingest. Never blocks: when too much waits, packets are dropped up to the next key picture.
    package func offer(_ item: SourceItem) {
        self.enqueue([item])
        self.wake.signal()
    }

    /// Takes items that came together, in order: the thread is woken once for all of them, or a little later; see
    /// ``WakeThrift``.
    package func offer(_ items: [SourceItem]) {
        self.enqueue(items)
        let (isHidden, isAway) = (self.buffer.need.isHidden, self.buffer.need.isAway)
        if self.thrift.withLock({ $0.wakes(for: items, isHidden: isHidden, isAway: isAway) }) { self.wake.signal() }
    }

    private func enqueue(_ items: [SourceItem]) {
        let (taken, dropped) = self.budget.withLock { $0.admit(items) }
        if dropped > 0 { self.counters.withLock { $0.dropped += dropped } }
        for case .end in taken { self.offeredEnds.add(1, ordering: .relaxed) }
        _ = self.queue.offer(all: taken)
    }

    /// The publication that is offered is over, and what waits of it is not to be seen: it is left out, as is what comes until
    /// its end, which is offered next. Of what is decoded already the pictures go, too, that on air among them; the sound, no more
    /// than a third of a second, stays. By whoever offers.
    package func cut() {
        self.cutEnds.store(self.offeredEnds.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
        self.buffer.banish()
        self.wake.signal()
    }

    /// As ``cut()``, of publications whose end was offered already: an offset may show them for seconds more. From any thread.
    package func cutPast() {
        self.cutEnds.max(self.offeredEnds.load(ordering: .relaxed), ordering: .relaxed)
        self.buffer.banish()
        self.wake.signal()
    }

    /// Takes one item from a file, waiting for room.
    package func put(_ item: SourceItem) {
        self.budget.withLock { $0.note(item) }
        self.queue.put(item)
        self.wake.signal()
    }

    package func stop() {
        self.stopping.withLock { $0 = true }
        self.queue.close()
        self.wake.signal()
    }

    package var isStopped: Bool { self.stopping.withLock { $0 } }

    /// Runs until ``stop()``. `soundWantedUntil` tells a paced source how far the program's sound has come.
    package func run(soundWantedUntil: @Sendable @escaping () -> Int64) {
        CrashMark.onGuardedStack { self.work(soundWantedUntil) }
    }

    private func work(_ soundWantedUntil: @Sendable @escaping () -> Int64) {
        self.buffer.need.watch { [weak self] in self?.wake.signal() }
        var worker = DecodeWorker(stage: self, settings: self.settings, clock: self.clock)
        guard self.buffer.isPaced else {
            worker.runLive()
            return
        }
        CodecSlice.offline.requestForThisThread()
        while let item = self.queue.take(), !self.isStopped {
            self.buffer.waitUntilWanted({ self.isStopped }, soundWantedUntil: soundWantedUntil)
            self.release(item)
            worker.handle(item)
        }
    }

    // MARK: The worker's side

    /// The offset as far as it can be had, in nanoseconds: what a publisher has not sent cannot be shown, and sound that was due
    /// before it came is never heard. A file lies there whole.
    package var wantedOffset: Int64 {
        let wanted = self.offset.withLock { $0 }
        if self.settings.isFile || self.buffer.isPaced { return wanted }
        return max(wanted, min(0, Self.leastBuffer &- self.jitterBuffer))
    }

    /// How long after its arrival a packet that had no bad luck is shown, in nanoseconds; 0 of a file that paces the program. Of a
    /// publisher's sound something would be missing in every tick if it were less than the program mixes ahead.
    package var jitterBuffer: Int64 {
        if self.buffer.isPaced { return 0 }
        return self.settings.isFile ? self.settings.jitterBuffer : max(Self.leastBuffer, self.settings.jitterBuffer)
    }

    func note(decodeTime: Int64) { self.spent.withLock { $0.note(decodeTime) } }
    func note(lateness: Int64) { self.late.store(max(0, lateness), ordering: .relaxed) }
    /// Whether the publication behind so many that are over is left out.
    func isCut(behind ended: Int) -> Bool { ended < self.cutEnds.load(ordering: .relaxed) }
    /// The item waits no more.
    func release(_ item: SourceItem) { self.budget.withLock { $0.release(item) } }
    func relieve() { self.relief.withLock { $0 }?.call() }
    func report(_ event: Event) { self.events(event) }
    func count(_ change: (inout Stats) -> Void) { self.counters.withLock { change(&$0) } }
    func note(_ timing: Timing, waiting: Int) {
        self.times.withLock { $0 = timing }
        self.waiting.store(waiting, ordering: .relaxed)
    }

    /// Waits for `limit` nanoseconds, or until something is new.
    func wait(for limit: Int64) { self.wake.wait(for: limit) }
}
