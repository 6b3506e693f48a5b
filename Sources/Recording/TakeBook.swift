package import MediaTypes

/// Which takes a recording has that an operator starts and stops, as it lies on disk for the next worker: one line beside the first
/// take, written anew with every command. A recording that nobody has started or stopped has none.
package struct TakeBook: Sendable, Hashable {
    package enum State: String, Sendable, Hashable {
        /// The newest take goes on, under the next worker too.
        case recording
        case stopped
        /// The room is over.
        case over
    }

    package static let name = "recording.takes"
    private static let version = "1"
    /// Takes a room may have.
    static let most = 10_000

    package let roomID: String
    /// The newest take, counted from 1; 0: none has begun.
    package var last: Int
    package var state: State

    package var text: String { "takes\t\(Self.version)\t\(self.roomID)\t\(self.last)\t\(self.state.rawValue)\n" }

    package init(roomID: String, last: Int, state: State) {
        self.roomID = roomID
        self.last = last
        self.state = state
    }

    /// - Returns: `nil` for what is no such line.
    package init?(text: String) {
        guard text.hasSuffix("\n") else { return nil }
        let fields = text.dropLast().split(separator: "\t", omittingEmptySubsequences: false)
        guard fields.count == 5, fields[0] == "takes", fields[1] == Self.version, let last = Int(fields[3]),
            (0...Self.most).contains(last), let state = State(rawValue: String(fields[4]))
        else { return nil }
        self.init(roomID: String(fields[2]), last: last, state: state)
    }

    /// The one in a directory; `nil`: there is none.
    ///
    /// - Throws: ``MediaError/Code/rejected`` for another room's, ``MediaError/Code/invalidData`` for a damaged one.
    static func read(in folder: RecordingFolder, roomID: String) throws(MediaError) -> TakeBook? {
        guard folder.contains(Self.name) else { return nil }
        guard let bytes = folder.read(Self.name), let book = TakeBook(text: String(decoding: bytes, as: UTF8.self))
        else {
            throw MediaError(
                .invalidData, "\(folder.full(Self.name)) is damaged", at: "recording",
                fix: "restore it, or choose another directory for the recording")
        }
        guard book.roomID == roomID else {
            throw MediaError(
                .rejected, "\(folder.path) holds the recording of room \(book.roomID)", at: "recording",
                fix: "choose another directory")
        }
        return book
    }

    /// - Throws: ``MediaError/Code/outputLost``, ``MediaError/Code/diskFull``; what was there stays.
    package func write(in folder: RecordingFolder) throws(MediaError) {
        // No worker begins beside one that is damaged.
        try folder.put(Self.name, Array(self.text.utf8), durable: true)
    }
}

extension RecordingSettings {
    /// Of one take: the first lies in the recording's directory, each of the others in one of its own in there.
    ///
    /// - Parameter number: From 1.
    package func take(_ number: Int) -> RecordingSettings {
        guard number > 1 else { return self }
        var settings = self
        settings.directory = "\(self.directory)/\(RecordedNames.take(number))"
        return settings
    }

    /// Takes away what finished takes were made of, where a worker was killed before it had; see
    /// ``RecordingFinisher/removeLeftovers()``.
    package func removeLeftovers() {
        let book = try? TakeBook.read(in: RecordingFolder(path: self.directory), roomID: self.roomID)
        for number in 1...max(1, book?.last ?? 1) { RecordingFinisher(self.take(number)).removeLeftovers() }
    }

    /// What an earlier worker of a room that is over has left to be made into files, the oldest first.
    ///
    /// - Parameter roomHasEnded: As in ``RecordingFinisher/isDue(roomHasEnded:)``. Of a room that is on air nothing is due, though an
    ///   operator has stopped a take: its next worker makes that beside the room.
    package func dueTakes(roomHasEnded: Bool) -> [RecordingSettings] {
        let folder = RecordingFolder(path: self.directory)
        guard folder.contains(TakeBook.name) else {
            return RecordingFinisher(self).isDue(roomHasEnded: roomHasEnded) ? [self] : []
        }
        guard let book = try? TakeBook.read(in: folder, roomID: self.roomID) else { return [] }
        // A worker may have been killed between the end of the take that went on and that of the book.
        let isEnded = book.state == .recording && RecordingFinisher(self.take(book.last)).isDue
        guard roomHasEnded || book.state == .over || isEnded else { return [] }
        return stride(from: 1, through: book.last, by: 1).map { self.take($0) }.filter {
            RecordingFinisher($0).isDue(roomHasEnded: true)
        }
    }
}
