package import Control
import HLS
import MediaTypes
import Packager
import PipelineSpec
import Recording
import Threading

/// Cuts clips out of the room's HLS segments while the room runs.
package struct ClipService: OutputService {
    let host: any OutputsHost

    /// The longest clip, in nanoseconds.
    private static let longestClip: Int64 = 3_600 * 1_000_000_000

    /// Accepts a request for a clip. It is made after the clips that were requested earlier.
    ///
    /// - Returns: The reply to the request, as JSON text.
    /// - Throws: 404 if the room has no HLS output, no directory for clips or no such rendition, 409 if the disk is full, the
    ///   file exists or the rendition may sleep, 422 if the dates are invalid or outside the available range, 502 if the segments cannot be
    ///   held, and the errors of ``ClipJobs/promise(name:rendition:range:incarnation:)``.
    package func make(_ request: ClipRequest) throws(ControlFailure) -> String {
        let pipeline = self.host.pipeline
        guard let packager = self.stages.packager, let output = pipeline.hls else {
            throw .notFound("this room has no hls output", fix: "clips need an output of type hls: add one")
        }
        guard let directory = pipeline.clipDirectory else {
            throw .notFound(
                "clips are not encrypted, but this room's segments are, and clips have no separate directory",
                fix: "set clipPath of the hls output, or add a record output, and restart the room")
        }
        guard !self.host.withOutputs(\.disk.isFullForClips) else {
            throw .conflict(ClipJobs.diskIsFull.what, fix: ClipJobs.diskIsFull.fix)
        }
        // With a long window these are tens of thousands of segments.
        let listed = packager.listedSegments()
        let range = try self.range(request, listed)
        let rendition = try Self.rendition(request.rendition, in: pipeline)
        guard rendition.when == .always else {
            throw .conflict(
                "\(rendition.name) is encoded only while somebody watches it, so that parts of it may be missing",
                fix: "name a rendition with \"when\": \"always\"")
        }
        let movie = RecordingSettings.Movie(
            video: rendition.isAudioOnly ? nil : rendition.name, audio: rendition.audio.first)
        let writer = ClipWriter(
            room: pipeline.room.roomID, directory: directory, holds: output.clipHoldDirectory, range: range,
            movie: movie)
        let store = DirectoryStore(directory: output.path)
        let isListed = ClipWriter.dates(of: listed).map { $0.lowerBound <= range.lowerBound } ?? false
        let recorder = self.stages.recorder?.recorder
        let clip = try self.add(
            name: request.name, rendition: rendition.name, range: range, incarnation: packager.incarnation
        ) { clip throws(ControlFailure) in
            let (id, name) = (clip.id, clip.name)
            guard !DirectoryStore(directory: directory).contains("\(name).mp4") else {
                throw ControlFailure(
                    code: "duplicateId", number: 1403, status: 409, what: "there is already a clip named \(name)",
                    fix: "choose another name")
            }
            // The segments are held now and not when the clip is made, because they may leave the window in between.
            let hold = try Self.held(listed, by: writer, id: id, in: range, store)
            return ClipJobs.Work(id: id, release: { hold.release() }) { end throws(MediaError) in
                // Segments that have left the live playlists may still be in the recording.
                let recorded = try isListed ? [] : recorder?.recordedSegments() ?? []
                let joined = ClipWriter.joined(recorded, listed)
                guard let segmentSets = joined, let dates = ClipWriter.dates(of: segmentSets),
                    let fitted = writer.fitted(into: dates)
                else { throw Self.outside(ClipWriter.dates(of: joined ?? listed)) }
                return try fitted.write(
                    name, id: id, of: segmentSets, from: hold,
                    opened: { packager.opened($1, of: $0.segment.mediaSequence, track: $0.name) },
                    recorded: { recorder?.bytes(of: $0) },
                    until: {
                        if let error = end() { return error }
                        return self.host.withOutputs(\.disk.isFullForClips) ? ClipJobs.diskIsFull : nil
                    })
            }
        }
        self.host.withOutputs { outputs in
            // The clip may have finished already; then it must not be saved any more.
            guard let state = outputs.clips.clip(clip.id)?.state, state == .pending || state == .working else { return }
            self.stages.saved.save(clip)
        }
        return clip.json.text
    }

    private static func held(
        _ listed: [ListedSegmentSet], by writer: ClipWriter, id: String, in range: Range<Int64>, _ store: DirectoryStore
    ) throws(ControlFailure) -> ClipWriter.Hold {
        do throws(MediaError) {
            return try writer.hold(ClipWriter.segmentSets(listed, in: range), id: id) { store.path(of: $0) }
        } catch {
            throw .requestFailed("the segments cannot be kept for the clip: \(error.what)", fix: error.fix)
        }
    }

    /// The reply to a request for one clip, as JSON text.
    ///
    /// - Throws: 404 if there is no such clip.
    package func json(_ id: String) throws(ControlFailure) -> String {
        guard let clip = self.host.withOutputs({ $0.clips.clip(id) }) else {
            throw .notFound("there is no clip \(id)", fix: "use the id from the reply to POST /v1/clips")
        }
        return clip.json.text
    }

    /// The reply to a request for all clips, as JSON text.
    package func json() -> String {
        let json: JSONValue = ["clips": .array(self.host.withOutputs(\.clips.clips).map(\.json))]
        return json.text
    }

    // MARK: Checks

    private func range(
        _ request: ClipRequest, _ listed: [ListedSegmentSet]
    ) throws(ControlFailure) -> Range<Int64> {
        let from = try Self.date(request.from, "from")
        let to = try Self.date(request.to, "to")
        guard from < to else { throw .invalidValue("to", "is not later than from", fix: "use a later date") }
        guard to - from <= Self.longestClip else {
            throw .invalidValue("to", "is more than an hour later than from", fix: "cut several clips")
        }
        let window = ClipWriter.dates(of: listed)
        if let window, let range = ClipWriter.fitted(from..<to, into: window) { return range }
        // Older segments may be in the recording, which is checked when the clip is made.
        guard let window, self.stages.recorder?.recorder != nil, from < window.lowerBound,
            let range = ClipWriter.fitted(from..<to, into: from..<window.upperBound)
        else {
            let error = Self.outside(window)
            throw .invalidFormat(error.what, fix: error.fix, status: 422)
        }
        return range
    }

    private static func outside(_ window: Range<Int64>?) -> MediaError {
        guard let window else {
            return MediaError(.notFound, "nothing is published yet", at: "clip", fix: "wait for the first segment")
        }
        let (from, to) = (ProgramDate.format(window.lowerBound), ProgramDate.format(window.upperBound))
        return MediaError(
            .notFound, "the range is not within the available media, \(from) to \(to)", at: "clip",
            fix: "use dates within that range")
    }

    private static func date(_ text: String, _ key: String) throws(ControlFailure) -> Int64 {
        guard let date = ProgramDate.parse(text) else {
            throw .invalidValue(
                key, "is not a program date-time",
                fix: "write it as in EXT-X-PROGRAM-DATE-TIME, such as 2026-11-20T22:12:18.136Z")
        }
        return date
    }

    private static func rendition(_ name: String?, in pipeline: Pipeline) throws(ControlFailure) -> Rendition {
        let renditions = pipeline.renditions
        guard
            let found = name.map({ name in renditions.first { $0.name == name } }) ?? renditions.first(where: {
                $0.when == .always
            })
                ?? renditions.first
        else {
            throw .notFound(
                "there is no rendition \(name ?? "")",
                fix: "use one of: \(renditions.map(\.name).joined(separator: ", "))")
        }
        return found
    }
}

