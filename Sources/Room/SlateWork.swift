import Ladder
import LibAV
import MediaTypes
import Packager
import PipelineSpec
import Program
import Stages
import Synchronization

/// The slate of a successor, coded on threads of its own while the room opens.
final class SlateWork: Sendable {
    private let result = Mutex<Result<Slate, MediaError>?>(nil)
    private let thread = Mutex<StageThread?>(nil)

    /// `nil` where nothing is to be filled: a fresh room, one nobody watches any more, or an offline job.
    ///
    /// - Parameter now: Nanoseconds since the Unix epoch.
    init?(_ packager: HLSPackager, _ ladder: LadderStage, _ program: ProgramStage, _ pipeline: Pipeline, now: Int64) {
        guard pipeline.clock == .live, packager.canContinue(at: now) else { return nil }
        let (frames, width, height) = (packager.slateFrames, pipeline.canvas.width, pipeline.canvas.height)
        let thread = StageThread("slate") {
            let result = Result { () throws(MediaError) in try Self.code(frames, width, height, ladder, program) }
            self.result.withLock { $0 = result }
        }
        self.thread.withLock { $0 = thread }
    }

    private static func code(
        _ frames: Int, _ width: Int, _ height: Int, _ ladder: LadderStage, _ program: ProgramStage
    ) throws(MediaError) -> Slate {
        var picture = try program.still()
        // A scene on a canvas of its own has other sizes than the ladder was opened with.
        if picture?.format.width != width || picture?.format.height != height { picture = nil }
        let still: Picture
        if let picture {
            still = picture
        } else {
            still = try PictureCanvas.open(width: width, height: height, fill: .black).finish()
        }
        return Slate(frames: frames, tracks: try SlateCoder.code(still, frames: frames, like: ladder))
    }

    /// Waits until it is coded. Called once.
    func take() -> Result<Slate, MediaError>? {
        self.thread.withLock { thread in
            defer { thread = nil }
            return thread
        }?.join()
        return self.result.withLock { $0 }
    }
}

extension Room {
    /// The slate that fills the time since the worker before; `nil` where there is none, or nothing to fill.
    func takeSlate() -> Slate? {
        switch self.slate?.take() {
        case nil: return nil
        case .success(let slate): return slate
        case .failure(let error):
            // Players are told of the break instead.
            self.logger.warning("the outage cannot be filled", metadata: ["error": "\(error)"])
            return nil
        }
    }

    func filled(_ fill: SlateFill) {
        let frames = fill.frames.upperBound - fill.frames.lowerBound
        let milliseconds = TimeMath.scale(frames, by: 1_000, over: Int64(self.fps))
        self.events.emit(
            "output.filled",
            [
                "reason": "restart", "mediaSequence": .integer(fill.mediaSequence),
                "segments": JSONValue(fill.wholeSegments), "firstTick": .integer(fill.frames.lowerBound),
                "ticks": .integer(frames), "durationMs": .integer(milliseconds),
                "discontinuity": .bool(!fill.isSeamless),
            ])
    }
}
