import Foundation
import Glibc
import Testing

/// A file system of its own in memory, of so many MiB.
private final class SmallDisk {
    let path: String

    /// `nil`, said aloud, where nothing may be mounted.
    init?(_ path: String, size: String) throws {
        self.path = path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        guard let mount = EndToEnd.tool("mount") else { return nil }
        guard try Command.run(mount, ["-t", "tmpfs", "-o", "size=\(size)", "tmpfs", path]).code == 0 else {
            print("SKIPPED: no file system can be mounted here (root is needed); a full disk is not judged")
            return nil
        }
    }

    func remount(_ options: String) throws {
        let result = try Command.run("/bin/mount", ["-o", "remount,\(options)", self.path])
        try #require(result.code == 0, "\(result.errors)")
    }

    deinit { _ = try? Command.run("/bin/umount", ["-l", self.path]) }
}

extension EndToEnd {
    @Suite("A disk that fills, and one that takes nothing for a while: the room stays on air")
    struct DiskTests {
        /// MiB; 200 with `TANDEM_DISK_MIB=200`.
        private static let size = ProcessInfo.processInfo.environment["TANDEM_DISK_MIB"].flatMap { Int($0) } ?? 10
        /// Read-only seconds.
        private static let outage = Self.size >= 100 ? 30.0 : 4.0

        /// A second. A recording leaves room for ten segments beside it, which on the large disk take a quarter of it.
        private static func bits(recording: Bool) -> Int {
            size >= 100 ? 20_000_000 : recording ? 2_000_000 : 5_000_000
        }

        /// Twice as long as it takes to fill the disk, and a start.
        private static func patience(recording: Bool) -> Double {
            Double(size) * 1_048_576 * 8 / Double(bits(recording: recording)) * 2 + 10
        }

