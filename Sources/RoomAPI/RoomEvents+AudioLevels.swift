import HLS
package import MediaTypes
package import Program

extension RoomEvents {
    /// Emits `audio.levels`: the audio levels of the program and of every source.
    ///
    /// `peakDb` is the largest sample value since the previous event (dBFS), `loudness` the loudness over the last 3 s
    /// and `momentary` over the last 0.4 s (LUFS). Sources are measured before their volume is applied, so that the event
    /// shows when a muted user speaks.
    package func emit(levels: AudioLevels) {
        let sources = levels.sources.sorted { $0.key.description < $1.key.description }
        self.emit(
            "audio.levels",
            [
                "program": .object(Self.members(levels.program)),
                "sources": .array(
                    sources.map { .object([.init("uid", .string($0.key.description))] + Self.members($0.value)) }),
            ])
    }

    /// Emits `audio.speaking`: a source has begun or stopped speaking.
    ///
    /// - Parameters:
    ///   - origin: Date-time of program time 0, in nanoseconds since the Unix epoch; nil before the program runs.
    ///   - sampleRate: Sample pairs per second.
    package func emit(speaking change: SpeakingChange, origin: Int64?, sampleRate: Int) {
        let time = TimeMath.rescale(change.position, from: Int64(max(1, sampleRate)), to: TimeMath.nanoseconds)
        self.emit(
            "audio.speaking",
            [
                "uid": .string(change.source.description), "speaking": .bool(change.isSpeaking),
                "at": JSONValue(origin.map { ProgramDate.format($0 &+ time) }),
            ])
    }

    /// An audio level as events and the API show it.
    package static func json(_ level: AudioLevels.Level) -> JSONValue { .object(Self.members(level)) }

    private static func members(_ level: AudioLevels.Level) -> [JSONValue.Member] {
        [
            .init("peakDb", .thousandths(level.peak)), .init("loudness", .thousandths(level.shortTerm)),
            .init("momentary", .thousandths(level.momentary)),
        ]
    }
}
