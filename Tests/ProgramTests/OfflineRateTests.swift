import Dispatch
import LibAV
import MediaKernels
import MediaTypes
import Program
import RTMP
import Threading
import Synchronization
import Testing

@Suite("Offline jobs with different frame rates of file and canvas")
struct OfflineRateTests {
    struct Job: Sendable, CustomTestStringConvertible {
        var canvas: Int
        var source: Int
        var hasAudio: Bool
        var testDescription: String { "\(self.source) on \(self.canvas) fps\(self.hasAudio ? " with audio" : "")" }
    }

    private static let jobs = [1, 5, 10, 15, 24, 25, 29, 30, 50, 60].flatMap { canvas in
        [5, 15, 24, 25, 30, 60].flatMap { source in
            [true, false].map { Job(canvas: canvas, source: source, hasAudio: $0) }
        }
    }
    /// Length of the file in seconds.
    private static let seconds = 3
    private static let source = SourceID(uid: "1")
    private static let (width, height) = (64, 48)

    @Test(
        "an offline job ends, and each tick shows a frame near its time and has audio, for files of 5 to 60 fps on canvases of 1 to 60 fps",
        arguments: Self.jobs)
    func ends(_ job: Job) throws {
        let run = try Self.run(job, ticks: nil)
        try #require(run.hasEnded, "no more progress")
        let (ticks, spacing) = (run.shades.count, 1 / Double(job.source))
        // The last frame of a slower source lasts one tick.
        let missing = job.source >= job.canvas ? 0 : job.canvas / job.source
        #expect((Self.seconds * job.canvas - missing...Self.seconds * job.canvas).contains(ticks), "\(ticks) ticks")
        for (tick, shade) in run.shades.enumerated() {
            let time = Double(tick) / Double(job.canvas)
            let interval = 1 / Double(job.canvas)
            // Between a frame that has ended and the next one that is almost due.
            let shown = (0..<Self.seconds * job.source).filter {
                let off = Double($0) * spacing - time
                return off >= -max(spacing, interval) - 0.001 && off <= min(spacing, interval) * 0.75 + 0.001
            }
            #expect(shown.contains { abs(Self.shade($0) - shade) <= 1 }, "tick \(tick) shows luma \(shade)")
        }
        guard job.hasAudio else { return }
        for (block, peak) in run.peaks.prefix(Self.seconds * 48_000 / 1024 - 2).enumerated() {
            #expect(peak > 0.2, "block \(block)")
        }
    }

    @Test("an offline job shorter than its file has the audio of its last block, even if the file is never read ahead")
    func lastBlock() throws {
        let buffer = SourceBuffer(source: Self.source, isPaced: true)
        buffer.setTracks(video: true, audio: true)
        buffer.setStatus(.live, at: 0)
        for index in Int64(0)..<40 {
            buffer.push(
                try Canvases.solid(Canvases.colors[0], width: Self.width, height: Self.height),
                time: index * 33_333_333, arrival: nil)
        }
        let isOver = Mutex(false)
        DispatchQueue(label: "read").async {
            var position: Int64 = 0
            while !isOver.withLock({ $0 }) {
                // Never one sample pair more than the program waits for.
                buffer.waitUntilWanted({ isOver.withLock { $0 } }, audioWantedUntil: { -1_000_000 })
                buffer.push([Float](repeating: 0.25, count: 2 * 128), at: position, restart: position == 0)
                position += 128
            }
        }
        let audio = Mutex<[Float]>([])
        let stage = try Self.program(
            buffer, fps: 30, ticks: 10,
            ProgramStage.Outputs(
                picture: { _, _, _ in true }, audio: { block, _ in audio.withLock { $0 += block } },
                finished: { _ in }))
        stage.start(at: 0)
        stage.run()
        isOver.withLock { $0 = true }
        let heard = audio.withLock { $0 }
        // A third of a second is 15.6 blocks.
        #expect(heard.count == 16 * 1024 * 2)
        #expect(heard.suffix(2 * 512).allSatisfy { abs($0 - 0.25) < 0.001 })
    }

    @Test("an offline job shorter than its file gives the same frames and audio in each of twenty runs")
    func sameEachTime() throws {
        let job = Job(canvas: 30, source: 24, hasAudio: true)
        let first = try Self.run(job, ticks: 45)
        #expect(first.hasEnded && first.shades.count == 45 && first.audio.count == 71 * 1024 * 2)
        for _ in 1..<20 {
            let next = try Self.run(job, ticks: 45)
            #expect(next.shades == first.shades && next.audio == first.audio)
        }
    }

    // MARK: A job

    private struct Outcome: Sendable {
        var hasEnded = false
        /// Luma of the canvas, by tick.
        var shades: [Int] = []
        /// Largest magnitude of the samples of each block.
        var peaks: [Float] = []
        /// All audio, as interleaved stereo.
        var audio: [Float] = []
    }

    private static func shade(_ index: Int) -> Int { 32 + 3 * (index % 64) }

    private static func program(
        _ buffer: SourceBuffer, fps: Int, ticks: Int64?, _ outputs: ProgramStage.Outputs
    ) throws -> ProgramStage {
        let canvas = Canvas(width: Self.width, height: Self.height, fps: fps)
        let scene = Scene(
            sceneID: "one",
            panes: [Pane(source: Self.source, rect: Rect(x: 0, y: 0, width: Self.width, height: Self.height))],
            background: .black, transition: .cut)
        return ProgramStage(
            settings: ProgramStage.Settings(
                canvas: canvas, sampleRate: 48_000, rampMs: 1, isOffline: true, durationTicks: ticks),
            sources: [
                Self.source: ProgramStage.Source(buffer: buffer, name: "1", volume: 1, hold: 0, placeholder: nil)
            ], scene: scene, clock: ProgramClock(machine: StoppedClock()), machine: SystemClock(),
            outputs: outputs)
    }

