import Program
import Testing

@Suite("A publisher that sends nothing for a while")
struct StallWatchTests {
    private let ms: Int64 = 1_000_000

    @Test("it is stalled once after the time given, and goes on at the next packet")
    func stalls() {
        var watch = StallWatch(stall: 1_000 * self.ms)
        let early = watch.isStalled(at: 0)
        #expect(!early, "nobody has published")
        let resumesAtFirst = watch.packetCame(at: 100 * self.ms)
        #expect(!resumesAtFirst)
        var stalls: [Int64] = []
        for at in stride(from: Int64(100), to: 30_000, by: 50) where watch.isStalled(at: at * self.ms) {
            stalls.append(at)
        }
        #expect(stalls == [1_150])
        let resumed = [watch.packetCame(at: 30_000 * self.ms), watch.packetCame(at: 30_020 * self.ms)]
        #expect(resumed == [true, false])
    }

    @Test("a process that was stopped itself says nothing about its publishers until they have had their time")
    func ownAbsence() {
        var watch = StallWatch(stall: 1_000 * self.ms)
        _ = watch.packetCame(at: 0)
        let inTime = watch.isStalled(at: 50 * self.ms)
        #expect(!inTime)
        var stalls: [Int64] = []
        for at in stride(from: Int64(20_050), to: 22_000, by: 50) where watch.isStalled(at: at * self.ms) {
            stalls.append(at)
        }
        #expect(stalls == [21_100])
    }

    @Test("after the publication nothing stalls")
    func reset() {
        var watch = StallWatch(stall: 1_000 * self.ms)
        _ = watch.packetCame(at: 0)
        watch.reset()
        let afterwards = watch.isStalled(at: 5_000 * self.ms)
        #expect(!afterwards)
    }
}

@Suite("Pictures a second: no more than the program has a use for")
struct PictureGateTests {
    private func passed(fps: Double, limit: Int, seconds: Int = 10) -> Int {
        var gate = PictureGate(fps: limit)
        // Whole milliseconds, as RTMP has them.
        return (0..<Int(fps * Double(seconds))).count { gate.passes(Int64(Double($0) * 1000 / fps) * 1_000_000) }
    }

    @Test(
        "every picture of a source up to the limit passes, in spite of whole milliseconds",
        arguments: [15, 24, 30, 59.94, 60])
    func upToTheLimit(fps: Double) {
        #expect(self.passed(fps: fps, limit: 60) == Int(fps * 10))
    }

    @Test("a faster source is thinned to the limit", arguments: [75, 90, 120, 144, 240])
    func faster(fps: Double) {
        #expect((560...610).contains(self.passed(fps: fps, limit: 60)))
    }

    @Test("times that jump pass and begin anew")
    func jumps() {
        var gate = PictureGate(fps: 60)
        for time in [0, 10_000_000_000, -5_000_000_000, .max] as [Int64] {
            let passes = gate.passes(time)
            #expect(passes)
        }
    }
}

@Suite("A tick loop that was stopped with its machine")
struct CatchUpTests {
    private let second: Int64 = 1_000_000_000

    @Test("over a second behind it makes up its ticks, until it is in time again")
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

    @Test("a ladder that is too slow is given up on, once")
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
