import Dispatch
import LibAV
import MediaKernels
import MediaTypes
import Program
import Threading
import Synchronization
import TestSupport
import Testing

/// Stores the failures that a source's decode stage reports, and counts the ends of publications.
final class StageLog: Sendable {
    let failures = Mutex<[MediaError.Code]>([])
    let ended = DispatchSemaphore(value: 0)

    func take(_ event: DecodeStage.Event) {
        switch event {
        case .undecodable(let error): self.failures.withLock { $0.append(error.code) }
        case .ended: self.ended.signal()
        case .firstFrame, .formatChanged, .firstAudio, .reanchored, .noiseSuppression: break
        }
    }
}

/// The decode stage of one source, driven like in a room, without waiting for any clock.
struct StageRun {
    /// One tick of the program: the frame on air, and whether it is new.
    struct Tick {
        var picture: Picture
        var isFresh: Bool
        /// Number of the frame, at 30 fps.
        var index: Int
    }

    private struct StoppedClock: MonotonicClock {
        var time: Int64 = 0
        func now() -> Int64 { self.time }
    }

    static let source = SourceID(uid: "1")
    static let interval: Int64 = 33_333_333

    var ticks: [Tick] = []
    var stats = DecodeStage.Stats()
    var failures: [MediaError.Code] = []
    /// How often the stage wanted a key frame.
    var keyFrameRequests = 0
    /// Bytes queued at the end.
    var waitingBytes = 0
    /// The mixed audio from position 0 on, as interleaved stereo.
    var audio: [Float] = []

    /// Decodes video as from a file, one tick after another.
    ///
    /// - Parameters:
    ///   - hidden: Ticks at which the source is hidden.
    ///   - isThrifty: See ``SourceDemand/isThrifty``.
    static func video(
        _ items: [SourceItem], ticks: Int, holdsDamaged: Bool = false, hidden: [Range<Int>] = [],
        isThrifty: Bool = false
    ) -> StageRun {
        let buffer = SourceBuffer(source: self.source, isPaced: true)
        buffer.setTracks(video: true, audio: false)
        buffer.setStatus(.live, at: 0)
        let (log, stage) = self.stage(buffer, StoppedClock(), holdsDamaged: holdsDamaged)
        buffer.need.setReduced(isThrifty, skipsLoopFilter: false)
        let requests = Mutex(0)
        stage.onKeyFrameWanted { requests.withLock { $0 += 1 } }
        self.start(stage)
        // Like a file's reader, which waits for space.
        DispatchQueue(label: "read").async { for item in items + [.end] { stage.put(item) } }
        var run = StageRun()
        for tick in 0..<Int64(ticks) {
            let time = tick * self.interval
            buffer.need.setHidden(hidden.contains { $0.contains(Int(tick)) })
            buffer.waitUntilReady(for: time, audioPosition: 0) { false }
            guard let shown = buffer.select(at: time, interval: self.interval) else { continue }
            let index = Int((shown.time + self.interval / 2) / self.interval)
            run.ticks.append(Tick(picture: shown.picture, isFresh: shown.isFresh, index: index))
        }
        run.finish(stage, log)
        run.keyFrameRequests = requests.withLock { $0 }
        return run
    }

    /// Takes a publisher's audio as it arrived, and mixes only it at full volume.
    ///
    /// - Parameter seconds: Length of the program; less than a ring holds.
    static func audio(_ items: [SourceItem], seconds: Double) -> StageRun {
        let buffer = SourceBuffer(source: self.source, isPaced: false)
        let (log, stage) = self.stage(buffer, StoppedClock(time: 3_600_000_000_000), holdsDamaged: false)
        for item in items + [.end] { stage.offer(item) }
        self.start(stage)
        log.ended.wait(for: "the end of a publication")
        var mixer = AudioMixer(start: 0, rampPairs: 1)
        mixer.setGain(1, of: self.source, at: -10)
        var run = StageRun()
        while Double(mixer.position) < seconds * 48_000 {
            run.audio += mixer.nextBlock { _, range, target in buffer.read(range, into: &target) }
        }
        run.finish(stage, log)
        return run
    }

