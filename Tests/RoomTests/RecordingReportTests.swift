import Foundation
import HLS
import MediaKernels
import MediaTypes
import Packager
import PipelineSpec
import Recording
import Room
import RoomAPI
import RoomOutputs
import Synchronization
import Testing

@Suite("Events while a recording's files are made")
struct RecordingReportTests {
    /// A clock that advances by one step at each read.
    private final class SteppingClock: MonotonicClock {
        private let time = Atomic<Int64>(0)
        private let step: Int64

        init(step: Int64) { self.step = step }

        func now() -> Int64 { self.time.add(self.step, ordering: .relaxed).newValue }
    }

    /// Emitted lines.
    private final class Lines: Sendable {
        private let texts = Mutex<[String]>([])

        func add(_ line: String) { self.texts.withLock { $0.append(line) } }

        func all() throws -> [[String: Any]] {
            try self.texts.withLock { $0 }.map {
                try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
            }
        }
    }

    private static let h264: [UInt8] =
        [
            0, 0, 0, 1, 0x67, 0x64, 0x00, 0x1f, 0xac, 0xd9, 0x40, 0x50, 0x05, 0xbb, 0xff, 0x00, 0x03, 0x00, 0x04, 0x10,
            0x00, 0x00, 0x03, 0x00, 0x10, 0x00, 0x00, 0x03, 0x03, 0xc0, 0xf1, 0x83, 0x19, 0x60, 0, 0, 0, 1, 0x68, 0xeb,
            0xe3, 0xcb, 0x22, 0xc0,
        ]

    private static let segments = 3

    /// An ended room with a number of video segments, whose recording is not finished.
    private static func record(_ folder: URL) throws -> RecordingSettings {
        struct Clock: MonotonicClock { func now() -> Int64 { 1 } }
        let live = folder.appendingPathComponent("live").path
        let settings = RecordingSettings(
            directory: folder.appendingPathComponent("rec").path, roomID: "1",
            movies: [RecordingSettings.Movie(video: "v", audio: nil)])
        let store = DirectoryStore(directory: live)
        let recorder = try Recorder.open(settings, source: { store.path(of: $0) }) { Issue.record("\($0)") }
        try recorder.begin()
        let packager = try HLSPackager.open(
            HLSOutputSettings(directory: live, grid: try OutputGrid(fps: 30)),
            tracks: [
                TrackDescription(
                    name: "v", kind: .video, parameters: CodecParameters(codec: .h264, configuration: Self.h264),
                    width: 1280, height: 720, bitrate: 1_000_000, maxBitrate: 1_000_000, bufferSize: 1_000_000)
            ], clock: Clock(), keeper: recorder
        ) { event in if case .outputFailed(let error) = event { Issue.record("\(error)") } }
        _ = try packager.begin(now: 1_700_000_000_000_000_000)
        for frame in Int64(0)..<Int64(64 * Self.segments) {
            packager.receive(
                track: 0,
                CodedPacket(
                    kind: .video, memory: PacketMemory([UInt8](repeating: 1, count: 100)), pts: frame, dts: frame,
                    timescale: 30, isKey: frame % 32 == 0))
            _ = packager.step()
        }
        packager.finish(endlist: true)
        #expect(packager.step() == .ended)
        recorder.settle()
        return settings
    }

    private static func withRecording(_ body: (RecordingSettings) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("report-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try body(try Self.record(folder))
    }

    /// Each segment is read for the tables, for writing, and for its checksum.
    private static let steps = 3 * Self.segments

    @Test("recording.progress is reported once a second with rising bytes, at most the total; then recording.ready")
    func progress() throws {
        try Self.withRecording { settings in
            let lines = Lines()
            let events = RoomEvents(roomID: "1", wall: StandingWall()) { lines.add($0) }
            // Two steps a second: every second one is reported.
            let report = RecordingReport(settings, events: events, clock: SteppingClock(step: 500_000_000))
            #expect(report.finish() == nil)
            let all = try lines.all()
            let types = all.compactMap { $0["type"] as? String }
            #expect(
                types == ["recording.finishing"]
                    + Array(repeating: "recording.progress", count: Self.steps / 2) + ["recording.ready"])
            let progress = all.filter { $0["type"] as? String == "recording.progress" }
            let bytes = progress.compactMap { $0["bytes"] as? Int }, totals = progress.compactMap { $0["of"] as? Int }
            #expect(bytes.count == progress.count && bytes == bytes.sorted() && Set(bytes).count == bytes.count)
            #expect(Set(totals).count == 1 && (bytes.last ?? .max) <= (totals.first ?? 0), "\(bytes) of \(totals)")
        }
    }

