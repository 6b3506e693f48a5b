import MediaTypes

/// The settings of the mixer for the scene on air, as commands have last set them.
struct MixSettings {
    /// Gain of each audible source, 0…2; all others are inaudible.
    private var gains: [SourceID: Float] = [:]
    /// Duration of the fades of sources that have their own, in sample pairs.
    private let fades: [SourceID: Int64]
    private let reportsSpeaking: Bool
    private let duck: Ducking?
    private let background: Set<SourceID>

    init(_ shared: borrowing ProgramStage.Shared, _ scene: Scene?) {
        (self.fades, self.reportsSpeaking, self.background) = (shared.fades, shared.reportsSpeaking, shared.background)
        var duck = shared.duck
        if duck?.uids.isEmpty == true { duck?.uids = Set(shared.background.map(\.uid)) }
        self.duck = duck
        for source in shared.background where shared.isHeardEverywhere(source) {
            self.gains[source] = shared.volumes[source] ?? 1
        }
        for pane in scene?.panes ?? [] where pane.audioPush && !shared.muted.contains(pane.source) {
            self.gains[pane.source] = pane.volume ?? shared.volumes[pane.source] ?? 1
        }
    }

    /// Changes the mixer from a sample position on.
    func apply(to mixer: inout AudioMixer, of sources: some Sequence<SourceID>, at position: Int64) {
        mixer.setSpeaking(self.reportsSpeaking, duck: self.duck, background: self.background)
        for source in sources {
            mixer.setGain(self.gains[source] ?? 0, of: source, at: position, fade: self.fades[source] ?? 0)
        }
    }
}

extension ProgramStage.Shared {
    /// Whether a background source is audible now: it is neither muted nor being removed.
    borrowing func isHeardEverywhere(_ source: SourceID) -> Bool {
        !self.muted.contains(source) && self.roster.leaving[source] == nil
    }
}
