import Program
import Synchronization
import Testing

@Suite("SourceDemand: whether the program shows or plays a source")
struct SourceDemandTests {
    @Test("an observer of a source's demand gets the current value at once, and then each change")
    func away() {
        let need = SourceDemand()
        need.setAway(true)
        let heard = Mutex([Bool]())
        need.watchAway { isAway in heard.withLock { $0.append(isAway) } }
        #expect(heard.withLock { $0 } == [true])
        need.setAway(true)
        need.setAway(false)
        need.setAway(false)
        need.setHidden(true)
        need.setAway(true)
        #expect(heard.withLock { $0 } == [true, false, true])
        #expect(need.isAway && need.isHidden)
    }
}
