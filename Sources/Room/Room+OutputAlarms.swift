import Control
import PipelineSpec
import RoomOutputs

extension Room {
    /// The level of every output, as of the last look at the alarms.
    func addOutputAlarms(_ metrics: inout MetricsText) {
        let set = self.value.withLock(\.alarms.entries).filter { $0.clearedAt == nil && $0.alarm.kind == "output" }.map(
            \.alarm)
        metrics.family("tandem_output_alarm_level", .gauge, "0: normal, 1 to 3: alert_1 to alert_3.")
        for output in self.pipeline.outputs {
            let onDisk: Bool
            switch output {
            case .hls, .transport, .record: onDisk = true
            case .raw, .rtmp, .http, .s3, .image: onDisk = false
            }
            // What concerns the disk concerns all that is on it.
            let levels = set.filter { $0.subject == output.outputID || onDisk && $0.subject == nil }
                .map { OutputAlarm.level($0.severity) }
            metrics.sample("tandem_output_alarm_level", ["output": output.outputID], levels.max() ?? 0)
        }
    }
}
