import Control
import Events
import HTTPListener
import Ingest
import MediaTypes
import Origin
import Room
import RoomAPI
import RoomSources
import Testing

/// The value of a series in a metrics text; nil if there is no such series.
///
/// - Parameter series: Name and labels, as they are written.
private func value(_ series: String, in text: String) -> Double? {
    let line = text.split(separator: "\n").first { $0.hasPrefix("\(series) ") }
    return line.flatMap { Double($0.dropFirst(series.utf8.count + 1)) }
}

@Suite("Metrics of viewers, refusals, alarms, certificates, webhooks and publish delays")
struct RoomMetricsTests {
    private static func text(_ add: (inout MetricsText) -> Void) -> String {
        var metrics = MetricsText()
        add(&metrics)
        return metrics.text
    }

    @Test("the metrics of a viewers' listener have its connections, viewers, watch time, requests and bytes")
    func viewers() {
        var row = ReplyCounters.Row(code: "206")
        (row.replies, row.bytes) = (3, 4_000)
        let traffic = ViewerTraffic(
            connections: 7, replies: [row], sentBytes: 5_000, playlistViewers: 12, streamViewers: 2,
            webRTCViewers: 4, watched: 61_500)
        let text = Self.text { $0.addViewers(traffic) }
        #expect(value("tandem_viewer_connections", in: text) == 7)
        #expect(value(#"tandem_viewers{protocol="hls"}"#, in: text) == 12)
        #expect(value(#"tandem_viewers{protocol="flv"}"#, in: text) == 2)
        #expect(value(#"tandem_viewers{protocol="webrtc"}"#, in: text) == 4)
        #expect(value("tandem_viewer_watch_seconds_total", in: text) == 61.5)
        #expect(value(#"tandem_viewer_requests_total{code="206"}"#, in: text) == 3)
        #expect(value(#"tandem_viewer_body_bytes_total{code="206"}"#, in: text) == 4_000)
        #expect(value("tandem_viewer_sent_bytes_total", in: text) == 5_000)
    }

    @Test("without viewer traffic, the metrics of connections and HLS viewers are 0")
    func noViewers() {
        let text = Self.text { $0.addViewers(ViewerTraffic()) }
        #expect(value("tandem_viewer_connections", in: text) == 0)
        #expect(value(#"tandem_viewers{protocol="hls"}"#, in: text) == 0)
    }

    @Test(
        "tandem_ingest_refused_total counts every refused publisher by error code, also those without an event, and has no address"
    )
    func refusals() {
        var reports = RefusalReports()
        let start = Self.text(reports.addMetrics)
        #expect(value(#"tandem_ingest_refused_total{code="authDenied"}"#, in: start) == 0)
        #expect(value(#"tandem_ingest_refused_total{code="closed"}"#, in: start) == 0)
        var reported = 0
        for port in 0..<100 where reports.tell("192.0.2.1:\(port)", code: .authDenied, now: 0) != nil { reported += 1 }
        #expect(reported < 100)
        _ = reports.tell("192.0.2.2:1", code: nil, now: 0)
        _ = reports.tell("192.0.2.2:1", code: .unsupportedCodec, now: 0)
        let text = Self.text(reports.addMetrics)
        #expect(value(#"tandem_ingest_refused_total{code="authDenied"}"#, in: text) == 100)
        #expect(value(#"tandem_ingest_refused_total{code="closed"}"#, in: text) == 1)
        #expect(value(#"tandem_ingest_refused_total{code="unsupportedCodec"}"#, in: text) == 1)
        #expect(!text.contains("192.0.2"))
    }

    @Test("tandem_alarms counts alarms by type and severity; a room without alarms has no sample")
    func alarms() {
        func alarm(_ type: String, _ severity: String, _ subject: String) -> RoomAlarm {
            RoomAlarm(type, severity, kind: "source", subject: subject, message: subject)
        }
        let text = Self.text {
            $0.addAlarms([
                alarm("source.lost", "alert_3", "1"), alarm("source.gap", "alert_2", "2"),
                alarm("source.lost", "alert_3", "3"),
            ])
        }
        #expect(value(#"tandem_alarms{type="source.lost",severity="alert_3"}"#, in: text) == 2)
        #expect(value(#"tandem_alarms{type="source.gap",severity="alert_2"}"#, in: text) == 1)
        #expect(!Self.text { $0.addAlarms([]) }.contains("tandem_alarms{"))
    }

    @Test("metrics have the expiry of certificates by listener, and the queued events of webhooks, summed by equal URL")
    func others() {
        let text = Self.text {
            $0.addCertificates([("viewer", 1_800_000_000), ("rtmps", 1_900_000_000)])
            $0.addWebhookQueues([("https://a.example", 3), ("https://b.example", 0), ("https://a.example", 4)])
        }
        let expiry = "tandem_certificate_expiry_timestamp_seconds"
        #expect(value(#"\#(expiry){listener="viewer"}"#, in: text) == 1_800_000_000)
        #expect(value(#"\#(expiry){listener="rtmps"}"#, in: text) == 1_900_000_000)
        #expect(value(#"tandem_webhook_queue_events{webhook="https://a.example"}"#, in: text) == 7)
        #expect(value(#"tandem_webhook_queue_events{webhook="https://b.example"}"#, in: text) == 0)
        #expect(Self.text { $0.addCertificates([]) }.isEmpty)
    }

