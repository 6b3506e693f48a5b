import LibAV
import MediaTypes

/// What only the program thread touches.
struct ProgramWorker {
    /// Who is there.
    var sources: [SourceID: ProgramStage.Source]
    var player: ScenePlayer
    var mixer: Mixer
    var catchUp = CatchUp()
    /// Sources that had their cards at the tick before.
    var covered: Set<SourceID> = []
    /// Used again each tick.
    var presence = ScenePresence()
    var repeated: [SourceID] = []
    private var selected: [SourceID: SourceBuffer.Selection] = [:]
    private var pictures: [SourceID: Picture] = [:]

    /// The empty tables of a tick, for one owner.
    mutating func takeTables() -> ([SourceID: SourceBuffer.Selection], [SourceID: Picture]) {
        var (selected, pictures): ([SourceID: SourceBuffer.Selection], [SourceID: Picture]) = ([:], [:])
        swap(&selected, &self.selected)
        swap(&pictures, &self.pictures)
        return (selected, pictures)
    }

    /// Lets go of what is in the tables and keeps their memory.
    mutating func giveBack(
        _ selected: inout [SourceID: SourceBuffer.Selection], _ pictures: inout [SourceID: Picture]
    ) {
        selected.removeAll(keepingCapacity: true)
        pictures.removeAll(keepingCapacity: true)
        swap(&selected, &self.selected)
        swap(&pictures, &self.pictures)
    }

    init(sources: [SourceID: ProgramStage.Source], player: ScenePlayer, mixer: Mixer) {
        self.sources = sources
        self.player = player
        self.mixer = mixer
    }
}
