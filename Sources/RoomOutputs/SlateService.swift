import Encoding
import LibAV
import MediaTypes
package import Packager
package import PipelineSpec
package import Program
import Threading

/// Encodes and provides the slate with which a successor fills the time since the previous worker; see ``SlateJob``.
package struct SlateService: OutputService {
    let host: any OutputsHost

    /// Starts to encode the slate if one is needed. Called once, before the room runs.
    ///
    /// - Parameter program: The program, of whose scene the slate shows a still frame.
    package func begin(_ program: ProgramStage) {
        guard let job = self.stages.slate else { return }
        let thread = StageThread("slate") {
            let result = Result { () throws(MediaError) in try job.encode(self.stages.ladder, program) }
            self.host.withOutputs { $0.slate.result = result }
        }
        self.host.withOutputs { $0.slate.thread = thread }
    }

    /// The slate that fills the time since the previous worker; nil if there is nothing to fill, or if encoding failed.
    /// Waits until it is encoded. Called once.
    package func take() -> Slate? {
        self.host.withOutputs { $0.slate.thread.take() }?.join()
        switch self.host.withOutputs({ $0.slate.result.take() }) {
        case nil: return nil
        case .success(let slate): return slate
        case .failure(let error):
            // The playlists get a discontinuity in place of the slate.
            self.logger.warning(
                "the time since the previous worker cannot be filled with slate", metadata: ["error": "\(error)"])
            return nil
        }
    }
}

/// Encodes the slate of a successor while the room opens, so that it is ready when the program starts.
package struct SlateJob: Sendable {
    /// The progress of the job, as a part of the room's state.
    struct Progress: Sendable {
        var result: Result<Slate, MediaError>?
        var thread: StageThread?
    }

    private let frames: Int
    private let width: Int
    private let height: Int

    /// Makes the job; nil if there is nothing to fill: in a new room, in an offline job, or after an outage of more than the
    /// playlist window or five minutes; see ``HLSPackager/canContinue(at:)``.
    ///
    /// - Parameter now: Wall clock time in nanoseconds since the Unix epoch.
    package init?(_ packager: HLSPackager, _ pipeline: Pipeline, now: Int64) {
        guard pipeline.clock == .live, packager.canContinue(at: now) else { return nil }
        (self.frames, self.width, self.height) = (
            packager.slateFrames, pipeline.canvas.width, pipeline.canvas.height
        )
    }

    /// Encodes the slate. Blocks.
    func encode(_ ladder: EncodingStage, _ program: ProgramStage) throws(MediaError) -> Slate {
        var picture = ladder.renditions.isEmpty ? nil : try program.still()
        // The frame of a scene with its own canvas size does not fit the encoders, so black is used.
        if picture?.format.width != self.width || picture?.format.height != self.height { picture = nil }
        return try Slate(picture, frames: self.frames, width: self.width, height: self.height, like: ladder)
    }
}

extension Slate {
    /// Encodes a slate. Blocks.
    ///
    /// - Parameter picture: A frame of this size; nil for black.
    init(_ picture: Picture?, frames: Int, width: Int, height: Int, like ladder: EncodingStage) throws(MediaError) {
        let picture =
            if let picture { picture } else {
                try PictureCanvas.open(width: width, height: height, fill: .black).finish()
            }
        self.init(frames: frames, tracks: try SlateEncoder.code(picture, frames: frames, like: ladder))
    }
}
