import MediaTypes
import Room
import RoomAPI
import RoomSources
import Testing

@Suite("Publishers refused for some time by kick or quarantine")
struct SourceRefusalsTests {
    private static let a = SourceID(uid: "1001")
    private static let b = SourceID(uid: "2002")

    @Test("a kick refuses its source until its end, and no other source")
    func kick() {
        var refusals = SourceRefusals()
        let kick = refusals.kick(Self.a, until: 100)
        #expect(kick == .refused)
        #expect(refusals.refusal(of: Self.a, at: 99) == SourceRefusal(reason: .kicked, until: 100))
        #expect(!refusals.isRefused(Self.a, at: 100))
        #expect(!refusals.isRefused(Self.b, at: 99))
    }

    @Test("a shorter kick replaces a longer one, and a kick with a refusal time of zero lifts it")
    func replaced() {
        var refusals = SourceRefusals()
        let kicks = [refusals.kick(Self.a, until: 100), refusals.kick(Self.a, until: 50)]
        #expect(kicks == [.refused, .refused])
        #expect(!refusals.isRefused(Self.a, at: 50))
        let lifted = refusals.kick(Self.a, until: nil)
        #expect(lifted == .lifted)
        #expect(!refusals.isRefused(Self.a, at: 0) && refusals.all.isEmpty)
    }

    @Test(
        "a kick does not shorten a quarantine; a longer kick replaces it, and a kick with a refusal time of zero lifts it"
    )
    func quarantine() {
        var refusals = SourceRefusals()
        refusals.quarantine(Self.a, until: 300, codec: "h264")
        let shorter = refusals.kick(Self.a, until: 299)
        #expect(shorter == .quarantined(until: 300))
        #expect(
            refusals.refusal(of: Self.a, at: 299) == SourceRefusal(reason: .quarantined, until: 300, codec: "h264"))
        let longer = refusals.kick(Self.a, until: 301)
        #expect(longer == .refused)
        #expect(refusals.refusal(of: Self.a, at: 300)?.reason == .kicked)
        refusals.quarantine(Self.b, until: 300, codec: "aac")
        let lifted = refusals.kick(Self.b, until: nil)
        #expect(lifted == .lifted && !refusals.isRefused(Self.b, at: 0))
    }

    @Test("a kick from the worker before is restored only if it has not ended")
    func restored() {
        var refusals = SourceRefusals()
        let isOver = refusals.restoreKick(of: Self.a, until: 100, now: 100)
        let isKept = refusals.restoreKick(of: Self.b, until: 101, now: 100)
        #expect(!isOver && isKept)
        #expect(refusals.all == [Self.b: SourceRefusal(reason: .kicked, until: 101)])
    }

    @Test(
        "a source with a restored kick and a quarantine is refused until the later end, in whichever order they are set"
    )
    func later() {
        for (kickEnd, quarantineEnd) in [(100, 300), (300, 100)] as [(Int64, Int64)] {
            var (kickFirst, quarantineFirst) = (SourceRefusals(), SourceRefusals())
            let isKept = kickFirst.restoreKick(of: Self.a, until: kickEnd, now: 0)
            kickFirst.quarantine(Self.a, until: quarantineEnd, codec: "h264")
            quarantineFirst.quarantine(Self.a, until: quarantineEnd, codec: "h264")
            let isKeptToo = quarantineFirst.restoreKick(of: Self.a, until: kickEnd, now: 0)
            #expect(isKept && isKeptToo)
            #expect(kickFirst == quarantineFirst)
            #expect(kickFirst.isRefused(Self.a, at: 299) && !kickFirst.isRefused(Self.a, at: 300))
        }
    }

    @Test("a removed source drops its kick and keeps its quarantine")
    func removed() {
        var refusals = SourceRefusals()
        let kick = refusals.kick(Self.a, until: 100)
        refusals.quarantine(Self.b, until: 100, codec: "h264")
        for source in [Self.a, Self.b] { refusals.remove(source) }
        #expect(kick == .refused && refusals.quarantines.map(\.source) == [Self.b])
        #expect(refusals.all.count == 1)
    }

    @Test("ended refusals are removed, and quarantines are listed in the order of their sources")
    func listed() {
        var refusals = SourceRefusals()
        for (uid, end) in [("3", 300), ("1", 100), ("2", 200)] as [(String, Int64)] {
            refusals.quarantine(SourceID(uid: uid), until: end, codec: uid)
        }
        #expect(refusals.quarantines.map(\.refusal.codec) == ["1", "2", "3"])
        refusals.removeEnded(at: 100)
        #expect(refusals.quarantines.map(\.source.uid) == ["2", "3"])
    }
}
