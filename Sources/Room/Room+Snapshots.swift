package import Control
import LibAV
import MediaTypes
import Packager
import PipelineSpec
import RoomSources
import Stages

extension Room {
    /// - Returns: The threads that make sheets.
    func startImages() -> [StageThread] {
        guard !self.isOffline else { return [] }
        let sprites = self.startSprites()
        self.snapshots.start(
            isPaused: { [weak self] in self?.areOutputsPaused ?? true },
            publish: { [weak self] name, bytes in
                guard let self else { return }
                self.packager?.show(bytes, as: name, contentType: "image/jpeg")
                for upload in self.uploads { upload.put(name, bytes, contentType: "image/jpeg") }
            },
            report: { [weak self] id, error in
                self?.logger.warning("a still could not be made", metadata: ["output": "\(id)", "error": "\(error)"])
                self?.events.emit(
                    "output.failed", ["outputId": .string(id), "reason": .string(error.description)])
            })
        return sprites
    }

    package func snapshot(
        of source: (uid: String, streamType: String)?, width: Int?
    ) throws(ControlFailure) -> [UInt8] {
        var id: SourceID?
        if let source { id = try self.source(source.uid, source.streamType).spec.id }
        let bytes: [UInt8]?
        do throws(MediaError) {
            bytes = try self.snapshots.jpeg(of: id) { ImageOutput.size(of: $0, $1, width: width) }
        } catch {
            throw .notFound("the picture cannot be made: \(error.what)", fix: error.fix)
        }
        guard let bytes else {
            throw .notFound("there is no picture yet", fix: "ask again when something is shown")
        }
        return bytes
    }
}
