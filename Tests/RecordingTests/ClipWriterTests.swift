import Foundation
import HLS
import MediaTypes
import Packager
import Recording
import Testing

@Suite("Files of clips")
struct ClipWriterTests {
    @Test(
        "the error for a clip's segment file that cannot be linked has the place `clip` and says to request the clip again"
    )
    func place() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("clip-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let segment = Segment(
            mediaSequence: 0, uri: "v-1-0.m4s", start: 0, duration: MediaDuration(ticks: 1, timescale: 1),
            programDate: 0, map: InitializationSegment(uri: "v-1.mp4"), byteCount: 1)
        let segmentIndex = ListedSegmentSet(
            mediaSequence: 0, incarnation: 1, frames: 0..<1,
            tracks: [ListedSegmentSet.Track(name: "v", kind: .video, segment: segment)])
        let writer = ClipWriter(
            room: "1", directory: folder.path, holds: folder.path, range: 0..<1_000_000_000,
            movie: .init(video: "v", audio: nil))
        let error = #expect(throws: MediaError.self) {
            try writer.hold([segmentIndex], id: "clip-1") { _ in folder.path + "/missing" }
        }
        #expect(error?.code == .outputLost && error?.place == "clip")
        #expect(error?.fix == "free space or restore the directory, and request the clip again")
    }

    @Test(
        "a clip's range that exceeds the available range by less than a millisecond is cut to it; if it exceeds it by more, it is refused"
    )
    func rounded() {
        let available: Range<Int64> = 1_000_400_000..<2_000_600_000
        // As a client sees the available range.
        #expect(ClipWriter.fitted(1_000_000_000..<2_001_000_000, into: available) == available)
        #expect(ClipWriter.fitted(1_500_000_000..<1_600_000_000, into: available) == 1_500_000_000..<1_600_000_000)
        for range in [
            999_000_000..<2_000_000_000, 1_001_000_000..<2_002_000_000, Int64.min..<2_000_000_000,
            1_001_000_000..<Int64.max, 1_000_000_000..<1_000_100_000,
        ] {
            #expect(ClipWriter.fitted(range, into: available) == nil, "\(range)")
        }
    }
}
