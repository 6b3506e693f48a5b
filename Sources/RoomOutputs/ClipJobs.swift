package import Control
import HLS
package import MediaTypes
package import Recording
import Threading

/// The queue of a room's clips. Clips are made one at a time.
///
/// States of a clip: promised (its name is reserved) → waiting (``add(_:)``) → working (``next()``) → ready or failed.
/// A promised or waiting clip is ``State/pending``. The caller acts on the results of the methods: it starts the thread,
/// does the work, and releases the segments held for a clip.
package struct ClipJobs: Sendable {
    package enum State: String, Sendable { case pending, working, ready, failed }

    package struct Clip: Sendable {
        package let id: String
        /// Name of the clip's file, without extension.
        package let name: String
        /// Name of the rendition from which the clip is cut.
        package let rendition: String
        /// Range of program dates, in nanoseconds since the Unix epoch.
        package let range: Range<Int64>
        package fileprivate(set) var state = State.pending
        fileprivate(set) var made: ClipWriter.FinishedClip?
        package fileprivate(set) var reason: String?
    }

    package struct Work: Sendable {
        package let id: String
        package let release: @Sendable () -> Void
        let body: @Sendable (_ end: () -> MediaError?) throws(MediaError) -> ClipWriter.FinishedClip

        /// - Parameters:
        ///   - release: Releases the segments that are held for the clip; called once, whatever the result.
        ///   - body: Makes the file; throws the error that `end` returns soon after it has begun to return one. Blocks.
        package init(
            id: String, release: @escaping @Sendable () -> Void,
            body: @escaping @Sendable (_ end: () -> MediaError?) throws(MediaError) -> ClipWriter.FinishedClip
        ) {
            self.id = id
            self.release = release
            self.body = body
        }
    }

    /// Work that was dropped, with its clip, which has failed; the clip is nil if it is not remembered any more.
    package struct DroppedWork: Sendable {
        package var work: Work
        package var clip: Clip?
    }

    /// Largest number of clips that wait or are being made; further requests are refused.
    static let mostAtOnce = 4
    /// Number of clips that are remembered; beyond it the oldest ready or failed clip is forgotten.
    private static let mostKnown = 64
    /// Reasons why a clip is not made.
    static let roomIsOver = MediaError(
        .unfinished, "the room ended before the clip was made", at: "clip", fix: "cut it from the recording")
    static let workerIsReplaced = MediaError(
        .unfinished, "the worker is being replaced, and has not made the clip", at: "clip",
        fix: "request the clip again when the next worker serves the room")
    static let workerIsGone = MediaError(
        .unfinished, "the worker that was making the clip has died", at: "clip", fix: "request the clip again")
    static let diskIsFull = MediaError(
        .diskFull, "the disk is nearly full", at: "clip", fix: "free space, and request the clip again")

    private let roomID: String
    /// The remembered clips, in the order of their requests.
    package private(set) var clips: [Clip] = []
    private var waiting: [Work] = []
    private var isWorking = false
    /// Why no more clips are made; nil before ``close(hasEnded:)``.
    private(set) var end: MediaError?
    /// Whether the room has ended or the worker is being replaced, so that no more clips are made.
    package var isClosed: Bool { self.end != nil }
    /// The thread that makes clips; when it has ended, the last such thread.
    var thread: StageThread?
    private var count = 0

    /// - Parameter roomID: Part of default file names, so that rooms can share a clip directory.
    package init(roomID: String) { self.roomID = roomID }

    /// Reserves a name for a clip and assigns it an id. The caller must call ``add(_:)`` or ``withdraw(_:)`` next.
    ///
    /// - Throws: 429 if ``mostAtOnce`` clips wait or are being made, 409 if a remembered clip that has not failed has the
    ///   name, 410 if the room has ended or the worker is being replaced.
    package mutating func promise(
        name: String?, rendition: String, range: Range<Int64>, incarnation: Int64
    ) throws(ControlFailure) -> Clip {
        if let end = self.end { throw Self.refusal(end) }
        let busy = self.clips.count { $0.state == .pending || $0.state == .working }
        guard busy < Self.mostAtOnce else {
            throw .limitExceeded(
                "\(busy) clips are being made already, which is the limit",
                fix: "repeat the request when one of them is ready")
        }
        self.count += 1
        let chosen = name ?? "clip-\(self.roomID)-\(incarnation)-\(self.count)"
        guard !self.clips.contains(where: { $0.name == chosen && $0.state != .failed }) else {
            throw ControlFailure(
                code: "duplicateId", number: 1403, status: 409, what: "there is already a clip named \(chosen)",
                fix: "choose another name")
        }
        let clip = Clip(id: "clip-\(incarnation)-\(self.count)", name: chosen, rendition: rendition, range: range)
        self.clips.append(clip)
        return clip
    }

    /// Forgets a promised clip that will not be made.
    package mutating func withdraw(_ id: String) { self.clips.removeAll { $0.id == id } }

    /// Adds the work of a promised clip.
    ///
    /// - Returns: Whether the caller must start a thread for the work.
    /// - Throws: 410 if the room has ended or the worker is being replaced. The clip is then forgotten, and the caller
    ///   must release the segments held for it.
    package mutating func add(_ work: Work) throws(ControlFailure) -> Bool {
        if let end = self.end {
            self.withdraw(work.id)
            throw Self.refusal(end)
        }
        self.waiting.append(work)
        if self.clips.count > Self.mostKnown,
            let oldest = self.clips.firstIndex(where: { $0.state == .ready || $0.state == .failed })
        {
            self.clips.remove(at: oldest)
        }
        defer { self.isWorking = true }
        return !self.isWorking
    }

    /// Adds a clip that an earlier worker promised and did not make, as failed.
    mutating func noteLost(_ id: String, name: String, rendition: String, range: Range<Int64>) -> Clip {
        var clip = Clip(id: id, name: name, rendition: rendition, range: range)
        (clip.state, clip.reason) = (.failed, Self.workerIsGone.description)
        self.clips.append(clip)
        return clip
    }

    /// The next work. nil means that none is left and that the calling thread must end.
    package mutating func next() -> Work? {
        guard !self.waiting.isEmpty else {
            self.isWorking = false
            return nil
        }
        let work = self.waiting.removeFirst()
        _ = self.change(work.id) { $0.state = .working }
        return work
    }

    /// Records the result of a clip's work.
    ///
    /// - Returns: The clip; nil if it is not remembered any more.
    package mutating func finish(_ id: String, _ result: Result<ClipWriter.FinishedClip, MediaError>) -> Clip? {
        self.change(id) { clip in
            switch result {
            case .success(let made): (clip.state, clip.made) = (.ready, made)
            case .failure(let error): (clip.state, clip.reason) = (.failed, error.description)
            }
        }
    }

    package func clip(_ id: String) -> Clip? { self.clips.first { $0.id == id } }

    /// Ends all clips at the end of this worker's run. Clips that were not started fail; the clip being made stops at
    /// its next segment.
    ///
    /// - Parameter hasEnded: Whether the room has ended; if not, another worker continues it.
    /// - Returns: The dropped work, whose segments the caller must release.
    package mutating func close(hasEnded: Bool) -> [DroppedWork] {
        let end = hasEnded ? Self.roomIsOver : Self.workerIsReplaced
        self.end = end
        return self.giveUpWaiting(end)
    }

    /// Fails the clips that were not started.
    package mutating func giveUpWaiting(_ reason: MediaError) -> [DroppedWork] {
        let given = self.waiting
        self.waiting = []
        return given.map { DroppedWork(work: $0, clip: self.finish($0.id, .failure(reason))) }
    }

    private mutating func change(_ id: String, _ body: (inout Clip) -> Void) -> Clip? {
        guard let index = self.clips.firstIndex(where: { $0.id == id }) else { return nil }
        body(&self.clips[index])
        return self.clips[index]
    }

    private static func refusal(_ end: MediaError) -> ControlFailure {
        end == Self.roomIsOver
            ? .roomExited("the room has ended", fix: "cut the clip from the recording")
            : .roomExited("the worker is being replaced", fix: end.fix)
    }
}

extension ClipJobs.Clip {
    var json: JSONValue {
        [
            "id": .string(self.id), "name": .string(self.name), "state": .string(self.state.rawValue),
            "rendition": .string(self.rendition), "from": .string(ProgramDate.format(self.range.lowerBound)),
            "to": .string(ProgramDate.format(self.range.upperBound)), "path": JSONValue(self.made?.path),
            "bytes": self.made.map { JSONValue($0.byteCount) } ?? .null, "sha256": JSONValue(self.made?.checksum),
            "durationMs": self.made.map { .integer($0.durationMs) } ?? .null,
            "segments": self.made.map { JSONValue($0.segments) } ?? .null, "reason": JSONValue(self.reason),
        ]
    }
}