        /// A window that no such disk holds, of pictures that no encoder can make small.
        private static func room(_ directory: String, recording: String? = nil) -> String {
            let bits = Self.bits(recording: recording != nil)
            let rendition = """
                [{ "name": "360p", "width": 640, "height": 360, "video": { "bitrate": \(bits),
                "maxBitrate": \(bits), "preset": "ultrafast" } }]
                """
            let room = Rooms.live(
                directory, renditions: rendition, canvas: (640, 360), members: #""overload": { "maxLagMs": 1000 },"#)
            guard let recording else { return room }
            return room.replacingOccurrences(
                of: #""outputs": ["#, with: #""outputs": [ { "type": "record", "path": "\#(recording)" },"#)
        }

        private static func noise(_ media: Media, _ path: String) throws {
            let result = try Command.run(
                media.ffmpeg,
                [
                    "-nostdin", "-v", "error", "-f", "lavfi", "-i",
                    "nullsrc=s=640x360:r=30:d=3,geq=random(1)*255:128:128", "-f", "lavfi", "-i", "sine=r=48000:d=3",
                    "-c:v", "libx264", "-preset", "ultrafast", "-b:v", "6M", "-g", "30", "-pix_fmt", "yuv420p", "-c:a",
                    "aac", "-y", path,
                ])
            try #require(result.code == 0, "\(result.errors)")
        }

        /// Every listed segment that is no gap is there.
        private static func expectHonest(_ directory: String, _ name: String) throws {
            let lines = try Files.text("\(directory)/\(name)").split(separator: "\n").map(String.init)
            for (index, line) in lines.enumerated() where !line.hasPrefix("#") {
                let tags = lines[..<index].reversed().prefix { $0.hasPrefix("#") }
                guard !tags.contains("#EXT-X-GAP") else { continue }
                #expect(FileManager.default.fileExists(atPath: "\(directory)/\(line)"), "\(line) is listed")
            }
        }

        @Test("a DVR window larger than its disk: alarms, the oldest go first, nothing live is lost or late")
        func full() throws {
            guard let media = Media.find() else { return }
            let work = try WorkDirectory()
            guard let disk = try SmallDisk(work.path("disk"), size: "\(Self.size)m") else { return }
            try Self.noise(media, work.path("clip.mp4"))
            let room = try RunningRoom(Self.room(disk.path + "/out"))
            let publisher = try Publisher(
                EndToEnd.binary, ["publish", work.path("clip.mp4"), room.url("a"), "--loop"])
            defer { publisher.stop(SIGKILL) }
            let patience = Self.patience(recording: false)
            try room.event("output.disk_low", timeout: patience) { $0.text("level") == "alert_2" }
            try room.event("output.disk_low", timeout: patience) { $0.text("level") == "alert_3" }
            try room.event("output.window", timeout: 5) { $0.integer("segments") == 10 }
            try room.segments(4)
            try Self.expectHonest(disk.path + "/out", "360p.m3u8")
            // Read-only for a while: memory goes on.
            let from = room.now
            try disk.remount("ro")
            try room.event("output.stalled", from: from, timeout: 10) { $0.text("state") == "set" }
            let viewer = try #require(room.viewer)
            let before = try Self.lastNumber(viewer)
            Thread.sleep(forTimeInterval: Self.outage)
            let during = try Self.lastNumber(viewer)
            #expect(during > before, "the live playlist stands still")
            try disk.remount("rw")
            try room.event("output.stalled", from: from, timeout: 15) { $0.text("state") == "cleared" }
            try room.segments(2)
            try Self.expectHonest(disk.path + "/out", "360p.m3u8")
            let ticks = try #require(try room.state()["ticks"] as? [String: Any])
            EndToEnd.report(
                "a disk of \(Self.size) MiB: ticks \(ticks), live playlist \(before) → \(during) while it was read-only"
            )
            #expect(ticks["late"] as? Int == 0 && ticks["lost"] as? Int == 0)
            #expect(try room.end(timeout: 30) == 0)
            try Self.expectNumbered(room)
            try Self.expectHonest(disk.path + "/out", "360p.m3u8")
            let lint = try Command.tandem(["lint-hls", disk.path + "/out/index.m3u8"])
            #expect(lint.code == 0, "\(lint.output)")
        }

        /// No number is left out on disk, whatever happened to it.
        private static func expectNumbered(_ room: RunningRoom) throws {
            let numbers = room.events("segment.published").compactMap { $0.integer("mediaSequence") }
            #expect(numbers == Array(0..<numbers.count), "\(numbers)")
        }

        /// Of the last segment of the playlist that viewers get.
        private static func lastNumber(_ viewer: String) throws -> Int {
            let text = try HTTPClient.request("GET", viewer, "/360p.m3u8").body
            let names = text.split(separator: "\n").filter { !$0.hasPrefix("#") && $0.hasSuffix(".m4s") }
            let last = try #require(names.last, "\(text)")
            return try #require(Int(last.dropLast(4).split(separator: "-").last ?? ""))
        }

        @Test("a recording that fills its disk stops before the live playlists lose anything, and says what it has")
        func recorded() throws {
            guard let media = Media.find() else { return }
            let work = try WorkDirectory()
            guard let disk = try SmallDisk(work.path("disk"), size: "\(Self.size)m") else { return }
            try Self.noise(media, work.path("clip.mp4"))
            let pipeline = Self.room(disk.path + "/out", recording: disk.path + "/recording")
                .replacingOccurrences(
                    of: #""windowSeconds": 3600"#, with: #""windowSeconds": 6, "deleteGraceSeconds": 0"#)
            let room = try RunningRoom(pipeline)
            let publisher = try Publisher(
                EndToEnd.binary, ["publish", work.path("clip.mp4"), room.url("a"), "--loop"])
            defer { publisher.stop(SIGKILL) }
            try room.event("recording.stopped", timeout: Self.patience(recording: true))
            try room.segments(4)
            try Self.expectHonest(disk.path + "/out", "360p.m3u8")
            #expect(room.events("output.failed").isEmpty)
            let code = try room.end(timeout: 60)
            if code == 74 {
                // The file needs as much again: it is made once there is space.
                try disk.remount("size=\(Self.size * 3)m")
                let result = try Command.tandem(["run", "-"], input: pipeline)
                #expect(result.code == 0 && result.output.contains("recording.ready"), "\(result.errors)")
            } else {
                #expect(code == 0)
            }
            let manifest = try #require(
                try JSONSerialization.jsonObject(with: Files.bytes(disk.path + "/recording/recording.json"))
                    as? [String: Any])
            let incomplete = try #require(manifest["incomplete"] as? [String: Any])
            EndToEnd.report("a recording on a disk of \(Self.size) MiB: \(incomplete)")
            #expect(manifest["complete"] as? Bool == false && (incomplete["missingSegments"] as? Int ?? 0) >= 4)
            let frames = try #require(manifest["frames"] as? Int)
            #expect(try media.frameCount(disk.path + "/recording/360p.mp4") == frames)
            let lint = try Command.tandem(["lint-hls", disk.path + "/recording/index.m3u8"])
            #expect(lint.code == 0, "\(lint.output)")
        }
    }
}
