import Ingest
import MediaTypes
import Program
import Recording
import RoomAPI
import Synchronization
import Threading

/// Records one source: takes its packets from its hub, and writes them on a thread of its own.
///
/// The publisher's thread only adds packets to a bounded queue, so a slow disk affects neither the publisher nor the
/// program. The writer takes packets about twice a second.
final class SourceRecording: SourceSubscriber {
    /// What the thread that writes the recording of a source reports.
    enum Event: Sendable {
        case recorder(SourceMovieRecorder.Event)
        /// Packets were dropped because the disk is too slow.
        case dropped(video: Int, audio: Int)
    }

    /// The state that the API and alarms show.
    struct Status: Sendable {
        /// Path of the file that is being written; nil if there is none, for example between publications.
        var path: String?
        /// Size of the file that is being written, in bytes.
        var bytes: Int64 = 0
        /// Why the recording could not be written; nil again when a file is begun.
        var failure: String?
        /// When packets were last dropped because the disk is too slow, on the monotonic clock; nil if never.
        var droppedAt: Int64?
        /// Packets dropped because the disk is too slow, since the recording was started.
        var dropped = 0
        /// Whether the writer has ended.
        var hasEnded = false
    }

    private struct State {
        var queue = SourceRecordingQueue()
        /// Whether the writer was woken for what waits in the queue.
        var isWoken = false
        /// Whether the writer must take the queued packets at once.
        var isUrgent = false
        var stop: SourceMovieFacts.End?
        /// Why nothing is written, because the disk is nearly full; nil if there is space.
        var suspension: String?
        var status = Status()
        var leave: (@Sendable () -> Void)?
        var thread: StageThread?
    }

    /// How long the writer gathers packets before it takes them, in nanoseconds.
    private static let gathering: Int64 = 500_000_000
    /// Least time between two events about dropped packets, in nanoseconds.
    private static let dropPace: Int64 = 10_000_000_000

    private let source: RoomSource
    private let settings: SourceMovieRecorder.Settings
    private let maxJitterBuffer: Int64
    private let clock: ProgramClock
    private let clocks: Clocks
    private let tell: @Sendable (Event) -> Void
    private let wake: any ClockSemaphore
    private let state = Mutex(State())

    /// - Parameter events: Called on the writer's thread.
    init(
        _ source: RoomSource, _ settings: SourceMovieRecorder.Settings, clock: ProgramClock, clocks: Clocks,
        events: @escaping @Sendable (Event) -> Void
    ) {
        (self.source, self.settings, self.clock, self.clocks) = (source, settings, clock, clocks)
        self.maxJitterBuffer = Int64(source.spec.maxJitterBufferMs) &* 1_000_000
        self.tell = events
        self.wake = clocks.machine.makeSemaphore()
    }

    /// Why nothing is written, because the disk is nearly full; nil if there is space.
    var suspension: String? { self.state.withLock(\.suspension) }
    var status: Status { self.state.withLock(\.status) }

    /// The state that the API shows.
    var facts: SourceRecordingFacts {
        let (suspension, status) = self.state.withLock { ($0.suspension, $0.status) }
        let state: SourceRecordingFacts.State =
            suspension != nil
            ? .suspended : status.failure != nil ? .failed : status.path == nil ? .waiting : .recording
        return SourceRecordingFacts(state: state, file: status.path, bytes: status.bytes, dropped: status.dropped)
    }

    /// Starts the thread, and records what the hub delivers from its cached key frame on.
    func begin(_ hub: SourceHub) {
        let thread = StageThread("rec-\(self.settings.source)") { self.run() }
        let token = hub.subscribe(self)
        // The recording does not need its packets at once.
        hub.setPatient(true, for: token)
        self.state.withLock { state in
            state.thread = thread
            state.leave = { [weak hub] in hub?.unsubscribe(token) }
        }
    }

    /// Stops writing because the disk is nearly full; nil continues from the next key frame on.
    func suspend(_ reason: String?) {
        self.state.withLock { state in
            state.suspension = reason
            state.isUrgent = true
        }
        self.wake.signal()
    }

    /// Ends the recording after everything that has arrived. Returns at once; see ``join(within:)``.
    func stop(_ reason: SourceMovieFacts.End) {
        let leave = self.state.withLock { $0.leave.take() }
        leave?()
        self.state.withLock { $0.stop = $0.stop ?? reason }
        self.wake.signal()
    }

    /// Waits until the writer has ended, at most for a time in nanoseconds: a disk may hang.
    func join(within time: Int64) { _ = self.state.withLock(\.thread)?.join(within: time) }

    // MARK: The publisher's thread

    func receive(_ item: SourceItem) { self.receive([item]) }

    func receive(_ items: [SourceItem]) {
        let wakes = self.state.withLock { state -> Bool in
            var isUrgent = false
            for item in items { isUrgent = state.queue.offer(item) || isUrgent }
            let wakes = !state.isWoken || (isUrgent && !state.isUrgent)
            state.isWoken = true
            state.isUrgent = state.isUrgent || isUrgent
            return wakes
        }
        if wakes { self.wake.signal() }
    }

    // MARK: The writer's thread