    /// Takes publications one after another, all of them due, and decodes what is left of them.
    static func publications(_ publications: [(items: [SourceItem], isCut: Bool)]) -> StageRun {
        let buffer = SourceBuffer(source: self.source, isPaced: false)
        let (log, stage) = self.stage(buffer, StoppedClock(time: 3_600_000_000_000), holdsDamaged: false)
        for (items, isCut) in publications {
            for item in items { stage.offer(item) }
            if isCut { stage.cut() }
            stage.offer(.end)
        }
        self.start(stage)
        for _ in publications { log.ended.wait(for: "the end of a publication") }
        var run = StageRun()
        run.finish(stage, log)
        return run
    }

    /// Takes a publication that has ended, then drops it, and takes another one.
    static func cutPast(_ past: [SourceItem], before next: [SourceItem]) -> StageRun {
        let buffer = SourceBuffer(source: self.source, isPaced: false)
        let (log, stage) = self.stage(buffer, StoppedClock(time: 3_600_000_000_000), holdsDamaged: false)
        for item in past + [.end] { stage.offer(item) }
        // Any number of times: items after that end belong to another publication.
        for _ in 0..<2 { stage.cutPast() }
        for item in next + [.end] { stage.offer(item) }
        self.start(stage)
        for _ in 0..<2 { log.ended.wait(for: "the end of a publication") }
        var run = StageRun()
        run.finish(stage, log)
        return run
    }

    /// Offers packets that are not due yet to a stage, and then drops them.
    static func cutOff(_ items: [SourceItem]) -> StageRun {
        let buffer = SourceBuffer(source: self.source, isPaced: false)
        let (log, stage) = self.stage(buffer, StoppedClock(), holdsDamaged: false)
        let taken = DispatchSemaphore(value: 0)
        stage.onRelief { taken.signal() }
        for item in items { stage.offer(item) }
        self.start(stage)
        taken.wait(for: "the stage takes its packets")
        stage.cut()
        stage.offer(.end)
        // Items that are not dropped are never due, so the end after them is never reached.
        _ = log.ended.wait(timeout: .now() + .seconds(20))
        var run = StageRun()
        run.finish(stage, log)
        return run
    }

    /// The newest frame of a live publication that has ended, and how many of its packets were not decoded.
    ///
    /// - Parameter isHidden: Whether only its key frames are decoded until it ends.
    static func newest(_ items: [SourceItem], isHidden: Bool) -> (picture: Picture?, undecoded: Int) {
        let buffer = SourceBuffer(source: self.source, isPaced: false)
        let (log, stage) = self.stage(buffer, StoppedClock(time: 3_600_000_000_000), holdsDamaged: false)
        buffer.need.setHidden(isHidden)
        for item in items + [.end] { stage.offer(item) }
        self.start(stage)
        log.ended.wait(for: "the end of a publication")
        stage.stop()
        return (buffer.newest?.picture, stage.stats.undecoded)
    }

    /// The frame still shown of a publication that is dropped while its first frame is being decoded; `nil`: none.
    static func cutAtPicture(_ configuration: CodecParameters, _ packet: CodedPacket) -> Picture? {
        let buffer = SourceBuffer(source: self.source, isPaced: false)
        let (log, stage) = self.stage(buffer, StoppedClock(time: 3_600_000_000_000), holdsDamaged: false)
        let looks = Mutex(0)
        // Everything is due, and one item is decoded after each check: first the configuration.
        stage.onRelief { [weak stage] in
            let look = looks.withLock { looks -> Int in
                looks += 1
                return looks
            }
            guard look == 2 else { return }
            stage?.cut()
            stage?.offer(.end)
        }
        for item in [SourceItem.configuration(configuration), .packet(packet)] { stage.offer(item) }
        self.start(stage)
        log.ended.wait(for: "the end of a publication")
        stage.stop()
        return buffer.snapshot
    }

