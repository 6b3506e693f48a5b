package import MediaTypes
import Packager

/// Writes one source's recording to a directory: performs what the ``SourceMovieFragmenter`` decides. Used by one thread;
/// blocks while the disk writes.
///
/// If the disk cannot be written, frames are lost until it is tried again after ``retryTime``, from the next key frame on,
/// in a new file.
package struct SourceMovieRecorder: ~Copyable {
    package struct Settings: Sendable, Hashable {
        package var roomID: String
        package var source: SourceID
        package var directory: String
        /// Beginning of the file names: letters, digits and `._-` only.
        package var prefix: String
        package var fragments: SourceMovieFragmenter.Settings

        package init(
            roomID: String, source: SourceID, directory: String, prefix: String,
            fragments: SourceMovieFragmenter.Settings
        ) {
            (self.roomID, self.source, self.directory) = (roomID, source, directory)
            (self.prefix, self.fragments) = (prefix, fragments)
        }
    }

    package enum Event: Sendable {
        /// A file was begun.
        case started(path: String, SourceSidecar)
        /// A file is complete; the JSON value is the sidecar's content.
        case finished(path: String, JSONValue)
        /// A track is not recorded.
        case skipped(SourceMovieFacts.Skipped)
        /// The disk cannot be written; frames are lost until it can.
        case failed(MediaError)
    }

    /// Converts a source time and the monotonic time of an arrival.
    package typealias Clock = (_ time: Int64, _ arrival: Int64) -> SourceSidecar.Moment

    /// Time after a failed write until the next try, in nanoseconds.
    package static let retryTime: Int64 = 10_000_000_000

    private let settings: Settings
    private let folder: RecordingFolder
    private var fragmenter: SourceMovieFragmenter
    private var file: SourceMovieFile?
    private var sidecar: SourceSidecar?
    private var publicationID: String?
    /// No try before this monotonic time; nil if the disk works.
    private var retriesAt: Int64?
    /// Whether frames are lost because the disk is nearly full.
    private var isSuspended = false

    package init(_ settings: Settings) {
        self.settings = settings
        self.folder = RecordingFolder(path: settings.directory)
        self.fragmenter = SourceMovieFragmenter(settings: settings.fragments)
    }

    /// Whether frames wait to be written.
    package var hasPending: Bool { self.fragmenter.hasPending }

    /// Path of the file that is being written; nil if there is none.
    package var path: String? { self.sidecar.map { self.folder.full($0.file) } }

    /// Creates the directory, and completes the files of the source that killed workers have left.
    ///
    /// - Throws: ``MediaError`` if the directory cannot be used.
    package func prepare() throws(MediaError) -> [Event] {
        try DirectoryStore(directory: self.settings.directory).prepare()
        let found = SourceMovieFile.recover(
            self.settings.source, of: self.settings.roomID, prefix: self.settings.prefix, in: self.folder)
        return found.map { json in
            var name = ""
            if case .object(let members) = json,
                case .string(let text)? = members.first(where: { $0.name == "file" })?.value
            {
                name = text
            }
            return .finished(path: self.folder.full(name), json)
        }
    }

    package mutating func configure(_ parameters: CodecParameters, _ clock: Clock) -> [Event] {
        self.perform(self.fragmenter.configure(parameters), clock)
    }

    /// Receives a frame.
    ///
    /// - Parameter now: Monotonic time.
    package mutating func add(_ sample: SourceSample, now: Int64, _ clock: Clock) -> [Event] {
        if self.isSuspended {
            self.fragmenter.abandon(and: 1)
            return []
        }
        if let retriesAt = self.retriesAt {
            guard now >= retriesAt else {
                self.fragmenter.abandon(and: 1)
                return []
            }
            self.retriesAt = nil
        }
        return self.perform(self.fragmenter.add(sample), now: now, clock)
    }

    /// Sets whether the disk is nearly full. While it is, no file is written; frames are counted as lost.
    package mutating func suspend(_ isSuspended: Bool, _ clock: Clock) -> [Event] {
        guard isSuspended != self.isSuspended else { return [] }
        self.isSuspended = isSuspended
        return isSuspended ? self.perform(self.fragmenter.split(.diskFull), clock) : []
    }

    package mutating func dropped(video: Int, audio: Int) {
        if video > 0 || audio > 0 { self.fragmenter.dropped(video: video, audio: audio) }
    }

    /// Writes all frames that have arrived.
    package mutating func flush(now: Int64, _ clock: Clock) -> [Event] {
        self.perform(self.fragmenter.flush(), now: now, clock)
    }

    /// Ends the publication: the file is completed.
    package mutating func end(_ reason: SourceMovieFacts.End, _ clock: Clock) -> [Event] {
        let events = self.perform(self.fragmenter.end(reason), clock)
        self.publicationID = nil
        return events
    }

    private mutating func perform(
        _ actions: [SourceMovieFragmenter.Action], now: Int64 = 0, _ clock: Clock
    ) -> [Event] {
        var events: [Event] = []
        for action in actions {
            do throws(MediaError) {
                if let event = try self.perform(action, clock) { events.append(event) }
            } catch {
                events.append(.failed(error))
                if let event = self.complete(.writeFailed, clock) { events.append(event) }
                self.fragmenter.abandon(and: 0)
                self.retriesAt = now &+ Self.retryTime
                break
            }
        }
        return events
    }

    private mutating func perform(
        _ action: SourceMovieFragmenter.Action, _ clock: Clock
    ) throws(MediaError) -> Event? {
        switch action {
        case .open(let facts, let header, let durationOffset):
            let start = clock(facts.zero, facts.arrival)
            let id = self.publicationID ?? SourceRecordingNames.publicationID(at: start.arrival)
            self.publicationID = id
            try DirectoryStore(directory: self.settings.directory).prepare()
            let stem = self.freeName(id, part: facts.part)
            let file = try SourceMovieFile(
                stem + SourceRecordingNames.movie, in: self.folder, header: header, durationOffset: durationOffset)
            let origin = SourceSidecar.Origin(
                roomID: self.settings.roomID, source: self.settings.source, publicationID: id)
            let sidecar = SourceSidecar(
                origin: origin, file: stem + SourceRecordingNames.movie, facts: facts, start: start)
            self.file = consume file
            self.sidecar = sidecar
            try self.write(sidecar)
            return .started(path: self.folder.full(sidecar.file), sidecar)
        case .write(let part, let keyTime, let facts):
            try self.file?.append(part, keyTime: keyTime)
            self.sidecar?.facts = facts
            return nil
        case .close(let facts, let reason):
            self.sidecar?.facts = facts
            return self.complete(reason, clock)
        case .skipped(let skipped): return .skipped(skipped)
        }
    }

    /// Returns the name of the next file without its extension. A recording that is stopped and started within a key frame
    /// interval begins with the same frame again; then the number is higher than the part's.
    private func freeName(_ id: String, part: Int) -> String {
        for number in part..<(part + Self.mostNames) {
            let name = "\(self.settings.prefix)\(id)" + (number == 1 ? "" : "-\(number)")
            if !self.folder.contains(name + SourceRecordingNames.movie) { return name }
        }
        return "\(self.settings.prefix)\(id)-\(part)"
    }

    /// Most names that are tried.
    private static let mostNames = 100

    /// Completes the open file and its sidecar. If the sidecar cannot be written, then a later worker completes it.
    private mutating func complete(_ reason: SourceMovieFacts.End, _ clock: Clock) -> Event? {
        guard var sidecar = self.sidecar.take() else { return nil }
        let facts = sidecar.facts
        let video = facts.tracks.firstIndex { $0.kind == .video }.map { UInt32($0) + 1 }
        self.file?.finish(duration: facts.duration, video: video)
        sidecar.byteCount = self.file?.size
        self.file = nil
        sidecar.end = clock(facts.end, facts.lastArrival)
        sidecar.reason = reason
        try? self.write(sidecar)
        return .finished(path: self.folder.full(sidecar.file), sidecar.json)
    }

    private func write(_ sidecar: SourceSidecar) throws(MediaError) {
        let name = sidecar.file.dropLast(SourceRecordingNames.movie.count) + SourceRecordingNames.sidecar
        try self.folder.put(String(name), Array((sidecar.json.text(pretty: true) + "\n").utf8))
    }
}
