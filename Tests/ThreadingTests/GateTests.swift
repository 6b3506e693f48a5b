import Threading
import Synchronization
import Testing

@Suite("A way that is closed")
struct GateTests {
    @Test("what passes is done at once, and nothing passes any more when it is closed")
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

    /// Whether what is behind the gate is over.
    private final class End: Sendable {
        let hasCome = Atomic<Bool>(false)
    }

    @Test("whoever closes it waits for whoever is passing")
    func waits() async {
        let gate = Gate()
        let end = End()
        // Each of many passes with the end not yet come, or does not pass at all.
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
