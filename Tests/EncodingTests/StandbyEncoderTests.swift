import Dispatch
import Encoding
import HLS
import LibAV
import MediaTypes
import Synchronization
import TestSupport
import Testing

@Suite("libx264 on standby for a hardware encoder")
struct StandbyEncoderTests {
    enum Fault: Sendable, Hashable {
        case none, opensNot
        /// From this frame on: calls throw, no packets come, or a call does not return.
        case throwing(Int64), silent(Int64), stalled(Int64)
        /// Only for this frame: its packet is missing, or is not a key frame although one was requested.
        case skips(Int64), withoutKey(Int64)
        /// The last frames, from this one on, have no packets at the end.
        case forgets(Int64)
        /// The call for this frame outputs its packet, then throws.
        case throwsAfter(Int64)
        /// The encoder works, but every third wait for a call ends at once, as if the process had been stopped during it.
        case hurried
    }

    /// Whether a call of the fake encoder hangs, a semaphore that lets it return, and the number of waits so far.
    private final class StallFlag: Sendable {
        let value = Atomic<Bool>(false)
        let end = DispatchSemaphore(value: 0)
        let waits = Atomic<Int>(0)
    }

    /// A fake hardware encoder, made of libx264.
    private final class Fake: FrameEncoder {
        private let encoder: VideoEncoder
        private let fault: Fault
        private let stall: StallFlag

        init(_ encoder: VideoEncoder, _ fault: Fault, _ stall: StallFlag) {
            (self.encoder, self.fault, self.stall) = (encoder, fault, stall)
        }

        var parameterSets: [UInt8] { self.encoder.parameterSets }

        func encode(
            _ picture: Picture, pts: Int64, forceIDR: Bool, forceP: Bool, _ body: (CodedPacket) -> Void
        ) throws(MediaError) {
            var isKept = true
            var hidesKey = false
            switch self.fault {
            case .throwing(let first) where pts >= first:
                throw MediaError(.rejected, "the device is gone", at: "fake", fix: "none")
            case .silent(let first) where pts >= first: isKept = false
            case .forgets(let first) where pts >= first: isKept = false
            case .skips(let frame) where pts == frame: isKept = false
            case .withoutKey(let frame) where pts == frame: hidesKey = true
            case .stalled(let first) where pts >= first:
                self.stall.value.store(true, ordering: .releasing)
                self.stall.end.wait()
            default: break
            }
            try self.encoder.encode(picture, pts: pts, forceIDR: forceIDR, forceP: forceP) { packet in
                var packet = packet
                if hidesKey { packet.isKey = false }
                if isKept { body(packet) }
            }
            if self.fault == .throwsAfter(pts) {
                throw MediaError(.rejected, "the device is gone", at: "fake", fix: "none")
            }
        }

        func finish(_ body: (CodedPacket) -> Void) throws(MediaError) { try self.encoder.finish(body) }
    }

    private enum TrackEvent: Equatable {
        case packet(pts: Int64, dts: Int64, isKey: Bool)
        case configuration(EncodingStage.Reconfiguration)
        case fellBack(EncoderFallback)
    }

    private struct Outcome {
        var events: [TrackEvent]
        var parameters: CodecParameters
        var initialization: CodecParameters
        var fallback: EncoderFallback?
        var failures: [MediaError]
        /// Whether the rendition's bit rates fit the initialization segment, after the last frame.
        var takesSameRates: Bool
    }

    private static func rendition(_ width: Int, fallsBackAtStart: Bool = false) -> EncodedRendition {
        var settings = VideoEncoderSettings(
            width: width, height: width * 9 / 16, fps: 30, preset: "veryfast", profile: "high", bitrate: 300_000,
            maxBitrate: 360_000, bufferSize: 360_000, bFrames: 0, lookaheadFrames: 0, threads: 1)
        settings.implementation = .nvenc
        var rendition = EncodedRendition(name: "180p", settings: settings)
        rendition.fallsBackAtStart = fallsBackAtStart
        return rendition
    }

    private static func encoders(_ fault: Fault, _ stall: StallFlag) -> LadderEncoders {
        var encoders = LadderEncoders(
            video: { settings, place throws(MediaError) in
                guard settings.implementation.isHardware else {
                    return try VideoEncoder.open(settings, place: place)
                }
                if fault == .opensNot {
                    throw MediaError(.unavailable, "no device", at: place, fix: settings.implementation.remedy)
                }
                var own = settings
                own.implementation = .libx264
                return Fake(try VideoEncoder.open(own, place: place), fault, stall)
            },
            audio: { sampleRate, bitrate, place throws(MediaError) in
                try AudioEncoder.open(sampleRate: sampleRate, bitrate: bitrate, place: place)
            })
        // A call times out exactly if the fake encoder stalls in it.
        encoders.wait = { semaphore, milliseconds in
            if fault == .hurried, milliseconds < 1_000, stall.waits.add(1, ordering: .relaxed).newValue % 3 == 0 {
                return false
            }
            for _ in 0..<20_000 {
                if semaphore.wait(timeout: .now() + .milliseconds(1)) == .success { return true }
                if stall.value.load(ordering: .acquiring) { return false }
            }
            return false
        }
        return encoders
    }

