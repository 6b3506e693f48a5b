import Testing

/// Outside of ``EndToEnd``, since it starts no program.
@Suite("Time limits in tests: a miss is excused only if the machine was not steady")
struct TimingBarTests {
    private static let steady = Steadiness(worstPause: StallMeter.limit, stolen: StallMeter.stolenLimit)

    @Test(
        "a missed time limit fails the test on a steady machine, and also if the machine's steadiness was not measured")
    func fails() {
        #expect(TimingBar.verdict(isMet: false, Self.steady) == .failed)
        #expect(TimingBar.verdict(isMet: false, nil) == .failed)
    }

    @Test("a missed time limit is excused if the machine paused, or its CPU time was stolen, beyond a threshold")
    func excused() {
        var paused = Self.steady, stolen = Self.steady
        paused.worstPause += 0.01
        stolen.stolen += 0.1
        #expect(TimingBar.verdict(isMet: false, paused) == .excused)
        #expect(TimingBar.verdict(isMet: false, stolen) == .excused)
    }

    @Test("a time limit that is met passes, also on an unsteady machine or without a measurement of the machine")
    func met() {
        #expect(TimingBar.verdict(isMet: true, nil) == .met)
        #expect(TimingBar.verdict(isMet: true, Steadiness(worstPause: 9, stolen: 90)) == .met)
    }

    @Test("a missed time limit records an issue in a suite that does not measure the machine")
    func unmeasured() {
        withKnownIssue { expectTiming(2, atMost: 1, "seconds of a test") }
        withKnownIssue { expectTiming(1, atLeast: 2, "frames of a test") }
        withKnownIssue { expectTiming(3, in: 1...2, "seconds of a test") }
        withKnownIssue { expectOnTime(["late": 0, "lost": 1]) }
        withKnownIssue { expectOnTime(["late": 0]) }
        expectOnTime(["late": 3, "lost": 0], isLateAllowed: true)
    }

    @Test("a test with the trait .steadyMachine can read the measurement of the machine", .steadyMachine)
    func measured() throws {
        let steadiness = try #require(SteadyMachineTrait.measurement?.steadiness)
        #expect(steadiness.worstPause >= 0 && (0...100).contains(steadiness.stolen))
    }
}
