import Dispatch
package import HLS
import MediaKernels
package import MediaTypes
package import Packager
import Synchronization

/// Records everything a room lists. The segments stay in a directory of their own after the live playlists have dropped
/// them, and a journal describes them. ``RecordingFinisher`` makes files from them when the room has ended.
///
/// The live playlists wait for a write at most ``patience``. After a timeout they do not wait again until the recorder
/// has caught up. A failed write stops the recording, not the room. Recording can be resumed later, with a hole.
package final class Recorder: ListingObserver {
    /// Events that are reported to the room.
    package enum Event: Sendable {
        /// Recording has stopped; the existing media stays and is finished when the room ends.
        case stopped(MediaError)
        /// Recording continues: everything listed from now on is recorded.
        case resumed
        /// ``Recorder/resume()`` failed, or a ``Recorder/stop(_:)`` came before it was done.
        case notResumed(MediaError)
    }

    /// Amount of recorded media.
    package struct Kept: Sendable, Hashable {
        /// Number of slots that this worker has recorded.
        package var slots = 0
        /// Approximate size in bytes of the movies to be made, in addition to the segments; includes media of previous
        /// workers.
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
        /// Why recording is stopped; `nil` while it is running.
        var stopReason: String?
        var isResuming = false
        /// The latest ``Recorder/stop(_:)``, and the number of calls.
        var lastStop: MediaError?
        var stops = 0
        var isEnded = false
        /// Changes of date ranges that were not written while stopped, in order, and the latest multivariant playlist.
        var missed: [DateRange.Change] = []
        var missedList: String?

        var isStopped: Bool { self.stopReason != nil }

        mutating func miss(_ change: DateRange.Change) {
            self.missed.append(change)
            if self.missed.count > Recorder.mostMissed { self.missed.removeFirst(Recorder.mostMissed / 2) }
        }
    }

    /// Longest wait for a write in nanoseconds.
    private static let patience = 100_000_000
    /// Most writes that wait for a hanging disk: several minutes of segments.
    private static let mostPending = 256
    /// Most changes of date ranges to remember while recording is stopped.
    private static let mostMissed = 8_192

    private let folder: RecordingFolder
    /// Path of a file of the live output.
    private let source: @Sendable (String) -> String?
    /// The decrypted bytes of an encrypted output's segment.
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
    ///   - source: Path of a file of the live output; the file exists when a slot is kept.
    ///   - clear: For an encrypted output: the decrypted segment, `nil` if it no longer exists or cannot be decrypted.
    ///     Recordings are never encrypted. Without it files are used as they are.
    ///   - report: Called on a thread of the recorder.
    /// - Throws: ``MediaError/Code/notCreatable``, ``MediaError/Code/roomExited`` for a finished recording,
    ///   ``MediaError/Code/invalidData`` for a damaged journal.
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
        // A file without a complete line is left by a worker that was killed.
        if folder.read(RecordingJournal.name)?.contains(UInt8(ascii: "\n")) == true {
            let journal = try RecordingFinisher.journal(in: folder)
            guard journal.roomID == settings.roomID else {
                throw MediaError(
                    .rejected, "\(settings.directory) contains the recording of room \(journal.roomID)",
                    at: "recording",
                    fix: "choose another directory")
            }
            let bytes = journal.slots.reduce(Int64(0)) { $0 &+ recorder.movieBytes(of: $1) }
            recorder.state.withLock { $0.kept.movieBytes = bytes }
        }
        return recorder
    }

    private func movieBytes(of slot: ListedSegmentSet) -> Int64 {
        self.movies.reduce(Int64(0)) { sum, movie in
            slot.tracks.reduce(sum) { sum, track in
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

    /// Continues the recording in the directory, or begins one. Call it once this worker owns the room: two workers
    /// would mix their lines.
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

    /// Whether the journal exists and ends with a complete line, so that new text starts a new line. Reads the whole
    /// file.
    private var isWhole: Bool { self.folder.read(RecordingJournal.name)?.last == UInt8(ascii: "\n") }

    package func keep(_ slot: ListedSegmentSet) {
        let (source, clear) = (self.source, self.clear)
        self.work { folder throws(MediaError) in
            var taken: [String] = []
            do throws(MediaError) {
                for track in slot.tracks where !track.segment.gap {
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
                try folder.append(RecordingJournal.line(slot), to: RecordingJournal.name)
            } catch {
                // No journal line names these files: as hard links they would only keep space that the room frees.
                for name in taken { folder.remove(name) }
                throw error
            }
            self.state.withLock { state in
                state.kept.slots += 1
                state.kept.movieBytes &+= self.movieBytes(of: slot)
            }
        }
    }

    /// Amount recorded so far.
    package var kept: Kept { self.state.withLock(\.kept) }

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
        // Always written: the room has ended, and the recorded media can be finished.
        self.work(always: true) { folder throws(MediaError) in
            // The disk may not even have taken the first line.
            if !self.isWhole {
                try self.begin()
                if let reason { try folder.append(RecordingJournal.stop(reason), to: RecordingJournal.name) }
            }
            try folder.append(RecordingJournal.end(nextMediaSequence: nextMediaSequence), to: RecordingJournal.name)
        }
    }

    /// The slots recorded so far. Reads the disk.
    ///
    /// - Throws: ``MediaError/Code/notReadable``, ``MediaError/Code/invalidData``.
    package func recordedSlots() throws(MediaError) -> [ListedSegmentSet] {
        try RecordingFinisher.journal(in: self.folder).slots
    }

    /// The bytes of a file of the recording; `nil` if it does not exist. Blocks.
    package func bytes(of name: String) -> [UInt8]? { RecordedNames.isValid(name) ? self.folder.read(name) : nil }

    /// Waits until all requested writes are done or have failed.
    package func settle() { self.queue.sync {} }

    /// Queues a write.
    ///
    /// - Parameters:
    ///   - always: Runs even if recording is stopped.
    ///   - missed: Runs instead of the write while recording is stopped, in the same order; `nil`: nothing runs.
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

    /// Stops recording until ``resume()``; existing media stays. Callable from any thread.
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
            // If the disk does not take this line either, the gap in the slot numbers shows that some are missing.
            guard self.isWhole else { return }
            try? self.folder.append(RecordingJournal.stop(error.what), to: RecordingJournal.name)
        }
    }

    /// Continues after a stop: slots that were listed in between are missing, date ranges are not. Returns at once and
    /// reports the result; does nothing if recording is not stopped. Callable from any thread.
    package func resume() {
        let begun = self.state.withLock { state -> (reason: String, stops: Int)? in
            guard !state.isResuming, !state.isEnded, let reason = state.stopReason else { return nil }
            state.isResuming = true
            return (reason, state.stops)
        }
        guard let begun else { return }
        self.queue.async {
            do throws(MediaError) {
                // The disk may not have taken the first line, nor the line that explains the hole.
                try self.begin()
                try self.folder.append(RecordingJournal.stop(begun.reason), to: RecordingJournal.name)
                try self.writeMissed()
                // If another stop came meanwhile, its caller got the reply that recording is stopped, so it stays stopped.
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

    /// Runs on the queue, the only place where something is added to the missed changes.
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
    /// ``put(_:_:durable:)`` for text.
    func put(_ name: String, text: String, durable: Bool = false) throws(MediaError) {
        try self.put(name, [PacketMemory(Array(text.utf8))], durable: durable)
    }
}
