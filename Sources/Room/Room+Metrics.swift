import Control
import Ingest
import MediaTypes
import PipelineSpec
import RoomSources

extension Room {
    /// What Prometheus reads: one room's process, so that the room is a label of the target and not of each sample.
    package func metricsText() -> String {
        var metrics = MetricsText()
        self.addRoom(&metrics)
        self.addProgram(&metrics)
        self.addSources(&metrics)
        self.addOutputs(&metrics)
        self.outputs.uploads.addMetrics(to: &metrics)
        self.addOutputAlarms(&metrics)
        self.addWebhooks(&metrics)
        ProcessFacts.add(to: &metrics, cpu: self.clocks.processCPU.now(), startTime: self.startTime)
        return metrics.text
    }

    private func addRoom(_ metrics: inout MetricsText) {
        metrics.info(
            "tandem_build_info", self.settings.versions.map { ($0.name, $0.version) }, "What this worker is made of.")
        metrics.family("tandem_info", .gauge, "Which room and which worker of it this is.")
        metrics.sample(
            "tandem_info",
            [
                "room_id": self.pipeline.room.roomID, "incarnation": "\(self.packager?.incarnation ?? 1)",
            ], 1)
        metrics.family("tandem_state", .gauge, "1 for the state the room is in.")
        let state = self.phaseState
        for one in RoomPhase.State.allCases {
            metrics.sample("tandem_state", ["state": one.rawValue], one == state ? 1 : 0)
        }
        metrics.family("tandem_events_total", .counter, "Events the room has told, over all its workers.")
        metrics.sample("tandem_events_total", self.events.log.last)
    }

    private func addProgram(_ metrics: inout MetricsText) {
        let stats = self.program.stats
        metrics.family("tandem_program_frames_total", .counter, "Pictures of the program.")
        metrics.sample("tandem_program_frames_total", stats.ticks)
        metrics.family("tandem_program_late_frames_total", .counter, "Pictures that were made after they were due.")
        metrics.sample("tandem_program_late_frames_total", stats.late)
        metrics.family(
            "tandem_program_lost_frames_total", .counter, "Pictures that could not be made and were filled in.")
        metrics.sample("tandem_program_lost_frames_total", stats.lost)
        metrics.family("tandem_program_switches_total", .counter, "Scene switches.")
        metrics.sample("tandem_program_switches_total", stats.switches)
        metrics.family("tandem_program_lag_seconds", .gauge, "How far the program is behind its clock.")
        metrics.seconds("tandem_program_lag_seconds", nanoseconds: self.programLag)
        metrics.family("tandem_encoder_queue_seconds", .gauge, "Media that waits to be scaled and encoded.")
        let queue = Int64(self.ladder.backlog) * TimeMath.nanoseconds / Int64(max(1, self.fps))
        metrics.seconds("tandem_encoder_queue_seconds", nanoseconds: queue)
        metrics.family("tandem_overload_steps", .gauge, "Things left out because the machine cannot keep up.")
        metrics.sample("tandem_overload_steps", Int64(self.overload.active.count))
    }

