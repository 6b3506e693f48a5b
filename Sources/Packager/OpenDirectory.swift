import MediaKernels
import Libc

/// An open file descriptor of an output directory, which stays usable after the directory is moved.
final class OpenDirectory: HeldDirectory {
    private let directory: String
    private let descriptor: Int32

    init?(_ directory: String) {
        self.directory = directory
        self.descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if self.descriptor < 0 { return nil }
    }

    deinit { close(self.descriptor) }

    /// Whether the path still leads to the open directory. True also if the path cannot be checked for another reason
    /// than that it does not exist: the next write then reports the error.
    var isCurrent: Bool {
        var (held, now) = (stat(), stat())
        guard fstat(self.descriptor, &held) == 0 else { return true }
        guard stat(self.directory, &now) == 0 else { return errno != ENOENT && errno != ENOTDIR }
        return held.st_dev == now.st_dev && held.st_ino == now.st_ino
    }

    var names: [String] { DiskUse.names(in: self.descriptor) }

    func restore(_ name: String, limit: Int) -> Int? {
        let target = "\(self.directory)/\(name)"
        if linkat(self.descriptor, name, AT_FDCWD, target, 0) == 0 || errno == EEXIST { return 0 }
        let source = openat(self.descriptor, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard source >= 0 else { return nil }
        defer { close(source) }
        var facts = stat()
        guard fstat(source, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG, Int(facts.st_size) <= limit else {
            return nil
        }
        let temporary = "\(self.directory)/.\(name).tmp"
        unlink(temporary)
        let copy = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, facts.st_mode & 0o777)
        guard copy >= 0 else { return nil }
        let isCopied = Self.copy(source, to: copy)
        guard close(copy) == 0, isCopied, rename(temporary, target) == 0 else {
            unlink(temporary)
            return nil
        }
        return Int(facts.st_size)
    }

    private static func copy(_ source: Int32, to target: Int32) -> Bool {
        var chunk = [UInt8](repeating: 0, count: 256 << 10)
        while true {
            let count = read(source, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return count == 0 }
            if DirectoryStore.write(PacketMemory(Array(chunk[..<count])), to: target) != nil { return false }
        }
    }
}