/// Runs the jobs of ``ClipJobs`` on a thread of low priority.
extension ClipService {
    /// Reserves a clip's name and queues its work.
    ///
    /// - Parameter make: Returns the work for the clip; called at once.
    /// - Throws: The errors of ``ClipJobs/promise(name:rendition:range:incarnation:)`` and of `make`.
    func add(
        name: String?, rendition: String, range: Range<Int64>, incarnation: Int64,
        _ make: (ClipJobs.Clip) throws(ControlFailure) -> ClipJobs.Work
    ) throws(ControlFailure) -> ClipJobs.Clip {
        let clip = try self.host.withOutputs { outputs throws(ControlFailure) in
            try outputs.clips.promise(name: name, rendition: rendition, range: range, incarnation: incarnation)
        }
        let work: ClipJobs.Work
        do throws(ControlFailure) {
            work = try make(clip)
        } catch {
            self.host.withOutputs { $0.clips.withdraw(clip.id) }
            throw error
        }
        do throws(ControlFailure) {
            try self.host.withOutputs { outputs throws(ControlFailure) in
                guard try outputs.clips.add(work) else { return }
                // Set while the room's state is locked, so that the end of the room finds the thread.
                outputs.clips.thread = StageThread("clip", yields: true) { self.run() }
            }
        } catch {
            work.release()
            throw error
        }
        return clip
    }

    private func run() {
        while let work = self.host.withOutputs({ $0.clips.next() }) {
            let result = Result { () throws(MediaError) in
                try work.body { self.host.withOutputs(\.clips.end) }
            }
            let clip = self.host.withOutputs { $0.clips.finish(work.id, result) }
            work.release()
            if let clip { self.report(clip) }
        }
    }

    /// Ends all clips at the end of this worker's run; see ``ClipJobs/close(hasEnded:)``.
    package func close(hasEnded: Bool) { self.perform(self.host.withOutputs { $0.clips.close(hasEnded: hasEnded) }) }

    /// Fails the clips that were not started, and releases the segments held for them.
    func giveUpWaiting(_ reason: MediaError) { self.perform(self.host.withOutputs { $0.clips.giveUpWaiting(reason) }) }

    /// Waits after ``close(hasEnded:)`` until the clip being made has stopped and its temporary files are removed. Blocks.
    ///
    /// - Parameter nanoseconds: Longest time to wait.
    package func join(within nanoseconds: Int64) {
        let thread = self.host.withOutputs { $0.clips.thread.take() }
        _ = thread?.join(within: nanoseconds)
    }

    /// Reports a clip that an earlier worker promised and did not make, as failed.
    package func noteLost(_ id: String, name: String, rendition: String, range: Range<Int64>) {
        let clip = self.host.withOutputs {
            $0.clips.noteLost(id, name: name, rendition: rendition, range: range)
        }
        self.events.emit("clip.failed", ["clip": clip.json])
    }

    private func perform(_ given: [ClipJobs.DroppedWork]) {
        for given in given {
            given.work.release()
            if let clip = given.clip { self.report(clip) }
        }
    }

    /// Emits the event for a clip that is ready or has failed.
    private func report(_ clip: ClipJobs.Clip) {
        self.stages.saved.forgetClip(clip.id)
        self.events.emit(clip.state == .ready ? "clip.ready" : "clip.failed", ["clip": clip.json])
    }
}
