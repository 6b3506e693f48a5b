import HLS
import MediaTypes
import Packager

/// Makes an MP4 file from the segments of a video track, an audio track or both.
struct MovieFile {
    let movie: RecordingSettings.Movie
    /// The segments in the order of their media sequence numbers.
    let segmentSets: [ListedSegmentSet]
    let chapters: [Chapter]
    let title: String?
    /// The range of the program to play, in nanoseconds since the room's origin; `nil`: everything.
    var shown: Range<Int64>?
    /// Name of the room and clip, for a directory that several rooms share: it is part of the partial file's name, and
    /// the finished file never replaces another one. `nil`: the directory belongs to this room.
    var owner: String?
    /// Reads a segment or an initialization segment by its name; `nil` if it cannot be read.
    let read: (String) -> [UInt8]?
    /// Makes the error for a file that is missing or damaged.
    let damaged: (String) -> MediaError

    /// Suffix of the name of a file that is being written.
    private static let partialMark = RecordedNames.partialMark

    /// Whether a file name is that of a partial file of an owner; numbers may follow the owner's name.
    static func isPartial(_ name: String, of owner: String) -> Bool {
        guard name.hasPrefix("."), name.hasSuffix(Self.partialMark) else { return false }
        let mark = name.dropLast(Self.partialMark.count)
        let numbers = mark.reversed().prefix { $0.isNumber || $0 == "-" }
        return mark.dropLast(numbers.count).hasSuffix(".mp4.\(owner)")
    }

    struct FinishedMovie {
        let file: FinishedRecording.File
        /// Number of video frames in the file, including those outside the played range.
        let frames: Int
        let durationMs: Int64
    }

    /// Writes the file. Every segment is read twice: first for the sample tables, then to copy its media.
    ///
    /// - Parameter step: Called each time a segment was read, with its size in bytes; stops the writing by throwing.
    /// - Throws: ``MediaError/Code/outputLost``, ``MediaError/Code/diskFull``, ``MediaError/Code/invalidData``,
    ///   ``MediaError/Code/rejected`` if ``owner`` is set and the name exists, and the error of `step`. Then no new file
    ///   has this name.
    func write(
        _ name: String, in folder: RecordingFolder, step: (Int) throws(MediaError) -> Void
    ) throws(MediaError) -> FinishedMovie {
        var video: MovieTrack?
        var audio: MovieTrack?
        var heads: [String: TrackParameters] = [:]
        try self.segments(step) { track, segmentIndex, bytes throws(MediaError) in
            let uri = track.segment.map.uri
            if heads[uri] == nil {
                guard let bytes = self.read(uri), let head = TrackParameters(bytes) else { throw self.damaged(uri) }
                heads[uri] = head
            }
            guard let head = heads[uri], let samples = SegmentSamples(bytes) else {
                throw self.damaged(track.segment.uri)
            }
            var table = (track.kind == .video ? video : audio) ?? MovieTrack(head)
            guard table.append(samples, head: head, segmentIndex: segmentIndex) else {
                throw self.damaged(track.segment.uri)
            }
            if track.kind == .video { video = table } else { audio = table }
        }
        var writer = MovieWriter(video: video, audio: audio, chapters: self.chapters, title: self.title)
        writer.shown = self.shown
        let partial = folder.full(".\(name)\(self.owner.map { ".\($0)" } ?? "")\(Self.partialMark)")
        var file = try RecordingFolder.FileWriter(path: partial, folder: folder)
        do throws(MediaError) {
            try file.write(writer.head)
            try file.write(writer.chapterSamples)
            try self.segments(step) { track, _, bytes throws(MediaError) in
                guard let samples = SegmentSamples(bytes) else { throw self.damaged(track.segment.uri) }
                for fragment in samples.fragments { try file.write(bytes[fragment.data]) }
            }
            try file.close(durable: true)
            if self.owner == nil { try folder.rename(partial, to: name) } else { try folder.publish(partial, as: name) }
        } catch {
            file.abandon()
            throw error
        }
        return FinishedMovie(
            file: FinishedRecording.File(name: name, byteCount: file.byteCount, checksum: file.checksum),
            frames: video?.sizes.count ?? 0, durationMs: writer.durationMs)
    }

    /// Calls `body` for the segments in file order: for each segment interval the video, then the audio.
    private func segments(
        _ step: (Int) throws(MediaError) -> Void,
        _ body: (ListedSegmentSet.Track, _ segmentIndex: Int, [UInt8]) throws(MediaError) -> Void
    ) throws(MediaError) {
        for (index, segmentSet) in self.segmentSets.enumerated() {
            for (name, kind) in [(self.movie.video, TrackKind.video), (self.movie.audio, .audio)] {
                guard let track = segmentSet.tracks.first(where: { $0.name == name && $0.kind == kind }),
                    !track.segment.gap
                else { continue }
                guard let bytes = self.read(track.segment.uri) else { throw self.damaged(track.segment.uri) }
                try body(track, index, bytes)
                try step(bytes.count)
            }
        }
    }
}
