package import HLS
package import MediaTypes
package import Packager
import Synchronization

/// A room's recording that an operator can start and stop: one ``Recorder`` per session, each in a directory of its
/// own.
///
/// A session consists of whole segments, which ``RecordingSessionGate`` chooses. When a session has ended, its files
/// are made in the `over` callback. From the first start or stop command on, a ``RecordingSessionFile`` stores the
/// sessions for the next worker.
package final class SessionRecorder: ListingObserver {
    /// One recording session and its recorder.
    package struct Session: Sendable {
        /// Number of the session, starting at 1.
        package let number: Int
        package let settings: RecordingSettings
        package let recorder: Recorder
    }

    /// State of a room's recording.
    package enum Status: String, Sendable, CaseIterable {
        case recording
        /// A stop was requested; the segment on air at that time is the last one that is recorded.
        case stopping
        /// Recording is interrupted because the disk is full or failing; see ``SessionRecorder/resume()``.
        case suspended
        case stopped
    }

    private struct State {
        var gate: RecordingSessionGate
        var current: Session?
        /// The session that begins after the current one.
        var next: Session?
        /// Ended sessions whose files are not made yet.
        var over: [Session]
        /// Number of the newest session.
        var last: Int
        /// Number of segments in sessions whose files are made.
        var pastSegments = 0
        var multivariant: String?
        /// Open date ranges, which a session that begins now must contain.
        var open: [DateRange] = []

        /// Sessions that are being recorded or will be.
        var going: [Session] { [self.current, self.next].compactMap { $0 } }

        /// Ends the current session and begins the next one, if any; returns the ended session.
        mutating func turn() -> Session? {
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

    /// Maximum number of open date ranges to store, beyond which the oldest is dropped; a room has a few at a time.
    private static let mostOpen = 256

    private let settings: RecordingSettings
    private let folder: RecordingFolder
    /// The stored state of the sessions; locked during a command, so that commands run one at a time.
    private let sessionFile: Mutex<RecordingSessionFile>
    private let state: Mutex<State>
    /// Makes the recorder of a session.
    private let make: @Sendable (_ number: Int) throws(MediaError) -> Session
    /// Called with each ended session, whose files can then be made.
    private let over: @Sendable (Session) -> Void

    /// Opens a recorder for a directory, like ``Recorder/open(_:source:clear:report:)``. It continues the session of
    /// the previous worker.
    ///
    /// - Parameters:
    ///   - isActive: Whether the room is recorded until an operator gives a command.
    ///   - report: Called with events of the sessions' recorders, on any thread.
    ///   - over: Called with a session that has ended while the room continues, so that its files can be made. Called
    ///     from any thread.
    package static func open(
        _ settings: RecordingSettings, isActive: Bool = true, source: @escaping @Sendable (String) -> String?,
        clear: (@Sendable (ListedSegmentSet.Track) -> [UInt8]?)? = nil,
        report: @escaping @Sendable (Recorder.Event) -> Void,
        over: @escaping @Sendable (Session) -> Void
    ) throws(MediaError) -> SessionRecorder {
        try DirectoryStore(directory: settings.directory).prepare()
        let folder = RecordingFolder(path: settings.directory)
        let found = try RecordingSessionFile.read(in: folder, roomID: settings.roomID)
        guard found?.state != .over else { throw Self.refusal(of: settings) }
        // A recording that has begun continues, even if the pipeline file no longer asks for it.
        let isOn = isActive || folder.contains(RecordingJournal.name)
        let sessionFile =
            found
            ?? RecordingSessionFile(roomID: settings.roomID, last: isOn ? 1 : 0, state: isOn ? .recording : .stopped)
        if found == nil, folder.contains(RecordedNames.manifest) { throw Self.refusal(of: settings) }
        let make: @Sendable (Int) throws(MediaError) -> Session = { number throws(MediaError) -> Session in
            let settings = settings.take(number)
            let recorder = try Recorder.open(settings, source: source, clear: clear, report: report)
            return Session(number: number, settings: settings, recorder: recorder)
        }
        let isRecording = sessionFile.state == .recording && sessionFile.last > 0
        var left: [Session] = []
        for number in stride(from: 1, through: isRecording ? sessionFile.last - 1 : sessionFile.last, by: 1)
        where RecordingFinisher(settings.take(number)).isDue(roomHasEnded: true) {
            left.append(try make(number))
        }
        let current = isRecording ? try make(sessionFile.last) : nil
        let state = State(
            gate: RecordingSessionGate(isRecording: isRecording), current: current, over: left, last: sessionFile.last)
        return SessionRecorder(settings, folder, sessionFile, state, make: make, over: over)
    }

    private static func refusal(of settings: RecordingSettings) -> MediaError {
        MediaError(
            .roomExited, "\(settings.directory) contains a finished recording", at: "recording",
            fix: "choose another directory, or move that recording away")
    }

    private init(
        _ settings: RecordingSettings, _ folder: RecordingFolder, _ sessionFile: RecordingSessionFile, _ state: State,
        make: @escaping @Sendable (Int) throws(MediaError) -> Session,
        over: @escaping @Sendable (Session) -> Void
    ) {
        self.settings = settings
        self.folder = folder
        self.sessionFile = Mutex(sessionFile)
        self.state = Mutex(state)
        self.make = make
        self.over = over
    }

    /// Begins or continues the current session, and passes sessions of previous workers whose files are not made yet to
    /// the `over` callback. Call it once this worker owns the room.
    package func begin() {
        let (current, left) = self.state.withLock { ($0.current, $0.over) }
        if let recorder = current?.recorder {
            // A failing disk does not prevent the room from starting.
            do throws(MediaError) { try recorder.begin() } catch { recorder.stop(error) }
        }
        for session in left { self.over(session) }
    }

    // MARK: Commands

    /// Starts a new session with the segment on air; does nothing if the room is already being recorded. Blocks while
    /// the disk writes.
    ///
    /// - Parameter frame: The program frame on air; `nil` before the program begins.
    /// - Returns: The directory of the new session; `nil` if none begins.
    /// - Throws: ``MediaError/Code/notCreatable``, ``MediaError/Code/outputLost``, ``MediaError/Code/diskFull``,
    ///   ``MediaError/Code/rejected`` if the room has 10,000 sessions; then nothing has changed.
    package func start(at frame: Int64?) throws(MediaError) -> String? {
        try self.sessionFile.withLock { sessionFile throws(MediaError) -> String? in
            guard self.state.withLock({ $0.gate.isStartable }) else { return nil }
            var changed = sessionFile
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
            let session = try self.make(changed.last)
            do throws(MediaError) {
                try changed.write(in: self.folder)
            } catch {
                Self.remove(session)
                throw error
            }
            do throws(MediaError) {
                try session.recorder.begin()
            } catch {
                try? sessionFile.write(in: self.folder)
                Self.remove(session)
                throw error
            }
            sessionFile = changed
            let last = changed.last
            self.state.withLock { state in
                if state.gate.start(at: frame) == .follows { state.next = session } else { state.current = session }
                state.last = last
                // These calls run under the lock, so that later changes are written after these.
                for range in state.open { session.recorder.keep(.opened(range)) }
                if let text = state.multivariant { session.recorder.keep(multivariant: text) }
            }
            return session.settings.directory
        }
    }

    /// Removes the files of a session, other than the first, that could not begin or was canceled before it began, so
    /// that repeated attempts on a full disk leave nothing behind, and no journal makes the recording look unfinished.
    private static func remove(_ session: Session) {
        // The first session uses the recording's own directory, which existed before.
        guard session.number > 1 else { return }
        session.recorder.discard()
    }

    /// Stops the session after the segment on air, or cancels the planned next session; does nothing if the room is not
    /// being recorded. Blocks while the disk writes.
    ///
    /// - Parameter frame: The program frame on air; `nil` before the program begins.
    /// - Returns: The directory of the session that ends or no longer begins; `nil` if there is none.
    /// - Throws: ``MediaError/Code/outputLost``, ``MediaError/Code/diskFull``; nothing has changed then.
    package func stop(at frame: Int64?) throws(MediaError) -> String? {
        typealias Result = (directory: String?, ended: Session?, canceled: Session?)
        let (directory, ended, canceled) = try self.sessionFile.withLock { sessionFile throws(MediaError) -> Result in
            guard self.state.withLock({ $0.gate.isStoppable }) else { return (nil, nil, nil) }
            var changed = sessionFile
            changed.state = .stopped
            // The state is written first: a later worker must not conclude from finished files that the room has ended.
            try changed.write(in: self.folder)
            sessionFile = changed
            return self.state.withLock { state -> Result in
                let directory = (state.next ?? state.current)?.settings.directory
                guard state.gate.stop(at: frame) == .now else { return (directory, nil, state.next.take()) }
                return (directory, state.turn(), nil)
            }
        }
        if let canceled { Self.remove(canceled) }
        if let ended { self.over(ended) }
        return directory
    }

    // MARK: Listed media

    package func keep(_ segmentSet: ListedSegmentSet) {
        let (keeper, ended) = self.state.withLock { state -> (Recorder?, Session?) in
            switch state.gate.listed(segmentSet.frames) {
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
        keeper?.keep(segmentSet)
        // The callback follows the segment: file making waits for everything that was passed to the recorder before.
        if let ended { self.over(ended) }
    }

    package func keep(_ change: DateRange.Change) {
        let sessions = self.state.withLock { state -> [Session] in
            state.note(change)
            return state.going
        }
        for session in sessions { session.recorder.keep(change) }
    }

    package func keep(multivariant: String) {
        let sessions = self.state.withLock { state -> [Session] in
            state.multivariant = multivariant
            return state.going
        }
        for session in sessions { session.recorder.keep(multivariant: multivariant) }
    }

    package func ended(nextMediaSequence: Int64) {
        for session in self.sessions(withOver: false) { session.recorder.ended(nextMediaSequence: nextMediaSequence) }
    }

    // MARK: The disk

    /// Stops the recorders of the current and the planned session because of an error, until ``resume()``; see
    /// ``Recorder/stop(_:)``. A session that an operator starts later is recorded.
    package func stop(_ error: MediaError) {
        for session in self.sessions(withOver: false) { session.recorder.stop(error) }
    }

    /// Continues recording after ``stop(_:)``.
    package func resume() { for session in self.sessions(withOver: false) { session.recorder.resume() } }

    /// Number of segments that this worker has recorded in all sessions. The bytes are those of sessions whose files are
    /// not made yet.
    package var kept: Recorder.RecordedAmount {
        let (sessions, segments) = self.state.withLock { ($0.over + $0.going, $0.pastSegments) }
        return sessions.reduce(Recorder.RecordedAmount(segments: segments)) { sum, session in
            let kept = session.recorder.kept
            return Recorder.RecordedAmount(
                segments: sum.segments + kept.segments, movieBytes: sum.movieBytes &+ kept.movieBytes)
        }
    }

    /// Directories of all sessions after the first one.
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

    /// Number of the session that is being recorded; `nil` if there is none.
    package var number: Int? { self.state.withLock { $0.current?.number } }

    /// Recorder of the session that is being recorded; `nil` if there is none.
    package var recorder: Recorder? { self.state.withLock { $0.current?.recorder } }

    /// Waits until all queued writes have succeeded or failed.
    package func settle() { for session in self.sessions(withOver: true) { session.recorder.settle() } }

    /// Marks the recording as ended, so that no later worker continues it. Call it when the room has ended, before the
    /// remaining files are made.
    package func close() {
        self.sessionFile.withLock { sessionFile in
            guard self.folder.contains(RecordingSessionFile.name) else { return }
            sessionFile.state = .over
            // If this cannot be written, the room's state file still says that the room has ended.
            try? sessionFile.write(in: self.folder)
        }
    }

    /// Settings of the sessions whose files are not made yet, oldest first, including sessions that have not ended.
    package var unfinished: [RecordingSettings] { self.sessions(withOver: true).map(\.settings) }

    /// Whether the files of any session have been made, by this worker or a previous one. Reads the disk.
    package var hasFiles: Bool {
        let last = self.state.withLock { $0.last }
        return stride(from: 1, through: last, by: 1).contains {
            RecordingFolder(path: self.settings.take($0).directory).contains(RecordedNames.manifest)
        }
    }

    /// Removes an ended session from ``unfinished``, because its files are made or it has no media.
    package func finished(_ settings: RecordingSettings) {
        self.state.withLock { state in
            guard let index = state.over.firstIndex(where: { $0.settings == settings }) else { return }
            let session = state.over.remove(at: index)
            state.pastSegments += session.recorder.kept.segments
        }
    }

    private func sessions(withOver: Bool) -> [Session] {
        self.state.withLock { (withOver ? $0.over : []) + $0.going }
    }
}
