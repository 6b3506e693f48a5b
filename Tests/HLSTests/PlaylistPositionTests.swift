import HLS
import Testing

@Suite("Blocking playlist reload: rfc8216bis §6.2.5.2")
struct PlaylistPositionTests {
    /// Segments 10 to 20 are complete, 20 with four parts; two parts of 21 are there. Requests may be up to six parts
    /// ahead.
    static let position = PlaylistPosition(nextMediaSequence: 21, partCount: 2, lastPartCount: 4, isEnded: false)

    static func decide(_ query: [(name: String, value: String)], _ position: PlaylistPosition = Self.position)
        -> PlaylistPosition.Decision
    {
        position.decide(ReloadDirectives(query: query), advancePartLimit: 6)
    }

    static func isRefused(_ decision: PlaylistPosition.Decision) -> Bool {
        if case .refuse = decision { true } else { false }
    }

    @Test("a request without a segment number is answered at once")
    func none() {
        #expect(Self.decide([]) == .serve)
        #expect(Self.decide([("_HLS_skip", "YES")]) == .serve)
    }

    @Test(
        "a request for a segment is held until the segment is complete",
        arguments: [(0, true), (9, true), (20, true), (21, false), (22, false), (23, false)])
    func segments(number: Int, isServed: Bool) {
        #expect(Self.decide([("_HLS_msn", "\(number)")]) == (isServed ? .serve : .hold))
    }

    @Test(
        "a request for a part blocks until the part is published; a part number past a segment's end means the next segment",
        arguments: [
            (20, 3, true), (20, 4, true), (20, 400, true), (19, 400, true), (3, 0, true), (21, 0, true), (21, 1, true),
            (21, 2, false), (21, 7, false), (22, 0, false), (22, 5, false),
        ])
    func parts(number: Int, part: Int, isServed: Bool) {
        let query = [(name: "_HLS_msn", value: "\(number)"), (name: "_HLS_part", value: "\(part)")]
        #expect(Self.decide(query) == (isServed ? .serve : .hold))
    }

    @Test("a part number past those of the last complete segment blocks until the next segment's first part")
    func behindTheLast() {
        let fresh = PlaylistPosition(nextMediaSequence: 21, partCount: 0, lastPartCount: 4, isEnded: false)
        #expect(Self.decide([("_HLS_msn", "20"), ("_HLS_part", "4")], fresh) == .hold)
        #expect(Self.decide([("_HLS_msn", "20"), ("_HLS_part", "3")], fresh) == .serve)
        #expect(Self.decide([("_HLS_msn", "21"), ("_HLS_part", "0")], fresh) == .hold)
    }

    @Test("_HLS_part without _HLS_msn is refused")
    func partAlone() { #expect(Self.isRefused(Self.decide([("_HLS_part", "1")]))) }

    @Test("a segment number more than two beyond the segment in progress is refused", arguments: [24, 25, Int64.max])
    func segmentsAhead(number: Int64) {
        #expect(Self.isRefused(Self.decide([("_HLS_msn", "\(number)")])))
        #expect(Self.isRefused(Self.decide([("_HLS_msn", "\(number)"), ("_HLS_part", "0")])))
    }

    @Test(
        "a request for a part further ahead than the Advance Part Limit is refused",
        arguments: [(21, 8), (21, 9_000), (22, 6)])
    func partsAhead(number: Int, part: Int) {
        #expect(Self.isRefused(Self.decide([("_HLS_msn", "\(number)"), ("_HLS_part", "\(part)")])))
    }

    @Test("segment numbers that are malformed or beyond 64 bits are refused")
    func numbers() {
        #expect(Self.isRefused(Self.decide([("_HLS_msn", "x")])))
        #expect(Self.isRefused(Self.decide([("_HLS_msn", "18446744073709551616")])))
    }

    @Test("an ended playlist is served also for a segment that does not exist and for invalid directives")
    func ended() {
        let ended = PlaylistPosition(nextMediaSequence: 21, partCount: 0, lastPartCount: 4, isEnded: true)
        for query in [[("_HLS_msn", "99")], [("_HLS_part", "1")], [("_HLS_msn", "x")]] as [[(String, String)]] {
            #expect(Self.decide(query.map { (name: $0.0, value: $0.1) }, ended) == .serve)
        }
    }

    @Test("a rendition report has the numbers of the newest part")
    func reports() {
        #expect(
            Self.position.report(uri: "a.m3u8") == RenditionReport(uri: "a.m3u8", lastMediaSequence: 21, lastPart: 1))
        let whole = PlaylistPosition(nextMediaSequence: 21, partCount: 0, lastPartCount: 4, isEnded: false)
        #expect(whole.report(uri: "a.m3u8") == RenditionReport(uri: "a.m3u8", lastMediaSequence: 20, lastPart: 3))
        let plain = PlaylistPosition(nextMediaSequence: 21, partCount: 0, lastPartCount: 0, isEnded: false)
        #expect(plain.report(uri: "a.m3u8").lastPart == nil)
    }
}
