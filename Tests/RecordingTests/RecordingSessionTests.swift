import Foundation
import HLS
import MediaTypes
import Packager
import Recording
import Synchronization
import Testing

@Suite("Which segments belong to a recording that is started and stopped by command")
struct RecordingSessionGateTests {
    private enum Step {
        /// A command at a frame (`nil`: before the first frame), and its expected result.
        case start(Int64?, RecordingSessionGate.Start)
        case stop(Int64?, RecordingSessionGate.Stop)
        /// A listed segment of 64 frames, by number, and the expected action.
        case segmentIndex(Int64, RecordingSessionGate.Action)
    }

    private static func go(_ gate: inout RecordingSessionGate, _ steps: Step...) {
        for step in steps {
            switch step {
            case .start(let frame, let expected):
                let (isStartable, start) = (gate.isStartable, gate.start(at: frame))
                #expect(start == expected && isStartable == (expected != .already), "\(step)")
            case .stop(let frame, let expected):
                let (isStoppable, stop) = (gate.isStoppable, gate.stop(at: frame))
                #expect(stop == expected && isStoppable == (expected != .already), "\(step)")
            case .segmentIndex(let number, let expected):
                let action = gate.listed(number * 64..<(number + 1) * 64)
                #expect(action == expected, "\(step)")
            }
        }
    }

    @Test(
        "a segment with the frame at which recording is stopped or started is recorded whole, and in only one recording"
    )
    func whole() {
        var gate = RecordingSessionGate(isRecording: true)
        Self.go(&gate, .segmentIndex(0, .keep), .start(70, .already), .stop(100, .soon), .stop(101, .already))
        #expect(gate.phase == .stopping(at: 100, continues: false))
        Self.go(&gate, .segmentIndex(1, .keepLast), .segmentIndex(2, .pass), .stop(200, .already))
        #expect(gate.phase == .stopped)
        // A segment listed after the command may be from before it.
        Self.go(&gate, .start(300, .begins), .segmentIndex(3, .pass), .segmentIndex(4, .keep), .segmentIndex(5, .keep))
    }

    @Test(
        "after a stop and a start within one segment, the next recording starts with the following segment")
    func within() {
        var gate = RecordingSessionGate(isRecording: true)
        Self.go(&gate, .segmentIndex(0, .keep), .stop(70, .soon), .start(80, .follows), .start(81, .already))
        var other = gate
        Self.go(&gate, .segmentIndex(1, .keepLast), .segmentIndex(2, .keep))
        Self.go(&other, .stop(90, .soon), .segmentIndex(1, .keepLast), .segmentIndex(2, .pass))
        #expect(gate.phase == .recording && other.phase == .stopped)
    }

    @Test(
        "if no listed segment contains the frame at which recording is stopped, the recording ends before the next segment"
    )
    func jump() {
        var gate = RecordingSessionGate(isRecording: true)
        Self.go(&gate, .segmentIndex(0, .keep), .stop(70, .soon), .segmentIndex(5, .end(continues: false)))
        #expect(gate.phase == .stopped)
        Self.go(&gate, .start(500, .begins), .stop(510, .soon), .segmentIndex(6, .pass), .segmentIndex(7, .keepLast))
        Self.go(&gate, .start(600, .begins), .stop(610, .soon), .start(611, .follows))
        Self.go(&gate, .segmentIndex(20, .end(continues: true)), .segmentIndex(21, .keep))
    }

    @Test(
        "a stop before the first frame takes effect at once; a later stop waits until the segment of its frame is listed"
    )
    func early() {
        var gate = RecordingSessionGate(isRecording: true)
        Self.go(&gate, .stop(nil, .now), .segmentIndex(0, .pass), .start(nil, .begins), .segmentIndex(1, .keep))
        Self.go(&gate, .stop(nil, .soon), .segmentIndex(2, .end(continues: false)))
        gate = RecordingSessionGate(isRecording: true)
        Self.go(&gate, .stop(5, .soon), .segmentIndex(0, .keepLast))
    }
}

