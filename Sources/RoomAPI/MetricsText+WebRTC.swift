package import Control
package import Ingest
package import MediaTypes

extension MetricsText {
    /// Adds metrics of sources whose current or last publisher used WebRTC; nothing if there is none.
    package mutating func addWebRTC(_ sources: [(id: SourceID, statistics: WebRTCStatistics)]) {
        guard !sources.isEmpty else { return }
        self.family("tandem_source_rtp_packets_total", .counter, "RTP packets of a WebRTC publisher, by result.")
        for (id, statistics) in sources {
            for (result, count) in [
                ("sent", statistics.expected), ("lost", statistics.networkLost), ("recovered", statistics.recovered),
                ("abandoned", statistics.abandoned),
            ] {
                self.sample(
                    "tandem_source_rtp_packets_total",
                    ["uid": id.uid, "stream_type": id.streamType.rawValue, "result": result], max(0, count))
            }
        }
        self.family(
            "tandem_source_key_frame_requests_total", .counter, "PLI and FIR messages sent to a WebRTC publisher.")
        for (id, statistics) in sources {
            self.sample(
                "tandem_source_key_frame_requests_total", ["uid": id.uid, "stream_type": id.streamType.rawValue],
                statistics.keyFrameRequests)
        }
        self.family("tandem_source_round_trip_seconds", .gauge, "Round-trip time to a WebRTC publisher.")
        for (id, statistics) in sources {
            guard let roundTrip = statistics.media.roundTrip else { continue }
            self.seconds(
                "tandem_source_round_trip_seconds", ["uid": id.uid, "stream_type": id.streamType.rawValue],
                nanoseconds: roundTrip)
        }
        self.family("tandem_source_jitter_seconds", .gauge, "Interarrival jitter of a WebRTC publisher's packets.")
        for (id, statistics) in sources {
            self.seconds(
                "tandem_source_jitter_seconds", ["uid": id.uid, "stream_type": id.streamType.rawValue],
                nanoseconds: statistics.jitter)
        }
    }
}
