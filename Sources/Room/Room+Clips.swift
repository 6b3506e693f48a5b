package import Control
import HLS
import MediaTypes
import Packager
package import PipelineSpec
import Recording

/// Pieces of the room while it is on air.
extension Room {
    /// Nanoseconds of the longest clip.
    private static let longestClip: Int64 = 3_600 * 1_000_000_000
    /// The directory of clips in that of another output.
    private static let clipDirectory = "clips"

    package func makeClip(_ request: ClipRequest) throws(ControlFailure) -> String {
        try self.checkOpen()
        guard let packager = self.packager, let output = self.pipeline.hls else {
            throw .notFound("this room has no hls output", fix: "clips are cut from its segments")
        }
        guard let directory = Self.clipPlace(self.pipeline) else {
            throw .notFound(
                "a clip is clear, this room's segments are encrypted, and there is no place for it beside their directory",
                fix: "give the hls output a clipPath, or the room a record output, and start it again")
        }
        guard !self.value.withLock(\.disk.isFullForClips) else {
            throw ControlFailure(
                code: "requestFailed", number: 1417, status: 409, what: ClipJobs.diskIsFull.what,
                fix: ClipJobs.diskIsFull.fix)
        }
        let range = try self.clipRange(request, packager)
        let rendition = try self.clippedRendition(request.rendition)
        let movie = RecordingSettings.Movie(
            video: rendition.isAudioOnly ? nil : rendition.name, audio: rendition.audio.first)
        let writer = ClipWriter(
            room: self.pipeline.room.roomID, directory: directory, holds: "\(output.path)/\(Self.clipDirectory)",
            range: range, movie: movie)
        let store = DirectoryStore(directory: output.path)
        let listed = packager.listedSlots()
        let isListed = ClipWriter.dates(of: listed).map { $0.lowerBound <= range.lowerBound } ?? false
        let recorder = self.recorder?.recorder
        let clip = try self.addClip(
            name: request.name, rendition: rendition.name, range: range, incarnation: packager.incarnation
        ) { clip throws(ControlFailure) in
            let (id, name) = (clip.id, clip.name)
            guard !DirectoryStore(directory: directory).contains("\(name).mp4") else {
                throw ControlFailure(
                    code: "duplicateId", number: 1403, status: 409, what: "there is a clip named \(name)",
                    fix: "choose another name")
            }
            // Now, not when its turn comes: the window slides meanwhile.
            let hold = try Self.held(listed, by: writer, id: id, in: range, store)
            return ClipJobs.Work(id: id, release: { hold.release() }) { isOver throws(MediaError) in
                // What the live playlists have let go is in the recording, if anywhere.
                let recorded = try isListed ? [] : recorder?.recordedSlots() ?? []
                let joined = ClipWriter.joined(recorded, listed)
                guard let slots = joined, let dates = ClipWriter.dates(of: slots),
                    dates.lowerBound <= range.lowerBound, dates.upperBound >= range.upperBound
                else { throw Self.outside(ClipWriter.dates(of: joined ?? listed)) }
                return try writer.write(
                    name, id: id, of: slots, from: hold,
                    opened: { packager.opened($1, of: $0.segment.mediaSequence, track: $0.name) },
                    recorded: { recorder?.bytes(of: $0) },
                    until: {
                        if isOver() { return ClipJobs.roomIsOver }
                        return self.value.withLock(\.disk.isFullForClips) ? ClipJobs.diskIsFull : nil
                    })
            }
        }
        self.noteCommanded(clip)
        return clip.json.text
    }

    private static func held(
        _ listed: [KeptSlot], by writer: ClipWriter, id: String, in range: Range<Int64>, _ store: DirectoryStore
    ) throws(ControlFailure) -> ClipWriter.Hold {
        do throws(MediaError) {
            return try writer.hold(ClipWriter.slots(listed, in: range), id: id) { store.path(of: $0) }
        } catch {
            throw .requestFailed("the segments cannot be held: \(error.what)", fix: error.fix)
        }
    }

    /// Where clips are made; `nil` where they would lie in the clear beside what is encrypted.
    static func clipPlace(_ pipeline: Pipeline) -> String? {
        guard let output = pipeline.hls else { return nil }
        if let path = output.clipPath { return path }
        if output.encryption == nil { return "\(output.path)/\(Self.clipDirectory)" }
        return pipeline.record.map { "\($0.path)/\(Self.clipDirectory)" }
    }

    /// Directories of what is held for clips, which is the first, and of clips.
    static func clipDirectories(_ pipeline: Pipeline) -> [String] {
        guard let output = pipeline.hls else { return [] }
        let (held, place) = ("\(output.path)/\(Self.clipDirectory)", self.clipPlace(pipeline))
        return [held] + (place.map { $0 == held ? [] : [$0] } ?? [])
    }

