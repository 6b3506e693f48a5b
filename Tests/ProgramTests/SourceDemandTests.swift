import Program
import Synchronization
import Testing

@Suite("What the program needs of a source")
struct SourceNeedTests {
    @Test("who watches whether a source is away hears how it is at once, and of every change and nothing else")
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
