import Foundation
import TestSupport
import Testing

/// A separate file system in memory.
final class SmallDisk {
    let path: String

    /// Mounts it. If mounting is not permitted here, then the current test ends as skipped.
    ///
    /// - Parameter size: As tmpfs takes it, such as `5m`.
    init(_ path: String, size: String) throws {
        self.path = path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let mount = try TestTool.require("mount")
        guard try Command.run(mount, ["-t", "tmpfs", "-o", "size=\(size)", "tmpfs", path]).code == 0 else {
            try TestTool.skip("a mounted tmpfs", "root is needed")
        }
    }

    func remount(_ options: String) throws {
        let result = try Command.run("/bin/mount", ["-o", "remount,\(options)", self.path])
        try #require(result.code == 0, "\(result.errors)")
    }

    deinit { _ = try? Command.run("/bin/umount", ["-l", self.path]) }
}

/// A room that fills its disk.
enum CrampedRoom {
    /// Size in MiB; 200 with `TANDEM_DISK_MIB=200`.
    static let size = ProcessInfo.processInfo.environment["TANDEM_DISK_MIB"].flatMap { Int($0) } ?? 5
    /// Whether the disk takes minutes to fill, with segments of the usual length; otherwise segments have half of it.
    static let isLong = Self.size >= 100

    /// Bit rate in bits per second. A recording leaves space for ten segments, which are a quarter of the large disk.
    private static func bits(recording: Bool) -> Int {
        Self.isLong ? 20_000_000 : recording ? 2_000_000 : 5_000_000
    }

    /// Time limit in seconds: twice the time to fill the disk, plus ten seconds for the start.
    static func patience(recording: Bool) -> Double {
        Double(Self.size) * 1_048_576 * 8 / Double(Self.bits(recording: recording)) * 2 + 10
    }

    /// A room with a window of an hour, more than the disk can hold, at a constant high bit rate.
    static func pipeline(_ directory: String, recording: String? = nil) -> String {
        let bits = Self.bits(recording: recording != nil)
        let rendition = """
            [{ "name": "360p", "width": 640, "height": 360, "video": { "bitrate": \(bits),
            "maxBitrate": \(bits), "preset": "ultrafast" } }]
            """
        var room = Rooms.live(
            directory, renditions: rendition, canvas: (640, 360), members: #""overload": { "maxLagMs": 1000 },"#)
        if !Self.isLong {
            let grace = recording == nil ? #""deleteGraceSeconds": 5, "# : ""
            room = room.replacingOccurrences(
                of: #""windowSeconds": 600"#, with: #""segmentGops": 1, \#(grace)"windowSeconds": 600"#)
        }
        guard let recording else { return room }
        return room.replacingOccurrences(
            of: #""outputs": ["#, with: #""outputs": [ { "type": "record", "path": "\#(recording)" },"#)
    }

    /// Makes a clip of noise, which no encoder can compress.
    static func noise(_ media: Media, _ path: String) throws {
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

    /// Checks that every listed segment that is not a gap exists.
    static func expectHonest(_ directory: String, _ name: String) throws {
        let lines = try Files.text("\(directory)/\(name)").split(separator: "\n").map(String.init)
        for (index, line) in lines.enumerated() where !line.hasPrefix("#") {
            let tags = lines[..<index].reversed().prefix { $0.hasPrefix("#") }
            guard !tags.contains("#EXT-X-GAP") else { continue }
            #expect(FileManager.default.fileExists(atPath: "\(directory)/\(line)"), "\(line) is listed")
        }
    }
}
