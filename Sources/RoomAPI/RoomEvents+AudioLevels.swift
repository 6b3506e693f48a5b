package import MediaTypes
package import Program

extension RoomEvents {
    /// Tells how loud the program and every source are: `audio.levels`.
    ///
    /// `peakDb` is the largest sample since the event before (dBFS), `loudness` that of the last 3 s and `momentary` that
    /// of the last 0.4 s (LUFS). Sources are measured before their volume, so that a user who is muted is seen to speak.
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

    /// A level as events and the state show it.
    package static func json(_ level: AudioLevels.Level) -> JSONValue { .object(Self.members(level)) }

    private static func members(_ level: AudioLevels.Level) -> [JSONValue.Member] {
        [
            .init("peakDb", .thousandths(level.peak)), .init("loudness", .thousandths(level.shortTerm)),
            .init("momentary", .thousandths(level.momentary)),
        ]
    }
}
