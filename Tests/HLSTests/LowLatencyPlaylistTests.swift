import HLS
import HLSTestKit
import MediaTypes
import Testing

@Suite("Low-latency media playlist: rfc8216bis §4.4.3.7-8, §4.4.4.9, §4.4.5.2-4")
struct LowLatencyPlaylistTests {
    static let origin: Int64 = 1_700_000_000_123_000_000
    private static let reports = [RenditionReport(uri: "audio.m3u8", lastMediaSequence: 9, lastPart: 0)]

    static func parts(_ sequence: Int64, _ count: Int = 4, perPart: Int64 = 16) -> [Part] {
        (0..<count).map { index in
            Part(
                uri: "v-1-\(sequence).\(index).m4s", start: (sequence * 4 + Int64(index)) * perPart,
                duration: MediaDuration(ticks: perPart, timescale: 30), independent: index % 2 == 0, byteCount: 1_000)
        }
    }

    static func segment(
        _ sequence: Int64, map: String = "v-1.mp4", discontinuity: Bool = false, gap: Bool = false, parts: Int = 4
    ) -> Segment {
        Segment(
            mediaSequence: sequence, uri: "v-1-\(sequence).m4s", start: sequence * 64,
            duration: MediaDuration(ticks: 64, timescale: 30),
            programDate: Self.origin + TimeMath.rescale(sequence * 64, from: 30, to: 1_000_000_000),
            map: InitializationSegment(uri: map), discontinuity: discontinuity, gap: gap,
            parts: self.parts(sequence, parts), byteCount: 4_000)
    }

    /// The playlist after `whole` segments and `parts` more parts, updated like in a room.
    static func playlist(
        whole: Int64, parts: Int, changeAt: Int64? = nil, gapAt: Int64? = nil, ended: Bool = false,
        ranges: DateRangeList = DateRangeList()
    ) throws -> MediaPlaylist {
        let grid = try OutputGrid(fps: 30)
        var window = PlaylistWindow(style: .live(windowSeconds: 20), targetDuration: grid.targetDuration)
        func map(_ number: Int64) -> String { changeAt.map { number >= $0 } == true ? "v-1-1.mp4" : "v-1.mp4" }
        for number in 0..<whole {
            try window.append(
                Self.segment(
                    number, map: map(number), discontinuity: number == changeAt, gap: number == gapAt,
                    parts: number == gapAt ? 1 : 4))
            window.removeFirst(window.removableCount)
        }
        if ended { window.end() }
        let open =
            parts == 0
            ? nil
            : LiveEdge.OpenSegment(
                programDate: Self.origin + TimeMath.rescale(whole * 64, from: 30, to: 1_000_000_000),
                map: InitializationSegment(uri: map(whole)), discontinuity: whole == changeAt,
                parts: Self.parts(whole, parts))
        return MediaPlaylist(
            window,
            edge: LiveEdge(
                control: ServerControl(grid: grid), open: open, hint: "v-1-\(whole).\(parts).m4s",
                hintMap: InitializationSegment(uri: map(whole))), dateRanges: ranges)
    }

    @Test("a playlist with parts, preload hint, rendition reports and server control equals the golden file")
    func golden() throws {
        let list = try Self.playlist(whole: 6, parts: 2)
        try expectGolden(list.rendered(reports: Self.reports), "low-latency.m3u8")
        #expect(list.version == 6)
    }

