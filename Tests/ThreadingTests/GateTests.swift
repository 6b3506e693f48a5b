import Threading
import Synchronization
import Testing

@Suite("Gate: runs closures until it is closed")
struct GateTests {
    @Test("Gate runs a closure at once while it is open, and does not run it after close()")
    func closed() {
        let gate = Gate()
        var passed = 0
        #expect(gate.pass { passed += 1 })
        #expect(passed == 1)
        gate.close()
        #expect(!gate.pass { passed += 1 })
        gate.close()
        #expect(passed == 1)
    }

    /// Whether close() has returned, after which the resource behind the gate ends.
    private final class End: Sendable {
        let hasCome = Atomic<Bool>(false)
    }

    @Test("Gate runs no closure after close() has returned, even if four threads use it meanwhile")
    func waits() async {
        let gate = Gate()
        let end = End()
        // Each closure either runs before the end, or does not run at all.
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    var sawEnd = false
                    for _ in 0..<20_000 { gate.pass { if end.hasCome.load(ordering: .acquiring) { sawEnd = true } } }
                    return sawEnd
                }
            }
            group.addTask {
                gate.close()
                end.hasCome.store(true, ordering: .releasing)
                return false
            }
            for await sawEnd in group { #expect(!sawEnd) }
        }
    }
}
