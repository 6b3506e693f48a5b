import Dispatch
import Foundation
import HLS
import HLSLint
import HLSTestKit
import MediaKernels
import MediaTypes
import Packager
import Recording
import Synchronization
import TestSupport
import Testing

@Suite("Recording a room and making files from it")
struct RecorderTests {
    private static func probe(_ arguments: [String], _ path: String) throws -> String {
        let result = try Tool.require("ffprobe").run(["-v", "error"] + arguments + ["-of", "csv=p=0", path])
        #expect(result.errors == "")
        return result.output
    }

    @Test("the segments of two workers give an MP4 with every frame and chapters, a manifest and valid VOD playlists")
    func whole() throws {
        let room = try RecordedRoom()
        defer { try? FileManager.default.removeItem(at: room.folder) }
        try room.run(try room.recorder(room.settings()), ends: false, at: 0, marks: [(90, "pk")])
        let finisher = RecordingFinisher(room.settings())
        #expect(!finisher.isDue)
        let successor = try room.recorder(room.settings())
        let inherited = successor.kept
        #expect(inherited.segments == 0 && inherited.movieBytes > 100_000)
        try room.run(successor, ends: true, at: 30, marks: [(60, "pk"), (150, nil)])
        #expect(finisher.isDue)
        let steps = Mutex<[Int]>([])
        let finished = try finisher.run { done, total in
            #expect(done <= total)
            steps.withLock { $0.append(done) }
        }
        #expect(steps.withLock { $0 == $0.sorted() && $0.count > 6 })
        #expect(!finisher.isDue)
        // Whole segments of the first run (of 64 frames), all of the second.
        let frames = 256 + 270
        #expect(finished.frames == frames)
        // The disk guard reserves exactly the space used.
        let (size, kept) = (Int64(finished.files[0].byteCount), successor.kept)
        #expect(kept.segments == 5 && abs(kept.movieBytes - size) < size / 10, "\(kept.movieBytes) for \(size)")
        let movie = room.recording + "/90p.mp4"
        let counted = try Self.probe(
            ["-count_frames", "-select_streams", "v:0", "-show_entries", "stream=nb_read_frames"], movie)
        #expect(counted.contains("\(frames)"), "\(counted)")
        let listed = try Self.probe(
            ["-show_chapters", "-show_entries", "chapter=start_time:chapter_tags=title"], movie)
        let titles = listed.split(separator: "\n").compactMap { $0.split(separator: ",").last }
        #expect(titles == ["solo", "pk", "solo", "pk", "solo"], "\(titles)")
        let starts = try Self.probe(["-show_entries", "stream=codec_type,start_time", "-select_streams", "v:0"], movie)
        #expect(starts.contains("video,0.000000"), "\(starts)")
        let title = try Self.probe(["-show_entries", "format_tags=title"], movie)
        #expect(title.contains("A & B"), "\(title)")
        // The index boxes precede the media: a player may start before it has the rest.
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: movie)))
        let types = try #require(BoxReader(bytes: bytes).boxes(in: 0..<bytes.count)).map(\.type)
        #expect(types == ["ftyp", "moov", "mdat"])
        try Self.expectManifest(room, finished)
        try Self.expectPlayable(room)
    }

    /// Checks that every file of the manifest exists, with its size and checksum.
    private static func expectManifest(_ room: RecordedRoom, _ finished: FinishedRecording) throws {
        let data = try Data(contentsOf: URL(fileURLWithPath: room.recording + "/recording.json"))
        let manifest = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let files = try #require(manifest["files"] as? [[String: Any]])
        #expect(files.count == finished.files.count && files.count > 20)
        let sum = try Tool.require("sha256sum")
        for file in files {
            let name = try #require(file["name"] as? String)
            let path = room.recording + "/" + name
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)).count == file["bytes"] as? Int, "\(name)")
            #expect(try sum.run([path]).output.prefix(64) == file["sha256"] as? String ?? "", "\(name)")
        }
        let names = Set(files.compactMap { $0["name"] as? String }).union(["recording.json"])
        #expect(Set(try FileManager.default.contentsOfDirectory(atPath: room.recording)) == names)
    }

    /// Checks that the playlists list everything, in order, without a lint finding.
    private static func expectPlayable(_ room: RecordedRoom) throws {
        let text = try String(contentsOfFile: room.recording + "/90p.m3u8", encoding: .utf8)
        #expect(text.contains("#EXT-X-PLAYLIST-TYPE:VOD\n") && text.hasSuffix("#EXT-X-ENDLIST\n"))
        #expect(text.contains("#EXT-X-MEDIA-SEQUENCE:0\n") && text.contains("live.tandem.pk"))
        var linter = Linter(url: room.recording + "/index.m3u8")
        var requests = linter.begin(at: 0)
        var now: Int64 = 0
        while !requests.isEmpty, now < 600_000_000_000 {
            let next = requests.indices.min { requests[$0].notBefore < requests[$1].notBefore } ?? 0
            let request = requests.remove(at: next)
            now = max(now, request.notBefore)
            let bytes = FileManager.default.contents(atPath: request.url)
            let reply = LintReply(
                status: bytes == nil ? 404 : 200, body: [UInt8](bytes ?? Data()), sentAt: now, receivedAt: now,
                isLocal: true)
            requests += linter.received(reply, for: request)
            if linter.isEnded { requests.removeAll { $0.isPoll } }
        }
        linter.finish(at: now)
        for finding in linter.findings { Issue.record("\(finding.text(since: 0))") }
        #expect(linter.playlistCount == 2 && linter.segmentCount == 2 * 9)
    }

    @Test(
        "a recording without segments is empty; if a full disk stopped it before the first segment, making files fails with the reason"
    )
    func nothing() throws {
        let room = try RecordedRoom()
        defer { try? FileManager.default.removeItem(at: room.folder) }
        let finisher = RecordingFinisher(room.settings())
        #expect(finisher.isEmpty(wasListed: false) && !finisher.isEmpty(wasListed: true), "there is no journal")
        let recorder = try room.recorder(room.settings())
        recorder.settle()
        #expect(finisher.isEmpty(wasListed: true) && !finisher.isDue(roomHasEnded: true))
        recorder.stop(MediaError(.diskFull, "95 % is taken", at: "recording", fix: "free space"))
        recorder.ended(nextMediaSequence: 5)
        recorder.settle()
        #expect(!finisher.isEmpty(wasListed: true) && finisher.isEmpty(wasListed: false) && !finisher.isDue)
        let error = #expect(throws: MediaError.self) { try finisher.run { _, _ in } }
        #expect(error?.code == .outputLost && error?.what.contains("95 % is taken") == true)
    }

    @Test("if the journal's end line is missing, files are made once the room's state says that it has ended")
    func endNotWritten() throws {
        let room = try RecordedRoom()
        defer { try? FileManager.default.removeItem(at: room.folder) }
        try room.run(try room.recorder(room.settings()), ends: false, at: 0)
        let finisher = RecordingFinisher(room.settings())
        #expect(!finisher.isDue && finisher.isDue(roomHasEnded: true))
        let other = RecordingFinisher(room.settings(roomID: "88232"))
        #expect(!other.isDue(roomHasEnded: true), "it belongs to another room, which may be live")
        let finished = try finisher.run { _, _ in }
        #expect(finished.frames == 256 && !finisher.isDue(roomHasEnded: true))
    }

    @Test(
        "a worker killed while it makes the files starts again, with the same result; then the segments are removed")
    func again() throws {
        let room = try RecordedRoom()
        defer { try? FileManager.default.removeItem(at: room.folder) }
        try room.run(try room.recorder(room.settings()), ends: true, at: 0)
        let journal = room.recording + "/recording.journal"
        let kept = try Data(contentsOf: URL(fileURLWithPath: journal))
        let first = try RecordingFinisher(room.settings()).run { _, _ in }
        // As left by a worker killed before the manifest, during a write.
        try kept.write(to: URL(fileURLWithPath: journal))
        try FileManager.default.removeItem(atPath: room.recording + "/recording.json")
        try Data([1, 2, 3]).write(to: URL(fileURLWithPath: room.recording + "/.90p.mp4.partial"))
        #expect(RecordingFinisher(room.settings()).isDue)
        // Its time ends in the middle.
        let steps = Mutex(0)
        let unfinished = #expect(throws: MediaError.self) {
            try RecordingFinisher(room.settings()).run(until: { steps.withLock { $0 > 7 } }) { _, _ in
                steps.withLock { $0 += 1 }
            }
        }
        #expect(unfinished?.code == .unfinished && RecordingFinisher(room.settings()).isDue)
        let second = try RecordingFinisher(room.settings()).run { _, _ in }
        #expect(first == second)
        try kept.write(to: URL(fileURLWithPath: journal))
        try FileManager.default.removeItem(atPath: room.recording + "/recording.json")
        let third = try RecordingFinisher(room.settings(keepsSegments: false)).run { _, _ in }
        #expect(third.files == Array(first.files.prefix(1)))
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: room.recording).filter { $0.hasSuffix(".m4s") } == [])
    }

    @Test("with keepSegments false, segments are deleted only after the manifest is written, even if killed in between")
    func killedOverSegments() throws {
        let room = try RecordedRoom()
        defer { try? FileManager.default.removeItem(at: room.folder) }
        try room.run(try room.recorder(room.settings()), ends: true, at: 0)
        func sources() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: room.recording)
                .filter { $0.hasSuffix(".m4s") || $0.hasSuffix(".journal") }.sorted()
        }
        let names = try sources()
        let files = try names.map { try Data(contentsOf: URL(fileURLWithPath: "\(room.recording)/\($0)")) }
        let finisher = RecordingFinisher(room.settings(keepsSegments: false))
        // The temporary file of the manifest cannot be written.
        let obstacle = room.recording + "/.recording.json.tmp"
        try FileManager.default.createDirectory(atPath: obstacle, withIntermediateDirectories: false)
        #expect(throws: MediaError.self) { try finisher.run { _, _ in } }
        try FileManager.default.removeItem(atPath: obstacle)
        finisher.removeLeftovers()
        #expect(finisher.isDue)
        let finished = try finisher.run { _, _ in }
        let left = try sources()
        #expect(finished.frames >= 256 && left == [])
        // As left by a worker killed after the manifest.
        for (name, data) in zip(names, files) {
            try data.write(to: URL(fileURLWithPath: "\(room.recording)/\(name)"))
        }
        RecordingFinisher(room.settings(keepsSegments: false, roomID: "88232")).removeLeftovers()
        let others = try sources()
        #expect(others == names, "they belong to another room")
        finisher.removeLeftovers()
        let end = try FileManager.default.contentsOfDirectory(atPath: room.recording).sorted()
        #expect(end == ["90p.mp4", "recording.json"])
    }

    @Test(
        "a recording stopped by the disk gives files of what exists; the manifest counts the missing segments"
    )
    func incomplete() throws {
        let room = try RecordedRoom()
        defer { try? FileManager.default.removeItem(at: room.folder) }
        let packets = room.video.packets.count + room.audio.packets.count
        try room.run(try room.recorder(room.settings()), ends: false, at: 0, stopsAt: packets / 2)
        try room.run(try room.recorder(room.settings()), ends: true, at: 30, stopsAt: packets * 3 / 4)
        let finished = try RecordingFinisher(room.settings()).run { _, _ in }
        // Of 4 segments in the first run and 5 in the second.
        let coverage = finished.coverage
        #expect(!coverage.isComplete && coverage.stopReason == "95 % is taken")
        #expect(coverage.runs.count == 2)
        let kept = coverage.runs.reduce(0) { $0 + $1.segments }
        #expect(coverage.missing == Int64(9 - kept) && (3...6).contains(kept), "\(coverage)")
        #expect(finished.frames == kept * 64)
        let data = try Data(contentsOf: URL(fileURLWithPath: room.recording + "/recording.json"))
        let manifest = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect(manifest["complete"] as? Bool == false)
        let incomplete = try #require(manifest["incomplete"] as? [String: Any])
        #expect((incomplete["covered"] as? [[String: Any]])?.count == 2)
        #expect(incomplete["missingSegments"] as? Int == 9 - kept)
        let text = try String(contentsOfFile: room.recording + "/90p.m3u8", encoding: .utf8)
        #expect(text.components(separatedBy: "#EXT-X-DISCONTINUITY\n").count == 2)
    }

    @Test(
        "a recording that was resumed has a discontinuity, and a manifest with the gap and the PK phase inside it"
    )
    func resumed() throws {
        let room = try RecordedRoom()
        defer { try? FileManager.default.removeItem(at: room.folder) }
        let packets = room.video.packets.count + room.audio.packets.count
        let events = Mutex<[String]>([])
        let store = DirectoryStore(directory: room.live)
        let recorder = try Recorder.open(room.settings(), source: { store.path(of: $0) }) { event in
            events.withLock { events in
                switch event {
                case .stopped: events.append("stopped")
                case .resumed: events.append("resumed")
                case .notResumed: events.append("not resumed")
                }
            }
        }
        try recorder.begin()
        // It is running: nothing to do.
        recorder.resume()
        // A third of 9 s is missing; the phase is in it.
        try room.run(
            recorder, ends: true, at: 0, marks: [(110, "pk"), (150, nil)], stopsAt: packets / 3,
            resumesAt: packets * 2 / 3)
        recorder.resume()
        recorder.settle()
        #expect(events.withLock { $0 } == ["stopped", "resumed"])
        let finished = try RecordingFinisher(room.settings()).run { _, _ in }
        let coverage = finished.coverage
        #expect(coverage.runs.count == 2 && (1...2).contains(coverage.missing), "\(coverage)")
        #expect(coverage.runs.reduce(Int64(0)) { $0 + Int64($1.segments) } + coverage.missing == 5)
        #expect(coverage.stopReason == "95 % is taken")
        #expect(finished.chapters.map(\.title) == ["solo", "pk", "solo"], "\(finished.chapters)")
        let text = try String(contentsOfFile: room.recording + "/90p.m3u8", encoding: .utf8)
        #expect(text.components(separatedBy: "#EXT-X-DISCONTINUITY\n").count == 2)
        #expect(text.components(separatedBy: "#EXT-X-DATERANGE").count == 3, "opened and closed")
    }

    @Test("a resume of a recording that fails is reported, and the next resume command tries again")
    func notResumed() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("resume-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let events = Mutex<[String]>([])
        let settings = RecordingSettings(directory: folder.path, roomID: "1", movies: [.init(video: "v", audio: nil)])
        let recorder = try Recorder.open(settings, source: { _ in nil }) { event in
            events.withLock { events in
                switch event {
                case .stopped: events.append("stopped")
                case .resumed: events.append("resumed")
                case .notResumed: events.append("not resumed")
                }
            }
        }
        recorder.stop(MediaError(.outputLost, "gone", at: "recording", fix: "none"))
        recorder.keep(.closed(id: "x", end: 1))
        recorder.settle()
        try FileManager.default.removeItem(at: folder)
        recorder.resume()
        recorder.settle()
        #expect(events.withLock { $0 } == ["stopped", "not resumed"])
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        recorder.resume()
        recorder.settle()
        #expect(events.withLock { $0 } == ["stopped", "not resumed", "resumed"])
        // With its first line, although in another directory.
        let journal = try String(contentsOfFile: folder.path + "/recording.journal", encoding: .utf8)
        #expect(journal == "recording\t1\t1\nstop\tgone\nclose\tx\t1\n")
        recorder.ended(nextMediaSequence: 0)
        recorder.stop(MediaError(.outputLost, "gone", at: "recording", fix: "none"))
        recorder.resume()
        recorder.settle()
        #expect(events.withLock { $0.last } == "stopped", "the room has ended")
    }

    @Test("lines appended to a recording's journal after a failed write can be read, also if the first line failed")
    func notBegun() throws {
        for left in ["", "recor", "recording\t1\t1\nslot\t0"] {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("begun-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            let settings = RecordingSettings(
                directory: folder.path, roomID: "1", movies: [.init(video: "v", audio: nil)])
            let recorder = try Recorder.open(settings, source: { _ in nil }) { _ in }
            let journal = folder.appendingPathComponent(RecordingJournal.name)
            try Data(left.utf8).write(to: journal)
            // Like a recording that could not start.
            recorder.stop(MediaError(.diskFull, "95 % is taken", at: "recording", fix: "free space"))
            recorder.ended(nextMediaSequence: 5)
            recorder.settle()
            let text = try String(contentsOfFile: journal.path, encoding: .utf8)
            #expect(text == "recording\t1\t1\nstop\t95 % is taken\nend\t5\n", "\(left)")
            let error = #expect(throws: MediaError.self) { try RecordingFinisher(settings).run { _, _ in } }
            #expect(error?.code == .outputLost && error?.what.contains("95 % is taken") == true, "\(left)")
        }
    }

    @Test("a stop received while a recording's resume is in progress wins: nothing is recorded until the next command")
    func stoppedMeanwhile() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("again-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let events = Mutex<[String]>([])
        let settings = RecordingSettings(directory: folder.path, roomID: "1", movies: [.init(video: "v", audio: nil)])
        // The file lookup blocks the recorder's thread, like a slow disk.
        let (busy, goes) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let recorder = try Recorder.open(
            settings,
            source: { _ in
                busy.signal()
                goes.wait()
                return nil
            }
        ) { event in
            events.withLock { events in
                switch event {
                case .stopped(let error): events.append("stopped \(error.what)")
                case .resumed: events.append("resumed")
                case .notResumed(let error): events.append("not resumed \(error.what)")
                }
            }
        }
        try recorder.begin()
        let segment = Segment(
            mediaSequence: 0, uri: "v-1-0.m4s", start: 0, duration: MediaDuration(ticks: 1, timescale: 1),
            programDate: 0, map: InitializationSegment(uri: "v-1.mp4"), byteCount: 1)
        let segmentIndex = ListedSegmentSet(
            mediaSequence: 0, incarnation: 1, frames: 0..<1,
            tracks: [ListedSegmentSet.Track(name: "v", kind: .video, segment: segment)])
        recorder.keep(segmentIndex)
        busy.wait(for: "the recorder looks for a file")
        recorder.stop(MediaError(.diskFull, "first", at: "recording", fix: "none"))
        recorder.resume()
        recorder.stop(MediaError(.diskFull, "second", at: "recording", fix: "none"))
        goes.signal()
        recorder.settle()
        // The first stop is reported first, whatever became of the segment.
        #expect(events.withLock { $0.first } == "stopped first" && events.withLock { $0.count } == 2)
        #expect(events.withLock { $0.last?.hasPrefix("not resumed") } == true, "\(events.withLock { $0 })")
        recorder.keep(segmentIndex)
        recorder.settle()
        #expect(busy.wait(timeout: .now()) == .timedOut, "it is stopped")
        recorder.resume()
        recorder.settle()
        #expect(events.withLock { $0.last } == "resumed")
        recorder.keep(segmentIndex)
        busy.wait(for: "the recorder looks for a file")
        goes.signal()
        recorder.settle()
        #expect(events.withLock { $0.last?.hasPrefix("stopped") } == true)
    }

    @Test(
        "date ranges and a multivariant playlist that arrive while the disk hangs are in the recording after it is resumed"
    )
    func hangs() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("hangs-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let settings = RecordingSettings(directory: folder.path, roomID: "1", movies: [.init(video: "v", audio: nil)])
        // The file lookup blocks the recorder's thread, like a disk that hangs.
        let goes = DispatchSemaphore(value: 0)
        let recorder = try Recorder.open(
            settings,
            source: { _ in
                goes.wait()
                return nil
            }, report: { _ in })
        try recorder.begin()
        let segment = Segment(
            mediaSequence: 0, uri: "v-1-0.m4s", start: 0, duration: MediaDuration(ticks: 1, timescale: 1),
            programDate: 0, map: InitializationSegment(uri: "v-1.mp4"), byteCount: 1)
        recorder.keep(
            ListedSegmentSet(
                mediaSequence: 0, incarnation: 1, frames: 0..<1,
                tracks: [ListedSegmentSet.Track(name: "v", kind: .video, segment: segment)]))
        for number in 0..<600 { recorder.keep(.closed(id: "\(number)", end: 1)) }
        recorder.keep(multivariant: "#EXTM3U\n")
        #expect(recorder.isStopped)
        goes.signal()
        recorder.settle()
        recorder.resume()
        recorder.settle()
        #expect(!recorder.isStopped)
        let journal = try String(contentsOfFile: folder.path + "/recording.journal", encoding: .utf8)
        let closed = journal.split(separator: "\n").filter { $0.hasPrefix("close\t") }
        #expect(closed == (0..<600).map { "close\t\($0)\t1" })
        #expect(try String(contentsOfFile: folder.path + "/index.m3u8", encoding: .utf8) == "#EXTM3U\n")
    }

    @Test("if one file of a segment cannot be linked, the segment's other files are removed from the recording")
    func halfASlot() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("half-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let (live, kept) = (folder.appendingPathComponent("live"), folder.appendingPathComponent("kept"))
        try FileManager.default.createDirectory(at: live, withIntermediateDirectories: true)
        for name in ["v-1.mp4", "v-1-0.m4s", "v-1-1.m4s", "a-1.mp4", "a-1-0.m4s"] {
            try Data([1, 2, 3]).write(to: live.appendingPathComponent(name))
        }
        let settings = RecordingSettings(directory: kept.path, roomID: "1", movies: [.init(video: "v", audio: nil)])
        let store = DirectoryStore(directory: live.path)
        let recorder = try Recorder.open(settings, source: { store.path(of: $0) }, report: { _ in })
        try recorder.begin()
        func segmentIndex(_ number: Int64) -> ListedSegmentSet {
            ListedSegmentSet(
                mediaSequence: number, incarnation: 1, frames: number..<number + 1,
                tracks: ["v", "a"].map { name in
                    let segment = Segment(
                        mediaSequence: number, uri: "\(name)-1-\(number).m4s", start: number,
                        duration: MediaDuration(ticks: 1, timescale: 1), programDate: number,
                        map: InitializationSegment(uri: "\(name)-1.mp4"), byteCount: 3)
                    return ListedSegmentSet.Track(name: name, kind: name == "v" ? .video : .audio, segment: segment)
                })
        }
        for number in Int64(0)..<2 {
            recorder.keep(segmentIndex(number))
            recorder.settle()
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: kept.path).sorted()
        #expect(names == ["a-1-0.m4s", "a-1.mp4", "recording.journal", "v-1-0.m4s", "v-1.mp4"])
        #expect(recorder.kept == Recorder.RecordedAmount(segments: 1, movieBytes: 3))
    }

    @Test("opening a recording writes nothing until begin(); a journal whose first line is cut off is started anew")
    func patient() throws {
        let room = try RecordedRoom()
        defer { try? FileManager.default.removeItem(at: room.folder) }
        let settings = room.settings()
        let recorder = try Recorder.open(settings, source: { _ in nil }, report: { _ in })
        #expect(try FileManager.default.contentsOfDirectory(atPath: room.recording).isEmpty)
        let journal = URL(fileURLWithPath: room.recording + "/recording.journal")
        try Data("recor".utf8).write(to: journal)
        try recorder.begin()
        #expect(try String(contentsOf: journal, encoding: .utf8) == "recording\t1\t88231\n")
        // Another worker is writing: reading does not truncate its line.
        try Data("recording\t1\t88231\nslot\t1".utf8).write(to: journal)
        _ = try Recorder.open(settings, source: { _ in nil }, report: { _ in })
        #expect(try Data(contentsOf: journal).count == 24)
    }

    @Test("a finished recording, or one of another room, is not overwritten; a damaged segment's name is in the error")
    func refusals() throws {
        let room = try RecordedRoom()
        defer { try? FileManager.default.removeItem(at: room.folder) }
        try room.run(try room.recorder(room.settings()), ends: true, at: 0)
        #expect(throws: MediaError.self) { try room.recorder(room.settings(roomID: "2")) }
        let segment = room.recording + "/90p-1-1.m4s"
        let whole = try Data(contentsOf: URL(fileURLWithPath: segment))
        try FileManager.default.removeItem(atPath: segment)
        try whole.prefix(100).write(to: URL(fileURLWithPath: segment))
        #expect {
            try RecordingFinisher(room.settings()).run { _, _ in }
        } throws: { error in
            "\(error)".contains("90p-1-1.m4s is missing or damaged")
        }
        try whole.write(to: URL(fileURLWithPath: segment))
        _ = try RecordingFinisher(room.settings()).run { _, _ in }
        #expect {
            try room.recorder(room.settings())
        } throws: { error in
            (error as? MediaError)?.code == .roomExited
        }
    }
}
