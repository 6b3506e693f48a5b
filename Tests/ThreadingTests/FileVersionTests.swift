import Foundation
import Glibc
import Testing

import Threading

@Suite("FileVersion: detecting that a file was changed or replaced")
struct FileVersionTests {
    private let path = NSTemporaryDirectory() + "file-mark-\(UUID().uuidString)"

    private func write(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    }

    /// Writes a file until the kernel's clock, which advances every few milliseconds, has a new time for it.
    private func letTimePass() throws {
        let other = "\(self.path).clock"
        defer { unlink(other) }
        try self.write("", to: other)
        let before = FileVersion(path: other)
        for _ in 0..<10_000_000 {
            try self.write("", to: other)
            if FileVersion(path: other) != before { return }
        }
        Issue.record("the kernel's clock does not advance")
    }

    @Test("two FileVersions of an unchanged file are equal; the FileVersion of a missing file is nil")
    func still() throws {
        #expect(FileVersion(path: self.path) == nil)
        try self.write("a", to: self.path)
        defer { unlink(self.path) }
        #expect(FileVersion(path: self.path) != nil && FileVersion(path: self.path) == FileVersion(path: self.path))
    }

    @Test("a file's FileVersion changes with its permissions, although content and modification time stay")
    func rights() throws {
        try self.write("a", to: self.path)
        defer { unlink(self.path) }
        let before = FileVersion(path: self.path)
        try self.letTimePass()
        try #require(chmod(self.path, 0o600) == 0)
        #expect(FileVersion(path: self.path) != before)
    }

    @Test("a file's FileVersion changes if a file of the same size replaces it")
    func replaced() throws {
        try self.write("a", to: self.path)
        defer { unlink(self.path) }
        let before = FileVersion(path: self.path)
        try self.write("b", to: "\(self.path).next")
        try #require(rename("\(self.path).next", self.path) == 0)
        #expect(FileVersion(path: self.path) != before)
    }
}
