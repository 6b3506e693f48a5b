import HLS
import MediaTypes
import Testing

@Suite("Media playlist text: rfc8216bis §4.4.3, §4.4.4")
struct MediaPlaylistTests {
    private static let origin: Int64 = 1_700_000_000_123_000_000

    @Test("a playlist with only its first segment equals the golden file")
    func firstPublish() throws {
        var window = PlaylistWindow(style: .live(windowSeconds: 60), targetDuration: 2)
        try window.append(Make.segment(0, start: 0, origin: Self.origin))
        try expectGolden(MediaPlaylist(window).rendered(), "first-publish.m3u8")
    }

    @Test("a playlist with discontinuity, new map, keys, gap and ENDLIST equals the golden file")
    func everything() throws {
        var window = PlaylistWindow(
            style: .event, targetDuration: 2, nextMediaSequence: 41, discontinuitySequence: 3)
        let key = SegmentKey(method: .aes128, uri: "k1", initializationVector: [UInt8](0..<16))
        let other = SegmentKey(method: .aes128, uri: "k2")
        let o = Self.origin
        try window.append(Make.segment(41, start: 0, origin: o))
        try window.append(Make.segment(42, start: 64, origin: o, key: key))
        try window.append(Make.segment(43, start: 128, origin: o, key: key))
        try window.append(Make.segment(44, start: 192, origin: o, map: "v-2.mp4", discontinuity: true, key: other))
        try window.append(Make.segment(45, start: 256, origin: o, map: "v-2.mp4", gap: true))
        try window.append(Make.segment(46, start: 320, ticks: 7, origin: o, map: "v-2.mp4"))
        window.end()
        try expectGolden(MediaPlaylist(window).rendered(), "everything.m3u8")
    }

    @Test(
        "the EXTINF sum of any run of up to 100 segments is within 10 µs of their real duration",
        arguments: [(64, 30), (64, 25), (100, 48), (7, 3)])
    func sumsHold(ticks: Int64, timescale: Int32) {
        let segments = (Int64(0)..<100).map {
            Make.segment($0, start: 1_000_003 + $0 * ticks, ticks: ticks, timescale: timescale)
        }
        for first in 0..<100 {
            var sum: Int64 = 0
            for last in first..<100 {
                sum += segments[last].listedDuration
                let exact = Int64(last - first + 1) * ticks * 100_000 / Int64(timescale)
                #expect(abs(sum - exact) <= 1)
            }
        }
    }

    @Test("the playlist's version is the lowest that its tags need: 3 when empty, 6 with a map")
    func version() throws {
        var window = PlaylistWindow(style: .event, targetDuration: 2)
        #expect(MediaPlaylist(window).version == 3)
        try window.append(
            Make.segment(
                0, start: 0, key: SegmentKey(method: .aes128, uri: "k", initializationVector: [UInt8](0..<16))))
        #expect(MediaPlaylist(window).version == 6)
    }
}
