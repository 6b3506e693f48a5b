package import Control
import HLS
import MediaTypes
import Packager
import PipelineSpec
import Recording

/// Pieces of the room while it is on air.
extension Room {
    /// Nanoseconds of the longest clip.
    private static let longestClip: Int64 = 3_600 * 1_000_000_000
    /// The directory of clips in that of the HLS output.
    private static let clipDirectory = "clips"

    package func makeClip(_ request: ClipRequest) throws(ControlFailure) -> String {
        try self.checkOpen()
        guard let packager = self.packager, let output = self.pipeline.hls else {
            throw .notFound("this room has no hls output", fix: "clips are cut from its segments")
        }
        guard output.encryption == nil else {
            throw .notFound(
                "this room's segments are encrypted, and no clip is cut from them",
                fix: "take the recording after the end")
        }
        let range = try self.clipRange(request, packager)
        let rendition = try self.clippedRendition(request.rendition)
        let movie = RecordingSettings.Movie(
            video: rendition.isAudioOnly ? nil : rendition.name, audio: rendition.audio.first)
        let directory = "\(output.path)/\(Self.clipDirectory)"
        let store = DirectoryStore(directory: output.path)
        let listed = packager.listedSlots()
        let recorder = self.recorder
        let clip = try self.clips.add(
            name: request.name, rendition: rendition.name, range: range, incarnation: packager.incarnation
        ) { id, name throws(ControlFailure) in
            guard !DirectoryStore(directory: directory).contains("\(name).mp4") else {
                throw ControlFailure(
                    code: "duplicateId", number: 1403, status: 409, what: "there is a clip named \(name)",
                    fix: "choose another name")
            }
            let writer = ClipWriter(directory: directory, range: range, movie: movie)
            let isListed = ClipWriter.dates(of: listed).map { $0.lowerBound <= range.lowerBound } ?? false
            return ClipDesk.Work(id: id) { isOver throws(MediaError) in
                // What the live playlists have let go is in the recording, if anywhere.
                let slots = isListed ? listed : try recorder?.recordedSlots() ?? listed
                guard let dates = ClipWriter.dates(of: slots), dates.lowerBound <= range.lowerBound,
                    dates.upperBound >= range.upperBound
                else { throw Self.outside(ClipWriter.dates(of: slots)) }
                let hold = try writer.hold(ClipWriter.slots(slots, in: range), id: id) { file in
                    if let path = recorder?.path(of: file), !store.contains(file) { return path }
                    return store.path(of: file)
                }
                defer { hold.release() }
                return try writer.write(name, from: hold, until: isOver)
            }
        }
        return clip.json.text
    }

    package func clipJSON(_ id: String) throws(ControlFailure) -> String {
        guard let clip = self.clips.clip(id) else {
            throw .notFound("there is no clip \(id)", fix: "use the id of the answer to POST /v1/clips")
        }
        return clip.json.text
    }

    package func clipsJSON() -> String {
        let json: JSONValue = ["clips": .array(self.clips.clips.map(\.json))]
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
        guard let window, to <= window.upperBound, from >= window.lowerBound || self.recorder != nil else {
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