    /// Runs a job like a room: one thread reads, one decodes, one composes.
    private static func run(_ job: Job, ticks: Int64?) throws -> Outcome {
        let items = try Self.file.get().items(job)
        let buffer = SourceBuffer(source: Self.source, isPaced: true)
        buffer.setTracks(video: true, audio: job.hasAudio)
        buffer.setStatus(.live, at: 0)
        let clock = ProgramClock(machine: StoppedClock())
        let decode = DecodeStage(
            settings: DecodeStage.Settings(source: Self.source, jitterBuffer: 0, offset: 0, sampleRate: 48_000),
            buffer: buffer, clock: clock, machine: SystemClock(), events: { _ in })
        let outcome = Mutex(Outcome())
        let program = try Self.program(
            buffer, fps: job.canvas, ticks: ticks,
            ProgramStage.Outputs(
                picture: { picture, _, _ in
                    let shade = Int(Canvases.color(picture, x: 32, y: 24).y)
                    outcome.withLock { $0.shades.append(shade) }
                    return true
                },
                audio: { block, _ in
                    let peak = block.reduce(0) { max($0, abs($1)) }
                    outcome.withLock {
                        $0.peaks.append(peak)
                        $0.audio += block
                    }
                }, finished: { _ in }))
        let ended = DispatchSemaphore(value: 0)
        DispatchQueue(label: "read").async { for item in items + [.end] { decode.put(item) } }
        DispatchQueue(label: "decode").async { decode.run { program.audioPosition } }
        DispatchQueue(label: "program").async {
            program.start(at: 0)
            program.run()
            ended.signal()
        }
        // A job that hangs is abandoned; others take milliseconds.
        let hasEnded = ended.wait(timeout: .now() + .seconds(20)) == .success
        program.stop()
        decode.stop()
        return outcome.withLock { outcome in
            outcome.hasEnded = hasEnded
            return outcome
        }
    }

    private struct StoppedClock: MonotonicClock {
        func now() -> Int64 { 0 }
    }

    /// Frames of one shade each, and a tone, encoded once for all jobs.
    private struct File: Sendable {
        var video: CodecParameters
        var frames: [CodedPacket]
        var audio: CodecParameters
        var audioPackets: [CodedPacket]

        /// Configurations, then packets in the order of their timestamps, as in a file.
        func items(_ job: Job) -> [SourceItem] {
            let frames = self.frames.prefix(OfflineRateTests.seconds * job.source).map { packet in
                var packet = packet
                // The encoder has several ticks per frame.
                packet.timescale = Int32(clamping: Int64(job.source) * VideoEncoder.ticksPerPicture)
                return packet
            }
            func time(_ packet: CodedPacket) -> Double { Double(packet.dts) / Double(packet.timescale) }
            let packets = frames + (job.hasAudio ? self.audioPackets : [])
            let sorted = packets.enumerated().sorted {
                (time($0.element), $0.offset) < (time($1.element), $1.offset)
            }
            let parameters = [self.video] + (job.hasAudio ? [self.audio] : [])
            return parameters.map { .configuration($0) } + sorted.map { .packet($0.element) }
        }
    }

    private static let file = Result { try Self.makeFile() }

    private static func makeFile() throws -> File {
        let encoder = try VideoEncoder.open(
            VideoEncoderSettings(
                width: Self.width, height: Self.height, fps: 60, preset: "superfast", profile: "main",
                bitrate: 1_500_000, maxBitrate: 1_500_000, bufferSize: 1_500_000, bFrames: 0, lookaheadFrames: 0,
                threads: 1), place: "test")
        var frames: [CodedPacket] = []
        for index in 0..<Self.seconds * 60 {
            let color = CanvasColor(y: UInt8(Self.shade(index)), cb: 128, cr: 128)
            let picture = try Canvases.solid(color, width: Self.width, height: Self.height)
            try encoder.encode(picture, pts: Int64(index), forceIDR: index % 15 == 0) { frames.append($0) }
        }
        try encoder.finish { frames.append($0) }
        let coder = try AudioEncoder.open(sampleRate: 48_000, bitrate: 128_000, place: "test")
        var audioPackets: [CodedPacket] = []
        // A tone of 375 Hz: whole periods in each block.
        let period = (0..<128).map { pair -> Float in
            pair < 64 ? 0.4 * Float(pair) / 64 : 0.4 * Float(128 - pair) / 64
        }
        let tone = (0..<1024).flatMap { pair in [period[pair % 128], period[pair % 128]] }
        for block in 0..<Self.seconds * 48_000 / 1024 {
            try coder.encode(tone[...], pts: Int64(block * 1024)) { audioPackets.append($0) }
        }
        try coder.finish { audioPackets.append($0) }
        let configuration = try #require(AVCRecord(annexB: encoder.parameterSets))
        return File(
            video: CodecParameters(codec: .h264, configuration: configuration.record), frames: frames,
            audio: CodecParameters(codec: .aac, configuration: coder.configuration), audioPackets: audioPackets)
    }
}
