import HLS
import Testing

@Suite("Multivariant playlist text: rfc8216bis §4.4.6")
struct MultivariantPlaylistTests {
    private static func variant(_ name: String, _ width: Int, _ height: Int, rate: Int64 = 30_000)
        -> MultivariantPlaylist.Variant
    {
        MultivariantPlaylist.Variant(
            uri: "\(name).m3u8", bandwidth: 3_000_000, averageBandwidth: 2_000_000,
            codecs: ["avc1.64001f", "mp4a.40.2", "avc1.64001f"], resolution: (width, height), frameRateMilli: rate,
            audioGroup: "audio")
    }

    @Test("a playlist with two variants and a shared audio group equals the golden file")
    func ladder() throws {
        let list = MultivariantPlaylist(
            title: "Room \"7\"\n🎤", audio: [.init(name: "Audio", uri: "audio.m3u8", channels: 2)],
            variants: [Self.variant("720p", 1280, 720), Self.variant("360p", 640, 360, rate: 29_970)])
        try expectGolden(list.rendered(), "ladder.m3u8")
    }

    @Test("the content id is a second EXT-X-SESSION-DATA; quotes and line breaks in it cannot break the playlist")
    func contentID() {
        var list = MultivariantPlaylist(title: "t", audio: [], variants: [Self.variant("v", 2, 2)])
        #expect(!list.rendered().contains("content-id"))
        list.contentID = "88231\"\n#x"
        let lines = list.rendered().split(separator: "\n")
        #expect(lines[4] == "#EXT-X-SESSION-DATA:DATA-ID=\"live.tandem.content-id\",VALUE=\"88231'#x\"")
        #expect(lines.count == 7)
    }

    @Test("an audio-only variant has no RESOLUTION and a video-only one no AUDIO group")
    func singleKinds() {
        let audioOnly = MultivariantPlaylist(
            audio: [],
            variants: [
                .init(
                    uri: "audio.m3u8", bandwidth: 70_000, averageBandwidth: 66_000, codecs: ["mp4a.40.2"],
                    resolution: nil,
                    frameRateMilli: nil, audioGroup: nil)
            ])
        #expect(
            audioOnly.rendered()
                == """
                #EXTM3U
                #EXT-X-VERSION:6
                #EXT-X-INDEPENDENT-SEGMENTS
                #EXT-X-STREAM-INF:BANDWIDTH=70000,AVERAGE-BANDWIDTH=66000,CODECS="mp4a.40.2"
                audio.m3u8

                """)
        let videoOnly = MultivariantPlaylist(
            audio: [.init(name: "x", uri: "audio.m3u8", channels: 2)],
            variants: [
                .init(
                    uri: "v.m3u8", bandwidth: 1, averageBandwidth: 1, codecs: ["avc1.42c01f"], resolution: (2, 2),
                    frameRateMilli: 30_000, audioGroup: nil)
            ])
        #expect(!videoOnly.rendered().contains("AUDIO"))
    }

    @Test(
        "quotes, line breaks and control characters in a title or name cannot break the playlist",
        arguments: ["a\"b", "a\nb", "\u{1}", "", "🎤", "a\r\n#EXT-X-ENDLIST", "\u{2028}x"])
    func hostileNames(name: String) {
        let list = MultivariantPlaylist(
            title: name, audio: [.init(name: name, uri: "audio.m3u8", channels: 2)], variants: [Self.variant("v", 2, 2)]
        )
        let lines = list.rendered().split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count == 8)
        #expect(lines.allSatisfy { $0.filter { $0 == "\"" }.count.isMultiple(of: 2) })
        #expect(!list.rendered().unicodeScalars.contains { $0.value < 32 && $0 != "\n" })
        #expect(!list.rendered().contains("=\"\""))
    }
}
