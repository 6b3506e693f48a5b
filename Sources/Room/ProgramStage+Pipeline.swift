import PipelineSpec
import Program

extension Pipeline.Audio {
    /// Number of samples over which a change of volume is ramped.
    var rampSamples: Int64 { Int64(self.rampMs) * Int64(self.sampleRate) / 1000 }
}

extension Pipeline.Audio {
    /// Lowers music while other sources speak; nil if the pipeline does not ask for it.
    var duckSettings: Ducking? {
        self.lowerMusic.map {
            Ducking(
                uids: Set($0.uids), thresholdDb: 0, reductionDb: $0.reductionDb, attackMs: $0.attackMs,
                releaseMs: $0.releaseMs, holdMs: 0)
        }
    }
}

extension ProgramStage.Settings {
    /// Applies the pipeline's settings of ducking, audio level reports and speech detection.
    mutating func setAudio(_ audio: Pipeline.Audio) {
        self.levelIntervalMs = audio.levelIntervalMs
        (self.reportsSpeaking, self.duck) = (audio.speaking, audio.duckSettings)
        self.ducking = audio.ducking.map {
            Ducking(
                uids: Set($0.uids), thresholdDb: $0.thresholdDb, reductionDb: $0.reductionDb, attackMs: $0.attackMs,
                releaseMs: $0.releaseMs)
        }
    }
}
