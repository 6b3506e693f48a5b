import Dispatch
import Foundation
import Program
import Testing

@Suite("A file as a source")
struct FileReaderTests {
    /// The head of a FLAC file of 48 kHz stereo, and not one frame. Spec: RFC 9639 §8.2.
    private static let empty: [UInt8] =
        Array("fLaC".utf8) + [0x80, 0, 0, 34] + [0x10, 0, 0x10, 0] + [0, 0, 0, 0, 0, 0]
        + [0x0B, 0xB8, 0x02, 0xF0, 0, 0, 0, 0] + [UInt8](repeating: 0, count: 16)

    @Test("a looping file that has a track and nothing in it ends, instead of being read for ever")
    func emptyLoop() throws {
        let path = NSTemporaryDirectory() + "empty-\(UUID().uuidString).flac"
        try Data(Self.empty).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        var reader = FileReader(path: path, loops: true, place: "test")
        let tracks = try reader.probe()
        #expect(tracks.count == 1)
        #expect(StageRun.ends(reader))
    }
}
