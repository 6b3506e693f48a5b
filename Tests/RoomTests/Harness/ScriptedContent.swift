import MediaTypes

/// The media that a scripted publisher sends.
struct ScriptedContent {
    /// nil: no video.
    var appearance: ScriptedClip.Appearance?
    /// Frequency in hertz of the tone in each audio track.
    var tones: [UInt8: Int] = [:]

    /// The configuration of each track.
    func configurations() throws -> [SourceItem] {
        var items: [SourceItem] = []
        if let appearance { items.append(.configuration(try appearance.clip.configuration)) }
        for (track, hertz) in self.tones.sorted(by: { $0.key < $1.key }) {
            items.append(.configuration(try ScriptedTone.configuration(hertz, track: track)))
        }
        return items
    }
}
