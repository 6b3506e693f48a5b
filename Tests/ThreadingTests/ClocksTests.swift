import Threading
import Testing

@Suite("The clocks a room reads")
struct ClocksTests {
    @Test("the system's are the monotonic clock, the time of day and the CPU time of the process, each in its place")
    func system() {
        func isRead(_ clock: () -> Int64, between bound: () -> Int64) -> Bool {
            let before = bound()
            let time = clock()
            return (before...bound()).contains(time)
        }
        #expect(isRead({ Clocks.system.machine.now() }, between: { SystemClock().now() }))
        #expect(isRead({ Clocks.system.wall.now() }, between: { SystemClock.wallClock() }))
        #expect(isRead({ Clocks.system.processCPU.now() }, between: { SystemClock.processCPU() }))
    }
}
