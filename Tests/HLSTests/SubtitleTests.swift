import HLS
import Testing

@Suite("Subtitle renditions: W3C WebVTT, rfc8216bis §3.1.4")
struct SubtitleTests {
    private static let second: Int64 = 1_000_000_000

    private static func text(_ cues: inout SubtitleCues, _ number: Int64, _ range: Range<Int64>) -> String {
        String(
            decoding: cues.segment(number, start: range.lowerBound * Self.second, end: range.upperBound * Self.second),
            as: UTF8.self)
    }

    private static func add(
        _ cues: inout SubtitleCues, _ range: Range<Int64>, _ text: String = "a", at time: Int64 = 0
    ) throws -> SubtitleCue {
        let cue = SubtitleCue(start: range.lowerBound, end: range.upperBound, text: text)
        return try #require(try cues.add([cue], programTime: time, now: time * 1_000_000).first)
    }

    private static func refusal(_ cues: inout SubtitleCues, _ new: [SubtitleCue], at time: Int64) -> SubtitleCues
        .Refused?
    {
        do throws(SubtitleCues.Refused) {
            _ = try cues.add(new, programTime: time, now: 0)
            return nil
        } catch { return error }
    }

    @Test("a segment without cues is a WebVTT header that maps program time to media time")
    func empty() {
        var cues = SubtitleCues()
        #expect(
            Self.text(&cues, 0, 4..<6) == "WEBVTT\nX-TIMESTAMP-MAP=LOCAL:00:00:04.000,MPEGTS:360000\n\n")
    }

    @Test("the MPEG-2 time of a segment starts again at 0 after 2^33 ticks; hours may have three digits")
    func wrap() {
        let bytes = SubtitleSegment.bytes(start: 360_000_123, cues: [] as [SubtitleCue])
        let ticks = 360_000_123 * 90 % (Int64(1) << 33)
        #expect(
            String(decoding: bytes, as: UTF8.self)
                == "WEBVTT\nX-TIMESTAMP-MAP=LOCAL:100:00:00.123,MPEGTS:\(ticks)\n\n")
    }

    @Test("a cue is in every segment during which it is shown, with the same times, and in no other")
    func spanning() throws {
        var cues = SubtitleCues()
        _ = try Self.add(&cues, 3_500..<6_000, "long")
        let line = "\n00:00:03.500 --> 00:00:06.000\nlong\n\n"
        #expect(!Self.text(&cues, 0, 0..<2).contains("long"))
        #expect(Self.text(&cues, 1, 2..<4).hasSuffix(line))
        #expect(Self.text(&cues, 2, 4..<6).hasSuffix(line))
        #expect(!Self.text(&cues, 3, 6..<8).contains("long"))
    }

    @Test("cues of a segment are in the order of their starts, whatever the order in which they came")
    func order() throws {
        var cues = SubtitleCues()
        for start in [1_500, 200, 900] as [Int64] { _ = try Self.add(&cues, start..<(start + 300), "t\(start)") }
        let text = Self.text(&cues, 0, 0..<2)
        let places = try ["t200", "t900", "t1500"].map { try #require(text.range(of: $0)).lowerBound }
        #expect(places == places.sorted())
    }

    @Test(
        "a segment keeps its bytes when it is asked for again, after a cue of its time came and up to 63 segments later"
    )
    func fixed() throws {
        var cues = SubtitleCues()
        _ = try Self.add(&cues, 500..<1_500, "early")
        let before = Self.text(&cues, 0, 0..<2)
        #expect(before.contains("early"))
        _ = try Self.add(&cues, 1_000..<5_000, at: 2_500)
        for number in 1..<64 as Range<Int64> { _ = Self.text(&cues, number, number * 2..<number * 2 + 2) }
        #expect(Self.text(&cues, 0, 0..<2) == before, "the cue itself is not stored any more")
    }

    @Test("a segment of an earlier worker keeps its bytes, however many segments follow")
    func earlier() {
        var cues = SubtitleCues()
        cues.keep(3, Array("earlier".utf8))
        for number in 4..<200 as Range<Int64> { _ = Self.text(&cues, number, number * 2..<number * 2 + 2) }
        #expect(Self.text(&cues, 3, 6..<8) == "earlier")
    }

    @Test(
        "a late cue begins with the first segment that is not fixed; if less than a second is left, it keeps its duration"
    )
    func late() throws {
        var cues = SubtitleCues()
        _ = Self.text(&cues, 0, 0..<2)
        let clipped = try Self.add(&cues, 1_000..<5_000, at: 2_500)
        #expect(clipped.start == 2_000 && clipped.end == 5_000)
        let moved = try Self.add(&cues, 500..<2_500, at: 2_500)
        #expect(moved.start == 2_000 && moved.end == 4_000)
        let short = try Self.add(&cues, 1_900..<2_300, at: 2_500)
        #expect(short.start == 2_000 && short.end == 2_400)
        #expect(Self.text(&cues, 1, 2..<4).contains("00:00:02.000 --> 00:00:05.000"))
    }

    @Test("cues that ended long ago or begin far ahead are refused, with their place in the request")
    func bounds() {
        var cues = SubtitleCues()
        func cue(_ start: Int64) -> SubtitleCue { SubtitleCue(start: start, end: start + 1_000, text: "a") }
        let time: Int64 = 1_000_000
        #expect(Self.refusal(&cues, [cue(time - 31_000)], at: time) == nil)
        #expect(Self.refusal(&cues, [cue(time), cue(time - 31_001)], at: time)?.reason == .past)
        #expect(Self.refusal(&cues, [cue(time), cue(time - 31_001)], at: time)?.index == 1)
        #expect(Self.refusal(&cues, [cue(time + 600_000)], at: time) == nil)
        #expect(Self.refusal(&cues, [cue(time + 600_001)], at: time)?.reason == .future)
    }

    @Test("if one cue of a request is refused, none is added")
    func atomic() {
        var cues = SubtitleCues()
        let good = SubtitleCue(start: 0, end: 1_000, text: "good")
        let bad = SubtitleCue(start: 700_000, end: 701_000, text: "bad")
        #expect(Self.refusal(&cues, [good, bad], at: 0) != nil)
        #expect(!Self.text(&cues, 0, 0..<2).contains("good"))
    }

    @Test("a ninth cue at the same time is refused; a long cue during 20 short ones in succession is not")
    func crowded() {
        var cues = SubtitleCues()
        let same = (0..<8).map { SubtitleCue(start: Int64($0), end: 1_000, text: "a") }
        #expect(Self.refusal(&cues, same, at: 0) == nil)
        #expect(Self.refusal(&cues, [SubtitleCue(start: 500, end: 2_000, text: "a")], at: 0)?.reason == .crowded)
        #expect(Self.refusal(&cues, [SubtitleCue(start: 1_000, end: 2_000, text: "a")], at: 0) == nil)
        var others = SubtitleCues()
        let row = (0..<20).map { SubtitleCue(start: Int64($0) * 1_000, end: Int64($0) * 1_000 + 1_000, text: "a") }
        #expect(Self.refusal(&others, row + [SubtitleCue(start: 0, end: 20_000, text: "long")], at: 0) == nil)
    }

    @Test("after 100 cues at once, 20 per second are accepted, and 512 may wait")
    func rate() throws {
        var cues = SubtitleCues()
        var sent: Int64 = 0
        func send(at second: Int64) -> SubtitleCues.Refusal? {
            let cue = SubtitleCue(start: 60_000 + sent * 100, end: 60_100 + sent * 100, text: "a")
            do throws(SubtitleCues.Refused) {
                _ = try cues.add([cue], programTime: 0, now: second * Self.second)
                sent += 1
                return nil
            } catch { return error.reason }
        }
        for _ in 0..<100 { #expect(send(at: 0) == nil) }
        #expect(send(at: 0) == .tooMany)
        for _ in 0..<20 { #expect(send(at: 1) == nil) }
        #expect(send(at: 1) == .tooMany)
        for second in 2..<22 as Range<Int64> {
            for _ in 0..<20 where sent < 512 { #expect(send(at: second) == nil) }
        }
        #expect(send(at: 40) == .full)
    }

    @Test(
        "a text cannot end its cue or begin another block",
        arguments: [
            ("a\n\nb", "a\nb"), ("\r\n a \r\rb\u{2028}c\u{0B}", "a\nb\nc"), ("1 --> 2", "1 --&gt; 2"),
            ("<b>&amp;", "&lt;b&gt;&amp;amp;"), ("a\u{0}b\u{1B}[0m\u{85}", "ab[0m"), (" \n\t\n", ""),
            ("안녕\tA", "안녕 A"), ("\u{FEFF}WEBVTT", "WEBVTT"),
        ])
    func payload(text: String, payload: String) {
        #expect(SubtitleText.payload(text, markup: false) == payload)
    }

    @Test("with markup, tags and references are kept, but no arrow")
    func markup() {
        #expect(SubtitleText.payload("<i>a</i> &lt; --\u{0}> b\n\nc", markup: true) == "<i>a</i> &lt; --&gt; b\nc")
        #expect(SubtitleText.payload("a --->\u{301} b", markup: true) == "a ---&gt;\u{301} b")
    }

    @Test("a multivariant playlist names subtitle renditions in one group, which every variant has")
    func multivariant() {
        var playlist = MultivariantPlaylist(
            audio: [],
            variants: [
                .init(
                    uri: "a.m3u8", bandwidth: 1, averageBandwidth: 1, codecs: ["avc1.42c00d"], resolution: (320, 180),
                    frameRateMilli: 30_000, audioGroup: nil)
            ])
        let plain = playlist.rendered()
        playlist.subtitles = [
            .init(name: "English", language: "en", isDefault: true, uri: "en.m3u8"),
            .init(name: "한국어", language: "ko", isDefault: false, uri: "ko.m3u8"),
        ]
        let text = playlist.rendered()
        #expect(
            text.contains(
                #"#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="subs",LANGUAGE="en",NAME="English",DEFAULT=YES,AUTOSELECT=YES,URI="en.m3u8""#
            ))
        #expect(text.contains(#"DEFAULT=NO,AUTOSELECT=YES,URI="ko.m3u8""#))
        #expect(text.contains(#"RESOLUTION=320x180,FRAME-RATE=30.000,SUBTITLES="subs",CLOSED-CAPTIONS=NONE"#))
        #expect(MultivariantPlaylist.withoutSubtitles(text) == plain)
        #expect(playlist.renamed { "x-\($0)" }.rendered().contains(#"URI="x-ko.m3u8""#))
    }
}
