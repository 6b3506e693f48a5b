import LibAV
import Testing

@Suite("ReadLimit: MPEG-TS bytes that may be read without completing an access unit")
struct ReadLimitTests {
    @Test("a valid MPEG-TS stream with access units of 180 bytes to 8 MiB never exceeds the read limit")
    func honest() {
        for (unit, sent) in [(180, 940), (8_000, 8_648), (1 << 20, 1_100_000), (8 << 20, 8_800_000)] as [(Int64, Int64)]
        {
            var budget = ReadLimit()
            for index in 1...Int64(100_000) where !budget.noted(unit: unit, total: index * sent, settlesAll: false) {
                Issue.record("\(unit) bytes in \(sent): ended after \(index) units")
                return
            }
        }
    }

    @Test("the read limit ends a stream whose video frame never ends, although its audio frames are complete")
    func hidden() throws {
        var budget = ReadLimit()
        let units = try #require(
            (1...Int64(10_000)).first { !budget.noted(unit: 180, total: $0 * 100_000, settlesAll: false) })
        #expect((units * 100_000 - ReadLimit.most).magnitude < 1_000_000)
    }

    @Test("an access unit of 32 MB resets the read limit's count when it is complete")
    func large() {
        var budget = ReadLimit()
        var answers: [Bool] = []
        var total: Int64 = 0
        for _ in 0..<8 {
            for _ in 0..<320 {
                total += 100_000
                answers.append(budget.noted(unit: 180, total: total, settlesAll: false))
            }
            answers.append(budget.noted(unit: 32_000_000, total: total, settlesAll: false))
        }
        #expect(answers.allSatisfy { $0 })
    }

    @Test("1 GB of MPEG-TS stuffing between complete frames does not exceed the read limit")
    func stuffing() {
        var budget = ReadLimit()
        let answers = (1...Int64(10_000)).map {
            budget.noted(unit: 2_000, total: $0 * 100_000, settlesAll: true)
        }
        #expect(answers.allSatisfy { $0 })
    }

    @Test(
        "audio bytes that complete no frame may be 128 KiB after the first audio frame, and the whole read limit before it"
    )
    func audio() {
        for (open, hasBegun, isAllowed) in [
            (0, true, true), (128 << 10, true, true), (128 << 10 + 1, true, false), (128 << 10 + 1, false, true),
            (ReadLimit.most, false, true), (ReadLimit.most + 1, false, false), (Int64.max, false, false),
        ] as [(Int64, Bool, Bool)] {
            #expect(ReadLimit.allows(audio: open, hasBegun: hasBegun) == isAllowed, "\(open) \(hasBegun)")
        }
    }
}
