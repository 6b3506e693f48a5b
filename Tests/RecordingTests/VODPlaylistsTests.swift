import Foundation
import HLS
import MediaTypes
import Packager
import Recording
import Testing

@Suite("Playlists of a recording: rfc8216bis §6.2.4")
struct VODPlaylistsTests {
    /// Two seconds of video; from the fourth segment on also `360p`, with less than a second.
    private static func segmentIndex(_ number: Int64) -> ListedSegmentSet {
        let incarnation: Int64 = number < 3 ? 1 : 2
        let tracks = (number < 3 ? ["720p"] : ["720p", "360p"]).map { name in
            ListedSegmentSet.Track(
                name: name, kind: .video,
                segment: Segment(
                    mediaSequence: number, uri: "\(name)-\(incarnation)-\(number).m4s", start: number * 60_000,
                    duration: MediaDuration(ticks: name == "720p" ? 60_000 : 20_000, timescale: 30_000),
                    programDate: 1_700_000_000_000_000_000 + number * 2_000_000_000,
                    map: InitializationSegment(uri: "\(name)-\(incarnation).mp4"),
                    discontinuity: (2...3).contains(number), byteCount: 3))
        }
        return ListedSegmentSet(
            mediaSequence: number, incarnation: incarnation, frames: number * 60..<(number + 1) * 60, tracks: tracks)
    }

    @Test(
        "in a recording, a track that a later worker adds has the others' target duration and counts their earlier discontinuities"
    )
    func laterTrack() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("vod-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // Between the fifth and the sixth there is a gap in the recording.
        let segmentSets = [0, 1, 2, 3, 4, 6].map { Self.segmentIndex($0) }
        let text = RecordingJournal.head(roomID: "1") + segmentSets.map { RecordingJournal.line($0) }.joined()
        try Data(text.utf8).write(to: folder.appendingPathComponent(RecordingJournal.name))
        for segment in segmentSets.flatMap(\.tracks).map(\.segment) {
            for name in [segment.uri, segment.map.uri] {
                try Data([1, 2, 3]).write(to: folder.appendingPathComponent(name))
            }
        }
        let settings = RecordingSettings(directory: folder.path, roomID: "1", movies: [])
        _ = try RecordingFinisher(settings).run { _, _ in }
        func lines(_ name: String) throws -> [String] {
            try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8).split(separator: "\n")
                .map(String.init)
        }
        let (first, later) = try (lines("720p.m3u8"), lines("360p.m3u8"))
        #expect(first.contains("#EXT-X-DISCONTINUITY-SEQUENCE:0") && later.contains("#EXT-X-DISCONTINUITY-SEQUENCE:2"))
        #expect(first.count { $0 == "#EXT-X-DISCONTINUITY" } == 3)
        #expect(later.count { $0 == "#EXT-X-DISCONTINUITY" } == 1, "the gap that both have")
        for list in [first, later] {
            #expect(list.contains("#EXT-X-TARGETDURATION:2") && list.last == "#EXT-X-ENDLIST")
        }
    }
}
