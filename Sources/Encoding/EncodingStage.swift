import Dispatch
package import LibAV
package import MediaTypes
package import Threading
import Synchronization

/// The threads that encode the program: one that scales the canvas if there are video renditions, one per video rendition,
/// one for each audio bit rate, and one that passes on the encoded packets.
///
/// ``open(renditions:settings:output:)`` opens every encoder on the thread that will use it, so that invalid settings are
/// rejected before the room is ready.
package final class EncodingStage: Sendable {
    package struct Settings: Sendable {
        /// Size and frame rate of the canvas.
        package var width: Int
        package var height: Int
        package var fps: Int
        /// Ticks from one IDR frame of the GOP grid to the next.
        package var gopFrames: Int
        /// The short segments at the beginning of a live room; each begins with an IDR frame.
        package var opening: StartupSegments?
        package var sampleRate: Int
        /// Bit rate of each audio track in bits per second; at least one.
        package var audioBitrates: [Int]
        /// Whether the program waits for the encoders instead of losing ticks.
        package var isOffline: Bool
        /// Length of a part in ticks, counted from each IDR frame of the grid: a divisor of ``gopFrames``. With
        /// B-frames, the last frame of every part is a P-frame, so that a part is complete when it ends. If the worker
        /// is killed after that, no frame is missing or duplicated. `nil`: there are no parts.
        package var partFrames: Int?
        /// Length of a segment in ticks, if renditions may sleep (``EncoderControl/setAsleep(_:)``); `nil`: none does.
        package var sleepTicks: Int?
        /// Limits how many threads scale and encode video at the same time, together with other threads that use it;
        /// `nil`: no limit. Only for offline programs. The encoded media does not depend on it.
        package var limiter: WorkLimiter?
        /// Functions that open the encoders. Tests that do not examine the coded media use other ones.
        package var encoders = LadderEncoders.libav

        package init(
            width: Int, height: Int, fps: Int, gopFrames: Int, sampleRate: Int, audioBitrates: [Int], isOffline: Bool
        ) {
            self.width = width
            self.height = height
            self.fps = fps
            self.gopFrames = gopFrames
            self.sampleRate = sampleRate
            self.audioBitrates = audioBitrates
            self.isOffline = isOffline
        }
    }

    /// Callbacks for the encoded media. `packet`, `configuration` and `finished` are called on the ladder's last
    /// thread, in order for each track. Track numbers are the order of the renditions, followed by the audio tracks.
    package struct Output: Sendable {
        /// Called on the encoder's thread when a frame is about to enter a rendition's encoder, and during passthrough for
        /// every tick before its packets are output.
        package var entered: @Sendable (_ track: Int, _ tick: Int64) -> Void = { _, _ in }
        package var packet: @Sendable (_ track: Int, _ packet: CodedPacket) -> Void
        /// Receives the configuration that the track's packets have from tick `change.tick` on, because the canvas size
        /// changed, passthrough began or ended, or libx264 replaced a hardware encoder.
        package var configuration: @Sendable (_ track: Int, _ change: Reconfiguration) -> Void
        /// Called on the ladder's last thread after the last packet of a track that sleeps from `tick` on.
        package var slept: @Sendable (_ track: Int, _ tick: Int64) -> Void = { _, _ in }
        /// Called on the ladder's last thread before any packet with a frame at `tick` or later: the track has packets
        /// from `tick` on.
        package var woke: @Sendable (_ track: Int, _ tick: Int64) -> Void = { _, _ in }
        /// Called after the track's last packet was passed on.
        package var finished: @Sendable (_ track: Int) -> Void
        /// Called on the encoder's thread when libx264 replaces a hardware encoder that has failed.
        package var fellBack: @Sendable (_ track: Int, _ fallback: EncoderFallback) -> Void = { _, _ in }
        /// Called on the thread of the encoder or scaler that failed.
        package var failed: @Sendable (MediaError) -> Void

        package init(
            packet: @escaping @Sendable (_ track: Int, _ packet: CodedPacket) -> Void,
            configuration: @escaping @Sendable (_ track: Int, _ change: Reconfiguration) -> Void = { _, _ in },
            finished: @escaping @Sendable (_ track: Int) -> Void, failed: @escaping @Sendable (MediaError) -> Void
        ) {
            self.packet = packet
            self.configuration = configuration
            self.finished = finished
            self.failed = failed
        }
    }

    /// New configuration of a rendition's stream, after a change of the canvas size, of passthrough or of the encoder.
    package struct Reconfiguration: Sendable, Hashable {
        /// Codec H.264 with its parameter sets: an encoder's in Annex B format, a publisher's as an
        /// `AVCDecoderConfigurationRecord`.
        package var parameters: CodecParameters
        /// Parameters for initialization segments if they contain more than ``parameters``: the parameter sets of both
        /// the publisher's stream and the encoder, or of a hardware encoder and libx264.
        package var initialization: CodecParameters?
        /// Size of the coded frames in pixels.
        package var width: Int
        package var height: Int
        /// Tick of the first frame with the new configuration, an IDR frame.
        package var tick: Int64
        /// `true` if the following packets are a publisher's own, with decoding times in `dts`; `false` if they are the
        /// encoder's again; `nil`: unchanged.
        package var isPassed: Bool?
    }

    /// A canvas or a scaled frame with its tick.
    struct TimedFrame: Sendable {
        var picture: Picture
        var tick: Int64
        /// Additional instructions for the tick; `nil`: the canvas is encoded, and IDR frames follow the GOP grid.
        var step: TickPlan?
        /// Whether the rendition sleeps from this tick on. The frame is not encoded.
        var isSleep = false
    }

    struct AudioBlock: Sendable {
        var samples: [Float]
        var position: Int64
    }

    /// Maximum number of frames waiting before each encoder. Live, the queue absorbs variations of the encoding time.
    /// Offline, it is as short as keeps every thread busy, because each 720p frame takes 1.4 MB; the encoder takes all
    /// waiting frames at once, because encoding two frames in a row costs less than alternating with other threads.
    private static let liveDepth = 15
    private static let offlineDepth = 2
    /// Maximum number of audio blocks waiting before an offline encoder, and how many it encodes in a row.
    private static let offlineAudioDepth = 64
    private static let offlineAudioBatch = 32
    /// Seconds of canvases that may wait before scaling: a machine that was suspended for two seconds makes up for its
    /// ticks at once, and none of them may be lost.
    private static let liveSeconds = 3

    package let renditions: [EncodedRendition]
    /// Codec parameters of every track as produced by the encoders: Annex B parameter sets for video,
    /// `AudioSpecificConfig` for audio.
    package let parameters: [CodecParameters]
    /// Parameters of every track for initialization segments. They contain more than ``parameters`` if libx264 stands by
    /// for a hardware encoder: the parameter sets of both.
    package let initializations: [CodecParameters]
    /// By track, the parameters of the libx264 encoder that stands by for a hardware encoder.
    private let standbys: [CodecParameters?]
    package let control: EncoderControl
    let settings: Settings
    private let canvases: BoundedQueue<TimedFrame>
    private let audioQueues: [BoundedQueue<AudioBlock>]
    private let handover: Handover
    /// All threads of the stage; the last one passes the encoded packets on.
    private let threads: Mutex<[StageThread]>
    private let waits: Atomic<Bool>
    /// Number of canvases for which ``put(_:tick:step:)`` may still wait after ``setWaits(_:)`` was called with
    /// `false`, because the queue is full at that moment.
    private let grace = Atomic<Int>(0)

    private init(
        renditions: [EncodedRendition], opened: [OpenedEncoder], settings: Settings, canvases: BoundedQueue<TimedFrame>,
        audioQueues: [BoundedQueue<AudioBlock>], handover: Handover, threads: [StageThread], control: EncoderControl
    ) {
        self.control = control
        self.handover = handover
        self.renditions = zip(renditions, opened).map { rendition, opened in
            guard opened.fallback != nil else { return rendition }
            var rendition = rendition
            rendition.settings.implementation = .libx264
            return rendition
        }
        self.parameters = opened.map(\.parameters)
        self.initializations = opened.map { $0.initialization ?? $0.parameters }
        self.standbys = opened.map(\.standby)
        self.settings = settings
        self.canvases = canvases
        self.audioQueues = audioQueues
        self.threads = Mutex(threads)
        self.waits = Atomic(settings.isOffline)
    }

    /// Sets whether a live program waits for queue space, instead of losing ticks, while it makes up for missed ticks.
    package func setWaits(_ waits: Bool) {
        self.waits.store(waits || self.settings.isOffline, ordering: .relaxed)
        self.grace.store(waits ? 0 : self.canvases.capacity, ordering: .relaxed)
    }

    private var isWaiting: Bool {
        if self.waits.load(ordering: .relaxed) { return true }
        guard self.grace.load(ordering: .relaxed) > 0 else { return false }
        if self.canvases.count <= self.canvases.capacity / 2 { self.grace.store(0, ordering: .relaxed) }
        return self.grace.subtract(1, ordering: .relaxed).newValue >= 0
    }

    /// Starts the threads and waits until every encoder is open.
    ///
    /// - Throws: The first ``MediaError`` of any thread; all threads have ended then.
    package static func open(renditions: [EncodedRendition], settings: Settings, output: Output) throws(MediaError)
        -> EncodingStage
    {
        let depth = settings.isOffline ? self.offlineDepth : self.liveDepth
        let batch = settings.isOffline ? depth : 1
        let canvases = BoundedQueue<TimedFrame>(
            capacity: settings.isOffline ? depth : settings.fps * self.liveSeconds, batch: batch)
        let audioQueues = settings.audioBitrates.map { _ in
            settings.isOffline
                ? BoundedQueue<AudioBlock>(capacity: self.offlineAudioDepth, batch: self.offlineAudioBatch)
                : BoundedQueue<AudioBlock>(capacity: 256)
        }
        let queues = renditions.map { _ in BoundedQueue<TimedFrame>(capacity: depth, batch: batch) }
        let handover = Handover(to: output, isOffline: settings.isOffline)
        let coded = handover.output
        var threads: [StageThread] = []
        let control = EncoderControl(steps: renditions.map(\.frameStep), fps: settings.fps)
        // Without video renditions, no canvas is scaled.
        let scalers = renditions.isEmpty ? 0 : 1
        let startupResults = (0..<renditions.count + audioQueues.count + scalers).map { _ in StartupResult() }
        for (index, rendition) in renditions.enumerated() {
            let (queue, startup) = (queues[index], startupResults[index])
            threads.append(
                StageThread("enc-\(rendition.name)") {
                    RenditionWorker(
                        track: index, rendition: rendition, settings: settings, output: coded, control: control
                    ).run(
                        queue, startup)
                })
        }
        for (index, bitrate) in settings.audioBitrates.enumerated() {
            let (queue, startup, track) = (
                audioQueues[index], startupResults[renditions.count + index], renditions.count + index
            )
            threads.append(
                StageThread(index == 0 ? "enc-audio" : "enc-audio\(index)") {
                    AudioWorker(track: track, bitrate: bitrate, settings: settings, output: coded).run(queue, startup)
                })
        }
        if scalers > 0 {
            threads.append(
                StageThread("scale") { [startup = startupResults[renditions.count + audioQueues.count]] in
                    ScaleWorker(renditions: renditions, settings: settings, output: coded, control: control).run(
                        canvases, queues, startup)
                })
        }
        threads.append(StageThread("handover", keepsTime: !settings.isOffline) { handover.run() })
        var opened: [OpenedEncoder] = []
        var failure: MediaError?
        for startup in startupResults {
            switch startup.wait() {
            case .success(let value): if let value { opened.append(value) }
            case .failure(let error): failure = failure ?? error
            }
        }
        if let failure {
            canvases.close()
            for queue in audioQueues { queue.close() }
            for queue in queues { queue.close() }
            self.join(threads, handover)
            throw failure
        }
        return EncodingStage(
            renditions: renditions, opened: opened, settings: settings, canvases: canvases, audioQueues: audioQueues,
            handover: handover, threads: threads, control: control)
    }

    /// Waits until the encoder threads have ended, then until all packets are passed on.
    private static func join(_ threads: [StageThread], _ handover: Handover) {
        for thread in threads.dropLast() { thread.join() }
        handover.close()
        threads.last?.join()
    }

    /// Adds one canvas. Live, it never blocks except after ``setWaits(_:)``. Does nothing without video renditions.
    ///
    /// - Returns: `false` if the queue is full or closed: the tick is lost.
    package func put(_ picture: Picture, tick: Int64, step: TickPlan? = nil) -> Bool {
        guard !self.renditions.isEmpty else { return true }
        let timed = TimedFrame(picture: picture, tick: tick, step: step)
        return self.isWaiting ? self.canvases.put(timed) : self.canvases.offer(timed)
    }

    /// Adds 1,024 pairs of interleaved stereo, the first at `position`. Live, a block is dropped if the queue is full,
    /// except after ``setWaits(_:)``.
    package func put(audio samples: [Float], position: Int64) {
        let block = AudioBlock(samples: samples, position: position)
        let waits = self.waits.load(ordering: .relaxed)
        for queue in self.audioQueues { if waits { queue.put(block) } else { _ = queue.offer(block) } }
    }

    /// Flushes every encoder and returns when the last packet was passed on. No more input may follow.
    package func finish() {
        self.canvases.close()
        for queue in self.audioQueues { queue.close() }
        let threads = self.threads.withLock { threads in
            defer { threads = [] }
            return threads
        }
        Self.join(threads, self.handover)
    }

    /// Whether a rendition can change to other bit rates while it runs, which requires that its parameter sets, and
    /// thus its initialization segment, stay the same. The parameter sets contain a level, which depends on the peak
    /// bit rate and the buffer size.
    ///
    /// Opens an encoder with the rates and closes it again; must not be called on one of the ladder's threads.
    ///
    /// - Throws: The error of the encoder if it rejects the rates.
    package func takes(_ rates: BitRates, track: Int) throws(MediaError) -> Bool {
        guard self.renditions.indices.contains(track), self.parameters.indices.contains(track) else { return false }
        let (rendition, standby) = (self.renditions[track], self.standbys[track])
        var uses = [(rendition.settings, self.parameters[track])]
        if let standby {
            // While the hardware encoder works, libx264 must be able to take over with the same initialization segment.
            if self.control.fallbacks[track] != nil { uses = [] }
            uses.append((rendition.software.settings, standby))
        }
        for (settings, parameters) in uses {
            var settings = settings
            settings.rates = rates
            let place = "encode[\(rendition.name)]"
            let encoder: any FrameEncoder =
                if settings.implementation.isHardware {
                    try DeadlineEncoder.open(settings, by: self.settings.encoders, place: place)
                } else { try self.settings.encoders.video(settings, place) }
            guard encoder.parameterSets == parameters.configuration else { return false }
        }
        return true
    }

    /// The ladder's renditions with libx264 in place of hardware encoders, for media that fits the same initialization
    /// segments.
    var softwareRenditions: [EncodedRendition] { self.renditions.map(\.software) }

    /// Parameters of every track as encoded by ``softwareRenditions``.
    var softwareParameters: [CodecParameters] { zip(self.standbys, self.parameters).map { $0 ?? $1 } }

    /// Number of canvases that wait to be scaled. It shows how many ticks the encoders are behind.
    package var backlog: Int { self.canvases.count }
}

/// Passes the result of a stage thread's startup to the thread that started it.
final class StartupResult: Sendable {
    private let result = Mutex<Result<OpenedEncoder?, MediaError>?>(nil)
    private let done = DispatchSemaphore(value: 0)

    func report(_ result: Result<OpenedEncoder?, MediaError>) {
        self.result.withLock { $0 = result }
        self.done.signal()
    }

    func wait() -> Result<OpenedEncoder?, MediaError> {
        self.done.wait()
        return self.result.withLock { $0 }
            ?? .failure(
                MediaError(
                    .internal, "an encoder thread did not start", at: "ladder", fix: "report this error with the log"))
    }
}
