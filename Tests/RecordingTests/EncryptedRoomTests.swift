import Foundation
import HLS
import HLSTestKit
import MediaTypes
import Packager
import Recording
import Synchronization
import Testing

@Suite("Recordings and clips of an encrypted room are unencrypted; segments kept for clips")
struct EncryptedRoomTests {
    private static let encryption = EncryptionSettings(
        room: "88231", rotation: 2, secret: Array("0123456789abcdef".utf8))

    private static func bytes(_ path: String) -> [UInt8]? {
        FileManager.default.contents(atPath: path).map { [UInt8]($0) }
    }

    @Test("an encrypted room's recording has the same unencrypted files as that of an unencrypted room")
    func recording() throws {
        let room = try RecordedRoom()
        let plain = try RecordedRoom(like: room)
        defer { for each in [room, plain] { try? FileManager.default.removeItem(at: each.folder) } }
        let output = OutputBox()
        try room.run(
            try room.recorder(room.settings(), output: output), ends: true, at: 0, encryption: Self.encryption,
            output: output)
        try plain.run(try plain.recorder(plain.settings()), ends: true, at: 0)
        let (finished, expected) = (
            try RecordingFinisher(room.settings()).run { _, _ in },
            try RecordingFinisher(plain.settings()).run { _, _ in }
        )
        #expect(finished.coverage.isComplete && finished.frames == 270)
        #expect(finished.files == expected.files)
        let list = try String(contentsOfFile: room.recording + "/90p.m3u8", encoding: .utf8)
        #expect(!list.contains("EXT-X-KEY"))
        #expect(
            try String(contentsOfFile: room.live + "/90p.m3u8", encoding: .utf8).contains("#EXT-X-KEY:METHOD=AES-128"))
        let (sealed, clear) = (Self.bytes(room.live + "/90p-1-4.m4s"), Self.bytes(room.recording + "/90p-1-4.m4s"))
        #expect(sealed != nil && clear != nil && sealed != clear)
    }

    @Test("a clip is unencrypted, and complete although its segments were deleted after they were hard-linked for it")
    func clip() throws {
        let room = try RecordedRoom()
        defer { try? FileManager.default.removeItem(at: room.folder) }
        let output = OutputBox()
        try room.run(nil, ends: false, at: 0, encryption: Self.encryption, output: output)
        let packager = try #require(output.packager)
        let listed = packager.listedSegments()
        let dates = try #require(ClipWriter.dates(of: listed))
        let range = (dates.lowerBound + 1_000_000_000)..<(dates.lowerBound + 4_000_000_000)
        let (clips, holds) = (room.folder.path + "/clips", room.live + "/clips")
        let writer = ClipWriter(
            room: "88231", directory: clips, holds: holds, range: range,
            movie: RecordingSettings.Movie(video: "90p", audio: "audio"))
        let store = DirectoryStore(directory: room.live)
        let hold = try writer.hold(ClipWriter.segmentSets(listed, in: range), id: "clip-1-1") { store.path(of: $0) }
        for name in try FileManager.default.contentsOfDirectory(atPath: room.live) where name.hasSuffix(".m4s") {
            try FileManager.default.removeItem(atPath: room.live + "/" + name)
        }
        #expect(throws: MediaError.self) { try writer.write("sealed", id: "clip-1-1", of: listed, from: hold) }
        let looks = Mutex(0)
        let stopped = #expect(throws: MediaError.self) {
            try writer.write(
                "stopped", id: "clip-1-1", of: listed, from: hold,
                opened: { packager.opened($1, of: $0.segment.mediaSequence, track: $0.name) },
                until: {
                    looks.withLock { $0 += 1 }
                    return looks.withLock { $0 > 2 } ? MediaError(.diskFull, "full", at: "clip", fix: "none") : nil
                })
        }
        #expect(stopped?.code == .diskFull && looks.withLock { $0 } == 3)
        #expect(try FileManager.default.contentsOfDirectory(atPath: clips).isEmpty, "it removes its file")
        let made = try writer.write(
            "clear", id: "clip-1-1", of: listed, from: hold,
            opened: { packager.opened($1, of: $0.segment.mediaSequence, track: $0.name) })
        #expect(made.segments == 2 && abs(made.durationMs - 3_000) < 40, "\(made)")
        #expect(
            made.path == clips + "/clear.mp4"
                && FileManager.default.contents(atPath: made.path)?.count == made.byteCount)
        let decoded = try Tool.require("ffmpeg").run(["-v", "error", "-i", made.path, "-f", "null", "-"])
        #expect(decoded.errors == "")
        // The name is taken by the first clip.
        let before = Self.bytes(made.path)
        let taken = #expect(throws: MediaError.self) {
            try writer.write(
                "clear", id: "clip-1-2", of: listed, from: hold,
                opened: { packager.opened($1, of: $0.segment.mediaSequence, track: $0.name) })
        }
        #expect(taken?.code == .rejected && Self.bytes(made.path) == before)
        #expect(try FileManager.default.contentsOfDirectory(atPath: clips) == ["clear.mp4"])
        hold.release()
        #expect(try FileManager.default.contentsOfDirectory(atPath: holds).isEmpty)
        // Requested too late: nothing is held.
        let late = #expect(throws: MediaError.self) {
            try writer.hold(ClipWriter.segmentSets(listed, in: range), id: "clip-1-2") { name in
                store.contains(name) ? store.path(of: name) : nil
            }
        }
        #expect(late?.code == .notFound)
        #expect(try FileManager.default.contentsOfDirectory(atPath: holds).isEmpty)
    }

    @Test(
        "when a killed worker's leftovers of clips are removed, its hard links and partial clips are deleted, and nothing else"
    )
    func leftovers() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("clips-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        for directory in [".clip-3-1", ".clip-3-2", ".other", "clip-3-1"] {
            let path = folder.appendingPathComponent(directory)
            try FileManager.default.createDirectory(at: path, withIntermediateDirectories: true)
            try Data([1]).write(to: path.appendingPathComponent("90p-1-1.m4s"))
        }
        let others = ["a.mp4", ".c.partial", "d.mp4.partial", ".b.mp4.partial", ".b.mp4.2-clip-1-1.partial"]
        for file in others + [".b.mp4.88231-clip-1-1.partial", ".a-88231.mp4.88231-clip-12-34.partial"] {
            try Data([1]).write(to: folder.appendingPathComponent(file))
        }
        func left() throws -> Set<String> {
            Set(try FileManager.default.contentsOfDirectory(atPath: folder.path))
        }
        let directories = [".clip-3-1", ".clip-3-2", ".other", "clip-3-1"]
        ClipWriter.removeLeftovers(of: "88231", in: folder.path, hasHolds: false)
        #expect(try left() == Set(others + directories), "other rooms' files stay, and so do directories of hard links")
        ClipWriter.removeLeftovers(of: "88231", in: folder.path, hasHolds: true)
        ClipWriter.removeLeftovers(of: "88231", in: folder.path + "/nowhere", hasHolds: true)
        #expect(try left() == Set(others + [".other", "clip-3-1"]))
    }

    @Test("a segment that cannot be hard-linked for a clip is an error, and nothing is kept")
    func holdOnOther() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("hold-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let segment = Segment(
            mediaSequence: 0, uri: "v-1-0.m4s", start: 0, duration: MediaDuration(ticks: 1, timescale: 1),
            programDate: 0, map: InitializationSegment(uri: "v-1.mp4"), byteCount: 1)
        let segmentIndex = ListedSegmentSet(
            mediaSequence: 0, incarnation: 1, frames: 0..<1,
            tracks: [ListedSegmentSet.Track(name: "v", kind: .video, segment: segment)])
        let writer = ClipWriter(
            room: "1", directory: folder.path, holds: folder.path, range: 0..<1,
            movie: RecordingSettings.Movie(video: "v", audio: nil))
        // A file on another file system cannot be hard-linked here.
        let other = #expect(throws: MediaError.self) {
            try writer.hold([segmentIndex], id: "clip-1-1") { _ in "/proc/self/status" }
        }
        #expect(
            other?.what.contains("cannot hard-link") == true && other?.fix.contains("hard links") == true)
        let gone = #expect(throws: MediaError.self) {
            try writer.hold([segmentIndex], id: "clip-1-2") { folder.path + "/nowhere/" + $0 }
        }
        #expect(gone?.code == .outputLost && gone?.what.contains("cannot hard-link") == true)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty, "nothing is held then")
    }

    @Test(
        "segments of the recording and of the live playlist are joined for a clip unless some between them are missing")
    func joined() {
        func segmentSets(_ numbers: ClosedRange<Int64>) -> [ListedSegmentSet] {
            numbers.map { ListedSegmentSet(mediaSequence: $0, incarnation: 1, frames: 0..<0, tracks: []) }
        }
        #expect(ClipWriter.joined(segmentSets(0...5), segmentSets(4...9)) == segmentSets(0...9))
        #expect(ClipWriter.joined(segmentSets(0...5), segmentSets(6...9)) == segmentSets(0...9))
        #expect(ClipWriter.joined(segmentSets(0...5), segmentSets(7...9)) == nil)
        #expect(ClipWriter.joined([], segmentSets(7...9)) == segmentSets(7...9))
        #expect(ClipWriter.joined(segmentSets(0...5), []) == segmentSets(0...5))
    }
}
