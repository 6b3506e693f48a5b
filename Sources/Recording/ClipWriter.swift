import HLS
package import MediaTypes
package import Packager

/// Makes a clip: writes a time range of a room's segments to an MP4 file.
package struct ClipWriter: Sendable {
    /// The finished clip.
    package struct FinishedClip: Sendable, Hashable {
        /// Path of the file.
        package let path: String
        package let byteCount: Int
        /// SHA-256 in hexadecimal digits.
        package let checksum: String
        package let durationMs: Int64
        /// Number of segment intervals from which the clip was made.
        package let segments: Int
    }

    private let room: String
    private let directory: String
    /// Directory for the hard links that keep source files while the clip is made.
    private let holds: String
    /// The requested range: nanoseconds since the Unix epoch.
    private let range: Range<Int64>
    private let movie: RecordingSettings.Movie

    /// Makes a writer for one clip.
    ///
    /// - Parameters:
    ///   - room: Unique name of the room, usable in file names.
    ///   - directory: Directory for clips, which several rooms may share; created with its parents if it does not
    ///     exist.
    ///   - holds: Directory for hard links to the output's files while a clip is made; on the output's file system.
    package init(
        room: String, directory: String, holds: String, range: Range<Int64>, movie: RecordingSettings.Movie
    ) {
        self.room = room
        self.directory = directory
        self.holds = holds
        self.range = range
        self.movie = movie
    }

    /// Cuts a range of program dates to the available range; `nil` if it exceeds that range by a millisecond or more, or if
    /// nothing is left. Dates in requests and replies are rounded to milliseconds.
    package static func fitted(_ range: Range<Int64>, into available: Range<Int64>) -> Range<Int64>? {
        let (lower, upper) = (available.lowerBound, available.upperBound)
        guard range.lowerBound > lower &- Self.millisecond, range.upperBound < upper &+ Self.millisecond else {
            return nil
        }
        let (from, to) = (max(range.lowerBound, lower), min(range.upperBound, upper))
        return from < to ? from..<to : nil
    }

    private static let millisecond: Int64 = 1_000_000

    /// Returns a writer whose range is cut to the available one; `nil` if ``fitted(_:into:)`` returns `nil`.
    package func fitted(into available: Range<Int64>) -> ClipWriter? {
        Self.fitted(self.range, into: available).map {
            ClipWriter(room: self.room, directory: self.directory, holds: self.holds, range: $0, movie: self.movie)
        }
    }

    /// Returns the segments that overlap a range of program dates, in order.
    package static func segmentSets(_ segmentSets: [ListedSegmentSet], in range: Range<Int64>) -> [ListedSegmentSet] {
        segmentSets.filter { segmentSet in
            guard let dates = self.dates(of: segmentSet) else { return false }
            return dates.overlaps(range)
        }
    }

    /// Returns the range of program dates from the first segment to the end of the last one; `nil` if there are no
    /// segments, or if the last one does not end later than the first begins.
    package static func dates(of segmentSets: [ListedSegmentSet]) -> Range<Int64>? {
        guard let first = segmentSets.first.flatMap({ self.dates(of: $0) }),
            let last = segmentSets.last.flatMap({ self.dates(of: $0) }), first.lowerBound < last.upperBound
        else { return nil }
        return first.lowerBound..<last.upperBound
    }

    private static func dates(of segmentSet: ListedSegmentSet) -> Range<Int64>? {
        guard let segment = (segmentSet.tracks.first { $0.kind == .video } ?? segmentSet.tracks.first)?.segment,
            segment.duration.ticks > 0
        else { return nil }
        return segment.programDate..<(segment.programDate &+ segment.duration.nanoseconds)
    }

    /// Joins the segments of a recording with the listed segments that follow them; `nil` if segments between the two
    /// are missing.
    package static func joined(_ recorded: [ListedSegmentSet], _ listed: [ListedSegmentSet]) -> [ListedSegmentSet]? {
        guard let first = listed.first?.mediaSequence else { return recorded }
        let older = recorded.filter { $0.mediaSequence < first }
        guard let last = older.last?.mediaSequence else { return listed }
        return last + 1 == first ? older + listed : nil
    }

    /// Hard links to segment files, which keep the content after the room deletes the files.
    package struct Hold: Sendable {
        fileprivate let folder: RecordingFolder
        /// File names of the hard links.
        fileprivate let names: Set<String>

        /// Removes the hard links.
        package func release() {
            for name in self.names { self.folder.remove(name) }
            self.folder.removeItself()
        }
    }

    /// Prefix of the name of a directory with hard links; the clip's id follows.
    private static let holdMark = "."
    /// Prefix of clip ids.
    private static let idMark = "clip-"

    /// Makes hard links to the files of segments, so that they stay until the hold is released.
    ///
    /// - Parameters:
    ///   - id: Id of the clip: a unique name that begins with `clip-`, usable in file names.
    ///   - source: Returns the path of a file by its name; `nil` if the file no longer exists.
    /// - Throws: ``MediaError/Code/notFound`` if `source` returns `nil` for a file, ``MediaError/Code/outputLost`` if a
    ///   hard link cannot be made, ``MediaError/Code/notCreatable``, ``MediaError/Code/diskFull``. Then no hard links
    ///   are left.
    package func hold(
        _ segmentSets: [ListedSegmentSet], id: String, source: (String) -> String?
    ) throws(MediaError) -> Hold {
        let folder = RecordingFolder(path: "\(self.holds)/\(Self.holdMark)\(id)", of: .clips)
        var names: Set<String> = []
        for track in self.chosen(segmentSets).flatMap(\.tracks) where !track.segment.gap {
            names.formUnion([track.segment.map.uri, track.segment.uri])
        }
        let hold = Hold(folder: folder, names: names)
        guard !names.isEmpty else { return hold }
        try DirectoryStore(directory: folder.path).prepare()
        do throws(MediaError) {
            for name in names.sorted() {
                guard let file = source(name) else {
                    throw MediaError(
                        .notFound, "\(name) has already been deleted", at: "clip",
                        fix: "choose a later range, or record the room")
                }
                // Files are not copied: the API client waits meanwhile, and a copy would take disk space.
                try folder.take(name, from: file, copies: false)
            }
        } catch {
            hold.release()
            throw error
        }
        return hold
    }

    /// Returns the segments with only the tracks of the clip.
    private func chosen(_ segmentSets: [ListedSegmentSet]) -> [ListedSegmentSet] {
        let names = [self.movie.video, self.movie.audio]
        return segmentSets.map { segmentSet in
            ListedSegmentSet(
                mediaSequence: segmentSet.mediaSequence, incarnation: segmentSet.incarnation,
                frames: segmentSet.frames,
                tracks: segmentSet.tracks.filter { names.contains($0.name) })
        }
    }

    /// Removes what a worker left that was killed while it made clips: hard links and partial files. Call it before the
    /// first clip.
    ///
    /// - Parameter hasHolds: Whether the directory contains the room's hard links. If false, directories in it are not
    ///   touched.
    package static func removeLeftovers(of room: String, in directory: String, hasHolds: Bool) {
        let folder = RecordingFolder(path: directory, of: .clips)
        let owner = "\(room)-\(Self.idMark.dropLast())"
        var (holds, partials): ([String], [String]) = ([], [])
        DiskUse.forEachEntry(of: directory, prefixes: [Self.holdMark]) { entry in
            if entry.isDirectory {
                if hasHolds, entry.name.hasPrefix(Self.holdMark + Self.idMark) { holds.append(entry.name) }
            } else if MovieFile.isPartial(entry.name, of: owner) {
                partials.append(entry.name)
            }
        }
        for name in holds {
            let hold = RecordingFolder(path: folder.full(name), of: .clips)
            var held: [String] = []
            DiskUse.forEachEntry(of: hold.path) { if !$0.isDirectory { held.append($0.name) } }
            for name in held { hold.remove(name) }
            hold.removeItself()
        }
        for name in partials { folder.remove(name) }
    }

    /// Writes the clip's file. Blocks until it is written.
    ///
    /// - Parameters:
    ///   - name: File name without a path; `.mp4` is appended.
    ///   - id: Id of the clip.
    ///   - segmentSets: Available segments; those that do not overlap the clip's range are ignored.
    ///   - hold: Hard links to the files of the listed segments.
    ///   - opened: Decrypts the bytes of a segment that `hold` contains; `nil` if it cannot be decrypted.
    ///   - recorded: Reads a file that `hold` does not contain, from the recording; `nil` if it does not exist.
    ///   - reason: Called after each segment that was read; returns an error to stop with, or `nil` to continue.
    /// - Throws: ``MediaError/Code/notFound`` if the range contains no media, ``MediaError/Code/notCreatable``,
    ///   ``MediaError/Code/outputLost``, ``MediaError/Code/diskFull``, ``MediaError/Code/invalidData``,
    ///   ``MediaError/Code/rejected`` if the name exists, and the error of `reason`.
    package func write(
        _ name: String, id: String, of segmentSets: [ListedSegmentSet], from hold: Hold,
        opened: @escaping (ListedSegmentSet.Track, [UInt8]) -> [UInt8]? = { $1 },
        recorded: @escaping (String) -> [UInt8]? = { _ in nil }, until reason: () -> MediaError? = { nil }
    ) throws(MediaError) -> FinishedClip {
        let segmentSets = self.chosen(Self.segmentSets(segmentSets, in: self.range))
        guard let segment = segmentSets.lazy.flatMap(\.tracks).first(where: { !$0.segment.gap })?.segment else {
            throw MediaError(.notFound, "nothing was published in this time", at: "clip", fix: "choose another range")
        }
        let folder = RecordingFolder(path: self.directory, of: .clips)
        try DirectoryStore(directory: self.directory).prepare()
        let origin =
            segment.programDate
            &- TimeMath.rescale(segment.start, from: Int64(segment.duration.timescale), to: TimeMath.nanoseconds)
        var tracks: [String: ListedSegmentSet.Track] = [:]
        for track in segmentSets.flatMap(\.tracks) { tracks[track.segment.uri] = track }
        func bytes(_ name: String) -> [UInt8]? {
            guard hold.names.contains(name) else { return recorded(name) }
            guard let bytes = hold.folder.read(name) else { return nil }
            // Initialization segments are never encrypted.
            guard let track = tracks[name] else { return bytes }
            return opened(track, bytes)
        }
        var movie = MovieFile(
            movie: self.movie, segmentSets: segmentSets, chapters: [], title: nil, read: bytes,
            damaged: { name in
                MediaError(.invalidData, "\(name) is missing or damaged", at: "clip", fix: "choose another range")
            })
        movie.owner = "\(self.room)-\(id)"
        movie.shown = (self.range.lowerBound &- origin)..<(self.range.upperBound &- origin)
        let made = try movie.write("\(name).mp4", in: folder) { _ throws(MediaError) in
            if let error = reason() { throw error }
        }
        try folder.synchronize([])
        return FinishedClip(
            path: folder.full(made.file.name), byteCount: made.file.byteCount, checksum: made.file.checksum,
            durationMs: made.durationMs, segments: segmentSets.count)
    }
}
