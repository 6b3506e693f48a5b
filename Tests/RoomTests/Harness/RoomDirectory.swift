import Foundation

/// A temporary directory for a room's output, in memory if the machine has such a file system.
struct RoomDirectory {
    let path: String

    init() throws {
        let root = access("/dev/shm", W_OK) == 0 ? "/dev/shm/" : NSTemporaryDirectory()
        self.path = "\(root)tandem-room-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: self.path, withIntermediateDirectories: true)
    }

    /// Uses an existing directory, or one that the room creates.
    init(at path: String) { self.path = path }

    /// Deletes the directory. Call it when no room writes there any more: a running room takes it for a directory that
    /// was moved.
    func remove() { try? FileManager.default.removeItem(atPath: self.path) }

    func text(of name: String) throws -> String { try String(contentsOfFile: "\(self.path)/\(name)", encoding: .utf8) }

    func bytes(of name: String) throws -> [UInt8] {
        try [UInt8](Data(contentsOf: URL(fileURLWithPath: "\(self.path)/\(name)")))
    }

    /// Names of its files, sorted.
    func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: self.path).sorted() }

    func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: "\(self.path)/\(name)") }

    func write(_ text: String, to name: String) throws {
        try text.write(toFile: "\(self.path)/\(name)", atomically: true, encoding: .utf8)
    }
}
