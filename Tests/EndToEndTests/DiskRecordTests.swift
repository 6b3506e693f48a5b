import Foundation
import Glibc
import Testing

extension Unhurried.Records {
    @Suite("A recording that fills its disk")
    struct DiskRecordTests {
        @Test(
            "when the disk fills up, the recording stops, the live output continues, and the recording ends as incomplete"
        )
        func recorded() throws {
            let media = try Media.require()
            let work = try WorkDirectory()
            let disk = try SmallDisk(work.path("disk"), size: "\(CrampedRoom.size)m")
            try CrampedRoom.noise(media, work.path("clip.mp4"))
            let pipeline = CrampedRoom.pipeline(disk.path + "/out", recording: disk.path + "/recording")
                .replacingOccurrences(
                    of: #""windowSeconds": 600"#,
                    with: #""windowSeconds": \#(CrampedRoom.isLong ? 6 : 3), "deleteGraceSeconds": 0"#)
            let room = try RunningRoom(pipeline)
            let publisher = try Publisher(
                EndToEnd.binary, ["publish", work.path("clip.mp4"), room.url("a"), "--loop"])
            defer { publisher.stop(SIGKILL) }
            try room.event("recording.stopped", timeout: CrampedRoom.patience(recording: true))
            try room.segments(4)
            try CrampedRoom.expectHonest(disk.path + "/out", "360p.m3u8")
            #expect(room.events("output.failed").isEmpty)
            // The file needs the same space again, and finds it.
            #expect(try room.end(timeout: 60) == 0)
            let manifest = try #require(
                try JSONSerialization.jsonObject(with: Files.bytes(disk.path + "/recording/recording.json"))
                    as? [String: Any])
            let incomplete = try #require(manifest["incomplete"] as? [String: Any])
            EndToEnd.report("a recording on a disk of \(CrampedRoom.size) MiB: \(incomplete)")
            #expect(manifest["complete"] as? Bool == false && (incomplete["missingSegments"] as? Int ?? 0) >= 4)
            let frames = try #require(manifest["frames"] as? Int)
            #expect(try media.frameCount(disk.path + "/recording/360p.mp4") == frames)
            let lint = try Command.tandem(["lint-hls", disk.path + "/recording/index.m3u8"])
            #expect(lint.code == 0, "\(lint.output)")
        }
    }
}
