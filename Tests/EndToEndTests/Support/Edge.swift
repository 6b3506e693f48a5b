import Foundation
import Glibc
import TestSupport
import Testing

/// A running `tandem edge` with its key directory.
final class Edge: Sendable {
    let child: Child
    /// URL of its RTMP listener.
    let rtmp: String
    /// URL of its metrics.
    let metrics: String
    private let keys: String

    /// - Parameter work: The key directory is `keys` below it.
    init(_ work: WorkDirectory, _ arguments: [String] = []) throws {
        self.keys = work.path("keys")
        try FileManager.default.createDirectory(atPath: self.keys, withIntermediateDirectories: true)
        self.child = try Child(
            EndToEnd.binary,
            ["edge", "--keys", self.keys, "--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0"] + arguments)
        guard let (line, _) = self.child.line(from: 0, timeout: 10, matches: { _ in true }), let ready = Event(line),
            ready.type == "edge.ready", let rtmp = ready.text("rtmp"), let metrics = ready.text("metrics")
        else {
            self.child.stop(SIGKILL)
            throw Missing("the edge did not start: \(self.child.errors)")
        }
        self.rtmp = rtmp
        self.metrics = metrics
    }

    deinit { self.child.signal(SIGKILL) }

    /// The file name of a path such as `live/KEY` in a key directory: its SHA-256, made by `sha256sum`.
    static func file(_ path: String) throws -> String {
        let program = try TestTool.require("sha256sum")
        return String(try Command.run(program, [], input: path).output.prefix(64))
    }

    /// Makes `room` the room of `path`, such as `live/KEY`.
    func route(_ path: String, to room: RunningRoom, worker: String = "") throws {
        let address = room.rtmp.replacingOccurrences(of: "rtmp://", with: "")
        let name = try Self.file(path)
        try "\(address) \(worker)\n".write(toFile: "\(self.keys)/.new", atomically: false, encoding: .utf8)
        guard rename("\(self.keys)/.new", "\(self.keys)/\(name)") == 0 else { throw Missing("rename: \(errno)") }
    }

    /// The value of a metric; nil if there is none.
    func metric(_ name: String) throws -> Int? {
        let text = try HTTPClient.request("GET", self.metrics, "/metrics").body
        return text.split(separator: "\n").first { $0.hasPrefix("\(name) ") }
            .flatMap { Int($0.dropFirst(name.count + 1)) }
    }
}
