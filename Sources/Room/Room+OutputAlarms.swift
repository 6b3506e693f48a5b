import Control
import PipelineSpec
import RoomAPI
import RoomOutputs

extension Room {
    /// Adds the active alarms and the alarm level of every output, as of the last update of the alarms.
    func addOutputAlarms(_ metrics: inout MetricsText) {
        let active = self.value.withLock(\.alarms.entries).filter { $0.clearedAt == nil }.map(\.alarm)
        metrics.addAlarms(active)
        let set = active.filter { $0.kind == "output" }
        metrics.family("tandem_output_alarm_level", .gauge, "0: normal, 1 to 3: alert_1 to alert_3.")
        for output in self.pipeline.outputs {
            let onDisk: Bool
            switch output {
            case .hls, .transport, .record: onDisk = true
            case .raw, .rtmp, .http, .s3, .image: onDisk = false
            }
            // An alarm of the disk applies to all outputs on it.
            let levels = set.filter { $0.subject == output.outputID || onDisk && $0.subject == nil }
                .map { OutputAlarm.level($0.severity) }
            metrics.sample("tandem_output_alarm_level", ["output": output.outputID], levels.max() ?? 0)
        }
    }
}