    @Test(
        "recording.ready of files made while the room runs has `onAir: true`; a cancelled job is still due and can be done later"
    )
    func onAir() throws {
        try Self.withRecording { settings in
            let lines = Lines()
            let events = RoomEvents(roomID: "1", vocabularies: [.flipflop], wall: StandingWall()) { lines.add($0) }
            var report = RecordingReport(settings, events: events, clock: SteppingClock(step: 1_000))
            report.isOnAir = true
            report.isCalledOff = { true }
            #expect(report.finish()?.code == .unfinished)
            #expect(RecordingFinisher(settings).isDue)
            report.isCalledOff = { false }
            #expect(report.finish() == nil)
            let last = try #require(try lines.all().last)
            #expect(last["type"] as? String == "recording.ready" && last["onAir"] as? Bool == true)
            #expect(last["path"] as? String == settings.directory && last["compat"] == nil, "the room is live")
        }
    }

    @Test(
        "room.closed of an ended room says whether its recording is ready, unfinished or failed; without a recording it says null"
    )
    func word() {
        func error(_ code: MediaError.Code) -> MediaError { MediaError(code, "what", at: "recording", fix: "fix") }
        let (late, lost) = (error(.unfinished), error(.outputLost))
        let rows: [(RoomOutcome, hasRecorder: Bool, isRecorded: Bool, error: MediaError?, word: JSONValue)] = [
            (.ended, true, true, nil, "ready"), (.ended, true, false, nil, .null), (.ended, false, false, nil, .null),
            (.ended, true, true, late, "unfinished"), (.ended, true, false, late, "unfinished"),
            (.ended, true, true, lost, "failed"), (.drained, true, true, nil, .null),
            (.superseded, true, true, late, .null), (.failed(lost), true, true, lost, .null),
        ]
        for row in rows {
            let word = row.0.recordingWord(hasRecorder: row.hasRecorder, isRecorded: row.isRecorded, error: row.error)
            #expect(word == row.word, "\(row)")
        }
    }

    @Test("recording files not made before endTimeoutMs are reported as recording.unfinished; a later run makes them")
    func unfinished() throws {
        try Self.withRecording { settings in
            let lines = Lines()
            let events = RoomEvents(roomID: "1", wall: StandingWall()) { lines.add($0) }
            let late = RecordingReport(settings, events: events, clock: SteppingClock(step: 1_000_000))
            let pendingWork = late.finish(by: 5_000_000)
            #expect(pendingWork?.code == .unfinished)
            let told = try lines.all()
            #expect(told.compactMap { $0["type"] as? String } == ["recording.finishing", "recording.unfinished"])
            #expect((told.last?["reason"] as? String ?? "").contains("endTimeoutMs"))
            #expect(RecordingFinisher(settings).isDue)
            // In time, without an extra step.
            let next = RecordingReport(settings, events: events, clock: SteppingClock(step: 1_000_000))
            var steps = 0
            #expect(next.finish(by: Int64(Self.steps + 1) * 1_000_000, advanced: { steps += 1 }) == nil)
            #expect(steps == Self.steps, "a client sees each of them")
            let last = try lines.all().last
            #expect(last?["type"] as? String == "recording.ready" && last?["onAir"] as? Bool == false)
            #expect(!RecordingFinisher(settings).isDue)
        }
    }
}
