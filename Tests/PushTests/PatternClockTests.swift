import MediaTypes
import Push
import Testing

@Suite("The clock in the test pattern")
struct PatternClockTests {
    @Test(
        "a time that is written into the test pattern is read back, modulo the clock's period",
        arguments: [0, 1, 1_048_575, 1_048_576, 1_795_262_400_123] as [Int64])
    func roundTrip(ms: Int64) {
        let bits = PatternClock.bits(of: ms)
        #expect(bits.count == PatternClock.count)
        #expect(PatternClock.value(of: bits) == ms % PatternClock.period)
    }

    @Test("if one block of the test pattern's clock is misread, no time is read")
    func wrongBlock() {
        for ms: Int64 in [0, 77_777, 654_321, 1_048_575] {
            let bits = PatternClock.bits(of: ms)
            for index in bits.indices {
                var wrong = bits
                wrong[index].toggle()
                #expect(PatternClock.value(of: wrong) == nil, "block \(index) of \(ms)")
            }
        }
        #expect(PatternClock.value(of: []) == nil)
        #expect(PatternClock.value(of: Array(repeating: false, count: PatternClock.count)) == nil)
    }

    @Test(
        "the blocks of the test pattern's clock lie in the middle half of the frame's width, below the frame counter",
        arguments: [(1280, 720), (720, 1280), (640, 360), (320, 180)])
    func place(width: Int, height: Int) {
        let first = PatternClock.block(0, width: width, height: height)
        let last = PatternClock.block(PatternClock.count - 1, width: width, height: height)
        let counter = PatternCode.block(0, width: width, height: height)
        #expect(first.x >= width / 4 && last.x + last.side <= width * 3 / 4)
        #expect(first.y >= counter.y + counter.side && last.y + last.side <= height * 9 / 10)
    }
}

@Suite("The test pattern as a publisher's input")
struct PatternInputTests {
    @Test(
        "each frame of the test pattern leaves its encoder before the next is drawn, so its clock measures the whole delay"
    )
    func zeroLatency() throws {
        let input = try PatternInput(pattern: TestPattern(name: "TEST", width: 160, height: 160))
        var frames: [Int64] = []
        while frames.count < 40 {
            let packet = try #require(try input.next())
            if packet.kind == .video {
                frames.append(packet.pts * 30 / Int64(packet.timescale))
            } else {
                // Audio is sent at its time: a frame that stayed in the encoder would come after it.
                #expect(packet.pts * 30 < Int64(frames.count + 1) * Int64(packet.timescale))
            }
        }
        #expect(frames == Array(0..<40))
    }
}
