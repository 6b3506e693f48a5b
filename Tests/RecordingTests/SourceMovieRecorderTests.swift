import Foundation
import MediaTypes
import Recording
import Testing

@Suite("The files of a source's own recording")
struct SourceMovieRecorderTests {
    private typealias Kit = SourceMovieKit

    private static let source = SourceID(uid: "1001")

    private static func settings(_ directory: URL) -> SourceMovieRecorder.Settings {
        SourceMovieRecorder.Settings(
            roomID: "room", source: self.source, directory: directory.path, prefix: "room-1001-",
            fragments: .init(partDuration: Kit.second))
    }

    private static func directory() throws -> URL {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("r\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        return url
    }

    /// Program time is the source's time plus a minute.
    private static func clock(_ time: Int64, _ arrival: Int64) -> SourceSidecar.Moment {
        SourceSidecar.Moment(program: time + 60 * Kit.second, arrival: 1_800_000_000 * Kit.second + arrival)
    }

    private static func feed(_ recorder: inout SourceMovieRecorder, frames: Range<Int64>) -> [SourceMovieRecorder.Event]
    {
        var events = recorder.configure(Kit.avc, Self.clock)
        for frame in frames {
            let sample = Kit.sample(.video, dts: frame * 40_000_000, isKey: frame % 25 == 0)
            events += recorder.add(sample, now: frame * 40_000_000, Self.clock)
        }
        return events
    }

    private static func sidecar(_ directory: URL) throws -> JSONNode {
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.path).filter { $0.hasSuffix(".json") }
        let name = try #require(names.count == 1 ? names.first : nil)
        let data = try Data(contentsOf: directory.appendingPathComponent(name))
        return try #require(JSONParser.parse([UInt8](data)).root)
    }

    @Test("a finished source recording has a sidecar file with its times, tracks and size")
    func finished() throws {
        let directory = try Self.directory()
        defer { try? FileManager.default.removeItem(at: directory) }
        var recorder = SourceMovieRecorder(Self.settings(directory))
        _ = try recorder.prepare()
        _ = Self.feed(&recorder, frames: 0..<100)
        _ = recorder.end(.publicationEnded, Self.clock)
        let sidecar = try Self.sidecar(directory)
        let file = try #require(sidecar[key: "file"]?.string)
        let size = try Data(contentsOf: directory.appendingPathComponent(file)).count
        #expect(file == "room-1001-20270115T080000000Z.mp4")
        #expect(sidecar[key: "state"]?.string == "finished" && sidecar[key: "reason"]?.string == "publicationEnded")
        #expect(sidecar[key: "bytes"]?.integer == Int64(size) && sidecar[key: "durationMs"]?.integer == 4_000)
        #expect(sidecar[key: "start"]?.text() == #"{"programMs":60000,"date":"2027-01-15T08:00:00.000Z"}"#)
        #expect(sidecar[key: "end"]?[key: "date"]?.string == "2027-01-15T08:00:03.960Z")
        #expect(sidecar[key: "tracks"]?.array?.first?[key: "frames"]?.integer == 100)
    }

