import Foundation

/// A directory for a room's output, in memory if the machine has a file system there.
struct RoomDirectory {
    let path: String

    init() throws {
        let root = access("/dev/shm", W_OK) == 0 ? "/dev/shm/" : NSTemporaryDirectory()
        self.path = "\(root)tandem-room-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: self.path, withIntermediateDirectories: true)
    }

    /// Called once no room writes there any more; what a failed test leaves running takes it for a directory that was moved away.
    func remove() { try? FileManager.default.removeItem(atPath: self.path) }

    func text(of name: String) throws -> String { try String(contentsOfFile: "\(self.path)/\(name)", encoding: .utf8) }
}
