import Dispatch
package import HLS
import MediaKernels
package import MediaTypes
package import Packager
import Synchronization

/// Records everything that a room lists in one recording session. Segments are linked or copied into the recording's
/// directory, where they stay after the live playlists no longer list them, and are described in a journal.
/// ``RecordingFinisher`` makes files from them when the session or the room has ended.
///
/// The live playlists wait at most 100 ms for a write of the recorder. After a timeout they do not wait again until the
/// recorder has caught up. With ``RecordingSettings/waits`` they wait for every write without a limit. A failed write
/// stops the recording, not the room. Recording can be resumed later; the media in between is missing.
package final class Recorder: ListingObserver {
    /// An event that the recorder reports to the room.
    package enum Event: Sendable {
        /// Recording has stopped because of an error. The media recorded so far stays, and files are made from it when
        /// the session or the room has ended.
        case stopped(MediaError)
        /// Recording continues after a stop: everything that is listed from now on is recorded.
        case resumed
        /// ``Recorder/resume()`` failed, or ``Recorder/stop(_:)`` was called before it was finished.
        case notResumed(MediaError)
    }

    /// Amount of recorded media.
    package struct RecordedAmount: Sendable, Hashable {
        /// Number of segments, each counted once over all tracks, that this worker has recorded.
        package var segments = 0
        /// Approximate size in bytes of the MP4 files to be made, in addition to the segments. Includes media of
        /// previous workers.
        package var movieBytes: Int64 = 0

        package init(segments: Int = 0, movieBytes: Int64 = 0) {
            self.segments = segments
            self.movieBytes = movieBytes
        }
    }

    private struct State {
        var kept = RecordedAmount()
        /// Number of writes that are queued or running.
        var pending = 0
        /// Whether a wait timed out and the disk has not caught up since.
        var isSlow = false
        /// Reason for which recording is stopped; `nil` while it is running.
        var stopReason: String?
        var isResuming = false
        /// The error of the latest ``Recorder/stop(_:)`` call.
        var lastStop: MediaError?
        /// Number of ``Recorder/stop(_:)`` calls.
        var stops = 0
        var isEnded = false
        /// Whether the session was canceled, so that nothing is written any more.
        var isDiscarded = false
        /// Date range changes that could not be written while recording was stopped, in order.
        var missed: [DateRange.Change] = []
        /// The latest multivariant playlist that could not be written while recording was stopped; `nil` if there is
        /// none.
        var missedList: String?

        var isStopped: Bool { self.stopReason != nil }

        mutating func miss(_ change: DateRange.Change) {
            self.missed.append(change)
            if self.missed.count > Recorder.mostMissed { self.missed.removeFirst(Recorder.mostMissed / 2) }
        }
    }

    /// Maximum wait for a write in nanoseconds, unless ``RecordingSettings/waits`` is set.
    private static let patience = 100_000_000
    /// Maximum number of writes that wait for a hanging disk: several minutes of segments. One more stops the recording.
    private static let mostPending = 256
    /// Maximum number of date range changes that are kept in memory while recording is stopped. Beyond it, the older
    /// half is dropped. While the disk hangs, as many more wait behind its writes, and further ones are dropped.
    private static let mostMissed = 8_192

    private let folder: RecordingFolder
    /// Returns the path of a file of the live output; `nil` if it does not exist.
    private let source: @Sendable (String) -> String?
    /// Returns the decrypted bytes of an encrypted output's segment; `nil` if the output is not encrypted.
    private let clear: (@Sendable (ListedSegmentSet.Track) -> [UInt8]?)?
    private let report: @Sendable (Event) -> Void
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "recording")
    private let roomID: String
    private let movies: [RecordingSettings.Movie]
    private let multivariantName: String
    private let waits: Bool

    /// Opens a recorder for a directory, which it creates and checks. It writes nothing before ``begin()``.
    ///
    /// - Parameters:
    ///   - source: Returns the path of a file of the live output; the file exists when its segment is recorded.
    ///   - clear: For an encrypted output, because recordings are never encrypted: returns the decrypted segment, or
    ///     `nil` if it no longer exists or cannot be decrypted. If this parameter is `nil`, files are linked or copied
    ///     as they are.
    ///   - report: Called with events, on any thread.
    /// - Throws: ``MediaError/Code/notCreatable``, ``MediaError/Code/roomExited`` for a finished recording,
    ///   ``MediaError/Code/rejected`` for the recording of another room, ``MediaError/Code/invalidData`` for a damaged
    ///   journal.
    package static func open(
        _ settings: RecordingSettings, source: @escaping @Sendable (String) -> String?,
        clear: (@Sendable (ListedSegmentSet.Track) -> [UInt8]?)? = nil, report: @escaping @Sendable (Event) -> Void
    ) throws(MediaError) -> Recorder {
        try DirectoryStore(directory: settings.directory).prepare()
        let folder = RecordingFolder(path: settings.directory)
        guard !folder.contains(RecordedNames.manifest) else {
            throw MediaError(
                .roomExited, "\(settings.directory) contains a finished recording", at: "recording",
                fix: "choose another directory, or move that recording away")
        }
        let recorder = Recorder(folder: folder, settings: settings, source: source, clear: clear, report: report)
        // A worker that was killed may have left a file without a complete line.
        if folder.read(RecordingJournal.name)?.contains(UInt8(ascii: "\n")) == true {
            let journal = try RecordingFinisher.journal(in: folder)
            guard journal.roomID == settings.roomID else {
                throw MediaError(
                    .rejected, "\(settings.directory) contains the recording of room \(journal.roomID)",
                    at: "recording",
                    fix: "choose another directory")
            }
            let bytes = journal.segmentSets.reduce(Int64(0)) { $0 &+ recorder.movieBytes(of: $1) }
            recorder.state.withLock { $0.kept.movieBytes = bytes }
        }
        return recorder
    }

    private func movieBytes(of segmentSet: ListedSegmentSet) -> Int64 {
        self.movies.reduce(Int64(0)) { sum, movie in
            segmentSet.tracks.reduce(sum) { sum, track in
                let isIn = !track.segment.gap && (track.name == movie.video || track.name == movie.audio)
                return isIn ? sum &+ Int64(track.segment.byteCount) : sum
            }
        }
    }

    private init(
        folder: RecordingFolder, settings: RecordingSettings, source: @escaping @Sendable (String) -> String?,
        clear: (@Sendable (ListedSegmentSet.Track) -> [UInt8]?)?, report: @escaping @Sendable (Event) -> Void
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

    /// Continues the recording in the directory, or begins one. Call it only once this worker owns the room, because
    /// the journal lines of two workers would be mixed.
    ///
    /// - Throws: ``MediaError/Code/outputLost``, ``MediaError/Code/diskFull``.
    package func begin() throws(MediaError) {
        if self.folder.contains(RecordingJournal.name) {
            try self.folder.endLine(of: RecordingJournal.name)
        }
        // A worker that was killed while writing the first line leaves an empty file.
        if self.folder.read(RecordingJournal.name)?.isEmpty ?? true {
            try self.folder.append(RecordingJournal.head(roomID: self.roomID), to: RecordingJournal.name)
        }
    }

    /// Whether the journal exists and ends with a complete line, so that appended text starts on a new line. Reads the
    /// whole file.
    private var isWhole: Bool { self.folder.read(RecordingJournal.name)?.last == UInt8(ascii: "\n") }

    package func keep(_ segmentSet: ListedSegmentSet) {
        let (source, clear) = (self.source, self.clear)
        self.work { folder throws(MediaError) in
            var taken: [String] = []
            do throws(MediaError) {
                for track in segmentSet.tracks where !track.segment.gap {
                    // Initialization segments are never encrypted.
                    let names = [track.segment.map.uri] + (clear == nil ? [track.segment.uri] : [])
                    for name in names where !folder.contains(name) {
                        guard let path = source(name) else {
                            throw folder.lost("the output no longer has the file \(name)")
                        }
                        taken.append(name)
                        try folder.take(name, from: path)
                    }
                    let name = track.segment.uri
                    guard let clear, !folder.contains(name) else { continue }
                    guard let bytes = clear(track), bytes.count == track.segment.byteCount else {
                        throw folder.lost("the output has no file \(name) that can be decrypted")
                    }
                    taken.append(name)
                    try folder.put(name, bytes)
                }
                try folder.append(RecordingJournal.line(segmentSet), to: RecordingJournal.name)
            } catch {
                // No journal line refers to these files. As hard links they would only occupy disk space that the room
                // wants to free.
                for name in taken { folder.remove(name) }
                throw error
            }
            self.state.withLock { state in
                state.kept.segments += 1
                state.kept.movieBytes &+= self.movieBytes(of: segmentSet)
            }
        }
    }

    /// Amount of media recorded so far.
    package var kept: RecordedAmount { self.state.withLock(\.kept) }

    /// Whether recording is stopped; ``resume()`` continues it.
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
        // The end is written even if recording is stopped, so that files can be made from the recorded media.
        self.work(always: true) { folder throws(MediaError) in
            // Not even the first line may have been written.
            if !self.isWhole {
                try self.begin()
                if let reason { try folder.append(RecordingJournal.stop(reason), to: RecordingJournal.name) }
            }
            try folder.append(RecordingJournal.end(nextMediaSequence: nextMediaSequence), to: RecordingJournal.name)
        }
    }

    /// Reads the recorded segments from the journal on disk.
    ///
    /// - Throws: ``MediaError/Code/notReadable``, ``MediaError/Code/invalidData``.
    package func recordedSegments() throws(MediaError) -> [ListedSegmentSet] {
        try RecordingFinisher.journal(in: self.folder).segmentSets
    }

    /// Reads a file of the recording; `nil` if it does not exist, or if the name is not valid. Blocks while reading.
    package func bytes(of name: String) -> [UInt8]? { RecordedNames.isValid(name) ? self.folder.read(name) : nil }

    /// Waits until all queued writes have succeeded or failed.
    package func settle() { self.queue.sync {} }

    /// Drops all queued and further writes, and removes the recording's directory, which must not contain media. Blocks
    /// until that is done.
    func discard() {
        self.state.withLock { $0.isDiscarded = true }
        self.queue.sync {
            for name in [RecordingJournal.name, self.multivariantName] { self.folder.remove(name) }
            self.folder.removeItself()
        }
    }

    /// Queues a write and waits for it, at most ``patience`` nanoseconds; without a limit if
    /// ``RecordingSettings/waits`` is set.
    ///
    /// - Parameters:
    ///   - always: Whether to write even if recording is stopped.
    ///   - missed: Called in place of a write while recording is stopped, and after a failed write, in the same order.
    ///     `nil`: the write is dropped.
    private func work(
        always: Bool = false, _ body: @escaping @Sendable (RecordingFolder) throws(MediaError) -> Void,
        missed: (@Sendable (inout State) -> Void)? = nil
    ) {
        let (waits, isFull) = self.state.withLock { state -> (Bool?, Bool) in
            if state.isDiscarded { return (nil, false) }
            if state.isStopped, !always {
                // What is missed is noted on the queue, after writes that were queued before and may fail.
                guard missed != nil, state.pending < Self.mostPending + Self.mostMissed else { return (nil, false) }
                state.pending += 1
                return (false, false)
            }
            state.pending += 1
            return (!state.isSlow, state.pending > Self.mostPending)
        }
        guard let waits else { return }
        if !self.waits, isFull {
            self.stop(self.folder.lost("the disk does not answer, and \(Self.mostPending) writes are pending"))
        }
        let done = DispatchSemaphore(value: 0)
        self.queue.async {
            let isMissed = self.state.withLock { state in
                if state.isDiscarded { return true }
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

    /// Stops recording until ``resume()`` is called. The media recorded so far stays. Callable from any thread.
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
            // If this line cannot be written either, the gap in the media sequence numbers shows that segments are
            // missing.
            guard self.isWhole else { return }
            try? self.folder.append(RecordingJournal.stop(error.what), to: RecordingJournal.name)
        }
    }

    /// Continues recording after a stop. Segments that were listed in between are missing; changes of date ranges are
    /// written now. Returns at once and reports the result as an ``Event``. Does nothing if recording is not stopped, is
    /// being resumed already, or if the room has ended. Callable from any thread.
    package func resume() {
        let begun = self.state.withLock { state -> (reason: String, stops: Int)? in
            guard !state.isResuming, !state.isEnded, !state.isDiscarded, let reason = state.stopReason else {
                return nil
            }
            state.isResuming = true
            return (reason, state.stops)
        }
        guard let begun else { return }
        self.queue.async {
            do throws(MediaError) {
                // Neither the first line nor the line with the reason for the stop may have been written.
                try self.begin()
                try self.folder.append(RecordingJournal.stop(begun.reason), to: RecordingJournal.name)
                try self.writeMissed()
                // If ``stop(_:)`` was called meanwhile, recording stays stopped, as its caller expects.
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

    /// Writes the date range changes and the multivariant playlist that were missed while recording was stopped. Runs
    /// on the queue, like everything that adds missed changes.
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
    /// Writes a text; otherwise like ``put(_:_:durable:)``.
    func put(_ name: String, text: String, durable: Bool = false) throws(MediaError) {
        try self.put(name, [PacketMemory(Array(text.utf8))], durable: durable)
    }
}
