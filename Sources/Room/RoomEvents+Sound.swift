import MediaTypes
import PipelineSpec
import Program

extension RoomEvents {
    /// Tells how loud the program and every source are: `audio.levels`.
    ///
    /// `peakDb` is the largest sample since the event before (dBFS), `loudness` that of the last 3 s and `momentary` that
    /// of the last 0.4 s (LUFS). Sources are measured before their volume, so that a user who is muted is seen to speak.
    func emit(levels: AudioLevels) {
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
    static func json(_ level: AudioLevels.Level) -> JSONValue { .object(Self.members(level)) }

    private static func members(_ level: AudioLevels.Level) -> [JSONValue.Member] {
        [
            .init("peakDb", .thousandths(level.peak)), .init("loudness", .thousandths(level.shortTerm)),
            .init("momentary", .thousandths(level.momentary)),
        ]
    }
}

extension Room {
    /// Tells what was measured since the last call.
    func tellLevels() {
        guard self.value.withLock(\.levels.hasUntold) else { return }
        var untold: [AudioLevels] = []
        untold.reserveCapacity(AudioLevelReports.limit)
        self.value.withLock { $0.levels.takeUntold(leaving: &untold) }
        for levels in untold { self.events.emit(levels: levels) }
    }

    /// How loud the program was when it was measured last; null while nothing is.
    var levelJSON: JSONValue { self.value.withLock(\.levels.latest).map { RoomEvents.json($0.program) } ?? .null }

    /// As ``levelJSON``, of what a source sends.
    func levelJSON(of source: SourceID) -> JSONValue {
        self.value.withLock(\.levels.latest)?.sources[source].map { RoomEvents.json($0) } ?? .null
    }
}

extension ProgramStage.Settings {
    /// The pipeline's words about ducking and levels.
    mutating func setSound(_ audio: Pipeline.Audio) {
        self.levelIntervalMs = audio.levelIntervalMs
        self.ducking = audio.ducking.map {
            Ducking(
                uids: Set($0.uids), thresholdDb: $0.thresholdDb, reductionDb: $0.reductionDb, attackMs: $0.attackMs,
                releaseMs: $0.releaseMs)
        }
    }
}
