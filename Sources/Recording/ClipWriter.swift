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

    private let directory: String
    /// What is asked for: nanoseconds since the Unix epoch.
    private let range: Range<Int64>
    private let movie: RecordingSettings.Movie

    /// - Parameter directory: Where files are made; with its parents if it is not there.
    package init(directory: String, range: Range<Int64>, movie: RecordingSettings.Movie) {
        self.directory = directory
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

    /// A file's second name, so that its bytes stay while the room lets it go.
    package struct Hold: Sendable {
        fileprivate let folder: RecordingFolder
        fileprivate let slots: [KeptSlot]

        /// Gives the bytes back.
        package func release() {
            for name in self.names { self.folder.remove(name) }
            self.folder.removeItself()
        }

        fileprivate var names: Set<String> {
            Set(self.slots.flatMap { slot in slot.tracks.flatMap { [$0.segment.map.uri, $0.segment.uri] } })
        }
    }

    /// Keeps the files of slots until they are released.
    ///
    /// - Parameters:
    ///   - id: A plain name that nobody else holds.
    ///   - source: Where a file lies.
    /// - Throws: ``MediaError/Code/notFound`` for a file that has gone already, ``MediaError/Code/notCreatable``.
    package func hold(
        _ slots: [KeptSlot], id: String, source: (String) -> String?
    ) throws(MediaError) -> Hold {
        let path = "\(self.directory)/.\(id)"
        try DirectoryStore(directory: path).prepare()
        let names = [self.movie.video, self.movie.audio]
        let needed = slots.map { slot in
            KeptSlot(
                mediaSequence: slot.mediaSequence, incarnation: slot.incarnation, frames: slot.frames,
                tracks: slot.tracks.filter { names.contains($0.name) })
        }
        let hold = Hold(folder: RecordingFolder(path: path), slots: needed)
        do throws(MediaError) {
            for track in needed.flatMap(\.tracks) where !track.segment.gap {
                for name in [track.segment.map.uri, track.segment.uri] where !hold.folder.contains(name) {
                    guard let file = source(name) else { throw hold.folder.lost("there is no file \(name)") }
                    try hold.folder.take(name, from: file)
                }
            }
        } catch {
            hold.release()
            throw error
        }
        return hold
    }

    /// Makes the file. Blocks for as long as the disk takes.
    ///
    /// - Parameters:
    ///   - name: Plain; `.mp4` is added.
    ///   - isOver: Asked between two segments whether to stop.
    /// - Throws: ``MediaError/Code/outputLost``, ``MediaError/Code/diskFull``, ``MediaError/Code/invalidData``,
    ///   ``MediaError/Code/unfinished``.
    package func write(
        _ name: String, from hold: Hold, until isOver: () -> Bool = { false }
    ) throws(MediaError) -> Made {
        let folder = RecordingFolder(path: self.directory)
        guard let segment = hold.slots.lazy.flatMap(\.tracks).first(where: { !$0.segment.gap })?.segment else {
            throw MediaError(.notFound, "nothing was published in this time", at: "clip", fix: "choose another range")
        }
        let origin =
            segment.programDate
            &- TimeMath.rescale(segment.start, from: Int64(segment.duration.timescale), to: TimeMath.nanoseconds)
        var movie = MovieFile(
            movie: self.movie, slots: hold.slots, chapters: [], title: nil, read: { hold.folder.read($0) },
            damaged: { name in
                MediaError(.invalidData, "\(name) is missing or damaged", at: "clip", fix: "choose another range")
            })
        movie.shown = (self.range.lowerBound &- origin)..<(self.range.upperBound &- origin)
        let made = try movie.write("\(name).mp4", in: folder) { _ throws(MediaError) in
            if isOver() { throw MediaError(.unfinished, "the room is over", at: "clip", fix: "cut the recording") }
        }
        try folder.synchronize([])
        return Made(
            path: folder.full(made.file.name), byteCount: made.file.byteCount, checksum: made.file.checksum,
            durationMs: made.durationMs, segments: hold.slots.count)
    }
}
