package import Control
import LibAV
package import MediaTypes
import PipelineSpec
package import Threading

/// Makes stills of the program and of its sources, and thumbnail sheets for players' seek bars.
package struct ImageService: OutputService {
    let host: any OutputsHost

    /// Starts to write the files of the image outputs, until ``SnapshotService/stop(_:)``. Does nothing for an offline
    /// job.
    ///
    /// - Returns: The threads that make thumbnail sheets.
    package func start() -> [StageThread] {
        guard !self.stages.isOffline else { return [] }
        let sprites = self.startSprites()
        let stages = self.stages
        stages.snapshots.start(
            isPaused: { [weak host = self.host] in host?.areOutputsPaused ?? true },
            publish: { name, bytes in
                stages.packager?.show(bytes, as: name, contentType: "image/jpeg")
                for upload in stages.uploads { upload.put(name, bytes, contentType: "image/jpeg") }
            },
            report: { id, error in
                stages.logger.warning("a still could not be made", metadata: ["output": "\(id)", "error": "\(error)"])
                stages.events.emit("output.failed", ["outputId": .string(id), "reason": .string(error.description)])
            })
        return sprites
    }

    /// A JPEG image of the program, or of a source.
    ///
    /// - Parameter width: Width of the image in pixels; nil if the longer side is to have at most 640 pixels.
    /// - Throws: 404 if the room has only audio, if there is no frame yet, or if the image cannot be made.
    package func jpeg(of source: SourceID?, width: Int?) throws(ControlFailure) -> [UInt8] {
        guard !self.host.pipeline.isAudioOnly else {
            throw .notFound(
                "this room has only audio", fix: "start another worker with a rendition that has a width and a height")
        }
        let bytes: [UInt8]?
        do throws(MediaError) {
            bytes = try self.stages.snapshots.jpeg(of: source) { ImageOutput.size(of: $0, $1, width: width) }
        } catch {
            throw .notFound("the image cannot be made: \(error.what)", fix: error.fix)
        }
        guard let bytes else {
            throw .notFound("there is no frame yet", fix: "repeat the request when something is shown")
        }
        return bytes
    }

    // MARK: Thumbnail sheets

    private func startSprites() -> [StageThread] {
        let incarnation = self.stages.packager?.incarnation ?? 1
        let makers = self.host.pipeline.images.compactMap { SpriteMaker($0, incarnation: incarnation) }
        guard !makers.isEmpty else { return [] }
        self.stages.packager?.serve { [weak host = self.host] name in
            host?.withOutputs(\.sprites).values.lazy.compactMap { $0.object(named: name) }.first
        }
        return makers.map { maker in
            self.stages.snapshots.watch(maker) { [weak host = self.host] maker, picture in
                host?.outputs.images.take(picture, for: &maker) ?? maker.interval * 1_000
            }
        }
    }

    /// Passes a frame to the maker of thumbnail sheets.
    ///
    /// - Returns: Milliseconds until the next frame is needed. That is early in the next interval, so that each
    ///   thumbnail shows the beginning of its interval and no interval is skipped.
    private func take(_ picture: Picture, for maker: inout SpriteMaker) -> Int {
        let interval = Int64(maker.interval) * 1_000
        func time() -> Int64? {
            self.stages.clock.program(of: self.machine.now()).map { max(0, $0 / 1_000_000) }
        }
        // The last frame stays available after the end of the program; it must not be used again.
        guard self.host.isLive, !self.host.areOutputsPaused, let taken = time() else { return Int(interval) }
        do throws(MediaError) {
            let id = maker.outputID
            let update = try maker.take(picture, at: taken) { files in
                self.host.withOutputs { $0.sprites[id] = files }
            }
            if let update { for upload in self.stages.uploads { upload.put(update) } }
        } catch {
            self.logger.warning(
                "a thumbnail sheet could not be made",
                metadata: ["output": "\(maker.outputID)", "error": "\(error)"])
        }
        let next = (taken / interval + 1) * interval + interval / 10
        return Int(max(0, next - (time() ?? taken)))
    }
}
