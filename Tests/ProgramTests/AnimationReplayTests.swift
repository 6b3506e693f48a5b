import LibAV
import MediaKernels
import Program
import Testing

@Suite("Replay of a recorded animation")
struct AnimationReplayTests {
    /// An animation of frames of different widths, 10 ns each, with blocks of audio.
    private static func animation(frames: Int, audio: [Int64] = [], audioEnd: Int64 = 0) throws -> RecordedAnimation {
        var animation = RecordedAnimation()
        var scratch: [UInt8] = []
        for index in 0..<frames {
            let picture = try Sprite(width: 2 * (index + 1), height: 2).picture()
            let packed = picture.packed(scratch: &scratch)
            animation.add(try #require(packed), at: Int64(10 * index))
        }
        for time in audio { animation.add([Float(time), 0], at: time) }
        animation.videoEnd = Int64(10 * frames)
        animation.audioEnd = audioEnd
        return animation
    }

    @Test("a replay shows each frame once, the last one that is due, in every loop")
    func frames() throws {
        var replay = AnimationReplay(try Self.animation(frames: 3), from: 100, loops: 2)
        #expect(replay.frame(by: 99) == nil)
        #expect(replay.frame(by: 100)?.width == 2)
        #expect(replay.frame(by: 109) == nil)
        #expect(replay.frame(by: 125)?.width == 6, "the second one was skipped")
        #expect(replay.frame(by: 129) == nil)
        #expect(replay.frame(by: 130)?.width == 2)
        #expect(replay.frame(by: 1_000)?.width == 6)
        #expect(replay.frame(by: 2_000) == nil)
        #expect(replay.end.video == 160 && replay.end.all == 160)
    }

    @Test("a replay's loop lasts as long as the longer of video and audio, and its audio comes in order")
    func audio() throws {
        var replay = AnimationReplay(
            try Self.animation(frames: 2, audio: [-5, 15], audioEnd: 40), from: 0, loops: 2)
        #expect(replay.end.video == 60 && replay.end.all == 80)
        var heard: [[Int64]] = []
        while let next = replay.nextAudio(before: 50) { heard.append([next.base, next.audio.time]) }
        #expect(heard == [[0, -5], [0, 15], [40, -5]])
        #expect(replay.nextAudio(before: 55) == nil)
        #expect(replay.nextAudio(before: 56)?.audio.samples == [15, 0])
        #expect(replay.nextAudio(before: .max) == nil)
        #expect(replay.frame(by: 39)?.width == 4)
        #expect(replay.frame(by: 40)?.width == 2)
    }

    @Test("an animation without frames, or with more loops than allowed, is replayed without a trap")
    func extremes() throws {
        var empty = AnimationReplay(RecordedAnimation(), from: .max, loops: .max)
        #expect(empty.frame(by: .max) == nil)
        #expect(empty.nextAudio(before: .max) == nil)
        var long = try Self.animation(frames: 1)
        long.videoEnd = .max
        var replay = AnimationReplay(long, from: 5, loops: 100)
        #expect(replay.frame(by: 5) != nil)
    }
}
