import Foundation

/// A directory of one test. It is deleted with the object, or kept with `TANDEM_KEEP_WORK=1`.
final class WorkDirectory: Sendable {
    let path: String

    init() throws {
        self.path = FileManager.default.temporaryDirectory.appendingPathComponent("tandem-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: self.path, withIntermediateDirectories: true)
    }

    deinit {
        guard ProcessInfo.processInfo.environment["TANDEM_KEEP_WORK"] == nil else { return }
        try? FileManager.default.removeItem(atPath: self.path)
    }

    func path(_ name: String) -> String { "\(self.path)/\(name)" }

    func write(_ text: String, to name: String) throws -> String {
        try Data(text.utf8).write(to: URL(fileURLWithPath: self.path(name)))
        return self.path(name)
    }
}

/// File helpers.
enum Files {
    static func bytes(_ path: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }

    static func text(_ path: String) throws -> String { String(decoding: try self.bytes(path), as: UTF8.self) }

    static func names(in directory: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: directory).sorted()
    }
}
