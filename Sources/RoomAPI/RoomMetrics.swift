package import Control
package import Events
import MediaTypes
import Program

/// The metrics of a room for Prometheus.
///
/// A process serves one room. Therefore the room's id is a label of `tandem_info`, and not of each sample.
package struct RoomMetrics {
    private let facts: RoomFacts
    private var metrics = MetricsText()

    /// Starts with the metrics of the room, its program and its sources.
    ///
    /// - Parameters:
    ///   - versions: Names and versions of the worker's components.
    ///   - events: Number of events that all workers of the room have emitted.
    package init(_ facts: RoomFacts, versions: [(name: String, version: String)], events: Int64) {
        self.facts = facts
        self.metrics.info(
            "tandem_build_info", versions.map { ($0.name, $0.version) }, "Versions of this worker and of FFmpeg.")
        self.addRoom(events: events)
        self.addProgram()
        self.addSources()
    }

    /// The metrics so far in the Prometheus text format.
    package var text: String { self.metrics.text }

    /// Adds metric families of another part of the room.
    package mutating func add(_ families: (inout MetricsText) -> Void) { families(&self.metrics) }

    private mutating func addRoom(events: Int64) {
        self.metrics.family("tandem_info", .gauge, "The room, and the number of this worker among its workers.")
        self.metrics.sample(
            "tandem_info",
            ["room_id": self.facts.pipeline.room.roomID, "incarnation": "\(self.facts.incarnation)"], 1)
        self.metrics.family("tandem_state", .gauge, "1 for the state the room is in.")
        for state in RoomFacts.states {
            self.metrics.sample("tandem_state", ["state": state], state == self.facts.phase ? 1 : 0)
        }
        self.metrics.family("tandem_events_total", .counter, "Events that all workers of the room have emitted.")
        self.metrics.sample("tandem_events_total", events)
    }

    private mutating func addProgram() {
        let stats = self.facts.stats
        self.metrics.family("tandem_program_frames_total", .counter, "Frames of the program.")
        self.metrics.sample("tandem_program_frames_total", stats.ticks)
        self.metrics.family(
            "tandem_program_late_frames_total", .counter, "Frames begun more than half a frame interval late.")
        self.metrics.sample("tandem_program_late_frames_total", stats.late)
        self.metrics.family(
            "tandem_program_lost_frames_total", .counter, "Frames not encoded: full queue, or nothing composed yet.")
        self.metrics.sample("tandem_program_lost_frames_total", stats.lost)
        self.metrics.family("tandem_program_switches_total", .counter, "Scene switches.")
        self.metrics.sample("tandem_program_switches_total", stats.switches)
        self.metrics.family("tandem_program_lag_seconds", .gauge, "How far the program is behind its clock.")
        self.metrics.seconds("tandem_program_lag_seconds", nanoseconds: self.facts.lag)
        self.metrics.family(
            "tandem_encoder_queue_seconds", .gauge,
            "Duration of the composed frames that wait to be scaled and encoded.")
        let queue = Int64(self.facts.backlog) * TimeMath.nanoseconds / Int64(max(1, self.facts.pipeline.canvas.fps))
        self.metrics.seconds("tandem_encoder_queue_seconds", nanoseconds: queue)
        self.metrics.family("tandem_overload_steps", .gauge, "Overload steps in force: the machine cannot keep up.")
        self.metrics.sample("tandem_overload_steps", Int64(self.facts.overload.steps.count))
    }

    // MARK: Sources

    /// Adds a family with samples of every source.
    ///
    /// - Parameter add: Adds the samples of one source, labelled with its `uid` and stream type.
    private mutating func each(
        _ name: String, _ kind: MetricsText.Kind, _ help: String,
        _ add: (inout MetricsText, SourceFacts, _ uid: String, _ type: String) -> Void
    ) {
        self.metrics.family(name, kind, help)
        for source in self.facts.sources { add(&self.metrics, source, source.id.uid, source.id.streamType.rawValue) }
    }

    private mutating func addSources() {
        self.each("tandem_source_state", .gauge, "1 for the state the source is in.") { metrics, source, uid, type in
            for state in SourceFacts.states {
                metrics.sample(
                    "tandem_source_state", ["uid": uid, "stream_type": type, "state": state],
                    state == source.status.state ? 1 : 0)
            }
        }
        self.each("tandem_source_alarm_level", .gauge, "0: normal, 1 to 3: alert_1 to alert_3.") {
            $0.sample(
                "tandem_source_alarm_level", ["uid": $2, "stream_type": $3], Int64($1.status.health.level.rawValue))
        }
        self.each("tandem_source_received_bytes_total", .counter, "Bytes received from the publisher.") {
            $0.sample(
                "tandem_source_received_bytes_total", ["uid": $2, "stream_type": $3],
                Int64(clamping: $1.ingest?.bytes ?? 0))
        }
        self.each("tandem_source_publications_total", .counter, "How often a publisher began to publish.") {
            $0.sample(
                "tandem_source_publications_total", ["uid": $2, "stream_type": $3], Int64($1.ingest?.publications ?? 0))
        }
        self.each("tandem_source_packets_total", .counter, "Packets passed to the decoding stage, decoded or not.") {
            $0.sample(
                "tandem_source_packets_total", ["uid": $2, "stream_type": $3, "media": "video"],
                Int64($1.decoded.videoPackets))
            $0.sample(
                "tandem_source_packets_total", ["uid": $2, "stream_type": $3, "media": "audio"],
                Int64($1.decoded.audioPackets))
        }
        self.each("tandem_source_frames_total", .counter, "Frames of the source by result; damaged counts packets.") {
            for (result, count) in [
                ("shown", $1.shown), ("repeated", $1.repeated), ("dropped", Int64($1.dropped)),
                ("damaged", Int64($1.decoded.damaged)),
            ] {
                $0.sample("tandem_source_frames_total", ["uid": $2, "stream_type": $3, "result": result], count)
            }
        }
        self.each("tandem_source_data_total", .counter, "Data messages from the publisher to players, by result.") {
            for (result, count) in [("taken", $1.messages.taken), ("dropped", $1.messages.dropped)] {
                $0.sample("tandem_source_data_total", ["uid": $2, "stream_type": $3, "result": result], count)
            }
        }
        self.each("tandem_source_buffer_seconds", .gauge, "Time from a packet's arrival until it is due.") {
            guard let buffered = $1.timing.buffered else { return }
            $0.seconds("tandem_source_buffer_seconds", ["uid": $2, "stream_type": $3], nanoseconds: buffered)
        }
        self.metrics.addWebRTC(
            self.facts.sources.compactMap { source in source.ingest?.webRTC.map { (source.id, $0) } })
    }

    // MARK: Segments and webhooks

    /// Adds metrics of the published segments and their latencies.
    ///
    /// - Parameter renditions: The names of the renditions with video, in the order of their tracks.
    package mutating func addViewing(_ latencies: RoomLatencies, renditions: [String]) {
        self.metrics.family(
            "tandem_segments_total", .counter,
            "Published segments, slate included; a segment counts once for all renditions.")
        self.metrics.sample("tandem_segments_total", self.facts.segments)
        let (viewing, encoding) = (latencies.viewing, latencies.encoding)
        self.metrics.histograms(
            "tandem_encode_seconds", by: "rendition", zip(renditions, encoding).map { ($0, $1.frames) },
            "From a frame entering its encoder until it is encoded, lookahead included.")
        self.metrics.histograms(
            "tandem_part_encode_seconds", by: "rendition", zip(renditions, encoding).map { ($0, $1.parts) },
            "From the last frame of a part entering its encoder until the part is available to players.")
        self.metrics.histograms(
            "tandem_send_to_part_seconds", by: "rendition", zip(renditions, viewing.parts).map { ($0, $1) },
            "From a frame's arrival at the socket until its part is available to players.")
        self.metrics.histogram(
            "tandem_send_to_segment_seconds", viewing.segments,
            "From a frame's arrival at the socket until its segment is available to players.")
        self.metrics.histogram(
            "tandem_segment_publish_delay_seconds", latencies.publishing,
            "From the time at which the last frame of a segment was due until the segment is available to players.")
    }

    /// Adds the results of webhook deliveries.
    ///
    /// - Parameter tallies: The public part of each webhook's URL, with its counters.
    package mutating func addWebhooks(_ tallies: [(url: String, tally: WebhookCounters)]) {
        self.metrics.family(
            "tandem_webhook_deliveries_total", .counter,
            "Attempts to deliver an event: delivered, refused by an HTTP status, or failed without a status.")
        // Two webhooks may have the same host, which is all that may be shown of their URLs.
        var sums: [String: WebhookCounters] = [:]
        for (url, tally) in tallies { sums[url, default: WebhookCounters()].add(tally) }
        for (url, tally) in sums.sorted(by: { $0.key < $1.key }) {
            for (result, count) in [
                ("delivered", tally.delivered), ("refused", tally.refused), ("failed", tally.failed),
            ] {
                self.metrics.sample("tandem_webhook_deliveries_total", ["webhook": url, "result": result], count)
            }
        }
    }

    /// Adds the kernel's statistics of this process.
    ///
    /// - Parameters:
    ///   - cpu: CPU time so far, in nanoseconds.
    ///   - startTime: Start of the worker, in nanoseconds since the Unix epoch.
    package mutating func addProcess(cpu: Int64, startTime: Int64) {
        ProcessFacts.add(to: &self.metrics, cpu: cpu, startTime: startTime)
    }
}
