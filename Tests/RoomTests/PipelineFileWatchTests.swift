import Control
import Foundation
import Glibc
import Synchronization
import Testing

import RoomAPI

@Suite("Watching the pipeline file of a running room")
struct PipelineFileWatchTests {
    /// A room that accepts every version except those that contain `bad`, and none while it is set to early.
    private final class Taker: Sendable {
        private struct State {
            var taken: [String] = []
            var attempts = 0
            var reports: [String] = []
            var isEarly = false
        }

        private let state = Mutex(State())

        var taken: [String] { self.state.withLock(\.taken) }
        var attempts: Int { self.state.withLock(\.attempts) }
        var reports: [String] { self.state.withLock(\.reports) }
        func setEarly(_ isEarly: Bool) { self.state.withLock { $0.isEarly = isEarly } }

        func watch(_ path: String, _ bytes: String) -> PipelineFileWatch {
            PipelineFileWatch(
                path, bytes: Array(bytes.utf8), take: { bytes throws(ControlFailure) in try self.take(bytes) },
                report: { failure in self.state.withLock { $0.reports.append(failure?.what ?? "good") } })
        }

        private func take(_ bytes: [UInt8]) throws(ControlFailure) {
            let text = String(decoding: bytes, as: UTF8.self)
            self.state.withLock { $0.attempts += 1 }
            if self.state.withLock(\.isEarly) {
                throw ControlFailure(code: "requestFailed", number: 1417, status: 409, what: "early", fix: "later")
            }
            if text.contains("bad") { throw .invalidFormat(text, fix: "mend it", status: 422) }
            self.state.withLock { $0.taken.append(text) }
        }
    }

    private let directory = NSTemporaryDirectory() + "pipeline-watch-\(UUID().uuidString)"

    private func write(_ text: String, _ name: String = "room.json") throws {
        let path = "\(self.directory)/\(name)"
        try FileManager.default.createDirectory(
            atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
    }

    private func remove() { try? FileManager.default.removeItem(atPath: self.directory) }

    @Test("a new version of the pipeline file is delivered once; a file written with the same content is not delivered")
    func versions() throws {
        defer { self.remove() }
        try self.write("one")
        let taker = Taker()
        var watch = taker.watch("\(self.directory)/room.json", "one")
        watch.look()
        try self.write("one")
        watch.look()
        #expect(taker.taken.isEmpty)
        try self.write("two")
        watch.look()
        watch.look()
        watch.look(isTold: true)
        #expect(taker.taken == ["two"] && taker.reports.isEmpty)
    }

    /// Like the kubelet: the mounted file is a link through `..data`, which is switched to another directory.
    @Test("a pipeline file in a ConfigMap is delivered when the `..data` link is switched, and not before")
    func configMap() throws {
        defer { self.remove() }
        try self.write("one", "..2026_1/room.json")
        #expect(symlink("..2026_1", "\(self.directory)/..data") == 0)
        #expect(symlink("..data/room.json", "\(self.directory)/room.json") == 0)
        let taker = Taker()
        var watch = taker.watch("\(self.directory)/room.json", "one")
        watch.look()
        try self.write("two", "..2026_2/room.json")
        watch.look()
        #expect(taker.taken.isEmpty)
        #expect(symlink("..2026_2", "\(self.directory)/..data_tmp") == 0)
        #expect(rename("\(self.directory)/..data_tmp", "\(self.directory)/..data") == 0)
        watch.look()
        #expect(taker.taken == ["two"] && taker.reports.isEmpty)
    }

    @Test("a fault of the pipeline file that persists is reported once, and again on request; its repair is reported")
    func refusals() throws {
        defer { self.remove() }
        try self.write("one")
        let taker = Taker()
        var watch = taker.watch("\(self.directory)/room.json", "one")
        watch.look()
        // A partially written file.
        try self.write("bad half")
        watch.look()
        try self.write("two")
        watch.look()
        #expect(taker.taken == ["two"] && taker.reports.isEmpty)
        try self.write("bad file")
        for _ in 0..<4 { watch.look() }
        #expect(taker.reports == ["bad file"])
        watch.look(isTold: true)
        #expect(taker.reports == ["bad file", "bad file"])
        // The version in use is valid again, and is not delivered again.
        try self.write("two")
        watch.look()
        #expect(taker.taken == ["two"] && taker.reports.last == "good")
        try FileManager.default.removeItem(atPath: "\(self.directory)/room.json")
        for _ in 0..<3 { watch.look() }
        #expect(taker.reports.count == 4 && taker.reports.last?.contains("cannot be read") == true)
        try self.write("three")
        watch.look()
        #expect(taker.taken == ["two", "three"] && taker.reports.last == "good")
    }

    @Test("a refused pipeline file is tried again when only its permissions change")
    func rights() throws {
        defer { self.remove() }
        try self.write("one")
        let taker = Taker()
        let path = "\(self.directory)/room.json"
        var watch = taker.watch(path, "one")
        try self.write("bad file")
        for _ in 0..<4 { watch.look() }
        let attempts = taker.attempts
        try InodeClock.pass(path)
        try #require(chmod(path, 0o640) == 0)
        watch.look()
        #expect(taker.attempts == attempts + 1)
        for _ in 0..<3 { watch.look() }
        #expect(taker.attempts == attempts + 2, "once more, as with any other version that is refused")
    }

    @Test("a version that the room cannot accept yet is reported, and delivered once the room can accept it")
    func early() throws {
        defer { self.remove() }
        try self.write("one")
        let taker = Taker()
        var watch = taker.watch("\(self.directory)/room.json", "one")
        taker.setEarly(true)
        try self.write("two")
        for _ in 0..<3 { watch.look() }
        #expect(taker.taken.isEmpty && taker.reports == ["early"])
        taker.setEarly(false)
        watch.look()
        #expect(taker.taken == ["two"] && taker.reports == ["early", "good"])
    }

    @Test(
        "retries of a version that the room cannot accept yet become rarer; a new version or a reload request is tried at once"
    )
    func patience() throws {
        defer { self.remove() }
        try self.write("one")
        let taker = Taker()
        var watch = taker.watch("\(self.directory)/room.json", "one")
        taker.setEarly(true)
        try self.write("two")
        let tried = (1...30).filter { _ in
            let before = taker.attempts
            watch.look()
            return taker.attempts > before
        }
        #expect(tried == [1, 2, 4, 8, 13, 18, 23, 28])
        let before = taker.attempts
        watch.look(isTold: true)
        #expect(taker.attempts == before + 1)
        try self.write("three")
        watch.look()
        watch.look()
        #expect(taker.attempts == before + 3)
        #expect(taker.reports == ["early", "early"], "reported once, and on request")
    }
}

/// The kernel's clock for inodes, which advances only every few milliseconds.
private enum InodeClock {
    /// Waits until a change of a file would get another status change time (ctime) than `path` has.
    static func pass(_ path: String) throws {
        let other = "\(path).clock"
        let last = try self.change(of: path)
        for _ in 0..<10_000_000 {
            try Data().write(to: URL(fileURLWithPath: other))
            if try self.change(of: other) != last { return }
        }
        Issue.record("the kernel's clock does not advance")
    }

    private static func change(of path: String) throws -> [Int] {
        var status = stat()
        try #require(stat(path, &status) == 0)
        return [status.st_ctim.tv_sec, status.st_ctim.tv_nsec]
    }
}
