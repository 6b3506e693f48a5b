package import MediaTypes
import Packager
package import PipelineSpec
package import Upload

/// The uploads that were not finished when the room ended. A worker that is started for such a room only finishes them.
package struct PendingUploads: Sendable {
    private let uploads: [Uploader]
    private let listing: OutputListing
    /// Time limit for the uploads, in nanoseconds.
    package let time: Int64
    private let events: any OutputEvents
    private let clock: any MonotonicClock
    /// Errors of stores whose secrets cannot be read.
    private let unreachable: [MediaError]

    /// Determines the pending uploads from the HLS output's directory, without changing it.
    ///
    /// - Returns: nil if the room has not ended, or if every store has received everything.
    /// - Throws: ``MediaError`` if the directory is damaged, or if the settings of the HLS output cannot be used. A store
    ///   whose secret cannot be read does not prevent the other uploads; ``settle()`` returns its error if they succeed.
    package static func open(
        _ pipeline: Pipeline, events: any OutputEvents, clock: any MonotonicClock
    ) throws(MediaError) -> PendingUploads? {
        guard let output = pipeline.hls else { return nil }
        let directory = DirectoryStore(directory: output.path)
        let pending = pipeline.uploads.filter { directory.contains(OutputFiles.noteName($0.outputID)) }
        guard !pending.isEmpty, let ended = try EndedOutput.open(HLSOutputSettings(output, pipeline)) else {
            return nil
        }
        var kinds: [String: TrackKind] = [:]
        for rendition in pipeline.videoRenditions { kinds[rendition.name] = .video }
        for audio in pipeline.audioRenditions { kinds[audio.name] = .audio }
        let listing = try ended.listing(kinds)
        let time = Int64(pipeline.shutdown.endTimeoutMs) &* 1_000_000
        let sheets = Self.sheets(of: pipeline.images)
        var uploads: [Uploader] = []
        var unreachable: [MediaError] = []
        for output in pending {
            let id = output.outputID
            do throws(MediaError) {
                let upload = try UploadService.uploader(
                    to: output, ended, connections: listing.tracks.count, clock: clock, settling: (listing, time)
                ) { events.emit($0, of: id) }
                guard let upload else { continue }
                // The progress of thumbnail sheets is not recorded, so all of them are uploaded.
                for update in sheets { upload.put(update) }
                uploads.append(upload)
            } catch {
                unreachable.append(error)
            }
        }
        return PendingUploads(
            uploads: uploads, listing: listing, time: time, events: events, clock: clock,
            unreachable: unreachable)
    }

    /// The thumbnail sheets and indexes that image outputs have written. Reads the disk.
    package static func sheets(of images: [ImageOutput]) -> [SpriteUpdate] {
        images.compactMap { SpriteMaker($0, incarnation: 1)?.left() }
    }

    /// Uploads everything that is missing.
    ///
    /// - Returns: An error if a store is incomplete, so that the next worker must continue; nil if all are complete.
    package func settle() async -> MediaError? {
        let deadline = self.clock.now() &+ self.time
        for upload in self.uploads {
            upload.list(self.listing)
            upload.begin()
        }
        let error = await Self.finish(self.uploads, by: deadline, isOver: true, events: self.events)
        return error ?? self.unreachable.first
    }

    /// Finishes all uploads concurrently.
    ///
    /// - Parameter isOver: Whether the room has ended, so that the listing is final and missing uploads are an error.
    /// - Returns: The error of the first incomplete output by id; nil if there is none, or if the room continues.
    static func finish(
        _ uploads: [Uploader], by deadline: Int64, isOver: Bool, events: any OutputEvents
    ) async -> MediaError? {
        await withTaskGroup(of: MediaError?.self) { group in
            for upload in uploads {
                group.addTask {
                    let end = await upload.finish(by: deadline, isLast: isOver)
                    guard isOver else { return nil }
                    guard case .incomplete(let isNoted) = end else {
                        await upload.forget()
                        events.emit("output.finished", ["outputId": .string(upload.outputID)])
                        return nil
                    }
                    let unnoted = isNoted ? "" : ", and that could not be recorded next to the segments"
                    let what = "the store did not receive everything in time\(unnoted)"
                    events.emit("output.unfinished", ["outputId": .string(upload.outputID), "reason": .string(what)])
                    return MediaError(
                        .unfinished, what, at: "outputs[\(upload.outputID)]",
                        fix: isNoted
                            ? "start the room again, which uploads the rest; or raise shutdown.endTimeoutMs"
                            : "copy the directory of the hls output to the store: no worker can tell what is missing")
                }
            }
            var errors: [MediaError] = []
            for await error in group { if let error { errors.append(error) } }
            return errors.min { $0.place < $1.place }
        }
    }
}
