package import Control
package import Events
import MediaTypes
import Program

/// The metrics of a room for Prometheus.
///
/// A process serves one room, so the room's id is a label of the target, which also `up` has, and not of each sample.
package struct RoomMetrics {
    private let facts: RoomFacts
    private var metrics = MetricsText()

    /// Begins with what the room, its program and its sources are like.
    ///
    /// - Parameters:
    ///   - versions: What the worker is made of.
    ///   - events: How many events the room has emitted, over all its workers.
    package init(_ facts: RoomFacts, versions: [(name: String, version: String)], events: Int64) {
        self.facts = facts
        self.metrics.info("tandem_build_info", versions.map { ($0.name, $0.version) }, "What this worker is made of.")
        self.addRoom(events: events)
        self.addProgram()
        self.addSources()
    }

    /// The metrics so far, as Prometheus reads them.
    package var text: String { self.metrics.text }

    /// Adds families that another part of the room knows.
    package mutating func add(_ families: (inout MetricsText) -> Void) { families(&self.metrics) }

    private mutating func addRoom(events: Int64) {
        self.metrics.family("tandem_info", .gauge, "Which room and which worker of it this is.")
        self.metrics.sample(
            "tandem_info",
            ["room_id": self.facts.pipeline.room.roomID, "incarnation": "\(self.facts.incarnation)"], 1)
        self.metrics.family("tandem_state", .gauge, "1 for the state the room is in.")
        for state in RoomFacts.states {
            self.metrics.sample("tandem_state", ["state": state], state == self.facts.phase ? 1 : 0)
        }
        self.metrics.family("tandem_events_total", .counter, "Events the room has told, over all its workers.")
        self.metrics.sample("tandem_events_total", events)
    }

    private mutating func addProgram() {
        let stats = self.facts.stats
        self.metrics.family("tandem_program_frames_total", .counter, "Pictures of the program.")
        self.metrics.sample("tandem_program_frames_total", stats.ticks)
        self.metrics.family(
            "tandem_program_late_frames_total", .counter, "Pictures that were made after they were due.")
        self.metrics.sample("tandem_program_late_frames_total", stats.late)
        self.metrics.family(
            "tandem_program_lost_frames_total", .counter, "Pictures that could not be made and were filled in.")
        self.metrics.sample("tandem_program_lost_frames_total", stats.lost)
        self.metrics.family("tandem_program_switches_total", .counter, "Scene switches.")
        self.metrics.sample("tandem_program_switches_total", stats.switches)
        self.metrics.family("tandem_program_lag_seconds", .gauge, "How far the program is behind its clock.")
        self.metrics.seconds("tandem_program_lag_seconds", nanoseconds: self.facts.lag)
        self.metrics.family("tandem_encoder_queue_seconds", .gauge, "Media that waits to be scaled and encoded.")
        let queue = Int64(self.facts.backlog) * TimeMath.nanoseconds / Int64(max(1, self.facts.pipeline.canvas.fps))
        self.metrics.seconds("tandem_encoder_queue_seconds", nanoseconds: queue)
        self.metrics.family("tandem_overload_steps", .gauge, "Things left out because the machine cannot keep up.")
        self.metrics.sample("tandem_overload_steps", Int64(self.facts.overload.steps.count))
    }

    // MARK: Sources

    /// Adds a family with samples of every source.
    ///
    /// - Parameter add: Gets the source with its `uid` and its stream type.
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
        self.each("tandem_source_received_bytes_total", .counter, "Media bytes from the publisher.") {
            $0.sample(
                "tandem_source_received_bytes_total", ["uid": $2, "stream_type": $3],
                Int64(clamping: $1.ingest?.bytes ?? 0))
        }
        self.each("tandem_source_publications_total", .counter, "How often somebody began to publish.") {
            $0.sample(
                "tandem_source_publications_total", ["uid": $2, "stream_type": $3], Int64($1.ingest?.publications ?? 0))
        }
        self.each("tandem_source_packets_total", .counter, "Packets that went to the decoders.") {
            $0.sample(
                "tandem_source_packets_total", ["uid": $2, "stream_type": $3, "media": "video"],
                Int64($1.decoded.videoPackets))
            $0.sample(
                "tandem_source_packets_total", ["uid": $2, "stream_type": $3, "media": "audio"],
                Int64($1.decoded.audioPackets))
        }
        self.each("tandem_source_frames_total", .counter, "What became of the source's pictures on air.") {
            for (result, count) in [
                ("shown", $1.shown), ("repeated", $1.repeated), ("dropped", Int64($1.dropped)),
                ("damaged", Int64($1.decoded.damaged)),
            ] {
                $0.sample("tandem_source_frames_total", ["uid": $2, "stream_type": $3, "result": result], count)
            }
        }
        self.each("tandem_source_data_total", .counter, "Messages of the publisher to players.") {
            for (result, count) in [("taken", $1.messages.taken), ("dropped", $1.messages.dropped)] {
                $0.sample("tandem_source_data_total", ["uid": $2, "stream_type": $3, "result": result], count)
            }
        }
        self.each("tandem_source_buffer_seconds", .gauge, "Media of the source that is ahead of the program.") {
            guard let buffered = $1.timing.buffered else { return }
            $0.seconds("tandem_source_buffer_seconds", ["uid": $2, "stream_type": $3], nanoseconds: buffered)
        }
    }

    // MARK: Segments and webhooks

    /// Adds what is published, and how long it took.
    ///
    /// - Parameter renditions: The names of the renditions with video, in the order of their tracks.
    package mutating func addViewing(_ latencies: RoomLatencies, renditions: [String]) {
        self.metrics.family(
            "tandem_segments_total", .counter, "Segments that were published, of all renditions together.")
        self.metrics.sample("tandem_segments_total", self.facts.segments)
        let (viewing, encoding) = (latencies.viewing, latencies.encoding)
        self.metrics.histograms(
            "tandem_encode_seconds", by: "rendition", zip(renditions, encoding).map { ($0, $1.pictures) },
            "From a picture entering its encoder to its being out of it, what the encoder looks ahead included.")
        self.metrics.histograms(
            "tandem_part_encode_seconds", by: "rendition", zip(renditions, encoding).map { ($0, $1.parts) },
            "From the last picture of a part entering its encoder to players being able to have the part.")
        self.metrics.histograms(
            "tandem_send_to_part_seconds", by: "rendition", zip(renditions, viewing.parts).map { ($0, $1) },
            "From a picture's arrival at the socket to its part being there, for every picture.")
        self.metrics.histogram(
            "tandem_send_to_segment_seconds", viewing.segments,
            "From a picture's arrival at the socket to its segment being there, for every picture.")
        self.metrics.histogram(
            "tandem_segment_publish_delay_seconds", latencies.publishing,
            "From the time at which the last frame of a segment was due to players being able to have the segment.")
    }

    /// Adds what came of the deliveries of events.
    ///
    /// - Parameter tallies: Of each webhook; its URL without what may not be shown.
    package mutating func addWebhooks(_ tallies: [(url: String, tally: WebhookCounters)]) {
        self.metrics.family(
            "tandem_webhook_deliveries_total", .counter,
            "Attempts to deliver an event: taken, refused by a status, or failed without one.")
        // Two may be at one host, which is all that may be shown of them.
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

    /// Adds what the kernel says of this process.
    ///
    /// - Parameters:
    ///   - cpu: CPU time so far, in nanoseconds.
    ///   - startTime: Nanoseconds since the Unix epoch.
    package mutating func addProcess(cpu: Int64, startTime: Int64) {
        ProcessFacts.add(to: &self.metrics, cpu: cpu, startTime: startTime)
    }
}
