import Glibc
import HTTPProbe
import NIOCore
import Testing

import HTTPListener

@Suite("FilePieceCache: pieces of files, shared by many readers")
struct FilePieceCacheTests {
    private static let second: Int64 = 1_000_000_000

    private static func at(_ seconds: Int64) -> NIODeadline { .uptimeNanoseconds(UInt64(seconds * Self.second)) }

    /// A file with this content, which is already deleted when this returns.
    private static func file(_ text: String) throws -> ServedFile {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/a"
        let descriptor = open(path, O_CREAT | O_WRONLY, 0o600)
        #expect(write(descriptor, text, text.utf8.count) == text.utf8.count)
        close(descriptor)
        let file = try #require(ServedFile(path: path))
        unlink(path)
        directory.remove()
        return file
    }

    @Test("a piece of a file that is read every second stays cached; one that is not read for 10 s is dropped")
    func generations() throws {
        let pieces = FilePieceCache()
        let (used, unused) = (try Self.file("used"), try Self.file("unused"))
        #expect(pieces.file("/used", size: 4, now: Self.at(10)) == nil)
        pieces.opened(used, path: "/used")
        pieces.opened(unused, path: "/unused")
        pieces.read(try #require(used.read(at: 0, count: 4)), of: used, 0..<4)
        pieces.read(try #require(unused.read(at: 0, count: 6)), of: unused, 0..<6)
        for second in Int64(10)...20 {
            #expect(pieces.file("/used", size: 4, now: Self.at(second)) === used)
            #expect(pieces.bytes(of: used, 0..<4) == ByteBuffer(string: "used"))
        }
        #expect(pieces.file("/unused", size: 6, now: Self.at(20)) == nil)
        #expect(pieces.bytes(of: unused, 0..<6) == nil)
        #expect(pieces.bytes(of: used, 0..<3) == nil, "another piece")
    }

    @Test("a file that is opened later does not get the cached pieces of an earlier one")
    func reopened() throws {
        let pieces = FilePieceCache()
        let (first, second) = (try Self.file("first"), try Self.file("other"))
        pieces.read(try #require(first.read(at: 0, count: 5)), of: first, 0..<5)
        #expect(pieces.bytes(of: second, 0..<5) == nil)
    }

    @Test("a lookup by path and size finds no cached file of another size, at once or a second later")
    func replaced() throws {
        let pieces = FilePieceCache()
        let file = try Self.file("first")
        pieces.opened(file, path: "/a")
        #expect(pieces.file("/a", size: 5, now: Self.at(10)) === file)
        #expect(pieces.file("/a", size: 6, now: Self.at(10)) == nil)
        #expect(pieces.file("/a", size: 6, now: Self.at(11)) == nil)
        #expect(pieces.file("/a", size: 5, now: Self.at(11)) === file)
    }

    @Test("an open file counts against the limit of open files until it is released; a missing file does not count")
    func counted() throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let path = directory.path + "/a"
        close(open(path, O_CREAT | O_WRONLY, 0o600))
        defer { unlink(path) }
        let files = FileSlots(most: 1)
        #expect(files.take())
        do {
            let file = try #require(files.opened(path))
            withExtendedLifetime(file) { #expect(!files.take()) }
        }
        #expect(files.take())
        #expect(files.opened(path + "/nothing") == nil)
        #expect(files.take(), "a missing file uses no slot")
    }

    @Test("an unused cached file is closed by the second cleanup call, without another request for it")
    func tidied() throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let path = directory.path + "/a"
        close(open(path, O_CREAT | O_WRONLY, 0o600))
        defer { unlink(path) }
        let files = FileSlots(most: 1)
        let pieces = FilePieceCache()
        #expect(files.take())
        #expect(pieces.file(path, size: 0, now: Self.at(10)) == nil)
        do {
            let file = try #require(files.opened(path))
            #expect(pieces.opened(file, path: path), "no cleanup yet")
            #expect(!pieces.opened(file, path: path))
        }
        #expect(pieces.tidy(now: Self.at(11)))
        #expect(!files.take(), "it may be requested again")
        #expect(!pieces.tidy(now: Self.at(12)))
        #expect(files.take(), "closed")
    }

    @Test("after 40 files the cache has pieces of at most eight, twice its limit, the newest among them")
    func limits() throws {
        let pieces = FilePieceCache(bytes: 100, files: 4)
        let files = try (0..<40).map { try Self.file("file \($0) " + String(repeating: "x", count: 40)) }
        for (index, file) in files.enumerated() {
            #expect(pieces.file("/\(index)", size: 1, now: Self.at(1)) == nil)
            pieces.opened(file, path: "/\(index)")
            pieces.read(try #require(file.read(at: 0, count: 30)), of: file, 0..<30)
        }
        let kept = files.indices.filter { pieces.bytes(of: files[$0], 0..<30) != nil }
        #expect(kept.count <= 8 && kept.last == 39)
    }
}
