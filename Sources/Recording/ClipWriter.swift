import HLS
package import MediaTypes
package import Packager

/// A piece of what a room has listed, as a file of its own.
package struct ClipWriter: Sendable {
    /// What has become of it.
    package struct Made: Sendable, Hashable {
        /// The file.
        package let path: String
        package let byteCount: Int
        /// SHA-256 in hexadecimal digits.
        package let checksum: String
        package let durationMs: Int64
        /// Segments it was made of.
        package let segments: Int
    }

    private let room: String
    private let directory: String
    /// Where files are held meanwhile.
    private let holds: String
    /// What is asked for: nanoseconds since the Unix epoch.
    private let range: Range<Int64>
    private let movie: RecordingSettings.Movie

    /// - Parameters:
    ///   - room: A plain name that no other room has.
    ///   - directory: Where files are made, other rooms' too; with its parents if it is not there.
    ///   - holds: Where the output's own files are held while a clip is made, on its file system.
    package init(
        room: String, directory: String, holds: String, range: Range<Int64>, movie: RecordingSettings.Movie
    ) {
        self.room = room
        self.directory = directory
        self.holds = holds
        self.range = range
        self.movie = movie
    }

    /// The slots of a list that hold something of a range of program dates, in order.
    package static func slots(_ slots: [KeptSlot], in range: Range<Int64>) -> [KeptSlot] {
        slots.filter { slot in
            guard let dates = self.dates(of: slot) else { return false }
            return dates.overlaps(range)
        }
    }

    /// Program dates of a list of slots, from the first to the last; `nil` of none.
    package static func dates(of slots: [KeptSlot]) -> Range<Int64>? {
        guard let first = slots.first.flatMap({ self.dates(of: $0) }),
            let last = slots.last.flatMap({ self.dates(of: $0) }), first.lowerBound < last.upperBound
        else { return nil }
        return first.lowerBound..<last.upperBound
    }

    private static func dates(of slot: KeptSlot) -> Range<Int64>? {
        guard let segment = (slot.tracks.first { $0.kind == .video } ?? slot.tracks.first)?.segment,
            segment.duration.ticks > 0
        else { return nil }
        return segment.programDate..<(segment.programDate &+ segment.duration.nanoseconds)
    }

    /// Slots of a recording and of what is listed behind them, as one list; `nil` where some between the two are in neither.
    package static func joined(_ recorded: [KeptSlot], _ listed: [KeptSlot]) -> [KeptSlot]? {
        guard let first = listed.first?.mediaSequence else { return recorded }
        let older = recorded.filter { $0.mediaSequence < first }
        guard let last = older.last?.mediaSequence else { return listed }
        return last + 1 == first ? older + listed : nil
    }

    /// Files' second names, so that their bytes stay while the room lets them go.
    package struct Hold: Sendable {
        fileprivate let folder: RecordingFolder
        /// Its names.
        fileprivate let names: Set<String>

        /// Gives the bytes back.
        package func release() {
            for name in self.names { self.folder.remove(name) }
            self.folder.removeItself()
        }
    }

    /// Begins the name of a hold's directory; the rest is the clip's id.
    private static let holdMark = "."
    /// A clip's id as the room gives it.
    private static let idMark = "clip-"

    /// Keeps the files of slots until they are released.
    ///
    /// - Parameters:
    ///   - id: A plain name that nobody else holds.
    ///   - source: Where a file lies.
    /// - Throws: ``MediaError/Code/notFound`` for a file that has gone already, ``MediaError/Code/notCreatable``,
    ///   ``MediaError/Code/diskFull``; nothing is held then.
    package func hold(
        _ slots: [KeptSlot], id: String, source: (String) -> String?
    ) throws(MediaError) -> Hold {
        let folder = RecordingFolder(path: "\(self.holds)/\(Self.holdMark)\(id)")
        var names: Set<String> = []
        for track in self.chosen(slots).flatMap(\.tracks) where !track.segment.gap {
            names.formUnion([track.segment.map.uri, track.segment.uri])
        }
        let hold = Hold(folder: folder, names: names)
        guard !names.isEmpty else { return hold }
        try DirectoryStore(directory: folder.path).prepare()
        do throws(MediaError) {
            for name in names.sorted() {
                guard let file = source(name) else {
                    throw MediaError(
                        .notFound, "\(name) has gone already", at: "clip",
                        fix: "choose a later range, or record the room")
                }
                // Whoever asks for a clip waits meanwhile, and what is copied is one more of it on the disk.
                try folder.take(name, from: file, copies: false)
            }
        } catch {
            hold.release()
            throw error
        }
        return hold
    }

    /// The slots with the tracks of the clip alone.
    private func chosen(_ slots: [KeptSlot]) -> [KeptSlot] {
        let names = [self.movie.video, self.movie.audio]
        return slots.map { slot in
            KeptSlot(
                mediaSequence: slot.mediaSequence, incarnation: slot.incarnation, frames: slot.frames,
                tracks: slot.tracks.filter { names.contains($0.name) })
        }
    }

    /// Takes away what a worker of a room was killed over: holds and files that are not whole. Before the first clip.
    ///
    /// - Parameter hasHolds: It is where the room's files are held; elsewhere such directories are others'.
    package static func removeLeftovers(of room: String, in directory: String, hasHolds: Bool) {
        let folder = RecordingFolder(path: directory)
        let owner = "\(room)-\(Self.idMark.dropLast())"
        var (holds, partials): ([String], [String]) = ([], [])
        DiskUse.forEachEntry(of: directory, prefix: Self.holdMark) { entry in
            if entry.isDirectory {
                if hasHolds, entry.name.hasPrefix(Self.holdMark + Self.idMark) { holds.append(entry.name) }
            } else if MovieFile.isPartial(entry.name, of: owner) {
                partials.append(entry.name)
            }
        }
        for name in holds {
            let hold = RecordingFolder(path: folder.full(name))
            var held: [String] = []
            DiskUse.forEachEntry(of: hold.path) { if !$0.isDirectory { held.append($0.name) } }
            for name in held { hold.remove(name) }
            hold.removeItself()
        }
        for name in partials { folder.remove(name) }
    }

    /// Makes the file. Blocks for as long as the disk takes.
    ///
    /// - Parameters:
    ///   - name: Plain; `.mp4` is added.
    ///   - id: The clip's.
    ///   - slots: What the clip is made of.
    ///   - hold: Has the files of those that are listed.
    ///   - opened: A held segment's bytes as the segment was cut.
    ///   - recorded: The bytes of a file that is not held.
    ///   - reason: Asked between two segments why to stop; `nil`: it goes on.
    /// - Throws: ``MediaError/Code/outputLost``, ``MediaError/Code/diskFull``, ``MediaError/Code/invalidData``,
    ///   ``MediaError/Code/rejected`` for a name that is taken, and `reason`.
    package func write(
        _ name: String, id: String, of slots: [KeptSlot], from hold: Hold,
        opened: @escaping (KeptSlot.Track, [UInt8]) -> [UInt8]? = { $1 },
        recorded: @escaping (String) -> [UInt8]? = { _ in nil }, until reason: () -> MediaError? = { nil }
    ) throws(MediaError) -> Made {
        let slots = self.chosen(Self.slots(slots, in: self.range))
        guard let segment = slots.lazy.flatMap(\.tracks).first(where: { !$0.segment.gap })?.segment else {
            throw MediaError(.notFound, "nothing was published in this time", at: "clip", fix: "choose another range")
        }
        let folder = RecordingFolder(path: self.directory)
        try DirectoryStore(directory: self.directory).prepare()
        let origin =
            segment.programDate
            &- TimeMath.rescale(segment.start, from: Int64(segment.duration.timescale), to: TimeMath.nanoseconds)
        var tracks: [String: KeptSlot.Track] = [:]
        for track in slots.flatMap(\.tracks) { tracks[track.segment.uri] = track }
        func bytes(_ name: String) -> [UInt8]? {
            guard hold.names.contains(name) else { return recorded(name) }
            guard let bytes = hold.folder.read(name) else { return nil }
            // Initialization segments are clear everywhere.
            guard let track = tracks[name] else { return bytes }
            return opened(track, bytes)
        }
        var movie = MovieFile(
            movie: self.movie, slots: slots, chapters: [], title: nil, read: bytes,
            damaged: { name in
                MediaError(.invalidData, "\(name) is missing or damaged", at: "clip", fix: "choose another range")
            })
        movie.owner = "\(self.room)-\(id)"
        movie.shown = (self.range.lowerBound &- origin)..<(self.range.upperBound &- origin)
        let made = try movie.write("\(name).mp4", in: folder) { _ throws(MediaError) in
            if let error = reason() { throw error }
        }
        try folder.synchronize([])
        return Made(
            path: folder.full(made.file.name), byteCount: made.file.byteCount, checksum: made.file.checksum,
            durationMs: made.durationMs, segments: slots.count)
    }
}