    /// The room is over, as the directory of its HLS output says: no worker comes any more but to finish what is owed.
    package static func hasEnded(_ pipeline: Pipeline) -> Bool {
        guard let output = pipeline.hls, let settings = try? self.hlsSettings(output, pipeline) else { return false }
        return (try? EndedOutput.open(settings)) != nil
    }

    /// Takes away what a worker was killed over whose room had ended: no other comes to make clips of it.
    package static func removeEndedLeftovers(_ pipeline: Pipeline) {
        if self.hasEnded(pipeline) { self.removeClipLeftovers(pipeline) }
    }

    /// Takes away what a worker before this one was killed over.
    static func removeClipLeftovers(_ pipeline: Pipeline) {
        for (index, directory) in Self.clipDirectories(pipeline).enumerated() {
            ClipWriter.removeLeftovers(of: pipeline.room.roomID, in: directory, hasHolds: index == 0)
        }
    }

    /// What is clear must not be had beside what is encrypted.
    ///
    /// - Throws: ``MediaError/Code/rejected`` for a directory that lies in the HLS output's, ``MediaError/Code/notCreatable``.
    static func checkClearPlaces(_ pipeline: Pipeline) throws(MediaError) {
        guard let output = pipeline.hls, output.encryption != nil else { return }
        let served = [output.path] + pipeline.transports.map(\.path)
        for directory in served { try DirectoryStore(directory: directory).prepare() }
        for (word, path) in [("record.path", pipeline.record?.path), ("hls.clipPath", output.clipPath)] {
            guard let path else { continue }
            let place = DirectoryStore(directory: path)
            try place.prepare()
            for directory in served where place.lies(in: DirectoryStore(directory: directory)) {
                throw MediaError(
                    .rejected, "\(path) would hold in the clear what is encrypted in \(directory), and lies in it",
                    at: word, fix: "choose a directory outside of it that no viewer can reach")
            }
        }
    }

    package func clipJSON(_ id: String) throws(ControlFailure) -> String {
        guard let clip = self.value.withLock({ $0.clips.clip(id) }) else {
            throw .notFound("there is no clip \(id)", fix: "use the id of the answer to POST /v1/clips")
        }
        return clip.json.text
    }

    package func clipsJSON() -> String {
        let json: JSONValue = ["clips": .array(self.value.withLock(\.clips.clips).map(\.json))]
        return json.text
    }

    // MARK: Checks

    private func clipRange(_ request: ClipRequest, _ packager: HLSPackager) throws(ControlFailure) -> Range<Int64> {
        let from = try Self.date(request.from, "from")
        let to = try Self.date(request.to, "to")
        guard from < to else { throw .invalidValue("to", "is not behind from", fix: "use a later date") }
        guard to - from <= Self.longestClip else {
            throw .invalidValue("to", "is more than an hour behind from", fix: "cut several clips")
        }
        let window = ClipWriter.dates(of: packager.listedSlots())
        // What is older may be in the recording: the work looks.
        guard let window, to <= window.upperBound, from >= window.lowerBound || self.recorder?.recorder != nil
        else {
            let error = Self.outside(window)
            throw .invalidFormat(error.what, fix: error.fix, status: 422)
        }
        return from..<to
    }

    private static func outside(_ window: Range<Int64>?) -> MediaError {
        guard let window else {
            return MediaError(.notFound, "nothing is published yet", at: "clip", fix: "wait for the first segment")
        }
        let (from, to) = (ProgramDate.format(window.lowerBound), ProgramDate.format(window.upperBound))
        return MediaError(
            .notFound, "the range is not in what is there, which is from \(from) to \(to)", at: "clip",
            fix: "use dates in it")
    }

    private static func date(_ text: String, _ key: String) throws(ControlFailure) -> Int64 {
        guard let date = ProgramDate.parse(text) else {
            throw .invalidValue(
                key, "is not a program date-time",
                fix: "write it as in EXT-X-PROGRAM-DATE-TIME, 2026-11-20T22:12:18.136Z")
        }
        return date
    }

    private func clippedRendition(_ name: String?) throws(ControlFailure) -> Rendition {
        let renditions = self.pipeline.renditions
        guard let found = name.map({ name in renditions.first { $0.name == name } }) ?? renditions.first else {
            throw .notFound(
                "there is no rendition \(name ?? "")",
                fix: "use one of: \(renditions.map(\.name).joined(separator: ", "))")
        }
        return found
    }
}
