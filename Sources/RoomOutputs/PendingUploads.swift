import HLS
package import MediaTypes
import Packager
package import PipelineSpec
package import Upload

/// What stores elsewhere have not been sent of a room that is over. A worker that is started for it again sends that, and does
/// nothing else.
package struct PendingUploads: Sendable {
    private let uploads: [Uploader]
    private let listing: OutputListing
    /// Nanoseconds there are for it.
    package let time: Int64
    private let events: any OutputEvents
    private let clock: any MonotonicClock
    /// Of stores that cannot be sent to: a secret that cannot be read.
    private let unreachable: [MediaError]

    /// Looks into the HLS output's directory, and changes nothing there.
    ///
    /// - Returns: `nil` where the room has not ended, or every store has all of it.
    /// - Throws: ``MediaError/Code/invalidData`` for a damaged directory. A store whose secret cannot be read keeps no other from
    ///   being sent to; ``settle()`` says which.
    package static func open(
        _ pipeline: Pipeline, events: any OutputEvents, clock: any MonotonicClock
    ) throws(MediaError) -> PendingUploads? {
        guard let output = pipeline.hls else { return nil }
        let directory = DirectoryStore(directory: output.path)
        let owed = pipeline.uploads.filter { directory.contains(OutputFiles.noteName($0.outputID)) }
        guard !owed.isEmpty, let ended = try EndedOutput.open(HLSOutputSettings(output, pipeline)) else { return nil }
        var kinds: [String: TrackKind] = [:]
        for rendition in pipeline.pictureRenditions { kinds[rendition.name] = .video }
        for sound in pipeline.audioRenditions { kinds[sound.name] = .audio }
        let listing = try ended.listing(kinds)
        let time = Int64(pipeline.shutdown.endTimeoutMs) &* 1_000_000
        let sheets = Self.sheets(of: pipeline.images)
        var uploads: [Uploader] = []
        var unreachable: [MediaError] = []
        for output in owed {
            let id = output.outputID
            do throws(MediaError) {
                let upload = try UploadService.uploader(
                    to: output, ended, connections: listing.tracks.count, clock: clock, settling: (listing, time)
                ) { events.emit($0, of: id) }
                guard let upload else { continue }
                // How far it got with them is noted nowhere.
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

    /// The sheets of stills that image outputs have left, with their indexes. Reads the disk.
    package static func sheets(of images: [ImageOutput]) -> [SpriteUpdate] {
        images.compactMap { SpriteMaker($0, incarnation: 1)?.left() }
    }

    /// Sends what is left.
    ///
    /// - Returns: What is owed still; the next worker goes on with it.
    package func settle() async -> MediaError? {
        let deadline = self.clock.now() &+ self.time
        for upload in self.uploads {
            upload.list(self.listing)
            upload.begin()
        }
        let debt = await Self.finish(self.uploads, by: deadline, isOver: true, events: self.events)
        return debt ?? self.unreachable.first
    }

    /// Ends uploads, all at once.
    ///
    /// - Parameter isOver: The room is: what is there is all there will be, and what is not is owed.
    /// - Returns: The first of what is owed.
    static func finish(
        _ uploads: [Uploader], by deadline: Int64, isOver: Bool, events: any OutputEvents
    ) async -> MediaError? {
        await withTaskGroup(of: MediaError?.self) { group in
            for upload in uploads {
                group.addTask {
                    let end = await upload.finish(by: deadline, isLast: isOver)
                    guard isOver else { return nil }
                    guard case .owed(let isNoted) = end else {
                        await upload.forget()
                        events.emit("output.finished", ["outputId": .string(upload.outputID)])
                        return nil
                    }
                    let unnoted = isNoted ? "" : ", and that could not be noted beside the segments"
                    let what = "the store did not take all of it in time\(unnoted)"
                    events.emit("output.unfinished", ["outputId": .string(upload.outputID), "reason": .string(what)])
                    return MediaError(
                        .unfinished, what, at: "outputs[\(upload.outputID)]",
                        fix: isNoted
                            ? "start the room again: it sends what is left; or raise shutdown.endTimeoutMs"
                            : "copy the directory of the hls output there: no worker knows what is left")
                }
            }
            var debts: [MediaError] = []
            for await debt in group { if let debt { debts.append(debt) } }
            return debts.min { $0.place < $1.place }
        }
    }
}
