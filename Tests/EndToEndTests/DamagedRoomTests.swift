import Foundation
import Testing

extension Unhurried.Records {
    @Suite("A disk that is full: lost segments are counted and change the exit code")
    struct DamagedRoomTests {
        /// Fills a disk except for `left` bytes.
        private static func fill(_ disk: SmallDisk, leaving left: Int) throws -> String {
            let path = disk.path + "/filler"
            let space = try FileManager.default.attributesOfFileSystem(forPath: disk.path)
            let free = try #require(space[.systemFreeSize] as? Int)
            try Data(count: max(0, free - left)).write(to: URL(fileURLWithPath: path))
            return path
        }

        @Test(
            "an offline job that loses two segments to a full disk exits with 74, outcome damaged; with --ended-ok, a restart gives 74"
        )
        func offline() throws {
            let media = try Media.require()
            let work = try WorkDirectory()
            let disk = try SmallDisk(work.path("disk"), size: "2m")
            try CrampedRoom.noise(media, work.path("clip.mp4"))
            // Playlists and audio fit, video does not.
            _ = try Self.fill(disk, leaving: 200_000)
            let rendition = """
                [{ "name": "360p", "width": 640, "height": 360, "video": { "bitrate": 4000000, "preset": "ultrafast" } }]
                """
            let clip = work.path("clip.mp4")
            let pipeline = Rooms.offline(
                (clip, clip), seconds: 3, renditions: rendition,
                outputs: #"{ "type": "hls", "path": "\#(disk.path)/out" }"#, canvas: #""width": 640, "height": 360"#)
            let job = try Command.tandem(["run", "-"], input: pipeline)
            #expect(job.code == 74 && job.errors.contains("of 2 segments"), "\(job.errors)")
            let closed = job.output.split(separator: "\n").compactMap { Event(String($0)) }.last {
                $0.type == "room.closed"
            }
            #expect(closed?.text("outcome") == "damaged" && closed?.integer("lostSegments") == 2, "\(job.output)")
            #expect(job.output.contains("output.damaged"))
            // The end is recorded: a restarted worker has nothing to do, and does not report success.
            let again = try Command.tandem(["run", "--ended-ok", "-"], input: pipeline)
            #expect(again.code == 74 && again.errors.contains("gaps in place of lost segments: 2"), "\(again.errors)")
            #expect(try Command.tandem(["run", "-"], input: pipeline).code == 73)
        }
    }
}
