import HLS
package import MediaTypes
import Packager

/// Makes the files of a recording session from the segments that a ``Recorder`` has stored, after the session or the
/// room has ended: playlists that list everything (if the settings keep segments), an MP4 file for each chosen
/// rendition, and finally a manifest, which marks the recording as finished. If the process is killed meanwhile, the
/// next run starts from the beginning.
package struct RecordingFinisher: Sendable {
    private let settings: RecordingSettings
    private let folder: RecordingFolder

    package init(_ settings: RecordingSettings) {
        self.settings = settings
        self.folder = RecordingFolder(path: settings.directory)
    }

    /// Whether the journal says that the room has ended, the recording has media, and its files are not finished.
    package var isDue: Bool { self.isDue(roomHasEnded: false) }

    /// Whether files still have to be made from the recording of a room that has ended.
    ///
    /// - Parameter roomHasEnded: Whether the room is known to have ended from another source than the recording: a
    ///   worker may have been stopped, or its disk may have been full, before the end was written to the recording.
    package func isDue(roomHasEnded: Bool) -> Bool {
        guard !self.folder.contains(RecordedNames.manifest), self.folder.contains(RecordingJournal.name),
            let journal = try? Self.journal(in: self.folder), !journal.segmentSets.isEmpty
        else { return false }
        return journal.isEnded || (roomHasEnded && journal.roomID == self.settings.roomID)
    }

    /// Whether there is nothing to make files of: the recording has no media, and none is missing, because the room
    /// published no segment while it was recorded.
    ///
    /// - Parameter wasListed: Whether the room has ever published a segment, under this worker or a previous one.
    package func isEmpty(wasListed: Bool) -> Bool {
        // If there is no journal, the recording could not even begin.
        guard self.folder.contains(RecordingJournal.name) else { return !wasListed }
        guard let journal = try? Self.journal(in: self.folder) else { return false }
        return journal.segmentSets.isEmpty && (journal.stopReason == nil || !wasListed)
    }

    static func journal(in folder: RecordingFolder) throws(MediaError) -> RecordingJournal {
        guard let bytes = folder.read(RecordingJournal.name) else {
            throw MediaError(
                .notReadable, "there is no \(folder.full(RecordingJournal.name))", at: "recording",
                fix: "name the directory of a recording")
        }
        do throws(RecordingJournal.Damage) {
            return try RecordingJournal(text: String(decoding: bytes, as: UTF8.self))
        } catch {
            throw MediaError(
                .invalidData, "line \(error.line) of \(folder.full(RecordingJournal.name)) is damaged",
                at: "recording", fix: "restore it, or choose another directory for the recording")
        }
    }

    /// Makes the files of the recording. Blocks until everything is flushed to disk.
    ///
    /// - Parameters:
    ///   - isOver: Called after each step; if it returns true, this run stops, and a later run starts anew.
    ///   - progress: Called after each step with the number of processed bytes and the total.
    /// - Throws: ``MediaError/Code/notFound`` or ``MediaError/Code/outputLost`` if nothing was recorded,
    ///   ``MediaError/Code/outputLost``, ``MediaError/Code/diskFull``, ``MediaError/Code/notReadable``,
    ///   ``MediaError/Code/invalidData``, ``MediaError/Code/unfinished``. The recorded segments stay.
    package func run(
        until isOver: @escaping () -> Bool = { false },
        progress: @escaping (_ done: Int, _ total: Int) -> Void
    ) throws(MediaError) -> FinishedRecording {
        // A worker that is shutting down may still be making the files, and two workers would overwrite each other's
        // files.
        let finished = try self.folder.exclusively { () throws(MediaError) -> FinishedRecording in
            try self.make(until: isOver, progress: progress)
        }
        guard let finished else {
            throw MediaError(
                .unfinished, "another worker is making the files of the recording", at: "recording",
                fix: "wait until that worker has finished, and start the room again")
        }
        return finished
    }

    private func make(
        until isOver: @escaping () -> Bool, progress: @escaping (_ done: Int, _ total: Int) -> Void
    ) throws(MediaError) -> FinishedRecording {
        let journal = try Self.journal(in: self.folder)
        guard let first = journal.segmentSets.first, let last = journal.segmentSets.last,
            let start = first.tracks.first?.segment.programDate, let final = last.tracks.first?.segment
        else {
            guard let reason = journal.stopReason else {
                throw MediaError(
                    .notFound, "nothing was recorded", at: "recording", fix: "publish in the room before it ends")
            }
            throw MediaError(
                .outputLost, "nothing was recorded: \(reason)", at: "recording",
                fix: "free space or restore the directory before the next room")
        }
        for name in journal.replaced where RecordedNames.isValid(name) { self.folder.remove(name) }
        let end = final.programDate &+ final.duration.nanoseconds
        let chapters = Chapter.chapters(journal.ranges, from: start, to: end)
        var meter = Meter(isOver: isOver, report: progress)
        let sizes = journal.segmentSets.flatMap { segmentSet in
            segmentSet.tracks.map { ($0.name, $0.segment.byteCount) }
        }
        for movie in self.settings.movies {
            // Segments are read once for the sample tables, and once to copy.
            meter.total += 2 * sizes.reduce(0) { $0 + ([movie.video, movie.audio].contains($1.0) ? $1.1 : 0) }
        }
        if self.settings.keepsSegments { meter.total += sizes.reduce(0) { $0 + $1.1 } }
        var files: [FinishedRecording.File] = []
        var frames = 0
        var durationMs: Int64 = 0
        for movie in self.settings.movies {
            let made = try self.write(movie, journal, chapters, &meter)
            files.append(made.file)
            frames = max(frames, made.frames)
            durationMs = max(durationMs, made.durationMs)
        }
        if self.settings.keepsSegments { files += try self.playlists(journal, &meter) }
        let finished = FinishedRecording(
            roomID: journal.roomID, start: start, durationMs: durationMs, frames: frames, chapters: chapters,
            files: files, coverage: RecordingCoverage(journal))
        try self.folder.synchronize(files.map(\.name))
        try DirectoryStore(directory: self.folder.path).put(
            RecordedNames.manifest, text: finished.json.text + "\n", durable: true)
        // The sources are removed only after the manifest is written, because a repeated run needs every segment.
        self.removeSources(journal)
        return finished
    }

    /// Removes the journal, and segments that the settings do not keep, of a finished recording, if a worker was killed
    /// before it removed them.
    package func removeLeftovers() {
        guard self.folder.contains(RecordedNames.manifest), self.folder.contains(RecordingJournal.name),
            let journal = try? Self.journal(in: self.folder), journal.roomID == self.settings.roomID
        else { return }
        self.removeSources(journal)
    }

    /// Removes the sources of a finished recording. The journal is removed last, because it lists the other files.
    private func removeSources(_ journal: RecordingJournal) {
        if !self.settings.keepsSegments { self.removeSegments(journal) }
        self.folder.remove(RecordingJournal.name)
    }

    private struct Meter {
        var done = 0
        var total = 0
        let isOver: () -> Bool
        let report: (Int, Int) -> Void

        init(isOver: @escaping () -> Bool, report: @escaping (Int, Int) -> Void) {
            self.isOver = isOver
            self.report = report
        }

        mutating func add(_ bytes: Int) throws(MediaError) {
            self.done += bytes
            self.report(self.done, max(self.done, self.total))
            guard self.isOver() else { return }
            throw MediaError(
                .unfinished,
                "the files are unfinished: \(self.done) of \(max(self.done, self.total)) bytes were processed",
                at: "recording", fix: "start the room again to finish the files, or raise shutdown.endTimeoutMs")
        }
    }

    // MARK: Movies

    private func write(
        _ movie: RecordingSettings.Movie, _ journal: RecordingJournal, _ chapters: [Chapter], _ meter: inout Meter
    ) throws(MediaError) -> MovieFile.FinishedMovie {
        let file = MovieFile(
            movie: movie, segmentSets: journal.segmentSets, chapters: chapters, title: self.settings.title,
            read: { self.folder.read($0) }, damaged: { self.damaged($0) })
        return try file.write(RecordedNames.movie(movie.name), in: self.folder) { bytes throws(MediaError) in
            try meter.add(bytes)
        }
    }

    private func damaged(_ name: String) -> MediaError {
        MediaError(
            .invalidData, "\(self.folder.full(name)) is missing or damaged", at: "recording",
            fix: "restore it from where it was published, and start the room again")
    }

    // MARK: Playlists

    private func playlists(
        _ journal: RecordingJournal, _ meter: inout Meter
    ) throws(MediaError) -> [FinishedRecording.File] {
        let store = DirectoryStore(directory: self.folder.path)
        var files: [FinishedRecording.File] = []
        for (name, text) in try VODPlaylists(segmentSets: journal.segmentSets, ranges: journal.ranges).rendered() {
            try store.put(name, text: text)
            files.append(Self.file(name, Array(text.utf8)))
        }
        if let bytes = self.folder.read(self.settings.multivariantName) {
            files.insert(Self.file(self.settings.multivariantName, bytes), at: 0)
        }
        var seen: Set<String> = []
        for track in journal.segmentSets.flatMap(\.tracks) where !track.segment.gap {
            for name in [track.segment.map.uri, track.segment.uri] where seen.insert(name).inserted {
                guard let bytes = self.folder.read(name) else { throw self.damaged(name) }
                files.append(Self.file(name, bytes, isSegment: true))
                if name == track.segment.uri { try meter.add(bytes.count) }
            }
        }
        return files
    }

    private static func file(
        _ name: String, _ bytes: [UInt8], isSegment: Bool = false
    ) -> FinishedRecording.File {
        FinishedRecording.File(
            name: name, byteCount: bytes.count, checksum: RecordingFolder.checksum(of: bytes), isSegment: isSegment)
    }

    private func removeSegments(_ journal: RecordingJournal) {
        let names = journal.segmentSets.flatMap { segmentSet in
            segmentSet.tracks.flatMap { [$0.segment.map.uri, $0.segment.uri] }
        }
        for name in Set(names + [self.settings.multivariantName]) { self.folder.remove(name) }
    }
}
