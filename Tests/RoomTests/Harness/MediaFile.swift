import LibAV
import MediaTypes

/// A media file made by a room.
enum MediaFile {
    /// Number of packets in the file's video track, which is its number of frames.
    static func frames(_ path: String) async throws -> Int {
        try await offPool {
            let file = try Demuxer.open(path: path, place: "test")
            var count = 0
            while let packet = file.next() { if packet.kind == .video { count += 1 } }
            return count
        }
    }
}
