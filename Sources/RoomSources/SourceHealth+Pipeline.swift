package import PipelineSpec
import Program

extension SourceHealth.Rules {
    /// The health rules of a source, from the pipeline.
    package init(_ source: Pipeline.Source, _ alarms: Pipeline.Alarms) {
        self.init()
        self.fps = source.expected?.fps
        self.variableFrameRate = source.expected?.variableFrameRate ?? false
        self.bitrate = source.expected?.videoBitrate
        self.jitterBuffer = max(DecodeStage.leastBuffer, Int64(source.jitterBufferMs) * 1_000_000)
        self.window = Int64(alarms.windowMs) * 1_000_000
        self.clearAfter = Int64(alarms.clearAfterMs) * 1_000_000
        self.gap = alarms.gapMs.map { Int64($0) * 1_000_000 }
        self.fpsPercent = alarms.fpsPercent.map(Int64.init)
        self.networkPercent = alarms.networkPercent.map(Int64.init)
        self.lossPercent = alarms.lossPercent.map(Int64.init)
        self.bitratePercent = Int64(alarms.bitratePercent)
        self.skew = alarms.skewMs.map { Int64($0) * 1_000_000 }
        self.keyInterval = Int64(alarms.keyFrameIntervalMs) * 1_000_000
    }
}
