package import HLS
package import MediaTypes
package import Packager
import Synchronization

/// A room's recording that an operator can start and stop: one ``Recorder`` per session, each in a directory of its
/// own.
///
/// A session consists of whole slots, which ``RecordingSessionGate`` chooses. When it has ended, the `over` callback makes its
/// files. From the first command on, a ``RecordingSessionFile`` stores the sessions for the next worker.
package final class SessionRecorder: ListingObserver {
    /// One recording session and its recorder.
    package struct Take: Sendable {
        /// Starting at 1.
        package let number: Int
        package let settings: RecordingSettings
        package let recorder: Recorder
    }

    /// State of the recording.
    package enum Status: String, Sendable, CaseIterable {
        case recording
        /// A stop was requested; the segment that contains it is the last.
        case stopping
        /// Stopped because of the disk; it continues when there is space.
        case suspended
        case stopped
    }

    private struct State {
        var gate: RecordingSessionGate
        var current: Take?
        /// Begins after the current session.
        var next: Take?
        /// Ended sessions without files yet.
        var over: [Take]
        /// Number of the newest session.
        var last: Int
        /// Number of slots in sessions whose files are made.
        var pastSlots = 0
        var multivariant: String?
        /// Open date ranges, which a session that begins now is part of.
        var open: [DateRange] = []

        /// Sessions that are recorded, or will be.
        var going: [Take] { [self.current, self.next].compactMap { $0 } }

        /// Ends the current session.
        mutating func turn() -> Take? {
            let ended = self.current
            (self.current, self.next) = (self.next, nil)
            if let ended { self.over.append(ended) }
            return ended
        }

        mutating func note(_ change: DateRange.Change) {
            switch change {
            case .opened(let range):
                self.open.removeAll { $0.id == range.id }
                if range.end == nil { self.open.append(range) }
                if self.open.count > SessionRecorder.mostOpen { self.open.removeFirst() }
            case .closed(let id, _): self.open.removeAll { $0.id == id }
            }
        }
    }

    /// Most open date ranges to remember; a room has a few at a time.
    private static let mostOpen = 256

    private let settings: RecordingSettings
    private let folder: RecordingFolder
    /// Locked during a command, so that commands run one at a time.
    private let book: Mutex<RecordingSessionFile>
    private let state: Mutex<State>
    private let make: @Sendable (_ number: Int) throws(MediaError) -> Take
    private let over: @Sendable (Take) -> Void

    /// Opens a recorder for a directory, like ``Recorder/open(_:source:clear:report:)``; it continues where the
    /// previous worker stopped.
    ///
    /// - Parameters:
    ///   - isActive: Whether a room without any command records.
    ///   - report: Called by the sessions' recorders, on a thread of theirs.
    ///   - over: Called with a session that has ended while the room continues: its files can be made now. Called from
    ///     any thread.
    package static func open(
        _ settings: RecordingSettings, isActive: Bool = true, source: @escaping @Sendable (String) -> String?,
        clear: (@Sendable (ListedSegmentSet.Track) -> [UInt8]?)? = nil,
        report: @escaping @Sendable (Recorder.Event) -> Void,
        over: @escaping @Sendable (Take) -> Void
    ) throws(MediaError) -> SessionRecorder {
        try DirectoryStore(directory: settings.directory).prepare()
        let folder = RecordingFolder(path: settings.directory)
        let found = try RecordingSessionFile.read(in: folder, roomID: settings.roomID)
        guard found?.state != .over else { throw Self.refusal(of: settings) }
        // A recording that has begun continues, whatever the pipeline file says now.
        let isOn = isActive || folder.contains(RecordingJournal.name)
        let book =
            found
            ?? RecordingSessionFile(roomID: settings.roomID, last: isOn ? 1 : 0, state: isOn ? .recording : .stopped)
        if found == nil, folder.contains(RecordedNames.manifest) { throw Self.refusal(of: settings) }
        let make: @Sendable (Int) throws(MediaError) -> Take = { number throws(MediaError) -> Take in
            let settings = settings.take(number)
            let recorder = try Recorder.open(settings, source: source, clear: clear, report: report)
            return Take(number: number, settings: settings, recorder: recorder)
        }
        let isRecording = book.state == .recording && book.last > 0
        var left: [Take] = []
        for number in stride(from: 1, through: isRecording ? book.last - 1 : book.last, by: 1)
        where RecordingFinisher(settings.take(number)).isDue(roomHasEnded: true) {
            left.append(try make(number))
        }
        let current = isRecording ? try make(book.last) : nil
        let state = State(
            gate: RecordingSessionGate(isRecording: isRecording), current: current, over: left, last: book.last)
        return SessionRecorder(settings, folder, book, state, make: make, over: over)
    }

    private static func refusal(of settings: RecordingSettings) -> MediaError {
        MediaError(
            .roomExited, "\(settings.directory) contains a finished recording", at: "recording",
            fix: "choose another directory, or move that recording away")
    }

    private init(
        _ settings: RecordingSettings, _ folder: RecordingFolder, _ book: RecordingSessionFile, _ state: State,
        make: @escaping @Sendable (Int) throws(MediaError) -> Take,
        over: @escaping @Sendable (Take) -> Void
    ) {
        self.settings = settings
        self.folder = folder
        self.book = Mutex(book)
        self.state = Mutex(state)
        self.make = make
        self.over = over
    }

    /// Continues the current session or begins it, and reports sessions of previous workers whose files are still to be
    /// made. Call it once this worker owns the room.
    package func begin() {
        let (current, left) = self.state.withLock { ($0.current, $0.over) }
        if let recorder = current?.recorder {
            // A failing disk does not stop the room from starting.
            do throws(MediaError) { try recorder.begin() } catch { recorder.stop(error) }
        }
        for take in left { self.over(take) }
    }

    // MARK: Commands

    /// Starts a new session with the slot on air; does nothing if it is already recording. Blocks for the disk.
    ///
    /// - Parameter frame: The program frame on air; `nil` before the program begins.
    /// - Returns: The directory of the new session; `nil` if none begins.
    /// - Throws: ``MediaError/Code/notCreatable``, ``MediaError/Code/outputLost``, ``MediaError/Code/diskFull``;
    ///   nothing has changed then.
    package func start(at frame: Int64?) throws(MediaError) -> String? {
        try self.book.withLock { book throws(MediaError) -> String? in
            guard self.state.withLock({ $0.gate.isStartable }) else { return nil }
            var changed = book
            repeat {
                changed.last += 1
            } while changed.last > 1 && changed.last <= RecordingSessionFile.most
                && self.folder.contains(RecordedNames.take(changed.last))
            guard changed.last <= RecordingSessionFile.most else {
                throw MediaError(
                    .rejected, "the room already has \(RecordingSessionFile.most) recordings", at: "recording",
                    fix: "end the room, and open another")
            }
            changed.state = .recording
            let take = try self.make(changed.last)
            do throws(MediaError) {
                try changed.write(in: self.folder)
            } catch {
                Self.remove(take)
                throw error
            }
            do throws(MediaError) {
                try take.recorder.begin()
            } catch {
                try? book.write(in: self.folder)
                Self.remove(take)
                throw error
            }
            book = changed
            let last = changed.last
            self.state.withLock { state in
                if state.gate.start(at: frame) == .follows { state.next = take } else { state.current = take }
                state.last = last
                // Under the lock, so that later changes are written after these.
                for range in state.open { take.recorder.keep(.opened(range)) }
                if let text = state.multivariant { take.recorder.keep(multivariant: text) }
            }
            return take.settings.directory
        }
    }

    /// Removes the files of a session that does not begin, so that repeated attempts on a full disk leave nothing
    /// behind.
    private static func remove(_ take: Take) {
        // The first session uses the recording's own directory, which existed before.
        guard take.number > 1 else { return }
        let folder = RecordingFolder(path: take.settings.directory)
        folder.remove(RecordingJournal.name)
        folder.removeItself()
    }

    /// Stops the session after the slot on air; does nothing if it is not recording. Blocks for the disk.
    ///
    /// - Parameter frame: The program frame on air; `nil` before the program begins.
    /// - Returns: The directory of the session that ends; `nil` if none does.
    /// - Throws: ``MediaError/Code/outputLost``, ``MediaError/Code/diskFull``; nothing has changed then.
    package func stop(at frame: Int64?) throws(MediaError) -> String? {
        let (directory, ended) = try self.book.withLock { book throws(MediaError) -> (String?, Take?) in
            guard self.state.withLock({ $0.gate.isStoppable }) else { return (nil, nil) }
            var changed = book
            changed.state = .stopped
            // Written first: a later worker must not conclude from finished files that the room has ended.
            try changed.write(in: self.folder)
            book = changed
            return self.state.withLock { state -> (String?, Take?) in
                let directory = (state.next ?? state.current)?.settings.directory
                guard state.gate.stop(at: frame) == .now else {
                    state.next = nil
                    return (directory, nil)
                }
                return (directory, state.turn())
            }
        }
        if let ended { self.over(ended) }
        return directory
    }

    // MARK: Listed media

    package func keep(_ slot: ListedSegmentSet) {
        let (keeper, ended) = self.state.withLock { state -> (Recorder?, Take?) in
            switch state.gate.listed(slot.frames) {
            case .pass: return (nil, nil)
            case .keep: return (state.current?.recorder, nil)
            case .keepLast:
                let ended = state.turn()
                return (ended?.recorder, ended)
            case .end(let continues):
                let ended = state.turn()
                return (continues ? state.current?.recorder : nil, ended)
            }
        }
        keeper?.keep(slot)
        // After the slot: file making waits for everything that was passed to the recorder before.
        if let ended { self.over(ended) }
    }

    package func keep(_ change: DateRange.Change) {
        let takes = self.state.withLock { state -> [Take] in
            state.note(change)
            return state.going
        }
        for take in takes { take.recorder.keep(change) }
    }

    package func keep(multivariant: String) {
        let takes = self.state.withLock { state -> [Take] in
            state.multivariant = multivariant
            return state.going
        }
        for take in takes { take.recorder.keep(multivariant: multivariant) }
    }

    package func ended(nextMediaSequence: Int64) {
        for take in self.takes(withOver: false) { take.recorder.ended(nextMediaSequence: nextMediaSequence) }
    }

    // MARK: The disk

    /// Like ``Recorder/stop(_:)``: nothing is recorded until ``resume()``, whatever the commands say.
    package func stop(_ error: MediaError) { for take in self.takes(withOver: false) { take.recorder.stop(error) } }

    package func resume() { for take in self.takes(withOver: false) { take.recorder.resume() } }

    /// Amount recorded in all sessions; the bytes are of those without files.
    package var kept: Recorder.Kept {
        let (takes, slots) = self.state.withLock { ($0.over + $0.going, $0.pastSlots) }
        return takes.reduce(Recorder.Kept(slots: slots)) { sum, take in
            let kept = take.recorder.kept
            return Recorder.Kept(slots: sum.slots + kept.slots, movieBytes: sum.movieBytes &+ kept.movieBytes)
        }
    }

    /// Directories of the sessions besides the recording's own directory.
    package var directories: [String] {
        let last = self.state.withLock { $0.last }
        return stride(from: 2, through: last, by: 1).map { self.settings.take($0).directory }
    }

    // MARK: Status

    package var status: Status {
        let (phase, recorder) = self.state.withLock { ($0.gate.phase, $0.current?.recorder) }
        switch phase {
        case .stopped: return .stopped
        case .recording: return recorder?.isStopped == true ? .suspended : .recording
        case .stopping(_, let continues): return continues ? .recording : .stopping
        }
    }

    /// Number of the session that is recording.
    package var number: Int? { self.state.withLock { $0.current?.number } }

    /// Recorder of the session that is recording.
    package var recorder: Recorder? { self.state.withLock { $0.current?.recorder } }

    /// Waits until all requested writes are done or have failed.
    package func settle() { for take in self.takes(withOver: true) { take.recorder.settle() } }

    /// Marks the recording as ended, so that no later worker continues it. Call it when the room has ended, before the
    /// remaining files are made.
    package func close() {
        self.book.withLock { book in
            guard self.folder.contains(RecordingSessionFile.name) else { return }
            book.state = .over
            // If this cannot be written, the room's state file still says that it has ended.
            try? book.write(in: self.folder)
        }
    }

    /// Sessions without files, oldest first, including those that have not ended.
    package var unfinished: [RecordingSettings] { self.takes(withOver: true).map(\.settings) }

    /// Whether a session has files, made by this worker or a previous one. Reads the disk.
    package var hasFiles: Bool {
        let last = self.state.withLock { $0.last }
        return stride(from: 1, through: last, by: 1).contains {
            RecordingFolder(path: self.settings.take($0).directory).contains(RecordedNames.manifest)
        }
    }

    /// Removes a session from the list: its files are made, or it has nothing to make them from.
    package func finished(_ settings: RecordingSettings) {
        self.state.withLock { state in
            guard let index = state.over.firstIndex(where: { $0.settings == settings }) else { return }
            let take = state.over.remove(at: index)
            state.pastSlots += take.recorder.kept.slots
        }
    }

    private func takes(withOver: Bool) -> [Take] {
        self.state.withLock { (withOver ? $0.over : []) + $0.going }
    }
}
