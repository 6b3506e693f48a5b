import Encoding
import LibAV
import MediaTypes
package import Packager
package import PipelineSpec
package import Program
import Threading

/// Performs the ``SlateJob`` of a successor.
package struct SlateService: OutputService {
    let host: any OutputsHost

    /// Begins to encode the slate, if there is to be one. Called once, before the room runs.
    ///
    /// - Parameter program: Gives the frame that is shown.
    package func begin(_ program: ProgramStage) {
        guard let job = self.stages.slate else { return }
        let thread = StageThread("slate") {
            let result = Result { () throws(MediaError) in try job.encode(self.stages.ladder, program) }
            self.host.withOutputs { $0.slate.result = result }
        }
        self.host.withOutputs { $0.slate.thread = thread }
    }

    /// The slate that fills the time since the worker before; `nil` if there is none, or nothing to fill. Waits until it is encoded.
    /// Called once.
    package func take() -> Slate? {
        self.host.withOutputs { $0.slate.thread.take() }?.join()
        switch self.host.withOutputs({ $0.slate.result.take() }) {
        case nil: return nil
        case .success(let slate): return slate
        case .failure(let error):
            // Players are told of the break instead.
            self.logger.warning("the outage cannot be filled", metadata: ["error": "\(error)"])
            return nil
        }
    }
}

/// The slate of a successor, which is encoded on threads of its own while the room opens.
package struct SlateJob: Sendable {
    /// What the room keeps of it while it is encoded.
    struct Progress: Sendable {
        var result: Result<Slate, MediaError>?
        var thread: StageThread?
    }

    private let frames: Int
    private let width: Int
    private let height: Int

    /// `nil` if there is nothing to fill: in a fresh room, in one nobody watches any more, or in an offline job.
    ///
    /// - Parameter now: Nanoseconds since the Unix epoch.
    package init?(_ packager: HLSPackager, _ pipeline: Pipeline, now: Int64) {
        guard pipeline.clock == .live, packager.canContinue(at: now) else { return nil }
        (self.frames, self.width, self.height) = (
            packager.slateFrames, pipeline.canvas.width, pipeline.canvas.height
        )
    }

    /// Encodes it. Blocks.
    func encode(_ ladder: EncodingStage, _ program: ProgramStage) throws(MediaError) -> Slate {
        var picture = try program.still()
        // A scene on a canvas of its own has other sizes than the ladder was opened with.
        if picture?.format.width != self.width || picture?.format.height != self.height { picture = nil }
        return try Slate(picture, frames: self.frames, width: self.width, height: self.height, like: ladder)
    }
}

extension Slate {
    /// Encodes a slate. Blocks.
    ///
    /// - Parameter picture: Has that size; nil: a black one.
    init(_ picture: Picture?, frames: Int, width: Int, height: Int, like ladder: EncodingStage) throws(MediaError) {
        let picture =
            if let picture { picture } else {
                try PictureCanvas.open(width: width, height: height, fill: .black).finish()
            }
        self.init(frames: frames, tracks: try SlateEncoder.code(picture, frames: frames, like: ladder))
    }
}
