import HLS
import HLSTestKit
import Testing

@Suite("Date ranges: rfc8216bis §4.4.5.1, §4.4.5.2, §6.2.1")
struct DateRangeTests {
    static let second: Int64 = 1_000_000_000

    static func range(_ id: String, at seconds: Double, _ attributes: [(String, String)] = [("SCENE", "pk")])
        -> DateRange
    {
        DateRange(
            id: id, rangeClass: "live.tandem.scene", start: Int64(seconds * 1e9), plannedDuration: 5 * Self.second,
            attributes: attributes.map { DateRange.Attribute($0.0, $0.1) })
    }

    /// Segments of 64 frames at 30 fps, and two parts of the next.
    static func playlist(_ ranges: DateRangeList, segments: Int64 = 6) throws -> MediaPlaylist {
        try LowLatencyPlaylistTests.playlist(whole: segments, parts: 2, ranges: ranges)
    }

    /// A date on the playlist's timeline.
    static func date(_ seconds: Int64) -> Int64 { LowLatencyPlaylistTests.origin + seconds * self.second }

    static func tags(_ text: String) -> [String] {
        text.split(separator: "\n").map(String.init).filter { $0.hasPrefix("#EXT-X-DATERANGE") }
    }

    @Test("a date range is opened by one tag and closed by a second with the same ID and no changed attribute")
    func openAndClosed() throws {
        var list = DateRangeList()
        list.list(.opened(Self.range("scene-1-1", at: 1.0333333)), mediaSequence: 2, part: 1, at: 0)
        list.list(.closed(id: "scene-1-1", end: 4_100_000_000), mediaSequence: 4, part: 0, at: 0)
        let tags = Self.tags(try Self.playlist(list).rendered())
        #expect(
            tags == [
                "#EXT-X-DATERANGE:ID=\"scene-1-1\",CLASS=\"live.tandem.scene\","
                    + "START-DATE=\"1970-01-01T00:00:01.033Z\",PLANNED-DURATION=5.000,X-SCENE=\"pk\"",
                "#EXT-X-DATERANGE:ID=\"scene-1-1\",CLASS=\"live.tandem.scene\","
                    + "START-DATE=\"1970-01-01T00:00:01.033Z\",END-DATE=\"1970-01-01T00:00:04.100Z\",DURATION=3.067",
            ])
        list.list(.closed(id: "scene-1-1", end: 5 * Self.second), mediaSequence: 5, at: 0)
        list.list(.opened(Self.range("scene-1-1", at: 8)), mediaSequence: 5, at: 0)
        #expect(Self.tags(try Self.playlist(list).rendered()) == tags, "an ID is used once, and an end is written once")
    }

    @Test("user text in a date range can neither end the tag nor form an attribute name, and is limited in length")
    func hostileText() throws {
        var list = DateRangeList()
        let hostile = [("scene", "a\"b\n#EXT-X-ENDLIST\u{1},😀"), ("uid\n=x", "")]
        list.list(.opened(Self.range("x\",Y=\"\n", at: 0, hostile)), mediaSequence: 0, at: 0)
        list.list(
            .opened(Self.range("long", at: 0, [("t", String(repeating: "x", count: 9_000))])), mediaSequence: 0, at: 0)
        let text = try Self.playlist(list).rendered()
        #expect(!text.contains("\n#EXT-X-ENDLIST"))
        let tag = try #require(Self.tags(text).first)
        #expect(tag.hasPrefix("#EXT-X-DATERANGE:ID=\"x',Y='\",CLASS="))
        #expect(tag.hasSuffix("X-SCENE=\"a'b#EXT-X-ENDLIST,😀\",X-UID--X=\"-\""))
        #expect(Self.tags(text).last.map { $0.utf8.count < 800 } == true)
    }

    @Test("a date range's tag stays before the part, and later before the segment, with which it was first listed")
    func place() throws {
        var list = DateRangeList()
        list.list(.opened(Self.range("a", at: 1)), mediaSequence: 6, part: 1, at: 0)
        let open = try Self.playlist(list).rendered().split(separator: "\n").map(String.init)
        let at = try #require(open.firstIndex { $0.hasPrefix("#EXT-X-DATERANGE") })
        #expect(open[at - 1].contains("-6.0.m4s") && open[at + 1].contains("-6.1.m4s"))
        let whole = try Self.playlist(list, segments: 7).rendered().split(separator: "\n").map(String.init)
        let still = try #require(whole.firstIndex { $0.hasPrefix("#EXT-X-DATERANGE") })
        #expect(whole[still - 1] == open[at - 1] && whole[still + 1] == open[at + 1])
        let later = try Self.playlist(list, segments: 12).rendered().split(separator: "\n").map(String.init)
        let place = try #require(later.firstIndex { $0.hasPrefix("#EXT-X-DATERANGE") })
        #expect(later[place - 1].hasPrefix("#EXT-X-PROGRAM-DATE-TIME") && later[place + 2].contains("-6.m4s"))
    }

    @Test(
        "a closed date range leaves the playlist when it ends at or before the start of the first segment, an open one never"
    )
    func leaving() {
        var list = DateRangeList()
        list.list(.opened(Self.range("a", at: 1)), mediaSequence: 0, at: 0)
        #expect(list.passed(before: .max).isEmpty, "open ones stay")
        list.list(.closed(id: "a", end: 3 * Self.second), mediaSequence: 1, at: 0)
        #expect(list.passed(before: 3 * Self.second - 1).isEmpty)
        #expect(list.passed(before: 3 * Self.second) == ["a"])
        list.remove(["a"], at: 9 * Self.second, memory: 12 * Self.second)
        #expect(list.isEmpty && list.tags.isEmpty)
    }

    @Test("with _HLS_skip=v2 a delta update has version 10, omits older date ranges and lists removed ones")
    func deltaUpdates() throws {
        var list = DateRangeList()
        // 12 segments of 32/15 s end at 25.6 s, with two parts at 26.67 s; the boundary is 12 s.
        list.list(.opened(Self.range("old", at: 1)), mediaSequence: 1, at: Self.date(2))
        list.list(.closed(id: "old", end: 2 * Self.second), mediaSequence: 1, at: Self.date(3))
        list.list(.opened(Self.range("new", at: 20)), mediaSequence: 9, at: Self.date(20))
        list.list(.opened(Self.range("gone", at: 0)), mediaSequence: 9, at: Self.date(20))
        list.list(.closed(id: "gone", end: Self.second), mediaSequence: 9, at: Self.date(20))
        let playlist = try Self.playlist(list, segments: 12)
        let segmentsOnly = playlist.rendered(skipping: true)
        #expect(segmentsOnly.contains("#EXT-X-VERSION:9\n") && !segmentsOnly.contains("RECENTLY"))
        #expect(Self.tags(segmentsOnly) == Self.tags(playlist.rendered()), "v1 skips only segments")
        let both = playlist.rendered(skipping: true, skippingDateRanges: true)
        #expect(both.contains("#EXT-X-VERSION:10\n") && both.contains(",RECENTLY-REMOVED-DATERANGES=\"\"\n"))
        #expect(Self.tags(both).allSatisfy { !$0.contains("\"old\"") } && Self.tags(both).count == 3)
        list.remove(["gone"], at: Self.date(25), memory: 12 * Self.second)
        let after = try Self.playlist(list, segments: 12).rendered(skipping: true, skippingDateRanges: true)
        #expect(after.contains(",RECENTLY-REMOVED-DATERANGES=\"gone\"\n"))
        let short = try Self.playlist(list, segments: 3)
        #expect(
            short.rendered(skipping: true, skippingDateRanges: true) == short.rendered(),
            "nothing to skip: the full playlist")
    }

    @Test("a playlist without segments, and so without EXT-X-PROGRAM-DATE-TIME, lists no date range")
    func noDates() throws {
        var list = DateRangeList()
        list.list(.opened(Self.range("a", at: 1)), mediaSequence: 0, at: 0)
        let window = PlaylistWindow(style: .event, targetDuration: 2)
        #expect(Self.tags(MediaPlaylist(window, dateRanges: list).rendered()).isEmpty)
    }

    @Test("listing, rendering and removing 20,000 date ranges takes less than 40 times the time of 2,000")
    func many() throws {
        let ratio = try Growth.ratio(small: 2_000, large: 20_000) { count in
            var list = DateRangeList()
            for number in 0..<count {
                let id = "live.tandem.score-1-\(number)"
                if number > 0 {
                    list.list(
                        .closed(id: "live.tandem.score-1-\(number - 1)", end: Int64(number) * Self.second),
                        mediaSequence: Int64(number / 2), at: 0)
                }
                list.list(.opened(Self.range(id, at: Double(number))), mediaSequence: Int64(number / 2), at: 0)
            }
            #expect(list.openings.last == Int64((count - 1) / 2) && list.ranges.count == count)
            let text = try Self.playlist(list).rendered()
            #expect(text.utf8.count > 200 * count)
            let passed = list.passed(before: Int64(count / 2) * Self.second)
            list.remove(passed, at: 0, memory: 0)
            #expect(list.ranges.count == count - count / 2 && list.openings.count == list.ranges.count)
            #expect(list.tags.count == 2 * list.ranges.count - 1)
            // The remaining ones are still found.
            list.list(.closed(id: "live.tandem.score-1-\(count - 1)", end: .max / 2), mediaSequence: 0, at: 0)
            #expect(list.ranges.last?.end == .max / 2)
        }
        #expect(ratio < 40, "\(ratio): 10 is in proportion, 100 its square")
    }
}
