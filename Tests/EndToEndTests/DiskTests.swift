import Foundation
import Glibc
import Testing

extension EndToEnd {
    @Suite("A disk that fills up or becomes read-only: the room stays on air")
    struct DiskTests {
        /// Length of the read-only period in seconds.
        private static let outage = CrampedRoom.isLong ? 30.0 : 4.0

        @Test(
            "on a disk smaller than the DVR window old segments are removed; while it is read-only, the live playlist continues"
        )
        func full() throws {
            let media = try Media.require()
            let work = try WorkDirectory()
            let disk = try SmallDisk(work.path("disk"), size: "\(CrampedRoom.size)m")
            try CrampedRoom.noise(media, work.path("clip.mp4"))
            let room = try RunningRoom(CrampedRoom.pipeline(disk.path + "/out"))
            let publisher = try Publisher(
                EndToEnd.binary, ["publish", work.path("clip.mp4"), room.url("a"), "--loop"])
            defer { publisher.stop(SIGKILL) }
            let patience = CrampedRoom.patience(recording: false)
            try room.event("output.disk_low", timeout: patience) { $0.text("level") == "alert_2" }
            try room.event("output.disk_low", timeout: patience) { $0.text("level") == "alert_3" }
            try room.event("output.window", timeout: 5) { $0.integer("segments") == 10 }
            try room.segments(4)
            try CrampedRoom.expectHonest(disk.path + "/out", "360p.m3u8")
            // Read-only for a while: the live edge continues from memory.
            let from = room.now
            try disk.remount("ro")
            try room.event("output.stalled", from: from, timeout: 10) { $0.text("state") == "set" }
            let alarm = try room.event("alarm.set", from: from, timeout: 10) {
                $0.object("alarm")["type"] as? String == "output.stalled"
            }
            let viewer = try #require(room.viewer)
            let before = try Self.lastNumber(viewer)
            Thread.sleep(forTimeInterval: Self.outage)
            let during = try Self.lastNumber(viewer)
            #expect(during > before, "the live playlist stopped")
            try disk.remount("rw")
            try room.event("output.stalled", from: from, timeout: 15) { $0.text("state") == "cleared" }
            try room.event("alarm.cleared", from: from, timeout: 10) { $0.text("id") == alarm.text("id") }
            try room.segments(2)
            try CrampedRoom.expectHonest(disk.path + "/out", "360p.m3u8")
            let ticks = try #require(try room.state()["ticks"] as? [String: Any])
            EndToEnd.report(
                "a disk of \(CrampedRoom.size) MiB: ticks \(ticks), live playlist \(before) → \(during) while it was read-only"
            )
            expectOnTime(ticks)
            #expect(try room.end(timeout: 30) == 0)
            try Self.expectNumbered(room)
            try CrampedRoom.expectHonest(disk.path + "/out", "360p.m3u8")
            let lint = try Command.tandem(["lint-hls", disk.path + "/out/index.m3u8"])
            #expect(lint.code == 0, "\(lint.output)")
        }

        /// Checks that the room published the media sequence numbers from 0 on, each once and in order.
        private static func expectNumbered(_ room: RunningRoom) throws {
            let numbers = room.events("segment.published").compactMap { $0.integer("mediaSequence") }
            #expect(numbers == Array(0..<numbers.count), "\(numbers)")
        }

        /// Number of the last segment in the playlist that viewers get.
        private static func lastNumber(_ viewer: String) throws -> Int {
            let text = try HTTPClient.request("GET", viewer, "/360p.m3u8").body
            let names = text.split(separator: "\n").filter { !$0.hasPrefix("#") && $0.hasSuffix(".m4s") }
            let last = try #require(names.last, "\(text)")
            return try #require(Int(last.dropLast(4).split(separator: "-").last ?? ""))
        }
    }
}