@Suite("Recordings started and stopped by command")
struct RecordingSessionTests {
    private static let origin: Int64 = 1_700_000_000_000_000_000

    @Test(
        "the file of a room's recording sessions is equal after it is written and read; a truncated or invalid one is refused"
    )
    func sessionFile() {
        for state in [RecordingSessionFile.State.recording, .stopped, .over] {
            let sessionFile = RecordingSessionFile(roomID: "88231", last: 3, state: state)
            #expect(RecordingSessionFile(text: sessionFile.text) == sessionFile)
            for count in 0..<sessionFile.text.count {
                #expect(RecordingSessionFile(text: String(sessionFile.text.prefix(count))) == nil)
            }
        }
        for text in [
            "takes\t2\tr\t1\tstopped\n", "takes\t1\tr\t-1\tstopped\n", "takes\t1\tr\t10001\tstopped\n",
            "takes\t1\tr\t1\tpaused\n", "takes\t1\tr\t1\tstopped\t\n", "other\t1\tr\t1\tstopped\n",
            "takes\t1\tr\t99999999999999999999\tstopped\n",
        ] { #expect(RecordingSessionFile(text: text) == nil, "\(text)") }
    }

    @Test("after a stop, an MP4 is made while the room is live, then one of the next recording; no frame is in both")
    func files() throws {
        let room = try RecordedRoom()
        defer { try? FileManager.default.removeItem(at: room.folder) }
        let store = DirectoryStore(directory: room.live)
        let over = Mutex<[SessionRecorder.Session]>([])
        let sessions = try SessionRecorder.open(
            room.settings(), source: { store.path(of: $0) }, report: { Issue.record("\($0)") },
            over: { take in over.withLock { $0.append(take) } })
        sessions.begin()
        var first: FinishedRecording?
        try room.run(
            nil, ends: true, at: 0, marks: [(90, "pk")], keeper: sessions,
            commands: [
                100: { () throws in
                    #expect(try sessions.stop(at: 100) == room.recording && sessions.status == .stopping)
                },
                110: { () throws in #expect(try sessions.stop(at: 110) == nil, "it is already stopping") },
                150: { () throws in #expect(try sessions.start(at: 150) == "\(room.recording)/take-2") },
                200: { () throws in
                    #expect(sessions.status == .recording && sessions.number == 2)
                    let take = try #require(over.withLock { $0.first })
                    #expect(take.settings == room.settings() && sessions.unfinished.count == 2)
                    take.recorder.settle()
                    #expect(room.settings().dueSessions(roomHasEnded: false).isEmpty, "the room is live")
                    first = try RecordingFinisher(take.settings).run { _, _ in }
                    sessions.finished(take.settings)
                },
            ])
        sessions.settle()
        sessions.close()
        #expect(over.withLock { $0.count } == 1)
        let rest = sessions.unfinished
        #expect(rest.map(\.directory) == ["\(room.recording)/take-2"])
        #expect(room.settings().dueSessions(roomHasEnded: false) == rest)
        let second = try RecordingFinisher(try #require(rest.first)).run { _, _ in }
        let begun = try #require(first)
        // Segments of 64 frames: the stop is in the second, the start in the third.
        #expect(begun.frames == 128 && second.frames == 270 - 128)
        #expect(begun.coverage.isComplete && second.coverage.isComplete)
        let seam = RecordedRoom.origin + 128 * 1_000_000_000 / 30
        #expect(begun.start == RecordedRoom.origin && abs(second.start - seam) < 2_000_000)
        #expect(begun.chapters.map(\.title) == ["solo", "pk"] && second.chapters.map(\.title) == ["pk"])
        for (directory, finished) in [(room.recording, begun), ("\(room.recording)/take-2", second)] {
            for file in finished.files {
                let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(directory)/\(file.name)")))
                #expect(bytes.count == file.byteCount, "\(file.name)")
            }
            let names = finished.files.map(\.name)
            #expect(names.contains("90p.mp4") && names.contains("90p.m3u8") && names.contains("index.m3u8"))
        }
        let segments = [begun, second].map { Set($0.files.map(\.name).filter { $0.hasSuffix(".m4s") }) }
        #expect(segments[0].isDisjoint(with: segments[1]) && !segments[1].isEmpty)
        #expect(sessions.kept.segments == 5 && room.settings().dueSessions(roomHasEnded: true).isEmpty)
        let error = #expect(throws: MediaError.self) {
            try SessionRecorder.open(room.settings(), source: { _ in nil }, report: { _ in }, over: { _ in })
        }
        #expect(error?.code == .roomExited, "the room has ended")
    }

    // MARK: Segments only

    /// A directory with a live output of some segments of one track.
    private struct LiveOutput {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("takes-\(UUID().uuidString)")
        var live: URL { self.folder.appendingPathComponent("live") }
        var recording: String { self.folder.appendingPathComponent("kept").path }
        var settings: RecordingSettings {
            RecordingSettings(directory: self.recording, roomID: "1", movies: [.init(video: "v", audio: nil)])
        }

        init() throws {
            try FileManager.default.createDirectory(at: self.live, withIntermediateDirectories: true)
            for name in ["v-1.mp4"] + (0..<20).map({ "v-1-\($0).m4s" }) {
                try Data([1, 2, 3]).write(to: self.live.appendingPathComponent(name))
            }
        }

        func segmentIndex(_ number: Int64) -> ListedSegmentSet {
            let segment = Segment(
                mediaSequence: number, uri: "v-1-\(number).m4s", start: number * 64,
                duration: MediaDuration(ticks: 64, timescale: 30), programDate: RecordingSessionTests.origin,
                map: InitializationSegment(uri: "v-1.mp4"), byteCount: 3)
            return ListedSegmentSet(
                mediaSequence: number, incarnation: 1, frames: number * 64..<(number + 1) * 64,
                tracks: [ListedSegmentSet.Track(name: "v", kind: .video, segment: segment)])
        }

        /// Numbers of the segments in a recording.
        func kept(_ take: String = "") throws -> [Int64] {
            let text = try String(contentsOfFile: "\(self.recording)\(take)/recording.journal", encoding: .utf8)
            return try RecordingJournal(text: text).segmentSets.map(\.mediaSequence)
        }

        func open(
            isActive: Bool = true, over: @escaping @Sendable (SessionRecorder.Session) -> Void = { _ in }
        ) throws -> SessionRecorder {
            let store = DirectoryStore(directory: self.live.path)
            let sessions = try SessionRecorder.open(
                self.settings, isActive: isActive, source: { store.path(of: $0) }, report: { _ in }, over: over)
            sessions.begin()
            return sessions
        }

        func remove() { try? FileManager.default.removeItem(at: self.folder) }
    }

    @Test("a recording set to wait records nothing until the start command; the next worker then continues it")
    func inactive() throws {
        let output = try LiveOutput()
        defer { output.remove() }
        let sessions = try output.open(isActive: false)
        sessions.keep(multivariant: "#EXTM3U\n")
        sessions.keep(output.segmentIndex(0))
        sessions.settle()
        #expect(sessions.status == .stopped && sessions.number == nil && sessions.unfinished.isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: output.recording).isEmpty)
        #expect(try sessions.start(at: 100) == output.recording && sessions.start(at: 101) == nil)
        for number in Int64(1)...2 { sessions.keep(output.segmentIndex(number)) }
        sessions.settle()
        #expect(try output.kept() == [1, 2])
        // Calls before the recording starts are passed on to it.
        #expect(try String(contentsOfFile: output.recording + "/index.m3u8", encoding: .utf8) == "#EXTM3U\n")
        // The file still says that it waits; the next worker continues the recording anyway.
        let next = try output.open(isActive: false)
        #expect(next.status == .recording && next.number == 1)
    }

    @Test("after a worker is killed at a stop, the next one makes the files while live and records only at a start")
    func killed() throws {
        let output = try LiveOutput()
        defer { output.remove() }
        let sessions = try output.open()
        for number in Int64(0)...1 { sessions.keep(output.segmentIndex(number)) }
        #expect(try sessions.stop(at: 130) == output.recording)
        // Killed before the segment of the stop is listed.
        sessions.settle()
        let told = Mutex<[Int]>([])
        let next = try output.open { take in told.withLock { $0.append(take.number) } }
        #expect(next.status == .stopped && told.withLock { $0 } == [1])
        #expect(output.settings.dueSessions(roomHasEnded: false).isEmpty, "the room is live")
        #expect(output.settings.dueSessions(roomHasEnded: true).map(\.directory) == [output.recording])
        #expect(next.kept.movieBytes == 6, "the disk guard reserves space for them")
        next.keep(output.segmentIndex(2))
        // The name is in use: existing files are not touched.
        try FileManager.default.createDirectory(atPath: output.recording + "/take-2", withIntermediateDirectories: true)
        #expect(try next.start(at: 200) == output.recording + "/take-3")
        for number in Int64(3)...4 { next.keep(output.segmentIndex(number)) }
        next.settle()
        #expect(try output.kept() == [0, 1] && output.kept("/take-3") == [3, 4])
        #expect(try FileManager.default.contentsOfDirectory(atPath: output.recording + "/take-2").isEmpty)
        #expect(next.directories == ["/take-2", "/take-3"].map { output.recording + $0 })
        // Killed again: the recording continues.
        let last = try output.open()
        last.keep(output.segmentIndex(5))
        last.ended(nextMediaSequence: 6)
        last.settle()
        let due = [output.recording, output.recording + "/take-3"]
        #expect(output.settings.dueSessions(roomHasEnded: false).map(\.directory) == due, "its end is recorded")
        last.close()
        #expect(try output.kept("/take-3") == [3, 4, 5])
        #expect(output.settings.dueSessions(roomHasEnded: false).map(\.directory) == due)
    }

    @Test("a new worker knows that finished files of an earlier worker exist")
    func filesOfAWorkerBefore() throws {
        let output = try LiveOutput()
        defer { output.remove() }
        let sessions = try output.open()
        for number in Int64(0)...1 { sessions.keep(output.segmentIndex(number)) }
        #expect(try sessions.stop(at: 130) == output.recording)
        sessions.settle()
        #expect(!sessions.hasFiles)
        // The manifest is the last file that is made.
        try Data([0x7b, 0x7d]).write(to: URL(fileURLWithPath: output.recording + "/recording.json"))
        let next = try output.open()
        #expect(next.unfinished.isEmpty && next.hasFiles)
        let other = try LiveOutput()
        defer { other.remove() }
        #expect(try !other.open(isActive: false).hasFiles)
    }

    @Test("on a full disk the recording is suspended until resumed; a stop that cannot be written to disk is refused")
    func full() throws {
        let output = try LiveOutput()
        defer { output.remove() }
        let sessions = try output.open()
        sessions.keep(output.segmentIndex(0))
        sessions.stop(MediaError(.diskFull, "95 % is taken", at: "recording", fix: "free space"))
        sessions.keep(output.segmentIndex(1))
        #expect(sessions.status == .suspended)
        sessions.resume()
        sessions.settle()
        #expect(sessions.status == .recording)
        sessions.keep(output.segmentIndex(2))
        sessions.settle()
        #expect(try output.kept() == [0, 2])
        // A directory at the file's path refuses writes, also for root.
        try FileManager.default.createDirectory(
            atPath: output.recording + "/recording.takes/x", withIntermediateDirectories: true)
        #expect(throws: MediaError.self) { try sessions.stop(at: 200) }
        #expect(sessions.status == .recording)
        sessions.keep(output.segmentIndex(3))
        sessions.settle()
        #expect(try output.kept() == [0, 2, 3])
    }

    @Test(
        "a new file of recording sessions is synced before it replaces the old one; if the sync fails, the old one stays"
    )
    func durable() throws {
        let output = try LiveOutput()
        defer { output.remove() }
        try FileManager.default.createDirectory(atPath: output.recording, withIntermediateDirectories: true)
        let path = "\(output.recording)/\(RecordingSessionFile.name)"
        let old = RecordingSessionFile(roomID: "1", last: 1, state: .recording)
        let new = RecordingSessionFile(roomID: "1", last: 1, state: .stopped)
        try old.write(in: RecordingFolder(path: output.recording, systemSync: { _ in 0 }))
        let seen = Mutex<[[String?]]>([])
        let folder = RecordingFolder(
            path: output.recording,
            systemSync: { descriptor in
                // The file being made durable, and the file with the name at that time.
                let paths = ["/proc/self/fd/\(descriptor)", path]
                let texts = paths.map { try? String(contentsOfFile: $0, encoding: .utf8) }
                seen.withLock { $0.append(texts) }
                return 0
            })
        try new.write(in: folder)
        #expect(seen.withLock { $0 } == [[new.text, old.text]])
        #expect(try String(contentsOfFile: path, encoding: .utf8) == new.text)
        #expect(throws: MediaError.self) {
            try old.write(in: RecordingFolder(path: output.recording, systemSync: { _ in -1 }))
        }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == new.text)
    }

    @Test("recording starts that cannot be written to disk leave no directory behind")
    func notStarted() throws {
        let output = try LiveOutput()
        defer { output.remove() }
        let sessions = try output.open()
        sessions.keep(output.segmentIndex(0))
        #expect(try sessions.stop(at: 70) == output.recording)
        sessions.keep(output.segmentIndex(1))
        sessions.settle()
        #expect(sessions.status == .stopped)
        // A directory at the temporary file's path refuses writes, also for root.
        let obstacle = output.recording + "/.recording.takes.tmp"
        try FileManager.default.createDirectory(atPath: obstacle, withIntermediateDirectories: false)
        for _ in 0..<3 { #expect(throws: MediaError.self) { try sessions.start(at: 130) } }
        #expect(sessions.status == .stopped && sessions.directories.isEmpty)
        try FileManager.default.removeItem(atPath: obstacle)
        #expect(try sessions.start(at: 130) == output.recording + "/take-2")
        let names = try FileManager.default.contentsOfDirectory(atPath: output.recording)
        #expect(names.filter { $0.hasPrefix("take-") } == ["take-2"])
    }

    @Test("a stop that cancels the next recording before its first segment leaves no directory of that recording")
    func canceled() throws {
        let output = try LiveOutput()
        defer { output.remove() }
        let sessions = try output.open()
        sessions.keep(multivariant: "#EXTM3U\n")
        sessions.keep(output.segmentIndex(0))
        #expect(try sessions.stop(at: 70) == output.recording)
        let next = output.recording + "/take-2"
        #expect(try sessions.start(at: 80) == next)
        sessions.keep(.closed(id: "x", end: 1))
        #expect(FileManager.default.fileExists(atPath: next + "/recording.journal"))
        #expect(try sessions.stop(at: 90) == next)
        #expect(!FileManager.default.fileExists(atPath: next))
        sessions.keep(.closed(id: "y", end: 2))
        for number in Int64(1)...2 { sessions.keep(output.segmentIndex(number)) }
        sessions.settle()
        #expect(try output.kept() == [0, 1] && sessions.status == .stopped)
        // Its number is not used again.
        #expect(try sessions.start(at: 200) == output.recording + "/take-3")
    }

    @Test("while one job makes a recording's files, a second one is refused")
    func exclusive() throws {
        let room = try RecordedRoom()
        defer { try? FileManager.default.removeItem(at: room.folder) }
        try room.run(try room.recorder(room.settings()), ends: true, at: 0)
        let codes = Mutex<[MediaError.Code]>([])
        let finished = try RecordingFinisher(room.settings()).run { _, _ in
            do throws(MediaError) {
                _ = try RecordingFinisher(room.settings()).run { _, _ in }
            } catch {
                codes.withLock { $0.append(error.code) }
            }
        }
        #expect(finished.frames == 270)
        #expect(codes.withLock { !$0.isEmpty && $0.allSatisfy { $0 == .unfinished } })
    }
}
