import Foundation
import HLS
import MediaTypes
import Packager
import Synchronization
import Testing

@Suite("ClaimedFile: a worker's private file, written only while no newer worker has claimed the room")
struct ClaimedFileTests {
    private static func folder() -> String {
        FileManager.default.temporaryDirectory.appendingPathComponent("tandem-claimed-\(UUID().uuidString)").path
    }

    private static func claim(_ path: String) throws -> RoomClaim {
        let settings = try Output.settings { $0.directory = path }
        return try Output(DirectoryStore(directory: path), settings: settings).packager.claim
    }

    @Test("a claimed file has mode 0600; a worker that was superseded cannot change it and leaves no temporary file")
    func superseded() throws {
        let path = Self.folder()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let first = ClaimedFile("commands.json", in: path, claim: try Self.claim(path))
        #expect(first.read() == nil)
        try first.write([1, 2, 3])
        let mode = try FileManager.default.attributesOfItem(atPath: "\(path)/commands.json")[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let successor = ClaimedFile("commands.json", in: path, claim: try Self.claim(path))
        #expect(successor.read() == [1, 2, 3])
        func code(_ body: () throws(MediaError) -> Void) -> MediaError.Code? {
            do throws(MediaError) { try body() } catch { return error.code }
            return nil
        }
        #expect(code { () throws(MediaError) in try first.write([9]) } == .superseded)
        #expect(code { () throws(MediaError) in try first.remove() } == .superseded)
        try successor.write([4])
        #expect(first.read() == [4])
        #expect(try FileManager.default.contentsOfDirectory(atPath: path).sorted() == ["commands.json", "state.json"])
        try successor.remove()
        #expect(successor.read() == nil)
    }

    @Test("a claimed file keeps its old content until the complete new file is renamed over it")
    func steps() throws {
        let path = Self.folder()
        defer { try? FileManager.default.removeItem(atPath: path) }
        /// The files on disk after a step.
        struct Snapshot: Equatable {
            var step: WriteStep
            var content: [UInt8]?
            var beside: [UInt8]?
        }
        let snapshots = Mutex<[Snapshot]>([])
        let store = DirectoryStore(directory: path)
        let claim = try Self.claim(path)
        let file = ClaimedFile("commands.json", in: path, claim: claim) { step in
            let beside = store.read(".commands.json.\(claim.incarnation).tmp")
            snapshots.withLock { $0.append(Snapshot(step: step, content: store.read("commands.json"), beside: beside)) }
        }
        try file.write([1])
        snapshots.withLock { $0 = [] }
        try file.write([2, 3])
        #expect(
            snapshots.withLock { $0 } == [
                Snapshot(step: .created, content: [1], beside: []),
                Snapshot(step: .written, content: [1], beside: [2, 3]),
                Snapshot(step: .synchronized, content: [1], beside: [2, 3]), Snapshot(step: .renamed, content: [2, 3]),
                Snapshot(step: .directorySynchronized, content: [2, 3]),
            ])
    }

    @Test("temporary files that a killed worker left beside a claimed file are removed by the next worker")
    func leftovers() throws {
        let path = Self.folder()
        defer { try? FileManager.default.removeItem(atPath: path) }
        _ = try Self.claim(path)
        let claim = try Self.claim(path)
        let left = "\(path)/.commands.json.1.tmp"
        _ = FileManager.default.createFile(atPath: left, contents: Data([1]))
        ClaimedFile("commands.json", in: path, claim: claim).removeLeftovers()
        #expect(!FileManager.default.fileExists(atPath: left))
    }

    @Test("once a newer worker has claimed the room, a worker's write to its file in another directory is refused, too")
    func elsewhere() throws {
        let (path, other) = (Self.folder(), Self.folder())
        defer { for path in [path, other] { try? FileManager.default.removeItem(atPath: path) } }
        try DirectoryStore(directory: other).prepare()
        let file = ClaimedFile("commands.json", in: other, claim: try Self.claim(path))
        try file.write([7])
        _ = try Self.claim(path)
        #expect(throws: MediaError.self) { try file.write([8]) }
        #expect(file.read() == [7])
    }
}
