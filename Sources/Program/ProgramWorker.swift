import LibAV
import MediaTypes

/// State that only the program thread uses.
struct ProgramWorker {
    /// All sources of the program.
    var sources: [SourceID: ProgramStage.Source]
    var player: SceneCompositor
    var mixer: AudioMixer
    var catchUp = CatchUp()
    /// Sources that a command had hidden at the previous tick
    /// (``ProgramStage/setSource(_:volume:audioPush:videoPush:)``), so that their cards were shown.
    var covered: Set<SourceID> = []
    /// Sources that are visible or audible; the sets are reused for every tick.
    var presence = SourceVisibility()
    /// Buffer for the sources whose panes repeat a frame; reused for every tick and empty in between.
    var repeated: [SourceID] = []
    private var selected: [SourceID: SourceBuffer.Selection] = [:]
    private var frames: [SourceID: Picture] = [:]

    /// Returns empty tables for a tick whose memory is already allocated; give them back with ``giveBack(_:_:)``.
    mutating func takeTables() -> ([SourceID: SourceBuffer.Selection], [SourceID: Picture]) {
        var (selected, frames): ([SourceID: SourceBuffer.Selection], [SourceID: Picture]) = ([:], [:])
        swap(&selected, &self.selected)
        swap(&frames, &self.frames)
        return (selected, frames)
    }

    /// Empties the tables and keeps their memory for the next tick.
    mutating func giveBack(
        _ selected: inout [SourceID: SourceBuffer.Selection], _ frames: inout [SourceID: Picture]
    ) {
        selected.removeAll(keepingCapacity: true)
        frames.removeAll(keepingCapacity: true)
        swap(&selected, &self.selected)
        swap(&frames, &self.frames)
    }

    init(sources: [SourceID: ProgramStage.Source], player: SceneCompositor, mixer: AudioMixer) {
        self.sources = sources
        self.player = player
        self.mixer = mixer
    }
}