    @Test(
        "a new initialization segment is hinted as a MAP before it applies; then discontinuity and EXT-X-MAP precede its first part"
    )
    func change() throws {
        try expectGolden(
            try Self.playlist(whole: 6, parts: 1, changeAt: 6).rendered(reports: Self.reports),
            "low-latency-change.m3u8")
        let before = try Self.playlist(whole: 6, parts: 0, changeAt: 6).rendered()
        #expect(
            before.hasSuffix(
                "#EXT-X-PRELOAD-HINT:TYPE=MAP,URI=\"v-1-1.mp4\"\n#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"v-1-6.0.m4s\"\n"))
    }

    @Test("a segment that becomes a gap keeps its parts that were already listed")
    func gap() throws {
        let lines = try Self.playlist(whole: 6, parts: 1, gapAt: 5).rendered().split(separator: "\n")
        let gap = try #require(lines.firstIndex(of: "#EXT-X-GAP"))
        #expect(lines[gap - 1].hasPrefix("#EXT-X-PART:") && lines[gap + 2] == "v-1-5.m4s")
    }

    @Test("an ended playlist has no preload hint and no rendition report")
    func ended() throws {
        let text = try Self.playlist(whole: 6, parts: 0, ended: true).rendered(reports: Self.reports)
        #expect(!text.contains("HINT") && !text.contains("REPORT") && text.hasSuffix("#EXT-X-ENDLIST\n"))
    }

    @Test(
        "PART-TARGET, PART-HOLD-BACK and CAN-SKIP-UNTIL follow from the output grid",
        arguments: [
            (30, 32, 16, "0.534", "1.61"), (30, 30, 10, "0.342", "1.03"), (25, 32, 16, "0.640", "1.92"),
            (60, 64, 32, "0.534", "1.61"), (30, 30, 30, "1.003", "3.01"), (24, 24, 12, "0.512", "1.54"),
        ])
    func numbers(fps: Int, gop: Int, part: Int, target: String, holdBack: String) throws {
        let control = ServerControl(grid: try OutputGrid(fps: fps, gopFrames: gop, partFrames: part))
        let text = MediaPlaylist(
            PlaylistWindow(style: .event, targetDuration: control.targetDuration),
            edge: LiveEdge(control: control, open: nil, hint: nil)
        ).rendered()
        #expect(text.contains("#EXT-X-PART-INF:PART-TARGET=\(target)\n"))
        #expect(
            text.contains(
                "PART-HOLD-BACK=\(holdBack),CAN-SKIP-UNTIL=\(6 * control.targetDuration).0,CAN-SKIP-DATERANGES=YES\n"))
        #expect(control.partHoldBack * 10 >= 3 * control.partTarget, "three part targets")
        #expect(Int64(control.longestHold) == Int64(3 * control.targetDuration))
    }

    @Test(
        "the Advance Part Limit is the number of parts in three seconds",
        arguments: [(30, 10, 9), (30, 15, 6), (30, 30, 3)])
    func advanceLimit(fps: Int, part: Int, limit: Int64) throws {
        #expect(
            ServerControl(grid: try OutputGrid(fps: fps, gopFrames: 30, partFrames: part)).advancePartLimit == limit)
    }

    @Test("a segment's parts are removed when its end is more than three target durations before the playlist's end")
    func passedParts() throws {
        let list = try Self.playlist(whole: 9, parts: 0)
        // 2.133 s each, 3 × 2 s: three segments after it are 6.4 s.
        #expect(list.segments.suffix(4).map(\.parts.count) == [0, 4, 4, 4])
        #expect(list.segments.dropLast(3).allSatisfy { $0.parts.isEmpty })
    }

    // MARK: Delta updates

    @Test("a delta update omits segments that end more than the skip boundary before the end of the last whole segment")
    func delta() throws {
        let list = try Self.playlist(whole: 12, parts: 2)
        // 12 s boundary: six segments after it are 12.8 s.
        #expect(list.skippableCount == list.segments.count - 6)
        try expectGolden(list.rendered(reports: Self.reports, skipping: true), "low-latency-delta.m3u8")
    }

    @Test("rendering a delta update of 12,000 segments takes less than 20 times the time of one of 12 segments")
    func deltaOfHours() throws {
        let grid = try OutputGrid(fps: 30)
        func list(_ count: Int64) throws -> MediaPlaylist {
            var window = PlaylistWindow(style: .event, targetDuration: grid.targetDuration)
            for number in 0..<count { try window.append(Self.segment(number)) }
            return MediaPlaylist(
                window, edge: LiveEdge(control: ServerControl(grid: grid), open: nil, hint: "v-1-\(count).0.m4s"))
        }
        let (short, long) = (try list(12), try list(12_000))
        let ratio = Growth.ratio(small: 12, large: 12_000) { count in
            let text = (count == 12 ? short : long).rendered(reports: Self.reports, skipping: true)
            #expect(text.contains("#EXT-X-SKIP:SKIPPED-SEGMENTS=\(count - 6)\n"))
        }
        #expect(ratio < 20, "\(ratio): 1 is the same, 1000 in proportion")
    }

    @Test(
        "a request for a delta update gets the full playlist if no segment may be skipped, or if the playlist has ended"
    )
    func nothingToSkip() throws {
        let short = try Self.playlist(whole: 6, parts: 1)
        #expect(short.rendered(skipping: true) == short.rendered())
        let ended = try Self.playlist(whole: 12, parts: 0, ended: true)
        #expect(ended.rendered(skipping: true) == ended.rendered())
        #expect(ended.skippableCount == 0)
    }

    @Test(
        "an old playlist merged with a delta update equals the new one (EXT-X-MAP is not compared), also when the map changes",
        arguments: [nil, 4, 9, 12] as [Int64?])
    func deltasMerge(changeAt: Int64?) throws {
        var known: [String] = []
        for whole in Int64(8)..<20 {
            for parts in 0..<4 {
                let list = try Self.playlist(whole: whole, parts: parts, changeAt: changeAt)
                let full = Self.body(list.rendered(reports: Self.reports))
                let delta = list.rendered(reports: Self.reports, skipping: true)
                let skipped = list.skippableCount
                #expect(delta.contains("#EXT-X-SKIP:SKIPPED-SEGMENTS=\(skipped)\n") && skipped > 0)
                #expect(delta.contains("#EXT-X-VERSION:9\n"))
                if !known.isEmpty {
                    // The old playlist's segments from the new media sequence number on replace the skipped ones.
                    let old = Self.segments(known).suffix(from: Int(list.mediaSequence - Self.first(known)))
                    let merged =
                        old.prefix(skipped).flatMap { $0.filter { !$0.hasPrefix("#EXT-X-PART:") } }
                        + Self.body(delta)
                    #expect(Self.withoutMaps(merged) == Self.withoutMaps(full))
                }
                known = list.rendered(reports: Self.reports).split(separator: "\n").map(String.init)
            }
        }
    }

    private static func first(_ lines: [String]) -> Int64 {
        lines.first { $0.hasPrefix("#EXT-X-MEDIA-SEQUENCE:") }.flatMap { Int64($0.dropFirst(22)) } ?? -1
    }

    /// Everything after the header tags.
    private static func body(_ text: String) -> [String] {
        let header = [
            "#EXTM3U", "#EXT-X-VERSION", "#EXT-X-TARGETDURATION", "#EXT-X-SERVER-CONTROL", "#EXT-X-PART-INF",
            "#EXT-X-MEDIA-SEQUENCE", "#EXT-X-DISCONTINUITY-SEQUENCE", "#EXT-X-SKIP",
        ]
        return text.split(separator: "\n").map(String.init).filter { line in !header.contains { line.hasPrefix($0) } }
    }

    /// Lines of each whole segment.
    private static func segments(_ lines: [String]) -> [[String]] {
        var result: [[String]] = [[]]
        for line in Self.body(lines.joined(separator: "\n")) {
            result[result.count - 1].append(line)
            if !line.hasPrefix("#") { result.append([]) }
        }
        return result.dropLast()
    }

    /// A map is repeated when its first segment has left the playlist, which is independent of deltas.
    private static func withoutMaps(_ lines: [String]) -> [String] { lines.filter { !$0.hasPrefix("#EXT-X-MAP") } }
}
