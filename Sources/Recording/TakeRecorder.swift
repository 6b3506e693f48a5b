package import HLS
package import MediaTypes
package import Packager
import Synchronization

/// A room's recording as an operator starts and stops it: one ``Recorder`` for each take, each in a directory of its own.
///
/// A take is whole slots, which ``TakeGate`` chooses; what it lists is made into files once it is over, by whoever is told of it. What
/// there is of takes is in a ``TakeBook`` for the next worker, as soon as anybody has commanded anything.
package final class TakeRecorder: SlotKeeping {
    /// One take, and who records it.
    package struct Take: Sendable {
        /// From 1.
        package let number: Int
        package let settings: RecordingSettings
        package let recorder: Recorder
    }

    /// What of the program is recorded.
    package enum Status: String, Sendable {
        case recording
        /// A stop has been asked for; the segment it falls into is the last.
        case stopping
        /// The disk has stopped it; it goes on when there is room.
        case suspended
        case stopped
    }

    private struct State {
        var gate: TakeGate
        var current: Take?
        /// Begins behind the current one.
        var next: Take?
        /// Over, and not made into files yet.
        var over: [Take]
        /// The newest.
        var last: Int
        /// Slots of takes that are made into files.
        var pastSlots = 0
        var multivariant: String?
        /// What a take that begins now lies in.
        var open: [DateRange] = []

        /// Takes that are recorded, or will be.
        var going: [Take] { [self.current, self.next].compactMap { $0 } }

        /// The current take is over.
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
                if self.open.count > TakeRecorder.mostOpen { self.open.removeFirst() }
            case .closed(let id, _): self.open.removeAll { $0.id == id }
            }
        }
    }

    /// Date ranges that are remembered; a room has a few open at a time.
    private static let mostOpen = 256

    private let settings: RecordingSettings
    private let folder: RecordingFolder
    /// Held over a command: one at a time.
    private let book: Mutex<TakeBook>
    private let state: Mutex<State>
    private let make: @Sendable (_ number: Int) throws(MediaError) -> Take
    private let over: @Sendable (Take) -> Void

    /// A recorder for a directory, as ``Recorder/open(_:source:clear:report:)``; it goes on where the worker before it stood.
    ///
    /// - Parameters:
    ///   - isActive: Whether a room that nobody has commanded anything records.
    ///   - report: Told by the takes' recorders, from a thread of theirs.
    ///   - over: Told of a take that is over while the room goes on: now files can be made of it. Called from any thread.
    package static func open(
        _ settings: RecordingSettings, isActive: Bool = true, source: @escaping @Sendable (String) -> String?,
        clear: (@Sendable (KeptSlot.Track) -> [UInt8]?)? = nil, report: @escaping @Sendable (Recorder.Event) -> Void,
        over: @escaping @Sendable (Take) -> Void
    ) throws(MediaError) -> TakeRecorder {
        try DirectoryStore(directory: settings.directory).prepare()
        let folder = RecordingFolder(path: settings.directory)
        let found = try TakeBook.read(in: folder, roomID: settings.roomID)
        guard found?.state != .over else { throw Self.refusal(of: settings) }
        // One that has begun goes on, whatever the file says by now.
        let isOn = isActive || folder.contains(RecordingJournal.name)
        let book =
            found ?? TakeBook(roomID: settings.roomID, last: isOn ? 1 : 0, state: isOn ? .recording : .stopped)
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
            gate: TakeGate(isRecording: isRecording), current: current, over: left, last: book.last)
        return TakeRecorder(settings, folder, book, state, make: make, over: over)
    }

    private static func refusal(of settings: RecordingSettings) -> MediaError {
        MediaError(
            .roomExited, "\(settings.directory) holds a recording that is finished", at: "recording",
            fix: "choose another directory, or take that recording away")
    }

    private init(
        _ settings: RecordingSettings, _ folder: RecordingFolder, _ book: TakeBook, _ state: State,
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

    /// Goes on with what there is, or begins it, and tells of what the workers before it have left to be made. Once this worker
    /// owns the room.
    package func begin() {
        let (current, left) = self.state.withLock { ($0.current, $0.over) }
        if let recorder = current?.recorder {
            // A room is not refused for what it leaves behind.
            do throws(MediaError) { try recorder.begin() } catch { recorder.stop(error) }
        }
        for take in left { self.over(take) }
    }

    // MARK: Commands

    /// Records from the slot on that is on air, in another take; does nothing where it records. Blocks for the disk.
    ///
    /// - Parameter frame: Of the program, which is on air; `nil`: it has not begun.
    /// - Returns: The directory of the take that begins; `nil`: none does.
    /// - Throws: ``MediaError/Code/notCreatable``, ``MediaError/Code/outputLost``, ``MediaError/Code/diskFull``; nothing has changed
    ///   then.
    package func start(at frame: Int64?) throws(MediaError) -> String? {
        try self.book.withLock { book throws(MediaError) -> String? in
            guard self.state.withLock({ $0.gate.isStartable }) else { return nil }
            var changed = book
            repeat {
                changed.last += 1
            } while changed.last > 1 && changed.last <= TakeBook.most
                && self.folder.contains(RecordedNames.take(changed.last))
            guard changed.last <= TakeBook.most else {
                throw MediaError(
                    .rejected, "there are \(TakeBook.most) takes", at: "recording",
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
                // In here, so that what changes meanwhile comes behind it.
                for range in state.open { take.recorder.keep(.opened(range)) }
                if let text = state.multivariant { take.recorder.keep(multivariant: text) }
            }
            return take.settings.directory
        }
    }

    /// Takes away what was made for a take that does not begin: whoever tries again and again on a full disk leaves nothing there.
    private static func remove(_ take: Take) {
        // The first lies in the recording's own directory, which was there before.
        guard take.number > 1 else { return }
        let folder = RecordingFolder(path: take.settings.directory)
        folder.remove(RecordingJournal.name)
        folder.removeItself()
    }

    /// Records up to the slot that is on air, that among it; does nothing where it does not record. Blocks for the disk.
    ///
    /// - Parameter frame: Of the program, which is on air; `nil`: it has not begun.
    /// - Returns: The directory of the take that ends; `nil`: none does.
    /// - Throws: ``MediaError/Code/outputLost``, ``MediaError/Code/diskFull``; nothing has changed then.
    package func stop(at frame: Int64?) throws(MediaError) -> String? {
        let (directory, ended) = try self.book.withLock { book throws(MediaError) -> (String?, Take?) in
            guard self.state.withLock({ $0.gate.isStoppable }) else { return (nil, nil) }
            var changed = book
            changed.state = .stopped
            // First: a worker after this one must not take the room for over because files are made.
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

    // MARK: What is listed

    package func keep(_ slot: KeptSlot) {
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
        // Behind the slot: who makes the files waits for what has been given to the recorder.
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

    /// As ``Recorder/stop(_:)``: nothing more is recorded until ``resume()``, whatever was commanded.
    package func stop(_ error: MediaError) { for take in self.takes(withOver: false) { take.recorder.stop(error) } }

    package func resume() { for take in self.takes(withOver: false) { take.recorder.resume() } }

    /// What there is, of all takes; the bytes are of those that no files are made of yet.
    package var kept: Recorder.Kept {
        let (takes, slots) = self.state.withLock { ($0.over + $0.going, $0.pastSlots) }
        return takes.reduce(Recorder.Kept(slots: slots)) { sum, take in
            let kept = take.recorder.kept
            return Recorder.Kept(slots: sum.slots + kept.slots, movieBytes: sum.movieBytes &+ kept.movieBytes)
        }
    }

    /// Where takes lie beside the recording's own directory.
    package var directories: [String] {
        let last = self.state.withLock { $0.last }
        return stride(from: 2, through: last, by: 1).map { self.settings.take($0).directory }
    }

    // MARK: What there is

    package var status: Status {
        let (phase, recorder) = self.state.withLock { ($0.gate.phase, $0.current?.recorder) }
        switch phase {
        case .stopped: return .stopped
        case .recording: return recorder?.isStopped == true ? .suspended : .recording
        case .stopping(_, let continues): return continues ? .recording : .stopping
        }
    }

    /// Of the take that is recorded.
    package var number: Int? { self.state.withLock { $0.current?.number } }

    /// Of the take that is recorded.
    package var recorder: Recorder? { self.state.withLock { $0.current?.recorder } }

    /// Everything that was asked of it is done, or has failed, when this returns.
    package func settle() { for take in self.takes(withOver: true) { take.recorder.settle() } }

    /// Once the room is over, before files are made of what is left: no worker goes on with it.
    package func close() {
        self.book.withLock { book in
            guard self.folder.contains(TakeBook.name) else { return }
            book.state = .over
            // Where this cannot be written the room's own state says it.
            try? book.write(in: self.folder)
        }
    }

    /// Takes of which no files are made yet, the oldest first; those that are not over among them.
    package var unfinished: [RecordingSettings] { self.takes(withOver: true).map(\.settings) }

    /// There are files of a take, made by this worker or by one before it. Reads the disk.
    package var hasFiles: Bool {
        let last = self.state.withLock { $0.last }
        return stride(from: 1, through: last, by: 1).contains {
            RecordingFolder(path: self.settings.take($0).directory).contains(RecordedNames.manifest)
        }
    }

    /// There are files of it now, or nothing to make them of.
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
