import Foundation
import HLS
import MediaTypes
import Packager
import Testing

@Suite("The directory is moved, emptied or hidden by a mount while a room runs")
struct MovedPlaceTests {
    private static func folder() -> String {
        FileManager.default.temporaryDirectory.appendingPathComponent("tandem-moved-\(UUID().uuidString)").path
    }

    private static let names = ["720p", "360p", "audio"]

    private static func begun(_ path: String, _ encryption: EncryptionSettings? = nil) throws -> Output {
        let store = DirectoryStore(directory: path)
        let output = try Output(
            store,
            settings: Output.settings {
                $0.directory = path
                $0.encryption = encryption
            })
        _ = try output.packager.begin(now: Output.origin)
        Self.feed(output, 0..<320)
        return output
    }

    private static func feed(_ output: Output, _ frames: Range<Int64>) {
        for start in stride(from: frames.lowerBound, to: frames.upperBound, by: 16) {
            output.feed(start..<start + 16)
            _ = output.packager.step()
        }
    }

    private static func list(_ path: String, _ name: String) throws -> ListText {
        ListText(try String(contentsOfFile: "\(path)/\(name).m3u8", encoding: .utf8))
    }

    /// Checks that everything named in the playlists exists.
    private static func expectWhole(_ path: String) throws {
        let index = try String(contentsOfFile: "\(path)/index.m3u8", encoding: .utf8)
        for name in Self.names {
            #expect(index.contains("\(name).m3u8"))
            let list = try Self.list(path, name)
            for uri in list.uris where !list.tags(before: uri).contains("#EXT-X-GAP") {
                #expect(FileManager.default.fileExists(atPath: "\(path)/\(uri)"), "\(uri) is listed but missing")
            }
            for map in list.maps {
                let uri = map.split(separator: "\"")[1]
                #expect(FileManager.default.fileExists(atPath: "\(path)/\(uri)"), "\(uri) is listed but missing")
            }
        }
        #expect(FileManager.default.fileExists(atPath: "\(path)/state.json"))
    }

    @Test("if the output directory is moved away, all listed files are written again within one part")
    func moved() throws {
        let (path, away) = (Self.folder(), Self.folder())
        defer { for path in [path, away] { try? FileManager.default.removeItem(atPath: path) } }
        let output = try Self.begun(path, EncryptionSettings(room: "r", rotation: 2))
        let segment = try Data(contentsOf: URL(fileURLWithPath: "\(path)/720p-1-1.m4s"))
        try FileManager.default.moveItem(atPath: path, toPath: away)
        Self.feed(output, 320..<336)
        #expect(output.events.restored == [0])
        try Self.expectWhole(path)
        #expect(try Self.list(path, "720p").uris.count == 5)
        #expect(try Data(contentsOf: URL(fileURLWithPath: "\(path)/720p-1-1.m4s")) == segment)
        let rights = try FileManager.default.attributesOfItem(atPath: "\(path)/.keys.json")[.posixPermissions] as? Int
        #expect(rights == 0o600)
        Self.feed(output, 336..<448)
        try Self.expectWhole(path)
        #expect(try Self.list(path, "audio").uris.count == 7)
        #expect(output.events.restored == [0], "once")
        // A successor continues in the new directory.
        let second = try Output(
            DirectoryStore(directory: path),
            settings: Output.settings {
                $0.directory = path
                $0.encryption = EncryptionSettings(room: "r", rotation: 2)
            })
        _ = try second.packager.begin(now: SlateTests.nanoseconds(500), slate: SlateTests.slate())
        try Self.expectWhole(path)
    }

    @Test("if another directory appears at the output's path, all listed files are written into it")
    func mountedOver() throws {
        let (path, away) = (Self.folder(), Self.folder())
        defer { for path in [path, away] { try? FileManager.default.removeItem(atPath: path) } }
        let output = try Self.begun(path)
        try FileManager.default.moveItem(atPath: path, toPath: away)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try Data("x".utf8).write(to: URL(fileURLWithPath: "\(path)/readme"))
        Self.feed(output, 320..<336)
        #expect(output.events.restored == [0])
        try Self.expectWhole(path)
        #expect(FileManager.default.fileExists(atPath: "\(path)/readme"))
        #expect(try Self.list(path, "360p").count("#EXT-X-GAP") == 0)
    }

    @Test("a directory with the same state file counts as the same directory, whatever its inode is")
    func sameContent() throws {
        let (path, copy) = (Self.folder(), Self.folder())
        defer { for path in [path, copy] { try? FileManager.default.removeItem(atPath: path) } }
        let output = try Self.begun(path)
        try FileManager.default.copyItem(atPath: path, toPath: copy)
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.moveItem(atPath: copy, toPath: path)
        Self.feed(output, 320..<448)
        #expect(output.events.restored.isEmpty && output.events.failures.isEmpty)
        try Self.expectWhole(path)
        #expect(try Self.list(path, "720p").uris.count == 7)
    }

    @Test(
        "if an output's files are removed, listed segments become gaps of the same names, and other listed files are written again"
    )
    func emptied() throws {
        let path = Self.folder()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let output = try Self.begun(path)
        let before = try Self.list(path, "720p").uris
        for name in try FileManager.default.contentsOfDirectory(atPath: path) {
            try FileManager.default.removeItem(atPath: "\(path)/\(name)")
        }
        Self.feed(output, 320..<400)
        #expect(output.events.restored == [15])
        try Self.expectWhole(path)
        let list = try Self.list(path, "720p")
        #expect(list.count("#EXT-X-GAP") == 5 && list.uris == before + ["720p-1-5.m4s"])
    }
}