    /// Encodes 100 frames with a GOP of 32.
    ///
    /// - Parameter rates: Bit rates from the second GOP on; `nil`: unchanged.
    private static func run(
        _ fault: Fault, fallsBackAtStart: Bool = false, rates: BitRates? = nil
    ) throws -> Outcome {
        let events = Mutex<[TrackEvent]>([])
        let failures = Mutex<[MediaError]>([])
        let stall = StallFlag()
        defer { stall.end.signal() }
        var output = EncodingStage.Output(
            packet: { track, packet in
                guard track == 0 else { return }
                events.withLock {
                    $0.append(.packet(pts: packet.pts / 1_000, dts: packet.dts / 1_000, isKey: packet.isKey))
                }
            },
            configuration: { _, change in events.withLock { $0.append(.configuration(change)) } },
            finished: { _ in }, failed: { error in failures.withLock { $0.append(error) } })
        let fallen = Mutex<EncoderFallback?>(nil)
        output.fellBack = { _, fallback in fallen.withLock { $0 = fallback } }
        var settings = EncodingStage.Settings(
            width: 320, height: 180, fps: 30, gopFrames: 32, sampleRate: 48_000, audioBitrates: [64_000],
            isOffline: true)
        settings.encoders = Self.encoders(fault, stall)
        let ladder = try EncodingStage.open(
            renditions: [Self.rendition(320, fallsBackAtStart: fallsBackAtStart)], settings: settings, output: output)
        if let rates { ladder.control.setRates(rates, track: 0) }
        let picture = try PictureCanvas.open(width: 320, height: 180, fill: .black).finish()
        for tick in Int64(0)..<100 { #expect(ladder.put(picture, tick: tick)) }
        ladder.finish()
        if let fallback = fallen.withLock({ $0 }) { #expect(ladder.control.fallbacks[0] == fallback) }
        return Outcome(
            events: events.withLock { $0 }, parameters: ladder.parameters[0],
            initialization: ladder.initializations[0], fallback: ladder.control.fallbacks[0],
            failures: failures.withLock { $0 },
            takesSameRates: try ladder.takes(ladder.renditions[0].settings.rates, track: 0))
    }

    private static func packets(_ events: [TrackEvent]) -> [TrackEvent] {
        events.filter { if case .packet = $0 { true } else { false } }
    }

    private static func expected(keys: Set<Int64>) -> [TrackEvent] {
        (0..<100).map { .packet(pts: $0, dts: $0, isKey: keys.contains($0)) }
    }

    @Test(
        "a hardware encoder that works encodes every frame; the initialization segment has libx264's parameter sets too"
    )
    func works() throws {
        let outcome = try Self.run(.none)
        #expect(outcome.events == Self.expected(keys: [0, 32, 64, 96]))
        #expect(outcome.fallback == nil && outcome.failures.isEmpty && outcome.takesSameRates)
        let both = try #require(AVCConfiguration(extradata: outcome.initialization.configuration))
        let own = try #require(AVCConfiguration(extradata: outcome.parameters.configuration))
        #expect(both.sequenceParameterSets.count == 2 && both.pictureParameterSets.count == 2)
        #expect(both.sequenceParameterSets.contains(own.sequenceParameterSets[0]))
    }

    @Test(
        "if a hardware encoder fails, libx264 continues with an IDR frame at the first one without a packet; none is lost, the grid stays",
        arguments: [
            (Fault.throwing(40), 40), (.throwing(0), 0), (.throwing(64), 64), (.silent(40), 40), (.stalled(40), 40),
            (.skips(40), 40), (.withoutKey(64), 64), (.forgets(95), 95), (.forgets(99), 99), (.throwsAfter(40), 41),
        ] as [(Fault, Int64)])
    func midstream(fault: Fault, first: Int64) throws {
        let outcome = try Self.run(fault)
        #expect(Self.packets(outcome.events) == Self.expected(keys: [0, 32, 64, 96, first]))
        #expect(outcome.failures.isEmpty && outcome.takesSameRates)
        let fallback = try #require(outcome.fallback)
        #expect(fallback.from == .nvenc && fallback.tick == first)
        // The configuration changes once, right before the first packet of libx264, without a new initialization.
        let changes = outcome.events.enumerated().filter { if case .packet = $0.element { false } else { true } }
        try #require(changes.count == 1 && changes[0].offset == Int(first))
        guard case .configuration(let change) = changes[0].element else { return }
        #expect(change.tick == first && change.initialization == outcome.initialization && change.isPassed == nil)
        #expect(change.parameters != outcome.parameters && change.width == 320 && change.height == 180)
    }

    @Test("if a hardware encoder fails right before its bit rates change, the change to libx264 is reported once")
    func failsBeforeNewRates() throws {
        let rates = BitRates(bitrate: 310_000, maxBitrate: 360_000, bufferSize: 360_000)
        let outcome = try Self.run(.throwsAfter(31), rates: rates)
        #expect(Self.packets(outcome.events) == Self.expected(keys: [0, 32, 64, 96]))
        #expect(outcome.failures.isEmpty && outcome.fallback?.tick == 32)
        let changes = outcome.events.enumerated().filter { if case .packet = $0.element { false } else { true } }
        try #require(changes.count == 1 && changes[0].offset == 32)
        guard case .configuration(let change) = changes[0].element else { return }
        #expect(change.tick == 32 && change.initialization == outcome.initialization)
    }

    @Test(
        "if waits for calls of a hardware encoder end early, as for a stopped process, the encoder does not count as failed"
    )
    func hurried() throws {
        let outcome = try Self.run(.hurried)
        #expect(outcome.events == Self.expected(keys: [0, 32, 64, 96]))
        #expect(outcome.fallback == nil && outcome.failures.isEmpty)
    }

    @Test("a hardware encoder that cannot be opened throws an error with the encoder's remedy")
    func refused() {
        #expect {
            _ = try Self.run(.opensNot)
        } throws: { error in
            let error = error as? MediaError
            return error?.code == .unavailable && error?.fix == H264Implementation.nvenc.remedy
        }
    }

    @Test("a hardware encoder that does not open is replaced by libx264 at the start if the rendition allows it")
    func replaced() throws {
        let outcome = try Self.run(.opensNot, fallsBackAtStart: true)
        #expect(outcome.events == Self.expected(keys: [0, 32, 64, 96]))
        let fallback = try #require(outcome.fallback)
        #expect(fallback.from == .nvenc && fallback.tick == nil && fallback.error.code == .unavailable)
        #expect(outcome.initialization == outcome.parameters && outcome.takesSameRates)
    }

    @Test("a rendition with a hardware encoder sleeps and wakes: libx264 was opened only once, for its parameter sets")
    func wakes() async throws {
        let opened = Mutex(0)
        var settings = EncodingStage.Settings(
            width: 320, height: 180, fps: 30, gopFrames: 16, sampleRate: 48_000, audioBitrates: [64_000],
            isOffline: false)
        settings.sleepTicks = 32
        settings.encoders = Self.encoders(.none, StallFlag())
        let video = settings.encoders.video
        settings.encoders.video = { settings, place throws(MediaError) in
            if !settings.implementation.isHardware { opened.withLock { $0 += 1 } }
            return try video(settings, place)
        }
        let ladder = try EncodingStage.open(
            renditions: [Self.rendition(320)], settings: settings,
            output: EncodingStage.Output(packet: { _, _ in }, finished: { _ in }, failed: { Issue.record($0) }))
        let picture = try PictureCanvas.open(width: 320, height: 180, fill: .black).finish()
        ladder.control.setAsleep([0])
        for tick in Int64(0)..<40 { #expect(ladder.put(picture, tick: tick)) }
        try await waitUntil("the rendition sleeps", { ladder.control.sleepingTracks }) { $0 == [0] }
        ladder.control.setAsleep([])
        for tick in Int64(40)..<80 { #expect(ladder.put(picture, tick: tick)) }
        try await waitUntil("the rendition is encoded again", { ladder.control.sleepingTracks }) { $0 == [] }
        ladder.finish()
        #expect(opened.withLock { $0 } == 1)
    }

    @Test("slate for a rendition with a hardware encoder is encoded by libx264 and fits the initialization segment")
    func slate() throws {
        let stall = StallFlag()
        var settings = EncodingStage.Settings(
            width: 320, height: 180, fps: 30, gopFrames: 32, sampleRate: 48_000, audioBitrates: [64_000],
            isOffline: false)
        settings.encoders = Self.encoders(.throwing(0), stall)
        let ladder = try EncodingStage.open(
            renditions: [Self.rendition(320)], settings: settings,
            output: EncodingStage.Output(packet: { _, _ in }, finished: { _ in }, failed: { Issue.record($0) }))
        defer { ladder.finish() }
        let picture = try PictureCanvas.open(width: 320, height: 180, fill: .black).finish()
        let coded = try SlateEncoder.code(picture, frames: 8, like: ladder)
        #expect(coded[0].count == 8 && coded[0].filter(\.isKey).count == 1)
        #expect(ladder.control.fallbacks.isEmpty)
    }
}
