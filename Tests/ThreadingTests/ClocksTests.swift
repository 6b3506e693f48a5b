import Threading
import Testing

@Suite("Clocks of a room")
struct ClocksTests {
    @Test("Clocks.system reads the monotonic clock, the time of day and the CPU time of the process")
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