    @Test(
        "a WebRTC publisher has metrics of its packets, key frame requests, jitter and round trip; without one there are none"
    )
    func webRTC() {
        #expect(Self.text { $0.addWebRTC([]) }.isEmpty)
        var statistics = WebRTCStatistics()
        statistics.media.tracks = [.init(.video), .init(.audio)]
        (statistics.media.tracks[0].expected, statistics.media.tracks[1].expected) = (1_000, 500)
        (statistics.media.tracks[0].networkLost, statistics.media.tracks[1].networkLost) = (30, -1)
        (statistics.media.tracks[0].ordering.recovered, statistics.media.tracks[0].ordering.lost) = (28, 2)
        statistics.media.tracks[0].keyFrameRequests = 3
        statistics.media.tracks[1].jitter = 12_500_000
        let id = SourceID(uid: "1001")
        let labels = #"uid="1001",stream_type="main""#
        var text = Self.text { $0.addWebRTC([(id, statistics)]) }
        for (result, count) in [("sent", 1_500.0), ("lost", 29), ("recovered", 28), ("abandoned", 2)] {
            #expect(value(#"tandem_source_rtp_packets_total{\#(labels),result="\#(result)"}"#, in: text) == count)
        }
        #expect(value("tandem_source_key_frame_requests_total{\(labels)}", in: text) == 3)
        #expect(value("tandem_source_jitter_seconds{\(labels)}", in: text) == 0.0125)
        #expect(!text.contains("tandem_source_round_trip_seconds{"))
        statistics.media.roundTrip = 60_000_000
        text = Self.text { $0.addWebRTC([(id, statistics)]) }
        #expect(value("tandem_source_round_trip_seconds{\(labels)}", in: text) == 0.06)
    }

    @Test("a segment's publish delay is counted from when its last frame is due")
    func delay() {
        let latencies = RoomLatencies(tracks: 1)
        // Frames 0 to 19 at 10 frames per second: the last one is due at 1.9 s.
        latencies.published(0..<20, at: 2_000_000_000, fps: 10)
        latencies.published(20..<40, at: 4_400_000_000, fps: 10)
        #expect(latencies.publishing.count == 2)
        #expect(latencies.publishing.sum == 100_000_000 + 500_000_000)
    }
}

extension InProcess {
    @Suite("Metrics of a live room")
    struct MetricsTests {
        private static let url = "https://one.example/?token=one"
        private static let members = """
            "control": { "events": [{ "type": "webhook", "url": "\(Self.url)" }] },
            "alarms": { "windowMs": 2000, "clearAfterMs": 0 },
            """

        @Test(
            "metrics of segments, disk, refusals, alarms and a webhook's backlog follow what happens; a cleared alarm has no sample"
        )
        func moves() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let receivers = ScriptedReceivers()
            let room = try await RoomHarness.open(
                HarnessRooms.duel(directory.path, members: Self.members), receivers: receivers)
            let queue = #"tandem_webhook_queue_events{webhook="https://one.example"}"#
            let refused = #"tandem_ingest_refused_total{code="authDenied"}"#
            let bytes = #"tandem_rendition_bytes_total{rendition="90p"}"#
            let rate = #"tandem_rendition_bytes_per_second{rendition="90p"}"#
            let delays = "tandem_segment_publish_delay_seconds_count"
            let lost = #"tandem_alarms{type="source.lost","#
            try await receivers.wait(for: "room.ready", by: Self.url)
            let before = try await room.command(.get, "/metrics").body
            #expect(value(refused, in: before) == 0 && value(bytes, in: before) == 0 && value(delays, in: before) == 0)
            #expect(value(rate, in: before) == nil && !before.contains(lost))
            #expect(value(#"tandem_rendition_target_bytes_per_second{rendition="90p"}"#, in: before) == 12_500)
            #expect(value("tandem_viewer_sent_bytes_total", in: before) == 0)

            try await room.goLive(HarnessRooms.first)
            try await room.publish(seconds: 4)
            // The disk is measured twice a second.
            try await room.run(seconds: 1)
            receivers.set(Self.url, refuses: true)
            await #expect(throws: ScriptedPublisher.Refused.self) {
                try await room.connect(HarnessRooms.first, key: "another")
            }
            let live = try await room.command(.get, "/metrics").body
            // Attempts are repeated in real time, and less and less often.
            receivers.set(Self.url, refuses: false)
            #expect(value(refused, in: live) == 1)
            let published = room.segments.reduce(Int64(0)) { $0 + ($1.member("bytes", "90p")?.integer ?? 0) }
            #expect(published > 0 && (value(bytes, in: live) ?? 0) >= Double(published))
            #expect((value(rate, in: live) ?? 0) > 100)
            #expect((value(delays, in: live) ?? 0) >= 1)
            #expect((value("tandem_disk_used_bytes", in: live) ?? 0) > 0)
            #expect((value("tandem_disk_free_bytes", in: live) ?? 0) > 0)
            #expect((value(queue, in: live) ?? 0) >= 1, "the event about the refused publisher")

            let mark = room.events.count
            try await room.drop(HarnessRooms.first)
            try await room.run(until: "alarm.set", uid: HarnessRooms.first, from: mark) {
                $0.member("alarm", "type")?.string == "source.lost"
            }
            #expect(try await room.command(.get, "/metrics").body.contains(lost))
            try await room.goLive(HarnessRooms.first)
            try await room.run(until: "alarm.cleared", uid: HarnessRooms.first, from: mark) {
                $0.member("alarm", "type")?.string == "source.lost"
            }
            // The list of alarms still has it.
            let listed = try await room.command(.get, "/v1/alarms").body
            let after = try await room.command(.get, "/metrics").body
            #expect(listed.contains("source.lost") && !after.contains(lost))
            try await room.end()
        }
    }
}