    /// A publication's codec parameters, as reported for passthrough.
    ///
    /// - Parameters:
    ///   - rotation: The operator's rotation in quarter turns clockwise.
    ///   - other: The operator's rotation from the third item on.
    static func coding(_ items: [SourceItem], rotation: Int, turnedTo other: Int) -> [CodecParameters] {
        let buffer = SourceBuffer(source: self.source, isPaced: false)
        buffer.coded.open()
        let (log, stage) = self.stage(buffer, StoppedClock(time: 3_600_000_000_000), holdsDamaged: false)
        stage.setRotation(rotation)
        let looks = Mutex(0)
        // Everything is due, and one item is decoded after each check.
        stage.onRelief { [weak stage] in
            let look = looks.withLock { looks -> Int in
                looks += 1
                return looks
            }
            if look == 3 { stage?.setRotation(other) }
        }
        for item in items + [.end] { stage.offer(item) }
        self.start(stage)
        log.ended.wait(for: "the end of a publication")
        stage.stop()
        return buffer.coded.takeAll().compactMap { item in
            if case .configuration(let parameters) = item { parameters } else { nil }
        }
    }

    /// A file's codec parameters, as reported for passthrough.
    static func coding(_ reader: FileReader) throws -> [CodecParameters] {
        let buffer = SourceBuffer(source: self.source, isPaced: false)
        buffer.coded.open()
        let (log, stage) = self.stage(buffer, StoppedClock(time: 3_600_000_000_000), holdsDamaged: false)
        defer { stage.stop() }
        self.start(stage)
        try reader.run(into: stage) { 0 }
        log.ended.wait(for: "the end of a publication")
        return buffer.coded.takeAll().compactMap { item in
            if case .configuration(let parameters) = item { parameters } else { nil }
        }
    }

    /// Whether a file that paces the program is read to its end if nothing delays it.
    static func ends(_ reader: FileReader) -> Bool {
        let buffer = SourceBuffer(source: self.source, isPaced: true)
        let (_, stage) = self.stage(buffer, StoppedClock(), holdsDamaged: false)
        self.start(stage)
        let isRead = DispatchSemaphore(value: 0)
        DispatchQueue(label: "read").async {
            _ = try? reader.run(into: stage) { 0 }
            isRead.signal()
        }
        defer { stage.stop() }
        return isRead.wait(timeout: .now() + .seconds(20)) == .success
    }

    /// The lateness that a live source's thread reports at each check for packets: one packet is long due, then its
    /// publisher is gone.
    static func lateness(looks: Int) -> [Int64] {
        let buffer = SourceBuffer(source: self.source, isPaced: false)
        let (_, stage) = self.stage(buffer, StoppedClock(time: 3_600_000_000_000), holdsDamaged: false)
        let seen = Mutex<[Int64]>([])
        let looked = DispatchSemaphore(value: 0)
        stage.onRelief { [weak stage] in
            seen.withLock { $0.append(stage?.lateness ?? -1) }
            looked.signal()
        }
        let packet = CodedPacket(
            kind: .audio, memory: PacketMemory([0]), pts: 0, dts: 0, timescale: 1_000, isKey: true)
        for item in [SourceItem.packet(packet), .end] { stage.offer(item) }
        self.start(stage)
        for _ in 0..<looks { looked.wait(for: "the stage checks for packets") }
        stage.stop()
        return Array(seen.withLock { $0 }.prefix(looks))
    }

    /// Samples of the left channel.
    var left: [Float] { stride(from: 0, to: self.audio.count, by: 2).map { self.audio[$0] } }

    /// A live source's stage whose thread has not started.
    static func idle(offset: Int64, jitterBuffer: Int64 = 200_000_000) -> DecodeStage {
        let buffer = SourceBuffer(source: self.source, isPaced: false)
        return self.stage(buffer, StoppedClock(), holdsDamaged: false, offset: offset, jitterBuffer: jitterBuffer).1
    }

