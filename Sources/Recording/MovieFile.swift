import HLS
import MediaTypes
import Packager

/// Makes one MP4 file from the segments of a rendition.
struct MovieFile {
    let movie: RecordingSettings.Movie
    /// In the order of their sequence numbers.
    let slots: [ListedSegmentSet]
    let chapters: [Chapter]
    let title: String?
    /// The shown range of the room's time, in nanoseconds since its origin; `nil`: everything.
    var shown: Range<Int64>?
    /// Owner mark of the file in a directory that rooms share; the file never replaces another one. `nil`: the
    /// directory belongs to this room.
    var owner: String?
    /// The bytes of a segment or an initialization segment.
    let read: (String) -> [UInt8]?
    /// The error for a file that is missing or damaged.
    let damaged: (String) -> MediaError

    /// Suffix of a file that is being written.
    private static let partialMark = RecordedNames.partialMark

    /// Whether a name is that of a partial file of an owner; the owner's name is followed by numbers.
    static func isPartial(_ name: String, of owner: String) -> Bool {
        guard name.hasPrefix("."), name.hasSuffix(Self.partialMark) else { return false }
        let mark = name.dropLast(Self.partialMark.count)
        let numbers = mark.reversed().prefix { $0.isNumber || $0 == "-" }
        return mark.dropLast(numbers.count).hasSuffix(".mp4.\(owner)")
    }

    struct Made {
        let file: FinishedRecording.File
        /// Number of video frames in the file, shown or not.
        let frames: Int
        let durationMs: Int64
    }

    /// Writes the file. Reads every segment twice: once for the tables and once to copy it.
    ///
    /// - Parameter step: Called with the number of bytes that were read.
    /// - Throws: ``MediaError/Code/outputLost``, ``MediaError/Code/diskFull``, ``MediaError/Code/invalidData``, and
    ///   ``MediaError/Code/rejected`` if the name belongs to another file. No new file has the name then.
    func write(
        _ name: String, in folder: RecordingFolder, step: (Int) throws(MediaError) -> Void
    ) throws(MediaError) -> Made {
        var video: MovieTrack?
        var audio: MovieTrack?
        var heads: [String: TrackParameters] = [:]
        try self.segments(step) { track, slot, bytes throws(MediaError) in
            let uri = track.segment.map.uri
            if heads[uri] == nil {
                guard let bytes = self.read(uri), let head = TrackParameters(bytes) else { throw self.damaged(uri) }
                heads[uri] = head
            }
            guard let head = heads[uri], let samples = SegmentSamples(bytes) else {
                throw self.damaged(track.segment.uri)
            }
            var table = (track.kind == .video ? video : audio) ?? MovieTrack(head)
            guard table.append(samples, head: head, slot: slot) else { throw self.damaged(track.segment.uri) }
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
        return Made(
            file: FinishedRecording.File(name: name, byteCount: file.byteCount, checksum: file.checksum),
            frames: video?.sizes.count ?? 0, durationMs: writer.durationMs)
    }

    /// The segments in file order: for each slot the video, then the audio.
    private func segments(
        _ step: (Int) throws(MediaError) -> Void,
        _ body: (ListedSegmentSet.Track, _ slot: Int, [UInt8]) throws(MediaError) -> Void
    ) throws(MediaError) {
        for (index, slot) in self.slots.enumerated() {
            for (name, kind) in [(self.movie.video, TrackKind.video), (self.movie.audio, .audio)] {
                guard let track = slot.tracks.first(where: { $0.name == name && $0.kind == kind }),
                    !track.segment.gap
                else { continue }
                guard let bytes = self.read(track.segment.uri) else { throw self.damaged(track.segment.uri) }
                try body(track, index, bytes)
                try step(bytes.count)
            }
        }
    }
}
