import LibAV
import MediaTypes
import Program
import Threading
import Testing

@Suite("Maximum frame rate of a source")
struct FrameRateLimiterTests {
    private func passed(fps: Double, limit: Int, seconds: Int = 10) -> Int {
        var gate = FrameRateLimiter(fps: limit)
        // Whole milliseconds, as in RTMP.
        return (0..<Int(fps * Double(seconds))).count { gate.passes(Int64(Double($0) * 1000 / fps) * 1_000_000) }
    }

    @Test(
        "every frame of a source of up to 60 fps passes a limit of 60, despite whole-millisecond timestamps",
        arguments: [15, 24, 30, 59.94, 60])
    func upToTheLimit(fps: Double) {
        #expect(self.passed(fps: fps, limit: 60) == Int(fps * 10))
    }

    @Test(
        "of a source faster than 60 fps, 56 to 61 frames per second pass a limit of 60",
        arguments: [75, 90, 120, 144, 240])
    func faster(fps: Double) {
        #expect((560...610).contains(self.passed(fps: fps, limit: 60)))
    }

    @Test("the frame after each timestamp jump passes the frame rate limit")
    func jumps() {
        var gate = FrameRateLimiter(fps: 60)
        for time in [0, 10_000_000_000, -5_000_000_000, .max] as [Int64] {
            let passes = gate.passes(time)
            #expect(passes)
        }
    }
}

@Suite("A tick loop after its machine was suspended")
struct CatchUpTests {
    private let second: Int64 = 1_000_000_000

    @Test("a tick loop more than a second late catches up on its missed ticks until it is on time")
    func catchesUp() {
        var catchUp = CatchUp()
        let oversleeping = catchUp.noted(lag: self.second / 2, at: 0)
        #expect(!oversleeping && !catchUp.isActive)
        let began = catchUp.noted(lag: 20 * self.second, at: 20 * self.second)
        #expect(began && catchUp.isActive)
        let almost = catchUp.noted(lag: self.second / 2, at: 27 * self.second)
        #expect(!almost && catchUp.isActive)
        let ended = catchUp.noted(lag: self.second / 20, at: 28 * self.second)
        #expect(ended && !catchUp.isActive)
    }

    @Test("if a late tick loop does not get closer to real time, it stops catching up, which is reported once")
    func givesUp() {
        var catchUp = CatchUp()
        _ = catchUp.noted(lag: 2 * self.second, at: 0)
        let gaveUp = catchUp.noted(lag: 5 * self.second, at: 17 * self.second)
        #expect(gaveUp && !catchUp.isActive)
        let behindAgain = catchUp.noted(lag: 6 * self.second, at: 18 * self.second)
        #expect(!behindAgain && !catchUp.isActive)
        _ = catchUp.noted(lag: 0, at: 19 * self.second)
        let again = catchUp.noted(lag: 2 * self.second, at: 60 * self.second)
        #expect(again && catchUp.isActive)
    }
}

@Suite("Audio of a program at a low frame rate")
struct LongTickTests {
    /// Used only by the program's thread, and read after it has ended.
    private final class Outcome: @unchecked Sendable {
        // @unchecked Sendable: see above; the program's thread is the test's.
        /// End of the audio mixed so far, in sample pairs.
        var mixed: Int64 = 0
        var mixedAtPicture: Int64?
    }

    private struct StoppedClock: MonotonicClock { func now() -> Int64 { 0 } }

    @Test(
        "at program frame rates of 1 to 60 fps, live audio is mixed at most 50 ms ahead, and no block is missing",
        arguments: [1, 5, 10, 15, 19, 20, 30, 60])
    func steps(fps: Int) throws {
        let outcome = Outcome()
        let clock = ProgramClock(machine: StoppedClock())
        let stage = ProgramStage(
            settings: ProgramStage.Settings(
                canvas: Canvas(width: 64, height: 64, fps: fps), sampleRate: 48_000, rampMs: 20, isOffline: false,
                durationTicks: 1),
            sources: [:], scene: Scene(sceneID: "empty", panes: [], background: .black), clock: clock,
            machine: SystemClock(),
            outputs: ProgramStage.Outputs(
                picture: { _, _, _ in
                    outcome.mixedAtPicture = outcome.mixed
                    return true
                }, audio: { _, position in outcome.mixed = position + AudioMixer.blockPairs }, finished: { _ in }))
        clock.start(at: 0, program: 0)
        stage.start(at: 0)
        // Time zero is long past: no tick is waited for.
        stage.run()
        let ahead = try #require(outcome.mixedAtPicture)
        #expect(ahead <= 48_000 / 20)
        // A source's audio must be at least that far ahead.
        let lead = ProgramStage.audioLead(fps: fps, sampleRate: 48_000)
        #expect(AudioMixer.wantedUntil(blockEnd: ahead) * TimeMath.nanoseconds / 48_000 <= lead)
        #expect(lead <= 56_000_000)
        #expect((48_000 / Int64(fps)..<48_000 / Int64(fps) + AudioMixer.blockPairs).contains(outcome.mixed))
    }
}
