import Dispatch
import Foundation
import MediaKernels
import MediaTypes
import Program
import RTMP
import Testing

@Suite("A file as a source")
struct FileReaderTests {
    /// The header of a FLAC file of 48 kHz stereo, without a frame. Spec: RFC 9639 §8.2.
    private static let empty: [UInt8] =
        Array("fLaC".utf8) + [0x80, 0, 0, 34] + [0x10, 0, 0x10, 0] + [0, 0, 0, 0, 0, 0]
        + [0x0B, 0xB8, 0x02, 0xF0, 0, 0, 0, 0] + [UInt8](repeating: 0, count: 16)

    @Test("a looping file with an empty track ends, instead of being read without end")
    func emptyLoop() throws {
        let path = NSTemporaryDirectory() + "empty-\(UUID().uuidString).flac"
        try Data(Self.empty).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        var reader = FileReader(path: path, loops: true, place: "test")
        let tracks = try reader.probe()
        #expect(tracks.count == 1)
        #expect(StageRun.ends(reader))
    }

    /// An FLV tag with its size after it. Spec: Video File Format 10.1 §E.4.1.
    private static func tag(_ type: UInt8, _ time: Int, _ body: [UInt8]) -> [UInt8] {
        func number(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        var bytes: [UInt8] = [type]
        bytes += number(body.count, 3)
        bytes += number(time, 3)
        bytes += [0, 0, 0, 0]
        bytes += body
        bytes += number(body.count + 11, 4)
        return bytes
    }

    /// Two frames of 33 ms each, after their configuration record.
    private static func videoTags(from time: Int, words: String) throws -> (record: [UInt8], tags: [UInt8]) {
        let (sets, packets) = try Material.frames(2, words: words)
        let record = try #require(AVCRecord(annexB: sets)).record
        var tags = self.tag(9, time, [0x17, 0, 0, 0, 0] + record)
        for (index, packet) in packets.enumerated() {
            let bytes = packet.memory.bytes(in: packet.range)
            tags += self.tag(9, time + index * 33, [packet.isKey ? 0x17 : 0x27, 1, 0, 0, 0] + bytes)
        }
        return (record, tags)
    }

    @Test("a video format change in a file is reported although the file's audio track has no packet")
    func shortChange() throws {
        let first = try Self.videoTags(from: 0, words: "cabac=1")
        let second = try Self.videoTags(from: 66, words: "cabac=0")
        try #require(first.record != second.record)
        let header: [UInt8] = [0x46, 0x4C, 0x56, 1, 5, 0, 0, 0, 9, 0, 0, 0, 0]
        // The audio has only its configuration.
        let audio = Self.tag(8, 0, [0xAF, 0, 0x11, 0x90])
        let path = NSTemporaryDirectory() + "change-\(UUID().uuidString).flv"
        try Data(header + audio + first.tags + second.tags).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        var reader = FileReader(path: path, loops: false, place: "test")
        #expect(try reader.probe().count == 2)
        let told = try StageRun.coding(reader).filter { $0.codec == .h264 }
        #expect(told.map(\.configuration) == [first.record, second.record])
    }
}
