import Glibc
import Testing

/// Bytes sent by real clients, and how an independent decoder reads them.
enum Fixtures {
    /// ffmpeg 5.1 (ff), GStreamer 1.22 rtmp2sink (gst_rtmp2), librtmp 2.4 (gst_rtmp, lib).
    static let names = [
        "ff_audio", "ff_copy", "ff_ext", "ff_mp3", "ff_video", "gst_rtmp", "gst_rtmp2", "lib_ext", "lib_nonmono",
        "lib_rotation", "lib_same",
    ]

    /// The length of C0, C1 and C2, in bytes.
    static let handshakeLength = 1 + 1536 + 1536

    /// All bytes from the client.
    static func bytes(_ name: String) -> [UInt8] { self.file("\(name).c2s.bin") }

    /// One line of the independent decoder, which prints only some messages.
    struct Line: Hashable {
        /// Counted from 1, including protocol control messages.
        let number: Int
        let type: UInt8
        let timestamp: UInt32
        let length: Int
    }

    static func lines(_ name: String) -> [Line] {
        String(decoding: self.file("\(name).messages.txt"), as: UTF8.self).split(separator: "\n").compactMap { line in
            let fields = line.split(separator: " ")
            guard fields.count == 4, let number = Int(fields[0]), let type = UInt8(fields[1]),
                let timestamp = UInt32(fields[2]), let length = Int(fields[3])
            else { return nil }
            return Line(number: number, type: type, timestamp: timestamp, length: length)
        }
    }

    private static func file(_ name: String) -> [UInt8] {
        let path = #filePath.split(separator: "/").dropLast().map { "/" + $0 }.joined() + "/Fixtures/" + name
        guard let file = fopen(path, "rb") else {
            Issue.record("no fixture \(path)")
            return []
        }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        while case let byte = getc(file), byte != EOF { bytes.append(UInt8(truncatingIfNeeded: byte)) }
        return bytes
    }
}
