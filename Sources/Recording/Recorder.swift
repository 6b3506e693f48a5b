import Dispatch
package import HLS
import MediaKernels
package import MediaTypes
package import Packager
import Synchronization

/// Keeps everything a room lists: its segments stay in a directory of their own after the live playlists have let them go,
/// and a journal says what they are. ``RecordingFinisher`` makes files of it when the room is over.
///
/// The live playlists wait for it ``patience`` at most, once, and no more until it has caught up. What cannot be written ends
/// the recording, not the room; it can go on later, behind a hole.
package final class Recorder: SlotKeeping {
    /// What the room is told.
    package enum Event: Sendable {
        /// Nothing is recorded any more; what is there stays and is finished when the room ends.
        case stopped(MediaError)
        /// What is listed from now on is recorded again.
        case resumed
        /// ``Recorder/resume()`` was in vain, or was called off by a ``Recorder/stop(_:)`` that came before it was done.
        case notResumed(MediaError)
    }

    /// What there is of a recording.
    package struct Kept: Sendable, Hashable {
        /// Slots that this worker has kept.
        package var slots = 0
        /// Bytes that the files of its renditions take beside it once they are made, nearly; of the workers before, too.
        package var movieBytes: Int64 = 0

        package init(slots: Int = 0, movieBytes: Int64 = 0) {
            self.slots = slots
            self.movieBytes = movieBytes
        }
    }

    private struct State {
        var kept = Kept()
        var pending = 0
        var isSlow = false
        /// Why nothing is recorded; `nil`: something is.
        var stopReason: String?
        var isResuming = false
        /// The newest of ``Recorder/stop(_:)``, and how many there were.
        var lastStop: MediaError?
        var stops = 0
        var isEnded = false
        /// Date ranges' changes that have not been written meanwhile, in order, and the newest multivariant playlist.
        var missed: [DateRange.Change] = []
        var missedList: String?

        var isStopped: Bool { self.stopReason != nil }

        mutating func miss(_ change: DateRange.Change) {
            self.missed.append(change)
            if self.missed.count > Recorder.mostMissed { self.missed.removeFirst(Recorder.mostMissed / 2) }
        }
    }

    /// Nanoseconds.
    private static let patience = 100_000_000
    /// Things that may wait for a disk that hangs: some minutes of segments.
    private static let mostPending = 256
    /// Changes of date ranges that are remembered while nothing is recorded.
    private static let mostMissed = 8_192

    private let folder: RecordingFolder
    /// Where a file of the live output lies.
    private let source: @Sendable (String) -> String?
    /// The bytes of an encrypted output's segment as it was cut.
    private let clear: (@Sendable (KeptSlot.Track) -> [UInt8]?)?
    private let report: @Sendable (Event) -> Void
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "recording")
    private let roomID: String
    private let movies: [RecordingSettings.Movie]
    private let multivariantName: String
    private let waits: Bool

    /// A recorder for a directory, which it makes and looks at. Nothing is written in it before ``begin()``.
    ///
    /// - Parameters:
    ///   - source: Where a file of the live output lies; it is there when a slot is kept.
    ///   - clear: Of an output that is encrypted: a segment as it was cut, `nil` where it is not there any more or cannot be
    ///     opened. A recording is clear whatever viewers get. Without it files are taken as they are.
    ///   - report: Called from a thread of the recorder's.
    /// - Throws: ``MediaError/Code/notCreatable``, ``MediaError/Code/roomExited`` for a recording that is finished,
    ///   ``MediaError/Code/invalidData`` for a damaged journal.
    package static func open(
        _ settings: RecordingSettings, source: @escaping @Sendable (String) -> String?,
        clear: (@Sendable (KeptSlot.Track) -> [UInt8]?)? = nil, report: @escaping @Sendable (Event) -> Void
    ) throws(MediaError) -> Recorder {
        try DirectoryStore(directory: settings.directory).prepare()
        let folder = RecordingFolder(path: settings.directory)
        guard !folder.contains(RecordedNames.manifest) else {
            throw MediaError(
                .roomExited, "\(settings.directory) holds a recording that is finished", at: "recording",
                fix: "choose another directory, or take that recording away")
        }
        let recorder = Recorder(folder: folder, settings: settings, source: source, clear: clear, report: report)
        // One without a whole line is what a worker was killed over.
        if folder.read(RecordingJournal.name)?.contains(UInt8(ascii: "\n")) == true {
            let journal = try RecordingFinisher.journal(in: folder)
            guard journal.roomID == settings.roomID else {
                throw MediaError(
                    .rejected, "\(settings.directory) holds the recording of room \(journal.roomID)", at: "recording",
                    fix: "choose another directory")
            }
            let bytes = journal.slots.reduce(Int64(0)) { $0 &+ recorder.movieBytes(of: $1) }
            recorder.state.withLock { $0.kept.movieBytes = bytes }
        }
        return recorder
    }

    private func movieBytes(of slot: KeptSlot) -> Int64 {
        self.movies.reduce(Int64(0)) { sum, movie in
            slot.tracks.reduce(sum) { sum, track in
                let isIn = !track.segment.gap && (track.name == movie.video || track.name == movie.audio)
                return isIn ? sum &+ Int64(track.segment.byteCount) : sum
            }
        }
    }

    private init(
        folder: RecordingFolder, settings: RecordingSettings, source: @escaping @Sendable (String) -> String?,
        clear: (@Sendable (KeptSlot.Track) -> [UInt8]?)?, report: @escaping @Sendable (Event) -> Void
    ) {
        self.folder = folder
        self.source = source
        self.clear = clear
        self.report = report
        self.roomID = settings.roomID
        self.movies = settings.movies
        self.multivariantName = settings.multivariantName
        self.waits = settings.waits
    }

    /// Goes on with the recording in the directory, or begins one. Once this worker owns the room: two would write into one
    /// another's lines.
    ///
    /// - Throws: ``MediaError/Code/outputLost``, ``MediaError/Code/diskFull``.
    package func begin() throws(MediaError) {
        if self.folder.contains(RecordingJournal.name) {
            try self.folder.endLine(of: RecordingJournal.name)
        }
        // A worker that was killed over the first line has left none.
        if self.folder.read(RecordingJournal.name)?.isEmpty ?? true {
            try self.folder.append(RecordingJournal.head(roomID: self.roomID), to: RecordingJournal.name)
        }
    }

    /// There is a journal, and it ends with a line: what goes behind it is a line, too. Reads all of it.
    private var isWhole: Bool { self.folder.read(RecordingJournal.name)?.last == UInt8(ascii: "\n") }

    package func keep(_ slot: KeptSlot) {
        let (source, clear) = (self.source, self.clear)
        self.work { folder throws(MediaError) in
            var taken: [String] = []
            do throws(MediaError) {
                for track in slot.tracks where !track.segment.gap {
                    // Initialization segments are clear everywhere.
                    let names = [track.segment.map.uri] + (clear == nil ? [track.segment.uri] : [])
                    for name in names where !folder.contains(name) {
                        guard let path = source(name) else {
                            throw folder.lost("the output keeps no file \(name)")
                        }
                        taken.append(name)
                        try folder.take(name, from: path)
                    }
                    let name = track.segment.uri
                    guard let clear, !folder.contains(name) else { continue }
                    guard let bytes = clear(track), bytes.count == track.segment.byteCount else {
                        throw folder.lost("the output keeps no file \(name) that its key opens")
                    }
                    taken.append(name)
                    try folder.put(name, bytes)
                }
                try folder.append(RecordingJournal.line(slot), to: RecordingJournal.name)
            } catch {
                // No line names them: they would hold for nothing what the room lets go.
                for name in taken { folder.remove(name) }
                throw error
            }
            self.state.withLock { state in
                state.kept.slots += 1
                state.kept.movieBytes &+= self.movieBytes(of: slot)
            }
        }
    }

    /// What there is so far.
    package var kept: Kept { self.state.withLock(\.kept) }

    /// Nothing is recorded until ``resume()``.
    package var isStopped: Bool { self.state.withLock(\.isStopped) }

    package func keep(_ change: DateRange.Change) {
        self.work { folder throws(MediaError) in
            try folder.append(RecordingJournal.line(change), to: RecordingJournal.name)
        } missed: {
            $0.miss(change)
        }
    }

    package func keep(multivariant: String) {
        let name = self.multivariantName
        self.work { folder throws(MediaError) in
            try DirectoryStore(directory: folder.path).put(name, text: multivariant)
        } missed: {
            $0.missedList = multivariant
        }
    }

    package func ended(nextMediaSequence: Int64) {
        let reason = self.state.withLock { state -> String? in
            state.isEnded = true
            return state.stopReason
        }
        // Whatever happened before: the room is over, and what is there can be finished.
        self.work(always: true) { folder throws(MediaError) in
            // The disk may not even have taken the first line.
            if !self.isWhole {
                try self.begin()
                if let reason { try folder.append(RecordingJournal.stop(reason), to: RecordingJournal.name) }
            }
            try folder.append(RecordingJournal.end(nextMediaSequence: nextMediaSequence), to: RecordingJournal.name)
        }
    }

    /// What it holds so far. Reads the disk.
    ///
    /// - Throws: ``MediaError/Code/notReadable``, ``MediaError/Code/invalidData``.
    package func recordedSlots() throws(MediaError) -> [KeptSlot] {
        try RecordingFinisher.journal(in: self.folder).slots
    }

    /// The bytes of a file of the recording; `nil` where it is not there. Blocks.
    package func bytes(of name: String) -> [UInt8]? { RecordedNames.isValid(name) ? self.folder.read(name) : nil }

    /// Everything that was asked of it is done, or has failed, when this returns.
    package func settle() { self.queue.sync {} }

    /// - Parameters:
    ///   - always: Whether or not something is recorded.
    ///   - missed: Done in its place where nothing is, in the same order; `nil`: nothing is.
    private func work(
        always: Bool = false, _ body: @escaping @Sendable (RecordingFolder) throws(MediaError) -> Void,
        missed: (@Sendable (inout State) -> Void)? = nil
    ) {
        let waits = self.state.withLock { state -> Bool? in
            if state.isStopped, !always {
                guard missed != nil, state.pending < Self.mostPending else { return nil }
                state.pending += 1
                return false
            }
            state.pending += 1
            return !state.isSlow
        }
        guard let waits else { return }
        if !self.waits, self.state.withLock({ $0.pending > Self.mostPending }) {
            self.stop(self.folder.lost("the disk has not answered for \(Self.mostPending) writes"))
        }
        let done = DispatchSemaphore(value: 0)
        self.queue.async {
            let isMissed = self.state.withLock { state in
                guard state.isStopped, !always else { return false }
                missed?(&state)
                return true
            }
            if !isMissed {
                do throws(MediaError) {
                    try body(self.folder)
                } catch {
                    if let missed { self.state.withLock { missed(&$0) } }
                    self.stop(error)
                }
            }
            self.state.withLock { state in
                state.pending -= 1
                if state.pending == 0 { state.isSlow = false }
            }
            done.signal()
        }
        if self.waits { return done.wait() }
        guard waits, done.wait(timeout: .now() + .nanoseconds(Self.patience)) == .timedOut else { return }
        self.state.withLock { $0.isSlow = $0.pending > 0 }
    }

    /// Records nothing more until ``resume()``; what is there stays. Callable from any thread.
    package func stop(_ error: MediaError) {
        let isFirst = self.state.withLock { state in
            defer { state.stopReason = state.stopReason ?? error.what }
            state.lastStop = error
            state.stops += 1
            return !state.isStopped
        }
        guard isFirst else { return }
        self.report(.stopped(error))
        self.queue.async {
            // A disk that takes not even this: the numbers of the slots tell that some are missing.
            guard self.isWhole else { return }
            try? self.folder.append(RecordingJournal.stop(error.what), to: RecordingJournal.name)
        }
    }

    /// Goes on where it has stopped: slots that were listed meanwhile are missing, date ranges are not. Returns at once, and
    /// tells what came of it; nothing comes of it where it has not stopped. Callable from any thread.
    package func resume() {
        let begun = self.state.withLock { state -> (reason: String, stops: Int)? in
            guard !state.isResuming, !state.isEnded, let reason = state.stopReason else { return nil }
            state.isResuming = true
            return (reason, state.stops)
        }
        guard let begun else { return }
        self.queue.async {
            do throws(MediaError) {
                // The disk may not even have taken the first line, nor the one that says why there is a hole.
                try self.begin()
                try self.folder.append(RecordingJournal.stop(begun.reason), to: RecordingJournal.name)
                try self.writeMissed()
                // Whoever stopped it meanwhile was told that it stands still, and so it does.
                let stop = self.state.withLock { state -> MediaError? in
                    state.isResuming = false
                    guard state.stops == begun.stops else { return state.lastStop }
                    state.stopReason = nil
                    return nil
                }
                self.report(stop.map(Event.notResumed) ?? .resumed)
            } catch {
                self.state.withLock { $0.isResuming = false }
                self.report(.notResumed(error))
            }
        }
    }

    /// On the queue, where alone something is missed.
    private func writeMissed() throws(MediaError) {
        let (changes, list) = self.state.withLock { ($0.missed, $0.missedList) }
        if !changes.isEmpty {
            try self.folder.append(changes.map { RecordingJournal.line($0) }.joined(), to: RecordingJournal.name)
        }
        if let list { try DirectoryStore(directory: self.folder.path).put(self.multivariantName, text: list) }
        self.state.withLock { state in
            state.missed = []
            state.missedList = nil
        }
    }
}

extension DirectoryStore {
    /// ``put(_:_:durable:)`` of text.
    func put(_ name: String, text: String, durable: Bool = false) throws(MediaError) {
        try self.put(name, [PacketMemory(Array(text.utf8))], durable: durable)
    }
}
