package import Control
import Dispatch
import HLS
package import MediaTypes
import Packager
import PipelineSpec
package import Recording
import Stages
import Synchronization

/// The clips of a room: made one at a time on a thread that gives way to all others.
package final class ClipDesk: Sendable {
    package enum State: String, Sendable { case pending, working, ready, failed }

    package struct Clip: Sendable {
        package let id: String
        package let name: String
        let rendition: String
        /// Program dates: nanoseconds since the Unix epoch.
        let range: Range<Int64>
        package fileprivate(set) var state = State.pending
        fileprivate(set) var made: ClipWriter.Made?
        fileprivate(set) var reason: String?
    }

    package struct Work: Sendable {
        let id: String
        let release: @Sendable () -> Void
        let body: @Sendable (_ isOver: () -> Bool) throws(MediaError) -> ClipWriter.Made

        /// - Parameters:
        ///   - release: Gives back what is held for it; called once, whatever becomes of it.
        ///   - body: Makes the file. Blocks.
        package init(
            id: String, release: @escaping @Sendable () -> Void,
            body: @escaping @Sendable (_ isOver: () -> Bool) throws(MediaError) -> ClipWriter.Made
        ) {
            self.id = id
            self.release = release
            self.body = body
        }
    }

    private struct Shelf {
        /// In the order they were asked for.
        var clips: [Clip] = []
        var waiting: [Work] = []
        var isWorking = false
        var isClosed = false
        /// The one that works, or worked last.
        var thread: StageThread?
        var count = 0
    }

    /// Clips that wait or are made; more are refused.
    static let mostAtOnce = 4
    /// Clips that are remembered.
    private static let mostKnown = 64
    /// Why one is not made.
    static let roomIsOver = MediaError(.unfinished, "the room is over", at: "clip", fix: "cut the recording")
    static let workerIsGone = MediaError(
        .unfinished, "the worker that made it has died", at: "clip", fix: "ask for it again")
    static let diskIsFull = MediaError(
        .diskFull, "the disk is nearly full", at: "clip", fix: "free space, and ask again")

    private let roomID: String
    private let shelf = Mutex(Shelf())
    private let report: @Sendable (Clip) -> Void

    /// - Parameters:
    ///   - roomID: Keeps the names of rooms apart whose clips lie in one directory.
    ///   - report: Told of a clip that is ready or has failed.
    package init(roomID: String, report: @escaping @Sendable (Clip) -> Void) {
        self.roomID = roomID
        self.report = report
    }

    /// Takes on a clip.
    ///
    /// - Parameter make: The clip's id to its work; called at once.
    /// - Throws: 429 where too many wait, 409 for a name that is taken, 410 when the room is over.
    package func add(
        name: String?, rendition: String, range: Range<Int64>, incarnation: Int64,
        _ make: (_ id: String, _ name: String) throws(ControlFailure) -> Work
    ) throws(ControlFailure) -> Clip {
        let (id, chosen) = try self.shelf.withLock { shelf throws(ControlFailure) in
            guard !shelf.isClosed else { throw .roomExited("the room is over", fix: "cut its recording") }
            let busy = shelf.clips.count { $0.state == .pending || $0.state == .working }
            guard busy < Self.mostAtOnce else {
                throw .limitExceeded("\(busy) clips are being made", fix: "ask again when one of them is ready")
            }
            shelf.count += 1
            let id = "clip-\(incarnation)-\(shelf.count)"
            let chosen = name ?? "clip-\(self.roomID)-\(incarnation)-\(shelf.count)"
            guard !shelf.clips.contains(where: { $0.name == chosen && $0.state != .failed }) else {
                throw ControlFailure(
                    code: "duplicateId", number: 1403, status: 409, what: "there is a clip named \(chosen)",
                    fix: "choose another name")
            }
            shelf.clips.append(Clip(id: id, name: chosen, rendition: rendition, range: range))
            return (id, chosen)
        }
        let work: Work
        do throws(ControlFailure) {
            work = try make(id, chosen)
        } catch {
            self.shelf.withLock { shelf in shelf.clips.removeAll { $0.id == id } }
            throw error
        }
        let starts = self.shelf.withLock { shelf -> Bool? in
            guard !shelf.isClosed else {
                shelf.clips.removeAll { $0.id == id }
                return nil
            }
            shelf.waiting.append(work)
            if shelf.clips.count > Self.mostKnown,
                let oldest = shelf.clips.firstIndex(where: { $0.state == .ready || $0.state == .failed })
            {
                shelf.clips.remove(at: oldest)
            }
            defer { shelf.isWorking = true }
            return !shelf.isWorking
        }
        guard let starts else {
            work.release()
            throw .roomExited("the room is over", fix: "cut its recording")
        }
        if starts { self.shelf.withLock { $0.thread = StageThread("clip", yields: true) { self.run() } } }
        return Clip(id: id, name: chosen, rendition: rendition, range: range)
    }

    /// A clip that a worker before this one has promised and not made.
    func noteLost(_ id: String, name: String, rendition: String, range: Range<Int64>) -> Clip {
        var clip = Clip(id: id, name: name, rendition: rendition, range: range)
        (clip.state, clip.reason) = (.failed, Self.workerIsGone.description)
        self.shelf.withLock { [clip] in $0.clips.append(clip) }
        return clip
    }

    private func run() {
        while let work = self.take() {
            var clip: Clip?
            do throws(MediaError) {
                let made = try work.body { self.shelf.withLock(\.isClosed) }
                clip = self.change(work.id) {
                    $0.state = .ready
                    $0.made = made
                }
            } catch {
                clip = self.change(work.id) {
                    $0.state = .failed
                    $0.reason = error.description
                }
            }
            work.release()
            if let clip { self.report(clip) }
        }
    }

    private func take() -> Work? {
        self.shelf.withLock { shelf in
            guard !shelf.waiting.isEmpty else {
                shelf.isWorking = false
                return nil
            }
            let work = shelf.waiting.removeFirst()
            if let index = shelf.clips.firstIndex(where: { $0.id == work.id }) { shelf.clips[index].state = .working }
            return work
        }
    }

    private func change(_ id: String, _ body: (inout Clip) -> Void) -> Clip? {
        self.shelf.withLock { shelf in
            guard let index = shelf.clips.firstIndex(where: { $0.id == id }) else { return nil }
            body(&shelf.clips[index])
            return shelf.clips[index]
        }
    }

    func clip(_ id: String) -> Clip? { self.shelf.withLock { shelf in shelf.clips.first { $0.id == id } } }

    var clips: [Clip] { self.shelf.withLock(\.clips) }

    /// The room is over: what has not begun is given up, what is being made stops at the next segment.
    package func close() {
        self.shelf.withLock { $0.isClosed = true }
        self.giveUpWaiting(Self.roomIsOver)
    }

    /// Once it is ``close()``d: waits for what is being made to be given up, and its files to be taken away. Blocks.
    ///
    /// - Returns: Whether it has been in so many nanoseconds.
    @discardableResult
    package func join(within nanoseconds: Int64) -> Bool {
        let thread = self.shelf.withLock { shelf in
            defer { shelf.thread = nil }
            return shelf.thread
        }
        return thread?.join(within: nanoseconds) ?? true
    }

    /// What has not begun is given up, and what is held for it given back.
    package func giveUpWaiting(_ reason: MediaError) {
        let given = self.shelf.withLock { shelf in
            defer { shelf.waiting = [] }
            return shelf.waiting
        }
        for work in given {
            work.release()
            let clip = self.change(work.id) {
                $0.state = .failed
                $0.reason = reason.description
            }
            if let clip { self.report(clip) }
        }
    }
}

extension ClipDesk.Clip {
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