    @Test("a successor completes the file of a killed worker up to its last whole part, and the file's sidecar")
    func killed() throws {
        let directory = try Self.directory()
        defer { try? FileManager.default.removeItem(at: directory) }
        do {
            // The recorder is dropped without an end, as at a kill.
            var recorder = SourceMovieRecorder(Self.settings(directory))
            _ = Self.feed(&recorder, frames: 0..<90)
        }
        let left = try Self.sidecar(directory)
        #expect(left[key: "state"]?.string == "recording")
        let file = directory.appendingPathComponent(try #require(left[key: "file"]?.string))
        let handle = try FileHandle(forWritingTo: file)
        try handle.seekToEnd()
        try handle.write(contentsOf: Data([0, 0, 1, 0, 0x6D, 0x6F, 0x6F, 0x66, 1, 2, 3]))
        try handle.close()
        let successor = SourceMovieRecorder(Self.settings(directory))
        let events = try successor.prepare()
        #expect(events.count == 1)
        let sidecar = try Self.sidecar(directory)
        #expect(sidecar[key: "state"]?.string == "finished" && sidecar[key: "reason"]?.string == "workerKilled")
        // Three parts of 25 frames are on disk; the part that was being filled is lost.
        #expect(sidecar[key: "tracks"]?.array?.first?[key: "frames"]?.integer == 75)
        #expect(sidecar[key: "durationMs"]?.integer == 3_000)
        #expect(sidecar[key: "end"]?.text() == #"{"programMs":63000,"date":"2027-01-15T08:00:03.000Z"}"#)
        let bytes = [UInt8](try Data(contentsOf: file))
        let scan = Kit.scan(bytes)
        #expect(scan.isFinished && scan.index.count == 3 && sidecar[key: "bytes"]?.integer == Int64(bytes.count))
        let again = try successor.prepare()
        #expect(again.isEmpty)
    }

    @Test("a source recording that a living worker still writes is not completed by another worker")
    func living() throws {
        let directory = try Self.directory()
        defer { try? FileManager.default.removeItem(at: directory) }
        var recorder = SourceMovieRecorder(Self.settings(directory))
        _ = Self.feed(&recorder, frames: 0..<60)
        let other = SourceMovieRecorder(Self.settings(directory))
        let found = try other.prepare()
        #expect(found.isEmpty)
        #expect(try Self.sidecar(directory)[key: "state"]?.string == "recording")
        _ = recorder.end(.stopped, Self.clock)
        #expect(try Self.sidecar(directory)[key: "reason"]?.string == "stopped")
    }

    @Test(
        "if a source recording's directory cannot be created, the next attempt is after ten seconds, and lost frames are counted"
    )
    func failing() throws {
        let directory = try Self.directory()
        defer { try? FileManager.default.removeItem(at: directory) }
        let place = directory.appendingPathComponent("place")
        try Data().write(to: place)
        var recorder = SourceMovieRecorder(Self.settings(place))
        // The first part is due at 1 s.
        var events = Self.feed(&recorder, frames: 0..<270)
        try FileManager.default.removeItem(at: place)
        events += Self.feed(&recorder, frames: 270..<350)
        #expect(recorder.bytes > 0)
        events += recorder.end(.publicationEnded, Self.clock)
        let names = events.map { event in
            switch event {
            case .started: "started"
            case .finished: "finished"
            case .skipped: "skipped"
            case .failed: "failed"
            }
        }
        #expect(names == ["failed", "started", "finished"])
        let sidecar = try Self.sidecar(place)
        #expect(sidecar[key: "part"]?.integer == 1 && sidecar[key: "lost"]?.integer == 275)
        #expect(sidecar[key: "tracks"]?.array?.first?[key: "frames"]?.integer == 75)
    }

    @Test("while the disk is nearly full frames are lost and counted; the next file begins with a key frame")
    func suspended() throws {
        let directory = try Self.directory()
        defer { try? FileManager.default.removeItem(at: directory) }
        var recorder = SourceMovieRecorder(Self.settings(directory))
        _ = Self.feed(&recorder, frames: 0..<30)
        var events = recorder.suspend(true, Self.clock)
        events += Self.feed(&recorder, frames: 30..<60)
        events += recorder.suspend(false, Self.clock)
        events += Self.feed(&recorder, frames: 60..<100)
        events += recorder.end(.publicationEnded, Self.clock)
        var lost: [String] = []
        for case .finished(_, let json) in events {
            guard case .object(let members) = json else { continue }
            lost += members.filter { ["reason", "lost", "beforeKeyFrame"].contains($0.name) }.map(\.value.text)
        }
        #expect(lost == ["\"diskFull\"", "0", "0", "\"publicationEnded\"", "15", "30"])
    }
}
