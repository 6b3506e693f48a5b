import Foundation
import Glibc
import Testing

import Threading

@Suite("Reading files whose paths come from a pipeline or a request")
struct FileReadingTests {
    private static func directory() throws -> String {
        let path = NSTemporaryDirectory() + "whole-read-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        return path
    }

    @Test("reading a whole file refuses a pipe without a writer, a device and a directory at once")
    func notRegular() throws {
        let directory = try Self.directory()
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let pipe = "\(directory)/pipe"
        #expect(mkfifo(pipe, 0o600) == 0)
        for path in [pipe, "/dev/zero", directory] {
            #expect(throws: FileReading.Failure.notRegular, "\(path)") { try FileReading.regular(path, limit: 100) }
        }
    }

    @Test("a file is read whole, also through a symbolic link; one over the byte limit or missing throws")
    func whole() throws {
        let directory = try Self.directory()
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let (path, link) = ("\(directory)/file", "\(directory)/link")
        try Data("abc".utf8).write(to: URL(fileURLWithPath: path))
        #expect(symlink("file", link) == 0)
        #expect(try FileReading.regular(link, limit: 3) == Array("abc".utf8))
        #expect(throws: FileReading.Failure.tooLarge(bytes: 3)) { try FileReading.regular(path, limit: 2) }
        #expect(throws: FileReading.Failure.unreadable(ENOENT)) { try FileReading.regular("\(path)s", limit: 2) }
    }
}
