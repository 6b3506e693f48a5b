import MediaTypes
import Program
import Testing

@Suite("The program clock")
struct ProgramClockTests {
    private struct StoppedClock: MonotonicClock {
        let time: Int64
        func now() -> Int64 { self.time }
    }

    @Test("the program clock has no time before its start, runs from then on, and can be started only once")
    func started() {
        let clock = ProgramClock(machine: StoppedClock(time: 5_000))
        #expect(clock.zero == nil && clock.now() == nil && clock.program(of: 9) == nil && clock.origin == nil)
        clock.start(at: 4_000, program: 1_000, origin: 77)
        #expect(clock.zero == 3_000 && clock.now() == 2_000 && clock.program(of: 2_999) == -1 && clock.origin == 77)
        clock.start(at: 1, program: 0, origin: 1)
        #expect(clock.zero == 3_000 && clock.origin == 77)
    }

    @Test("a thread that sees the program clock started sees the right start time")
    func seen() async {
        await withTaskGroup(of: Bool.self) { group in
            for round in 1...200 {
                let clock = ProgramClock(machine: StoppedClock(time: 0))
                group.addTask {
                    while true {
                        if let zero = clock.zero { return zero == Int64(round) }
                        await Task.yield()
                    }
                }
                group.addTask {
                    clock.start(at: Int64(round), program: 0)
                    return true
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }
}