    private func addSources(_ metrics: inout MetricsText) {
        let stats = self.program.stats
        let connections = self.ingestion.connections
        let rows = self.pipeline.sources.compactMap { source in
            self.slots[source.id].map { (slot: $0, ingest: connections.hub(for: source.id)?.statistics) }
        }
        func each(
            _ name: String, _ kind: MetricsText.Kind, _ help: String,
            _ add: (inout MetricsText, RoomSource, SourceStatistics?, String, String) -> Void
        ) {
            metrics.family(name, kind, help)
            for row in rows {
                let id = row.slot.spec.id
                add(&metrics, row.slot, row.ingest, id.uid, id.streamType.rawValue)
            }
        }
        each("tandem_source_state", .gauge, "1 for the state the source is in.") { metrics, slot, _, uid, type in
            for one in SourceLife.State.allCases {
                metrics.sample(
                    "tandem_source_state", ["uid": uid, "stream_type": type, "state": one.rawValue],
                    one == slot.state ? 1 : 0)
            }
        }
        each("tandem_source_alarm_level", .gauge, "0: normal, 1 to 3: alert_1 to alert_3.") {
            $0.sample(
                "tandem_source_alarm_level", ["uid": $3, "stream_type": $4],
                Int64(($1.healthFindings.first?.level ?? .normal).rawValue))
        }
        each("tandem_source_received_bytes_total", .counter, "Media bytes from the publisher.") {
            $0.sample(
                "tandem_source_received_bytes_total", ["uid": $3, "stream_type": $4], Int64(clamping: $2?.bytes ?? 0))
        }
        each("tandem_source_publications_total", .counter, "How often somebody began to publish.") {
            $0.sample(
                "tandem_source_publications_total", ["uid": $3, "stream_type": $4], Int64($2?.publications ?? 0))
        }
        each("tandem_source_packets_total", .counter, "Packets that went to the decoders.") {
            let decoded = $1.decode.stats
            $0.sample(
                "tandem_source_packets_total", ["uid": $3, "stream_type": $4, "media": "video"],
                Int64(decoded.videoPackets))
            $0.sample(
                "tandem_source_packets_total", ["uid": $3, "stream_type": $4, "media": "audio"],
                Int64(decoded.audioPackets))
        }
        each("tandem_source_frames_total", .counter, "What became of the source's pictures on air.") {
            let (slot, decoded) = ($1, $1.decode.stats)
            for (result, count) in [
                ("shown", Int64(stats.shown[slot.spec.id] ?? 0)),
                ("repeated", Int64(stats.repeated[slot.spec.id] ?? 0)),
                ("dropped", Int64(decoded.dropped + slot.buffer.droppedPictures)), ("damaged", Int64(decoded.damaged)),
            ] {
                $0.sample(
                    "tandem_source_frames_total", ["uid": $3, "stream_type": $4, "result": result], count)
            }
        }
        let data = self.value.withLock(\.sources.data)
        each("tandem_source_data_total", .counter, "Messages of the publisher to players.") {
            let count = data.count(of: $1.spec.id)
            for (result, value) in [("taken", count.taken), ("dropped", count.dropped)] {
                $0.sample("tandem_source_data_total", ["uid": $3, "stream_type": $4, "result": result], value)
            }
        }
        each("tandem_source_buffer_seconds", .gauge, "Media of the source that is ahead of the program.") {
            guard let buffered = $1.decode.timing.buffered else { return }
            $0.seconds("tandem_source_buffer_seconds", ["uid": $3, "stream_type": $4], nanoseconds: buffered)
        }
    }

    private func addOutputs(_ metrics: inout MetricsText) {
        self.outputs.pushes.addMetrics(to: &metrics)
        metrics.family("tandem_segments_total", .counter, "Segments that were published, of all renditions together.")
        metrics.sample("tandem_segments_total", self.value.withLock(\.outputs.segments))
        let latency = self.latencies.viewing
        let names = self.ladder.rungs.map(\.name)
        let encoding = self.latencies.encoding
        metrics.histograms(
            "tandem_encode_seconds", by: "rendition", zip(names, encoding).map { ($0, $1.pictures) },
            "From a picture entering its encoder to its being out of it, what the encoder looks ahead included.")
        metrics.histograms(
            "tandem_part_encode_seconds", by: "rendition", zip(names, encoding).map { ($0, $1.parts) },
            "From the last picture of a part entering its encoder to players being able to have the part.")
        metrics.histograms(
            "tandem_send_to_part_seconds", by: "rendition", zip(names, latency.parts).map { ($0, $1) },
            "From a picture's arrival at the socket to its part being there, for every picture.")
        metrics.histogram(
            "tandem_send_to_segment_seconds", latency.segments,
            "From a picture's arrival at the socket to its segment being there, for every picture.")
        metrics.family("tandem_viewer_connections", .gauge, "Open connections of the viewers' listener.")
        metrics.sample("tandem_viewer_connections", Int64(self.listeners.viewerConnections))
    }
}
