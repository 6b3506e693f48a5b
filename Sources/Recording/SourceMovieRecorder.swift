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
        /// A file was begun, and its first part is written.
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
    /// Whether the open file has a part; without one it is removed instead of being completed.
    private var hasPart = false
    private var publicationID: String?
    /// The latest monotonic time that was passed in.
    private var now: Int64 = 0
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
    /// Size in bytes of the file that is being written; 0 if there is none.
    package private(set) var bytes: Int64 = 0

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
        self.now = max(self.now, now)
        if self.isSuspended || self.retriesAt.map({ now < $0 }) == true {
            if self.fragmenter.takes(sample) { self.fragmenter.abandon(and: 1) }
            return []
        }
        self.retriesAt = nil
        return self.perform(self.fragmenter.add(sample), clock)
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
        self.now = max(self.now, now)
        return self.perform(self.fragmenter.flush(), clock)
    }

    /// Ends the publication: the file is completed.
    package mutating func end(_ reason: SourceMovieFacts.End, _ clock: Clock) -> [Event] {
        let events = self.perform(self.fragmenter.end(reason), clock)
        // After a failed write, the fragmenter would count its lost frames for the next publication.
        _ = self.fragmenter.end(reason)
        self.publicationID = nil
        return events
    }

    private mutating func perform(_ actions: [SourceMovieFragmenter.Action], _ clock: Clock) -> [Event] {
        var events: [Event] = []
        for (index, action) in actions.enumerated() {
            do throws(MediaError) {
                if let event = try self.perform(action, clock) { events.append(event) }
            } catch {
                events.append(.failed(error))
                let rest = actions[index...]
                let lost = Self.frames(of: rest, besides: self.sidecar?.facts.frames ?? 0)
                // Files that are removed or were never begun have no number.
                var unused = rest.count { if case .open = $0 { true } else { false } }
                if case .write = action, !self.hasPart { unused += 1 }
                if let event = self.complete(.writeFailed, clock) { events.append(event) }
                for case .skipped(let skipped) in rest { events.append(.skipped(skipped)) }
                self.fragmenter.abandon(and: lost, files: unused)
                self.retriesAt = self.now &+ Self.retryTime
                break
            }
        }
        return events
    }

    /// Returns the number of frames that actions would have written.
    ///
    /// - Parameter written: Frames that the open file already has.
    private static func frames(of actions: ArraySlice<SourceMovieFragmenter.Action>, besides written: Int) -> Int {
        var (before, now, others) = (written, written, 0)
        for action in actions {
            switch action {
            case .open:
                others += now - before
                (before, now) = (0, 0)
            case .write(_, _, let facts), .close(let facts, _): now = max(now, facts.frames)
            case .skipped: break
            }
        }
        return others + now - before
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
            self.bytes = file.size
            self.file = consume file
            self.sidecar = sidecar
            self.hasPart = false
            try self.write(sidecar)
            return nil
        case .write(let part, let keyTime, let facts):
            try self.file?.append(part, keyTime: keyTime)
            self.bytes = self.file?.size ?? 0
            self.sidecar?.facts = facts
            guard !self.hasPart, let sidecar = self.sidecar else { return nil }
            self.hasPart = true
            return .started(path: self.folder.full(sidecar.file), sidecar)
        case .close(let facts, let reason):
            self.sidecar?.facts = facts
            return self.complete(reason, clock)
        case .skipped(let skipped): return .skipped(skipped)
        }
    }

    /// Returns the name of the next file without its extension. Its number is that of the part, or higher if a file with
    /// that number exists.
    private func freeName(_ id: String, part: Int) -> String {
        for number in part..<(part + Self.mostNames) {
            let name = "\(self.settings.prefix)\(id)" + (number == 1 ? "" : "-\(number)")
            if !self.folder.contains(name + SourceRecordingNames.movie) { return name }
        }
        return "\(self.settings.prefix)\(id)-\(part)"
    }

    /// Most names that are tried.
    private static let mostNames = 100

    /// Completes the open file and its sidecar, or removes both if the file has no part. If the sidecar cannot be written,
    /// then a later worker completes it.
    private mutating func complete(_ reason: SourceMovieFacts.End, _ clock: Clock) -> Event? {
        self.bytes = 0
        guard var sidecar = self.sidecar.take() else { return nil }
        guard self.hasPart else {
            self.folder.remove(sidecar.file)
            self.folder.remove(Self.name(of: sidecar))
            self.file = nil
            return nil
        }
        let facts = sidecar.facts
        let video = facts.tracks.firstIndex { $0.kind == .video }.map { UInt32($0) + 1 }
        self.file?.finish(duration: facts.duration, video: video)
        sidecar.byteCount = self.file?.size
        sidecar.end = clock(facts.end, facts.lastArrival)
        sidecar.reason = reason
        try? self.write(sidecar)
        // Closed last: until then its lock keeps another recording of the source from completing it as that of a killed
        // worker.
        self.file = nil
        return .finished(path: self.folder.full(sidecar.file), sidecar.json)
    }

    private func write(_ sidecar: SourceSidecar) throws(MediaError) {
        try self.folder.put(Self.name(of: sidecar), Array((sidecar.json.text(pretty: true) + "\n").utf8))
    }

    /// Returns the file name of a sidecar.
    private static func name(of sidecar: SourceSidecar) -> String {
        String(sidecar.file.dropLast(SourceRecordingNames.movie.count)) + SourceRecordingNames.sidecar
    }
}