    private static func stage(
        _ buffer: SourceBuffer, _ machine: StoppedClock, holdsDamaged: Bool, offset: Int64 = 0,
        jitterBuffer: Int64 = 200_000_000
    ) -> (StageLog, DecodeStage) {
        let log = StageLog()
        let clock = ProgramClock(machine: machine)
        clock.start(at: 0, program: 0)
        let settings = DecodeStage.Settings(
            source: self.source, jitterBuffer: jitterBuffer, offset: offset, sampleRate: 48_000,
            holdsDamaged: holdsDamaged)
        return (
            log,
            DecodeStage(
                settings: settings, buffer: buffer, clock: clock, machine: SystemClock(), events: { log.take($0) })
        )
    }

    private static func start(_ stage: DecodeStage) {
        DispatchQueue(label: "decode").async { stage.run { .max / 2 } }
    }

    private mutating func finish(_ stage: DecodeStage, _ log: StageLog) {
        self.stats = stage.stats
        self.waitingBytes = stage.waitingBytes
        self.failures = log.failures.withLock { $0 }
        stage.stop()
    }
}

extension Picture {
    /// A hash of the samples of a frame of 320x180.
    var digest: Int {
        var hasher = Hasher()
        for plane in 0..<3 {
            let (width, height) = plane == 0 ? (320, 180) : (160, 90)
            self.withPlane(plane) { samples, stride in
                for row in 0..<height { for column in 0..<width { hasher.combine(samples[row * stride + column]) } }
            }
        }
        return hasher.finalize()
    }
}

/// Encoded test material.
enum Material {
    /// Moving rectangles as H.264, 320x180, 30 fps.
    ///
    /// - Parameters:
    ///   - gop: Frames from one key frame to the next.
    ///   - words: Options for libx264.
    static func frames(_ count: Int, gop: Int = 30, bFrames: Int = 0, words: String = "") throws -> (
        parameterSets: [UInt8], packets: [CodedPacket]
    ) {
        var settings = VideoEncoderSettings(
            width: 320, height: 180, fps: 30, preset: "superfast", profile: "main", bitrate: 1_500_000,
            maxBitrate: 1_500_000, bufferSize: 1_500_000, bFrames: bFrames, lookaheadFrames: 0, threads: 1)
        settings.x264Parameters = words
        let encoder = try VideoEncoder.open(settings, place: "test")
        var packets: [CodedPacket] = []
        for index in 0..<count {
            var canvas = try PictureCanvas.open(width: 320, height: 180, fill: .black)
            for rect in 0..<60 {
                let x = (rect * 53 + index * (1 + rect % 5)) % 288, y = (rect * 29 + index * (rect % 3)) % 148
                let color = CanvasColor(
                    y: UInt8(40 + (rect * 37 + index) % 180), cb: UInt8(60 + rect * 2), cr: UInt8(200 - rect * 2))
                canvas.fill(x: x & ~1, y: y & ~1, width: 32, height: 32, color)
            }
            try encoder.encode(canvas.finish(), pts: Int64(index), forceIDR: index % gop == 0) { packets.append($0) }
        }
        try encoder.finish { packets.append($0) }
        return (encoder.parameterSets, packets)
    }

    /// The NAL units of a packet.
    static func units(_ packet: CodedPacket) -> [[UInt8]] {
        let bytes = packet.memory.bytes(in: packet.range)
        var units: [[UInt8]] = []
        var offset = 0
        while offset + 4 <= bytes.count {
            let length = bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
            units.append(Array(bytes[offset + 4..<min(bytes.count, offset + 4 + length)]))
            offset += 4 + length
        }
        return units
    }

    /// A packet with other bytes.
    static func packet(_ packet: CodedPacket, _ bytes: [UInt8]) -> CodedPacket {
        var other = packet
        other.memory = PacketMemory(bytes)
        other.range = 0..<bytes.count
        return other
    }
}
