package import Control
package import Origin

extension MetricsText {
    /// Adds the number of viewers and the requests and bytes that the viewers' listener has served. All values are 0
    /// without a listener.
    package mutating func addViewers(_ traffic: ViewerTraffic) {
        self.family("tandem_viewer_connections", .gauge, "Open connections of the viewers' listener.")
        self.sample("tandem_viewer_connections", Int64(traffic.connections))
        self.family(
            "tandem_viewers", .gauge,
            "Viewers: hls is an estimate from the pace of playlist requests over 30 s, flv and webrtc are numbers of streams."
        )
        let counts = [
            ("hls", traffic.playlistViewers), ("flv", traffic.streamViewers), ("webrtc", traffic.webRTCViewers),
        ]
        for (name, count) in counts {
            self.sample("tandem_viewers", ["protocol": name], count)
        }
        self.family(
            "tandem_viewer_watch_seconds_total", .counter,
            "Playback that playlist requests cover, one second per second and player: its rate is the number of players."
        )
        self.seconds("tandem_viewer_watch_seconds_total", nanoseconds: traffic.watched &* 1_000_000)
        self.family("tandem_viewer_requests_total", .counter, "Replies to viewers by status.")
        for row in traffic.replies { self.sample("tandem_viewer_requests_total", ["code": row.code], row.replies) }
        self.family("tandem_viewer_body_bytes_total", .counter, "Bytes of the bodies of these replies to viewers.")
        for row in traffic.replies { self.sample("tandem_viewer_body_bytes_total", ["code": row.code], row.bytes) }
        self.family(
            "tandem_viewer_sent_bytes_total", .counter,
            "Bytes sent to viewers with heads and encryption, counted once per second and connection.")
        self.sample("tandem_viewer_sent_bytes_total", traffic.sentBytes)
    }
}
