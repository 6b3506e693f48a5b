import Packager
import Testing

@Suite("Names of the files of tracks")
struct TrackFilesTests {
    private static let tracks = ["720p", "audio", "a-1", "v1.5", "bad/name"]

    @Test(
        "with fMP4, names of playlists, segments, parts and maps of a track are recognized, and no others",
        arguments: [
            ("720p.m3u8", .playlist), ("720p-iframes.m3u8", .playlist), ("v1.5.m3u8", .playlist),
            ("720p-1-0.m4s", .media), ("720p-12-345.6.m4s", .media), ("v1.5-2-3.m4s", .media),
            ("720p-1-7-slate.m4s", .media), ("720p-1.mp4", .media), ("720p-1-2.mp4", .media), ("a-1-2.mp4", .media),
            ("a-1-2-3.m4s", .media), ("720p-1-0.vtt", .media), ("720p.vtt", nil), ("index.m3u8", nil),
            ("720p.mp4", nil), ("720p-1.m4s", nil), ("720p-x-1.m4s", nil),
            ("1080p-1-0.m4s", nil), ("concert-2024.mp4", nil), ("720p-1-0.ts", nil), ("poster.jpg", nil),
            ("720p-1-0.m4s.tmp", nil), ("-1-0.m4s", nil), ("720p--0.m4s", nil), ("720p-1-٣.m4s", nil), ("", nil),
            (".m3u8", nil), ("bad/name.m3u8", nil), ("720p-1-2-3-4.mp4", nil),
        ] as [(String, TrackFiles.Kind?)])
    func fragmented(name: String, kind: TrackFiles.Kind?) {
        #expect(TrackFiles(tracks: Self.tracks, container: .fragmentedMP4).kind(of: name) == kind)
    }

    @Test(
        "with MPEG-TS, names of playlists and segments of a track are recognized, and no others",
        arguments: [
            ("720p.m3u8", .playlist), ("720p-1-0.ts", .media), ("v1.5-2-3.ts", .media), ("720p-iframes.m3u8", nil),
            ("player.ts", nil), ("720p-1-0.m4s", nil), ("720p-1.mp4", nil), ("720p-1-0.1.ts", nil),
        ] as [(String, TrackFiles.Kind?)])
    func transport(name: String, kind: TrackFiles.Kind?) {
        #expect(TrackFiles(tracks: Self.tracks, container: .mpegTS).kind(of: name) == kind)
    }

    @Test("a playlist's name gives its track; names of other files give nil")
    func playlists() {
        #expect(TrackFiles.track(ofPlaylist: "720p.m3u8") == "720p")
        #expect(TrackFiles.track(ofPlaylist: "720p-iframes.m3u8", isIFrames: true) == "720p")
        for name in ["../720p.m3u8", ".m3u8", "720p", "720p.m3u8?x"] {
            #expect(TrackFiles.track(ofPlaylist: name) == nil, "\(name)")
        }
    }
}
