import LibAV
import MediaTypes
import Testing

@Suite("Track numbers of an MPEG-TS stream: ISO/IEC 13818-1 §2.4.4.8")
struct MPEGTSTracksTests {
    @Test("MPEG-TS streams that replace others in the program map take over their track numbers")
    func replaced() {
        var tracks = MPEGTSTracks()
        var named: Set<Int32> = [0, 1, 2]
        func number(_ index: Int32, _ kind: TrackKind) -> UInt8? {
            tracks.number(of: index, kind) { named.contains($0) }
        }
        #expect(number(0, .video) == 0 && number(1, .audio) == 0 && number(2, .audio) == 1)
        named = [3, 4]
        // A packet of an old stream still in transit, before any of the new streams.
        #expect(number(0, .video) == 0)
        #expect(number(3, .video) == 0 && number(4, .audio) == 0)
        #expect(number(0, .video) == nil && number(1, .audio) == nil && number(2, .audio) == nil)
        #expect(number(3, .video) == 0 && number(4, .audio) == 0)
        named = [0, 1, 2]
        #expect(number(1, .audio) == 0 && number(2, .audio) == 1 && number(0, .video) == 0, "back again")
        #expect(number(3, .video) == nil)
    }

    @Test("an MPEG-TS stream that is added does not change the track numbers of the others")
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

    @Test("an MPEG-TS stream that sends before the program map names it also has a track number")
    func unnamed() {
        var tracks = MPEGTSTracks()
        #expect(tracks.number(of: 0, .video) { _ in false } == 0)
        #expect(tracks.number(of: 1, .audio) { _ in false } == 0)
        #expect(tracks.number(of: 2, .audio) { $0 == 2 } == 1)
        #expect(tracks.number(of: 1, .audio) { $0 == 2 } == 0)
    }

    @Test(
        "an MPEG-TS stream that turns from video to audio gets an audio track number; at most 32 streams of a kind have numbers"
    )
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
