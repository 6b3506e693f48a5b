import LibAV
import MediaTypes

/// A media file that a room has made.
enum MediaFile {
    /// Packets of the file's video track: its frames.
    static func frames(_ path: String) async throws -> Int {
        try await offPool {
            let file = try Demuxer.open(path: path, place: "test")
            var count = 0
            while let packet = file.next() { if packet.kind == .video { count += 1 } }
            return count
        }
    }
}