    private func run() {
        defer { self.state.withLock { $0.status.hasEnded = true } }
        var recorder = SourceMovieRecorder(self.settings)
        var writer = Writer(timeline: self.timeline)
        do throws(MediaError) {
            for event in try recorder.prepare() { self.note(event, recorder.path) }
        } catch {
            self.note(.failed(error), nil)
        }
        let patience = self.settings.fragments.partDuration &* 2
        while true {
            self.wake.wait(for: recorder.hasPending ? patience : nil)
            let (isUrgent, isStopped) = self.state.withLock { ($0.isUrgent, $0.stop != nil) }
            if !isUrgent, !isStopped { self.wake.wait(for: Self.gathering) }
            let (batch, stop, suspension) = self.state.withLock { state in
                (state.isWoken, state.isUrgent) = (false, false)
                return (state.queue.take(), state.stop, state.suspension)
            }
            for event in recorder.suspend(suspension != nil, self.moments(writer)) { self.note(event, recorder.path) }
            self.write(batch, &recorder, &writer)
            let bytes = recorder.bytes
            self.state.withLock { $0.status.bytes = bytes }
            if let stop {
                for event in recorder.end(stop, self.moments(writer)) { self.note(event, recorder.path) }
                return
            }
        }
    }

    /// The values that only the writer uses.
    private struct Writer {
        var timeline: SourceTimeline
        var pace = PublisherPace()
        /// When the next event about dropped packets may be reported.
        var dropsDue: Int64 = 0
        /// Number of dropped video packets that no event has reported yet; ``audio`` is that of audio packets.
        var video = 0
        var audio = 0
        /// When the last packet was taken.
        var taken: Int64 = 0
        /// The audio track that the timeline follows, and when it last sent.
        var leading: (track: UInt8, arrival: Int64)?

        /// Whether the timeline is to follow this audio track. It changes to another track only after a second without
        /// packets of the track that it follows.
        mutating func leads(_ track: UInt8, at arrival: Int64) -> Bool {
            if let leading, leading.track != track, arrival &- leading.arrival < TimeMath.nanoseconds { return false }
            self.leading = (track, arrival)
            return true
        }
    }

    /// A timeline as the source's decoder has it, which corrects timestamps in the same way.
    private var timeline: SourceTimeline {
        SourceTimeline(jitterBuffer: self.source.decode.jitterBuffer, maxJitterBuffer: self.maxJitterBuffer)
    }

    private func write(
        _ batch: SourceRecordingQueue.Batch, _ recorder: inout SourceMovieRecorder, _ writer: inout Writer
    ) {
        let now = self.clocks.machine.now()
        self.noteDrops(batch, &recorder, &writer, now: now)
        for item in batch.items {
            switch item {
            case .configuration(let parameters):
                for event in recorder.configure(parameters, self.moments(writer)) { self.note(event, recorder.path) }
            case .packet(let packet):
                // As the decoder does: a publisher that sends faster than real time has not jumped.
                let arrival = writer.pace.note(packet)
                let scale = Int64(max(1, packet.timescale))
                let pts = TimeMath.rescale(packet.pts, from: scale, to: TimeMath.nanoseconds)
                let dts = TimeMath.rescale(packet.dts, from: scale, to: TimeMath.nanoseconds)
                let times =
                    packet.kind == .video || writer.leads(packet.track, at: arrival)
                    ? writer.timeline.note(kind: packet.kind, pts: pts, dts: dts, arrival: arrival)
                    : writer.timeline.noted(kind: packet.kind, pts: pts, dts: dts)
                let sample = SourceSample(packet, pts: times.pts, dts: times.dts)
                for event in recorder.add(sample, now: now, self.moments(writer)) { self.note(event, recorder.path) }
                writer.taken = now
            case .end:
                for event in recorder.end(.publicationEnded, self.moments(writer)) { self.note(event, recorder.path) }
                writer.timeline.reset()
                writer.pace.end()
                writer.leading = nil
            }
        }
        if recorder.hasPending, now &- writer.taken >= self.settings.fragments.partDuration {
            for event in recorder.flush(now: now, self.moments(writer)) { self.note(event, recorder.path) }
        }
    }

    private func moments(_ writer: Writer) -> SourceMovieRecorder.Clock {
        let (timeline, zero) = (writer.timeline, self.clock.zero)
        let (decode, clocks) = (self.source.decode, self.clocks)
        let timing = decode.timing
        // What only the decoder knows: the alignment by wall clock, and a jitter buffer that has grown.
        let deepened = timing.depth.map { $0 &- decode.jitterBuffer } ?? 0
        let offset = decode.wantedOffset &+ timing.wallExtra &+ deepened
        return { time, arrival in
            SourceSidecar.Moment(
                program: timeline.isAnchored ? zero.map { timeline.program(of: time) &+ offset &- $0 } : nil,
                arrival: clocks.wall.now() &- (clocks.machine.now() &- arrival))
        }
    }

    private func note(_ event: SourceMovieRecorder.Event, _ path: String?) {
        self.state.withLock { state in
            state.status.path = path
            switch event {
            case .started: state.status.failure = nil
            case .failed(let error): state.status.failure = error.what
            case .finished, .skipped: break
            }
        }
        self.tell(.recorder(event))
    }

    private func noteDrops(
        _ batch: SourceRecordingQueue.Batch, _ recorder: inout SourceMovieRecorder, _ writer: inout Writer, now: Int64
    ) {
        let count = batch.droppedVideo + batch.droppedAudio
        if count > 0 {
            recorder.dropped(video: batch.droppedVideo, audio: batch.droppedAudio)
            writer.video += batch.droppedVideo
            writer.audio += batch.droppedAudio
            self.state.withLock { state in
                state.status.droppedAt = now
                state.status.dropped &+= count
            }
        }
        guard writer.video + writer.audio > 0, now >= writer.dropsDue else { return }
        self.tell(.dropped(video: writer.video, audio: writer.audio))
        (writer.video, writer.audio) = (0, 0)
        writer.dropsDue = now &+ Self.dropPace
    }
}
