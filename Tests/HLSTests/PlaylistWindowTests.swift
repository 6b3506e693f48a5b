import HLS
import HLSTestKit
import MediaTypes
import Testing

@Suite("Playlist window: rfc8216bis §4.4.3, §6.2.2")
struct PlaylistWindowTests {
    private static func filled(_ count: Int64, style: PlaylistWindow.Style = .live(windowSeconds: 12)) throws
        -> PlaylistWindow
    {
        var window = PlaylistWindow(style: style, targetDuration: 2)
        for index in 0..<count { try window.append(Make.segment(index, start: index * 64)) }
        return window
    }

    @Test(
        "a segment that rounds above the target duration is refused",
        arguments: [(249, true), (250, false), (251, false)])
    func lengthAgainstTarget(hundredths: Int64, fits: Bool) throws {
        var window = PlaylistWindow(style: .event, targetDuration: 2)
        let segment = Make.segment(0, start: 0, ticks: hundredths, timescale: 100)
        if fits {
            try window.append(segment)
        } else {
            #expect(throws: MediaError.self) { try window.append(segment) }
        }
        #expect(window.segments.count == (fits ? 1 : 0))
    }

    @Test(
        "in a full window, a new segment makes the oldest removable; removal deletes only its lines and raises EXT-X-MEDIA-SEQUENCE"
    )
    func slides() throws {
        var window = try Self.filled(6)
        #expect(window.removableCount == 0)
        let before = MediaPlaylist(window).rendered()
        try window.append(Make.segment(6, start: 6 * 64))
        #expect(window.removableCount == 1)
        let removed1 = window.removeFirst(1)
        #expect(removed1)
        #expect(window.mediaSequence == 1)
        let after = MediaPlaylist(window).rendered()
        let gone = Set(before.split(separator: "\n")).subtracting(after.split(separator: "\n"))
        // EXTINF lines repeat, so the first one's text is still there.
        #expect(
            gone == ["v-1-0.m4s", "#EXT-X-MEDIA-SEQUENCE:0", "#EXT-X-PROGRAM-DATE-TIME:1970-01-01T00:00:00.000Z"])
    }

    @Test("a window is not shortened below three target durations, whatever its setting")
    func floorHolds() throws {
        var window = try Self.filled(4, style: .live(windowSeconds: 1))
        #expect(window.removableCount == 1)
        let removed2 = window.removeFirst(2)
        #expect(!removed2)
        #expect(window.segments.count == 4)
        let removed3 = window.removeFirst(1)
        #expect(removed3)
        #expect(window.removableCount == 0)
    }

    @Test("building a window of 20,000 listed segments takes less than 100 times the time of 1,000")
    func takenOver() throws {
        let segments = (Int64(0)..<20_000).map { Make.segment($0, start: $0 * 64) }
        let ratio = try Growth.ratio(small: 1_000, large: 20_000) { count in
            let listed = Array(segments.prefix(count))
            let window = try PlaylistWindow(
                style: .event, targetDuration: 2, slackSeconds: 0, segments: listed, nextMediaSequence: 0,
                discontinuitySequence: 0, retired: [], longestDuration: 0)
            #expect(window.duration == listed.reduce(Int64(0)) { $0 + $1.duration.nanoseconds })
        }
        #expect(ratio < 100, "\(ratio): 20 is in proportion, 400 its square")
    }

    @Test("the window's duration equals the sum of its segments after 200 changes")
    func length() throws {
        var window = PlaylistWindow(style: .live(windowSeconds: 12), targetDuration: 2)
        var start: Int64 = 0
        for index in Int64(0)..<200 {
            let ticks = 40 + index % 30
            try window.append(Make.segment(index, start: start, ticks: ticks))
            start += ticks
            window.removeFirst(window.removableCount)
            #expect(window.duration == window.segments.reduce(Int64(0)) { $0 + $1.duration.nanoseconds })
        }
        #expect(window.mediaSequence > 0)
    }

    @Test("an EVENT playlist only grows, over 1,000 updates")
    func eventOnlyAppends() throws {
        var window = PlaylistWindow(style: .event, targetDuration: 2)
        var text = ""
        for index in Int64(0)..<1_000 {
            try window.append(Make.segment(index, start: index * 64))
            #expect(window.removableCount == 0)
            if index % 100 == 0 {
                let next = MediaPlaylist(window).rendered()
                #expect(next.hasPrefix(text))
                text = next
            }
        }
        #expect(window.segments.count == 1_000)
        #expect(window.mediaSequence == 0)
    }

    @Test("DISCONTINUITY-SEQUENCE rises exactly when a segment with EXT-X-DISCONTINUITY is removed")
    func discontinuitySequence() throws {
        var window = PlaylistWindow(style: .live(windowSeconds: 10), targetDuration: 2)
        var numbers: [Int64: Int64] = [:]
        let tagged: Set<Int64> = [3, 5, 20]
        for index in Int64(0)..<50 {
            try window.append(Make.segment(index, start: index * 64, discontinuity: tagged.contains(index)))
            window.removeFirst(window.removableCount)
            #expect(window.discontinuitySequence == Int64(tagged.filter { $0 < window.mediaSequence }.count))
            var number = window.discontinuitySequence
            for segment in window.segments {
                if segment.discontinuity { number += 1 }
                #expect(numbers[segment.mediaSequence, default: number] == number)
                numbers[segment.mediaSequence] = number
            }
        }
        #expect(numbers[49] == 3)
    }

    @Test("over 10,000 updates, a media sequence number names the same segment and the target duration stays the same")
    func history() throws {
        var window = PlaylistWindow(style: .live(windowSeconds: 20), targetDuration: 2)
        var names: [Int64: String] = [:]
        for index in Int64(0)..<10_000 {
            try window.append(Make.segment(index, start: index * 64))
            window.removeFirst(window.removableCount)
            _ = window.takeExpired(at: window.segments.last?.publishedAt ?? 0)
            for (offset, segment) in window.segments.enumerated() {
                let number = window.mediaSequence + Int64(offset)
                #expect(segment.mediaSequence == number)
                #expect(names[number, default: segment.uri] == segment.uri)
                names[number] = segment.uri
            }
            #expect(window.targetDuration == 2)
            if index % 1_000 == 0 {
                #expect(MediaPlaylist(window).rendered().contains("\n#EXT-X-TARGETDURATION:2\n"))
            }
        }
        #expect(window.retired.count < 20)
    }

    @Test("segments with numbers out of order, or after the end, are refused")
    func ordersAreKept() throws {
        var window = try Self.filled(2)
        #expect(throws: MediaError.self) { try window.append(Make.segment(3, start: 128)) }
        #expect(throws: MediaError.self) { try window.append(Make.segment(1, start: 128)) }
        window.end()
        #expect(throws: MediaError.self) { try window.append(Make.segment(2, start: 128)) }
        #expect(window.segments.count == 2)
    }

    @Test(
        "a removed segment's file is deleted after its own duration plus that of the longest playlist plus the configured slack"
    )
    func retention() throws {
        let second: Int64 = 1_000_000_000
        var window = PlaylistWindow(style: .live(windowSeconds: 6), targetDuration: 2, slackSeconds: 3)
        for index in Int64(0)..<5 {
            try window.append(
                Make.segment(index, start: index * 2, ticks: 2, timescale: 1, map: index < 1 ? "a.mp4" : "b.mp4"))
            window.removeFirst(window.removableCount)
        }
        // At most three were listed after each cut, four for a moment: 8 s. First listed at 2 s.
        #expect(window.retired.map(\.deleteAt) == [(2 + 2 + 8 + 3) * second, (4 + 2 + 8 + 3) * second])
        let names1 = window.takeExpired(at: 15 * second - 1)
        #expect(names1.isEmpty)
        let names2 = window.takeExpired(at: 15 * second)
        #expect(names2 == ["v-1-0.m4s", "a.mp4"])
        let names3 = window.takeExpired(at: 17 * second, current: InitializationSegment(uri: "b.mp4"))
        #expect(names3 == ["v-1-1.m4s"])
        #expect(window.retired.isEmpty)
    }

    @Test("a gap has no file to delete when it leaves the window")
    func gapsAreNotDeleted() throws {
        var window = PlaylistWindow(style: .live(windowSeconds: 6), targetDuration: 2)
        for index in Int64(0)..<5 { try window.append(Make.segment(index, start: index * 64, gap: index == 0)) }
        window.removeFirst(window.removableCount)
        let names4 = window.takeExpired(at: .max)
        #expect(names4 == ["v-1-1.m4s"])
    }
}
