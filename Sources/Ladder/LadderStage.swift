import Dispatch
package import LibAV
import MediaKernels
package import MediaTypes
import Stages
import Synchronization

/// The threads behind the program: one that scales the canvas, one per rendition that encodes it, one for each coding of
/// the sound, and one that hands on what they have coded.
///
/// Everything is opened by ``open(rungs:audio:canvas:settings:output:)`` on the thread that will use it, so that an
/// impossible ladder is refused before the room is ready.
package final class LadderStage: Sendable {
    package struct Settings: Sendable {
        /// Canvas size and rate.
        package var width: Int
        package var height: Int
        package var fps: Int
        /// Pictures from one IDR picture to the next.
        package var gopFrames: Int
        /// The short segments that a live room begins with; each begins with an IDR frame.
        package var opening: OpeningSegments?
        package var sampleRate: Int
        /// Bits per second of each coding of the sound; at least one.
        package var audioBitrates: [Int]
        /// The program waits for the encoders instead of losing ticks.
        package var isOffline: Bool
        /// Ticks of a part, counted from each IDR picture of the grid: a divisor of ``gopFrames``. With B-pictures the last picture of
        /// every part is a P-picture, so that no picture of a part is still to come when the part ends: a worker that is killed
        /// behind it leaves neither a hole nor a picture twice. `nil`: there are no parts.
        package var partFrames: Int?
        /// Others in tests of a room whose coded media nobody looks at.
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

    /// Where coded media goes. Called on the ladder's last thread, each track in its order; track numbers are the ladder's
    /// order, then the codings of the sound.
    package struct Output: Sendable {
        /// A picture is about to enter a rendition's encoder, on whose thread this is called.
        package var entered: @Sendable (_ track: Int, _ tick: Int64) -> Void = { _, _ in }
        package var packet: @Sendable (_ track: Int, _ packet: CodedPacket) -> Void
        /// The track's packets have this configuration from picture `tick` on: the canvas has another size.
        package var configuration: @Sendable (_ track: Int, _ change: Reconfiguration) -> Void
        /// The track's last packet is out.
        package var finished: @Sendable (_ track: Int) -> Void
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

    /// What a rendition's coded stream becomes with a canvas of another size.
    package struct Reconfiguration: Sendable, Hashable {
        /// H.264 with Annex B parameter sets.
        package var parameters: CodecParameters
        /// What initialization segments hold if that is more than ``parameters``: the sets of a publisher's stream and of the encoder's.
        package var initialization: CodecParameters?
        /// Pixels.
        package var width: Int
        package var height: Int
        /// The first picture with it, an IDR picture.
        package var tick: Int64
        /// Whether the packets that follow are a publisher's own, with decoding times in place of `dts`; `nil`: as before.
        package var isPassed: Bool?
    }

    /// A picture with its tick.
    struct Ticked: Sendable {
        var picture: Picture
        var tick: Int64
        /// `nil`: IDR pictures lie on the grid.
        var step: TickStep?
    }

    struct SoundBlock: Sendable {
        var samples: [Float]
        var position: Int64
    }

    /// Pictures that may wait before each encoder. Live: encoders are bursty (60 ms). Offline: as few as keep every
    /// thread busy, because each 720p picture is 1.4 MB, and all of them at once: the second of two pictures in a row costs
    /// 5 % less than each of two that others' pictures lie between.
    private static let liveDepth = 15
    private static let offlineDepth = 2
    /// Blocks of sound that may wait before its encoder offline, and how many it does in a row. A block is 8 KB and a quarter of a
    /// millisecond's work, of which the encoder's tables take a part to come into the caches.
    private static let offlineSoundDepth = 64
    private static let offlineSoundBatch = 32
    /// Seconds of canvases that may wait before scaling: a machine that was stopped for two seconds makes up its ticks
    /// at once, and none of them may be lost.
    private static let liveSeconds = 3

    package let rungs: [Rung]
    /// Codec parameters of every track as the encoders gave them: Annex B parameter sets, then `AudioSpecificConfig`.
    package let parameters: [CodecParameters]
    package let control: LadderControl
    let settings: Settings
    private let canvases: BoundedQueue<Ticked>
    private let sounds: [BoundedQueue<SoundBlock>]
    private let handover: Handover
    /// The one that hands on is the last.
    private let threads: Mutex<[StageThread]>
    private let waits: Atomic<Bool>
    /// Canvases that may still wait after ``setWaits(_:)`` has ended: the queue is full at that moment.
    private let grace = Atomic<Int>(0)

    private init(
        rungs: [Rung], parameters: [CodecParameters], settings: Settings, canvases: BoundedQueue<Ticked>,
        sounds: [BoundedQueue<SoundBlock>], handover: Handover, threads: [StageThread], control: LadderControl
    ) {
        self.control = control
        self.handover = handover
        self.rungs = rungs
        self.parameters = parameters
        self.settings = settings
        self.canvases = canvases
        self.sounds = sounds
        self.threads = Mutex(threads)
        self.waits = Atomic(settings.isOffline)
    }

    /// Whether a live program that makes up missed ticks waits for room, instead of losing them.
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

    /// Starts the threads and waits until every codec is open.
    ///
    /// - Throws: The first ``MediaError`` of any of them; all threads have ended then.
    package static func open(rungs: [Rung], settings: Settings, output: Output) throws(MediaError) -> LadderStage {
        let depth = settings.isOffline ? self.offlineDepth : self.liveDepth
        let batch = settings.isOffline ? depth : 1
        let canvases = BoundedQueue<Ticked>(
            capacity: settings.isOffline ? depth : settings.fps * self.liveSeconds, batch: batch)
        let sounds = settings.audioBitrates.map { _ in
            settings.isOffline
                ? BoundedQueue<SoundBlock>(capacity: self.offlineSoundDepth, batch: self.offlineSoundBatch)
                : BoundedQueue<SoundBlock>(capacity: 256)
        }
        let queues = rungs.map { _ in BoundedQueue<Ticked>(capacity: depth, batch: batch) }
        let handover = Handover(to: output, isOffline: settings.isOffline)
        let coded = handover.output
        var threads: [StageThread] = []
        let control = LadderControl(tracks: rungs.count)
        let births = (0..<rungs.count + sounds.count + 1).map { _ in Birth() }
        for (index, rung) in rungs.enumerated() {
            let (queue, birth) = (queues[index], births[index])
            threads.append(
                StageThread("enc-\(rung.name)") {
                    RungWorker(track: index, rung: rung, settings: settings, output: coded, control: control).run(
                        queue, birth)
                })
        }
        for (index, bitrate) in settings.audioBitrates.enumerated() {
            let (queue, birth, track) = (sounds[index], births[rungs.count + index], rungs.count + index)
            threads.append(
                StageThread(index == 0 ? "enc-audio" : "enc-audio\(index)") {
                    SoundWorker(track: track, bitrate: bitrate, settings: settings, output: coded).run(queue, birth)
                })
        }
        threads.append(
            StageThread("scale") { [birth = births[rungs.count + sounds.count]] in
                ScaleWorker(rungs: rungs, settings: settings, output: coded, control: control).run(
                    canvases, queues, birth)
            })
        threads.append(StageThread("handover", keepsTime: !settings.isOffline) { handover.run() })
        var parameters: [CodecParameters] = []
        var failure: MediaError?
        for birth in births {
            switch birth.wait() {
            case .success(let value): if let value { parameters.append(value) }
            case .failure(let error): failure = failure ?? error
            }
        }
        if let failure {
            canvases.close()
            for queue in sounds { queue.close() }
            for queue in queues { queue.close() }
            self.join(threads, handover)
            throw failure
        }
        return LadderStage(
            rungs: rungs, parameters: parameters, settings: settings, canvases: canvases, sounds: sounds,
            handover: handover, threads: threads, control: control)
    }

    /// Waits for the encoders, then for what they have coded to be handed on.
    private static func join(_ threads: [StageThread], _ handover: Handover) {
        for thread in threads.dropLast() { thread.join() }
        handover.close()
        threads.last?.join()
    }

    /// Takes one canvas. Live it never blocks, but for ``setWaits(_:)``.
    ///
    /// - Returns: `false` when there was no room: the tick is lost.
    package func put(_ picture: Picture, tick: Int64, step: TickStep? = nil) -> Bool {
        let ticked = Ticked(picture: picture, tick: tick, step: step)
        return self.isWaiting ? self.canvases.put(ticked) : self.canvases.offer(ticked)
    }

    /// Takes 1,024 pairs of interleaved stereo whose first is at `position`.
    package func put(sound samples: [Float], position: Int64) {
        let block = SoundBlock(samples: samples, position: position)
        let waits = self.waits.load(ordering: .relaxed)
        for queue in self.sounds { if waits { queue.put(block) } else { _ = queue.offer(block) } }
    }

    /// No more comes: flushes every encoder and returns when the last packet is out.
    package func finish() {
        self.canvases.close()
        for queue in self.sounds { queue.close() }
        let threads = self.threads.withLock { threads in
            defer { threads = [] }
            return threads
        }
        Self.join(threads, self.handover)
    }

    /// Whether a rendition can have other bit rates while it runs: its parameter sets, and with them its initialization segment,
    /// stay as they are. They tell a level, which follows from the peak and the buffer.
    ///
    /// Opens an encoder for it and closes it again; any thread but the ladder's.
    ///
    /// - Throws: What libx264 says of the rates.
    package func takes(_ rates: BitRates, track: Int) throws(MediaError) -> Bool {
        guard self.rungs.indices.contains(track), self.parameters.indices.contains(track) else { return false }
        var settings = self.rungs[track].settings
        settings.rates = rates
        let encoder = try self.settings.encoders.video(settings, "encode[\(self.rungs[track].name)]")
        return encoder.parameterSets == self.parameters[track].configuration
    }

    /// Canvases waiting to be scaled: how far the encoders are behind.
    package var backlog: Int { self.canvases.count }
}

/// Hands what a stage thread made at its start back to whoever started it.
final class Birth: Sendable {
    private let result = Mutex<Result<CodecParameters?, MediaError>?>(nil)
    private let done = DispatchSemaphore(value: 0)

    func report(_ result: Result<CodecParameters?, MediaError>) {
        self.result.withLock { $0 = result }
        self.done.signal()
    }

    func wait() -> Result<CodecParameters?, MediaError> {
        self.done.wait()
        return self.result.withLock { $0 }
            ?? .failure(MediaError(.internal, "a stage did not start", at: "ladder", fix: "report this"))
    }
}
