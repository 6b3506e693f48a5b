package import LibAV
package import MediaTypes
package import Threading
import Synchronization

/// The thread of one source: takes coded packets and outputs frames and audio on program time.
package final class DecodeStage: Sendable {
    package struct Settings: Sendable {
        package var source: SourceID
        package var jitterBuffer: Int64
        package var offset: Int64
        package var sampleRate: Int
        package var threads: Int
        package var maxPixels: Int64
        /// Initial rotation in quarter turns clockwise; see ``setRotation(_:)``.
        package var rotation = 0
        /// Whether frames with concealed errors are not shown: the last intact frame stays until the next key frame.
        package var holdsDamaged = false
        /// Maximum size of a publisher's jitter buffer, in nanoseconds; it grows up to this with the jitter of the
        /// network.
        package var maxJitterBuffer: Int64
        /// Maximum drift of a publisher's clock that is corrected, in parts per million.
        package var maxDriftPpm: Int64
        /// Maximum frames per second that are kept of a source in a live program; offline, all are kept.
        package var maxFps: Int
        /// Whether the source is a file; its timestamps are not corrected, because its packets arrive when they are
        /// read.
        package var isFile: Bool
        /// Codecs that may be decoded; `nil`: any, as for the operator's own files.
        package var codecs: Set<CodecName>?
        /// How much later than the jitter buffer and the offset require a publisher's media is shown, in nanoseconds; see
        /// ``setDelay(milliseconds:)``.
        package var delay: Int64 = 0
        /// How long before its program time audio must be available, in nanoseconds; see
        /// ``ProgramStage/audioLead(fps:sampleRate:)``.
        package var audioLead: Int64
        /// Whether video is not decoded, because the program has only audio.
        package var isAudioOnly = false
        /// What is done with the source's audio; see ``setProcessing(_:)``.
        package var processing = AudioProcessing()
        /// Aligns the source with others by wall-clock time; `nil`: wall-clock stamps of the source are ignored.
        package var aligner: WallAligner?
        /// Limits how many threads decode at the same time, together with other threads that use it; `nil`: no limit.
        /// Only for files that pace the program.
        package var limiter: WorkLimiter?

        package init(
            source: SourceID, jitterBuffer: Int64, offset: Int64, sampleRate: Int, threads: Int = 1,
            maxPixels: Int64 = 1920 * 1920, maxJitterBuffer: Int64 = 1_500_000_000, maxDriftPpm: Int64 = 500,
            maxFps: Int = 60, isFile: Bool = false, rotation: Int = 0,
            holdsDamaged: Bool = false, audioLead: Int64 = 0
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
            self.audioLead = audioLead
        }
    }

    /// Events of the stage, reported on its own thread.
    package enum Event: Sendable {
        /// The first frame of a publication was decoded.
        case firstFrame(PictureFormat)
        /// Frames have another format than before.
        case formatChanged(PictureFormat)
        /// The first audio packet of a publication was passed to a decoder.
        case firstAudio
        /// A decoder cannot be opened, or failed, or a codec is not allowed.
        case undecodable(MediaError)
        /// The source's timestamps were mapped to program time anew.
        case reanchored
        /// The publication or the file has ended, and none of its packets wait any more.
        case ended
        /// The noise suppression that ``AudioProcessing/noise`` requests has stopped or resumed.
        case noiseSuppression(NoiseState)
    }

    /// Whether the noise of the source is suppressed as requested.
    package enum NoiseState: Sendable {
        /// The noise is not suppressed, because the machine is overloaded.
        case suspended
        /// The noise is suppressed again.
        case resumed
        /// The noise is not suppressed, because the filter could not be opened or has failed.
        case failed(MediaError)
    }

    /// Counters of the stage since its start.
    package struct Stats: Sendable, Equatable {
        package var videoPackets = 0
        package var audioPackets = 0
        /// Packets that were damaged according to the decoder.
        package var damaged = 0
        /// Packets that were not decoded: too many waited, there was no key frame or no decoder, or the publication was
        /// discarded.
        package var dropped = 0
        /// Decoded frames left out because the source's frame rate is higher than the program needs.
        package var thinned = 0
        /// Frames that were never decoded, because they would not have been visible or an overloaded machine skipped
        /// them.
        package var undecoded = 0
        /// Number of times a decoder was reopened after a long run of packets that were damaged or produced no frame.
        package var reopened = 0

        package init() {}
    }

    /// State of the source's time mapping.
    package struct Timing: Sendable, Equatable {
        /// Drift of the publisher's clock in parts per million; positive if it is fast. `nil` until enough of the
        /// publication was measured, at least half a minute.
        package var driftPpm: Int?
        /// Time from the arrival of a packet without unusual delay until it is shown, in nanoseconds and without the
        /// offset; `nil` before the first packet, and for files.
        package var buffered: Int64?
        /// Current size of the jitter buffer, in nanoseconds; larger than configured if the network required it.
        package var depth: Int64?
        /// Number of times the source's timestamps were mapped to program time anew, in all its publications.
        package var reanchors = 0
        /// Reason why the timestamps were last mapped anew; `nil`: they were not in this publication.
        package var lastReason: SourceTimeline.Reason?
        /// Whether the source is aligned with others by wall-clock time.
        package var isWallAligned = false
        /// Additional delay of the source because of the wall-clock alignment, in nanoseconds.
        package var wallExtra: Int64 = 0
    }

    /// Wraps the callback in an object, because a closure that is read out of a lock is wrapped again on the heap each
    /// time.
    private final class Listener: Sendable {
        let call: @Sendable () -> Void

        init(call: @escaping @Sendable () -> Void) { self.call = call }
    }

    /// Maximum number of packets of a file in a live program that wait in the queue, and of those that are already
    /// scheduled. Packets of publishers are limited by ``PacketBacklog``.
    static let queueLimit = 2048
    /// Maximum number of waiting packets of a file that paces the program (offline): the file is read as needed and not
    /// into memory.
    private static let fileLimit = 64

    /// Minimum size of a publisher's jitter buffer, also after a negative offset, in nanoseconds: the program mixes up
    /// to 50 ms ahead, the limiter looks 5 ms further ahead, and audio arrives in frames of 21 ms.
    package static let leastBuffer: Int64 = 80_000_000

    /// Number of packets skipped while waiting for a key frame, after which any packet is passed to the decoder; see
    /// ``VideoTrack/keyPatience``.
    package static let keyPatience = VideoTrack.keyPatience

    package let buffer: SourceBuffer
    private let settings: Settings
    private let clock: ProgramClock
    let queue: BoundedQueue<SourceItem>
    private let budget = Mutex(PacketBacklog())
    private let relief = Mutex<Listener?>(nil)
    private let keyFrames = Mutex<Listener?>(nil)
    private let counters = Mutex(Stats())
    private let times = Mutex(Timing())
    private let spent = Mutex(DecodeTimeHistogram())
    private let offset: Mutex<(wanted: Int64, delay: Int64)>
    private let wantedProcessing: Mutex<AudioProcessing>
    private let processingChanges = Atomic<Int>(0)
    /// ``AudioProcessing/lateness`` of the current settings, readable without a lock.
    private let audioLateness: Atomic<Int64>
    private let waiting = Atomic<Int>(0)
    private let late = Atomic<Int64>(0)
    /// Number of publications whose end was offered; the publications before number `cutEnds` must be discarded.
    private let offeredEnds = Atomic<Int>(0)
    private let cutEnds = Atomic<Int>(0)
    private let stopping = Mutex(false)
    private let quarterTurns: Atomic<Int>
    private let wake: any ClockSemaphore
    private let wakeCoalescer: Mutex<WakeCoalescer>
    private let events: @Sendable (Event) -> Void

    /// Creates the stage of one source; call ``run(audioWantedUntil:)`` on the stage's own thread.
    ///
    /// - Parameter machine: The clock that `clock` follows; the stage's thread waits on it.
    package init(
        settings: Settings, buffer: SourceBuffer, clock: ProgramClock, machine: any SleepClock,
        events: @escaping @Sendable (Event) -> Void
    ) {
        self.settings = settings
        self.wake = machine.makeSemaphore()
        self.buffer = buffer
        // A reader that had to wait then reads many packets in a row.
        self.queue =
            buffer.isPaced
            ? BoundedQueue(capacity: Self.fileLimit, places: Self.fileLimit / 2)
            : BoundedQueue(capacity: settings.isFile ? Self.queueLimit : .max)
        self.clock = clock
        self.events = events
        self.quarterTurns = Atomic(settings.rotation & 3)
        self.offset = Mutex((wanted: settings.offset, delay: settings.delay))
        self.wantedProcessing = Mutex(settings.processing)
        self.audioLateness = Atomic(settings.processing.lateness)
        self.wakeCoalescer = Mutex(WakeCoalescer(jitterBuffer: settings.jitterBuffer, offset: settings.offset))
        self.budget.withLock { $0.allow(offset: settings.offset &+ settings.delay) }
    }

    package var timing: Timing { self.times.withLock { $0 } }

    /// Shows the source later (positive) or earlier (negative), also its packets that wait to be decoded; see
    /// ``wantedOffset``.
    package func setOffset(milliseconds: Int) {
        let offset = Int64(milliseconds) &* 1_000_000
        self.change { $0.wanted = offset }
        self.wakeCoalescer.withLock { $0 = WakeCoalescer(jitterBuffer: self.settings.jitterBuffer, offset: offset) }
    }

    /// Sets the delay of the program, which is added to the offset of a publisher's media. The packets wait before the
    /// decoder, also those that wait already. Has no effect on files.
    ///
    /// - Parameter milliseconds: 0…10,000.
    package func setDelay(milliseconds: Int) {
        self.change { $0.delay = max(0, Int64(milliseconds)) &* 1_000_000 }
    }

    private func change(_ body: (inout (wanted: Int64, delay: Int64)) -> Void) {
        let (wanted, delay) = self.offset.withLock { offset in
            body(&offset)
            return offset
        }
        self.budget.withLock { $0.allow(offset: wanted &+ delay) }
        self.wake.signal()
    }

    /// Rotates the source's video from the next decoded frame on, in addition to the rotation that the stream itself
    /// requests.
    ///
    /// - Parameter quarterTurns: Quarter turns clockwise, 0…3.
    package func setRotation(_ quarterTurns: Int) { self.quarterTurns.store(quarterTurns & 3, ordering: .relaxed) }

    /// Rotation in quarter turns clockwise, 0…3.
    package var rotation: Int { self.quarterTurns.load(ordering: .relaxed) }

    /// Changes what is done with the source's audio, from the next decoded packet on: the noise filter with a cross-fade, the gain
    /// gradually.
    package func setProcessing(_ processing: AudioProcessing) {
        self.wantedProcessing.withLock { $0 = processing }
        self.audioLateness.store(processing.lateness, ordering: .relaxed)
        self.processingChanges.add(1, ordering: .releasing)
        self.wake.signal()
    }

    /// What is to be done with the source's audio.
    package var processing: AudioProcessing { self.wantedProcessing.withLock { $0 } }

    /// Number of calls of ``setProcessing(_:)`` so far.
    var processingVersion: Int { self.processingChanges.load(ordering: .acquiring) }

    /// Longest time by which the audio is available later than it is decoded, in nanoseconds; see
    /// ``NoiseSuppressor/mostLate``.
    var processingLateness: Int64 { self.audioLateness.load(ordering: .relaxed) }

    /// How late the packet decoded last was because of this thread, in nanoseconds: the time since it could have been
    /// decoded, whatever the network did. 0 if no packet is due. If it is above the time that packets are decoded ahead
    /// (300 ms), frames are shown late.
    package var lateness: Int64 { self.late.load(ordering: .relaxed) }

    package var stats: Stats { self.counters.withLock { $0 } }
    /// Histogram of the decoding time of video packets.
    package var decodeTimes: DecodeTimeHistogram { self.spent.withLock { $0 } }
    /// Number of items that wait to be decoded.
    package var queued: Int { self.queue.count + self.waiting.load(ordering: .relaxed) }

    /// Bytes that wait to be decoded; see ``PacketBacklog``.
    package var waitingBytes: Int { self.budget.withLock { $0.bytes } }
    /// Waiting bytes in excess of those that a positive offset delays. The publisher is paused if there are too many.
    package var crowdingBytes: Int { self.budget.withLock { max(0, $0.bytes - $0.allowance) } }

    /// Sets a callback that is invoked on the stage's thread when waiting packets may have been decoded. Must not block.
    package func onRelief(_ listener: @escaping @Sendable () -> Void) {
        self.relief.withLock { $0 = Listener(call: listener) }
    }

    /// Sets a callback that is invoked on the stage's thread for each packet while the source may be visible, but its video
    /// cannot be decoded, or is held, before the next key frame; and by ``wantKeyFrame()``, on any thread. Must not block.
    package func onKeyFrameWanted(_ listener: @escaping @Sendable () -> Void) {
        self.keyFrames.withLock { $0 = Listener(call: listener) }
    }

    /// Accepts one item from ingest. Never blocks: if too much waits, packets are dropped; see ``PacketBacklog``.
    package func offer(_ item: SourceItem) {
        self.enqueue([item])
        self.wake.signal()
    }

    /// Accepts items that arrived together, in order. The thread is woken once for all of them, or a little later; see
    /// ``WakeCoalescer``.
    package func offer(_ items: [SourceItem]) {
        self.enqueue(items)
        let (isHidden, isAway) = (self.buffer.need.isHidden, self.buffer.need.isAway)
        if self.wakeCoalescer.withLock({ $0.wakes(for: items, isHidden: isHidden, isAway: isAway) }) {
            self.wake.signal()
        }
    }

    private func enqueue(_ items: [SourceItem]) {
        let (taken, dropped) = self.budget.withLock { $0.admit(items) }
        if dropped > 0 { self.counters.withLock { $0.dropped += dropped } }
        for case .end in taken { self.offeredEnds.add(1, ordering: .relaxed) }
        _ = self.queue.offer(all: taken)
    }

    /// Discards the publication that is being offered: its waiting packets, the packets up to its end, which is offered
    /// next, and its decoded frames, including the one on air. Decoded audio is still played. Call it on the
    /// thread that offers.
    package func cut() {
        self.cutEnds.store(self.offeredEnds.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
        self.buffer.banish()
        self.wake.signal()
    }

    /// Discards publications whose end was already offered, as ``cut()`` does: with an offset they could still be visible
    /// for seconds. May be called from any thread.
    package func cutPast() {
        self.cutEnds.max(self.offeredEnds.load(ordering: .relaxed), ordering: .relaxed)
        self.buffer.banish()
        self.wake.signal()
    }

    /// Accepts one item from a file; blocks while the queue is full.
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

    /// Runs until ``stop()``. `audioWantedUntil` returns the position of the program's audio, for a source that paces
    /// the program.
    package func run(audioWantedUntil: @Sendable @escaping () -> Int64) {
        CrashMark.onGuardedStack { self.work(audioWantedUntil) }
    }

    private func work(_ audioWantedUntil: @Sendable @escaping () -> Int64) {
        self.buffer.need.watch { [weak self] in self?.wake.signal() }
        var worker = DecodeWorker(stage: self, settings: self.settings, clock: self.clock)
        guard self.buffer.isPaced else {
            worker.runLive()
            return
        }
        SchedulerSlice.offline.requestForThisThread()
        var turn = WorkTurn(self.settings.limiter, rank: WorkRank.decoding)
        while let item = self.queue.take(), !self.isStopped {
            self.buffer.waitUntilWanted({ self.isStopped }, audioWantedUntil: audioWantedUntil)
            self.release(item)
            turn.begin()
            worker.handle(item)
            turn.end()
        }
    }

    // MARK: Called by the worker

    /// The offset in nanoseconds with the delay of the program, limited to what is possible: packets that a publisher has
    /// not sent cannot be shown, and audio that is due before it arrives, or before its noise is suppressed, is never heard. A
    /// file is not delayed, and its offset is not limited.
    package var wantedOffset: Int64 {
        let (wanted, delay) = self.offset.withLock { $0 }
        if self.settings.isFile || self.buffer.isPaced { return wanted }
        // The jitter buffer has at least `leastBuffer`. If a filter holds the audio, more may be needed.
        let least = Self.leastBuffer &+ self.processingLateness &- self.jitterBuffer
        return max(wanted &+ delay, least)
    }

    /// The delay of the program as far as it applies to this source, in nanoseconds: 0 for a file.
    package var delay: Int64 { self.settings.isFile || self.buffer.isPaced ? 0 : self.offset.withLock { $0.delay } }

    /// Configured time from the arrival of a packet that the network did not delay to its display, in nanoseconds; 0
    /// offline, where the program waits for its files. For a publisher it is at least ``leastBuffer``: the program
    /// mixes audio before it is displayed, so with less, audio would be missing in every tick.
    package var jitterBuffer: Int64 {
        if self.buffer.isPaced { return 0 }
        return self.settings.isFile ? self.settings.jitterBuffer : max(Self.leastBuffer, self.settings.jitterBuffer)
    }

    func note(decodeTime: Int64) { self.spent.withLock { $0.note(decodeTime) } }
    func note(lateness: Int64) { self.late.store(max(0, lateness), ordering: .relaxed) }
    /// Whether the publication that follows the first `ended` publications must be discarded.
    func isCut(behind ended: Int) -> Bool { ended < self.cutEnds.load(ordering: .relaxed) }
    /// Subtracts an item that no longer waits from the backlog.
    func release(_ item: SourceItem) { self.budget.withLock { $0.release(item) } }
    func relieve() { self.relief.withLock { $0 }?.call() }
    /// Asks the publisher for a key frame, if its protocol can. May be called from any thread.
    package func wantKeyFrame() { self.keyFrames.withLock { $0 }?.call() }
    func report(_ event: Event) { self.events(event) }
    func count(_ change: (inout Stats) -> Void) { self.counters.withLock { change(&$0) } }
    func note(_ timing: Timing, waiting: Int) {
        self.times.withLock { $0 = timing }
        self.waiting.store(waiting, ordering: .relaxed)
    }

    /// Waits for `limit` nanoseconds, or until the stage is woken.
    func wait(for limit: Int64) { self.wake.wait(for: limit) }
}
