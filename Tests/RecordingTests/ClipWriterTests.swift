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
        let slot = ListedSegmentSet(
            mediaSequence: 0, incarnation: 1, frames: 0..<1,
            tracks: [ListedSegmentSet.Track(name: "v", kind: .video, segment: segment)])
        let writer = ClipWriter(
            room: "1", directory: folder.path, holds: folder.path, range: 0..<1_000_000_000,
            movie: .init(video: "v", audio: nil))
        let error = #expect(throws: MediaError.self) {
            try writer.hold([slot], id: "clip-1") { _ in folder.path + "/missing" }
        }
        #expect(error?.code == .outputLost && error?.place == "clip")
        #expect(error?.fix == "free space or restore the directory, and request the clip again")
    }
}
