import Ladder
import LibAV
import MediaTypes
import Packager
import PipelineSpec
import Program
import Stages

/// The slate of a successor, which is encoded on threads of its own while the room opens.
struct SlateWork: Sendable {
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
    init?(_ packager: HLSPackager, _ pipeline: Pipeline, now: Int64) {
        guard pipeline.clock == .live, packager.canContinue(at: now) else { return nil }
        (self.frames, self.width, self.height) = (
            packager.slateFrames, pipeline.canvas.width, pipeline.canvas.height
        )
    }

    /// Encodes it. Blocks.
    func code(_ ladder: LadderStage, _ program: ProgramStage) throws(MediaError) -> Slate {
        var picture = try program.still()
        // A scene on a canvas of its own has other sizes than the ladder was opened with.
        if picture?.format.width != self.width || picture?.format.height != self.height { picture = nil }
        let still: Picture
        if let picture {
            still = picture
        } else {
            still = try PictureCanvas.open(width: self.width, height: self.height, fill: .black).finish()
        }
        return Slate(frames: self.frames, tracks: try SlateCoder.code(still, frames: self.frames, like: ladder))
    }
}

extension Room {
    /// Begins to encode the slate, if there is to be one. Called once, before the room runs.
    func beginSlate() {
        guard let work = self.slate else { return }
        let thread = StageThread("slate") {
            let result = Result { () throws(MediaError) in try work.code(self.ladder, self.program) }
            self.value.withLock { $0.slate.result = result }
        }
        self.value.withLock { $0.slate.thread = thread }
    }

    /// The slate that fills the time since the worker before; `nil` if there is none, or nothing to fill. Waits until it is encoded.
    /// Called once.
    func takeSlate() -> Slate? {
        self.value.withLock { $0.slate.thread.take() }?.join()
        switch self.value.withLock({ $0.slate.result.take() }) {
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
