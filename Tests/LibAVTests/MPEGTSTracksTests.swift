import LibAV
import MediaTypes
import Testing

@Suite("Numbers of a transport stream's tracks: ISO/IEC 13818-1 §2.4.4.8")
struct TransportTracksTests {
    @Test("what comes in place of streams that the tables name no more has their numbers, and they have none")
    func replaced() {
        var tracks = MPEGTSTracks()
        var named: Set<Int32> = [0, 1, 2]
        func number(_ index: Int32, _ kind: TrackKind) -> UInt8? {
            tracks.number(of: index, kind) { named.contains($0) }
        }
        #expect(number(0, .video) == 0 && number(1, .audio) == 0 && number(2, .audio) == 1)
        named = [3, 4]
        // What was still on its way before anything of the new ones has come.
        #expect(number(0, .video) == 0)
        #expect(number(3, .video) == 0 && number(4, .audio) == 0)
        #expect(number(0, .video) == nil && number(1, .audio) == nil && number(2, .audio) == nil)
        #expect(number(3, .video) == 0 && number(4, .audio) == 0)
        named = [0, 1, 2]
        #expect(number(1, .audio) == 0 && number(2, .audio) == 1 && number(0, .video) == 0, "back again")
        #expect(number(3, .video) == nil)
    }

    @Test("a track more leaves the others their numbers")
    func added() {
        var tracks = MPEGTSTracks()
        var named: Set<Int32> = [0, 1]
        func number(_ index: Int32, _ kind: TrackKind) -> UInt8? {
            tracks.number(of: index, kind) { named.contains($0) }
        }
        #expect(number(0, .video) == 0 && number(1, .audio) == 0)
        named = [0, 1, 2, 3]
        #expect(number(2, .audio) == 1 && number(3, .video) == 1)
        #expect(number(0, .video) == 0 && number(1, .audio) == 0)
    }

    @Test("without tables, and before they come, whoever sends has a number")
    func unnamed() {
        var tracks = MPEGTSTracks()
        #expect(tracks.number(of: 0, .video) { _ in false } == 0)
        #expect(tracks.number(of: 1, .audio) { _ in false } == 0)
        #expect(tracks.number(of: 2, .audio) { $0 == 2 } == 1)
        #expect(tracks.number(of: 1, .audio) { $0 == 2 } == 0)
    }

    @Test("a stream that says it is of another kind now is counted there; no more than 32 of a kind have a number")
    func bounded() {
        var tracks = MPEGTSTracks()
        #expect(tracks.number(of: 0, .video) { _ in true } == 0)
        #expect(tracks.number(of: 0, .audio) { _ in true } == 0)
        #expect(tracks.number(of: 1, .video) { _ in true } == 0)
        for index in Int32(2)..<100 {
            let number = tracks.number(of: index, .audio) { _ in true }
            #expect(number == (index <= 32 ? UInt8(index - 1) : nil))
        }
    }
}
