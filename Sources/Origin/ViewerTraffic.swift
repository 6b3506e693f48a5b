package import HTTPListener

/// Statistics of a playback listener since its start, and its current number of viewers.
package struct ViewerTraffic: Sendable {
    /// Number of open connections.
    package var connections: Int
    /// Number of replies by status; see ``ReplyCounters/rows``.
    package var replies: [ReplyCounters.Row]
    /// Number of bytes passed to the sockets; see ``ReplyCounters/sentBytes``.
    package var sentBytes: Int64
    /// Estimated number of HLS players, from the rate of their playlist requests averaged over 30 seconds. Players
    /// behind a cache count only as far as the cache forwards their requests.
    package var playlistViewers: Int64
    /// Number of viewers connected over HTTP-FLV and WebSocket-FLV.
    package var streamViewers: Int64
    /// Number of connected WebRTC viewers.
    package var webRTCViewers: Int64
    /// Playback time in milliseconds that playlist requests cover: it grows by one second per second and player.
    package var watched: Int64

    /// Makes statistics; without arguments, those of a listener that has served nothing.
    package init(
        connections: Int = 0, replies: [ReplyCounters.Row] = [], sentBytes: Int64 = 0, playlistViewers: Int64 = 0,
        streamViewers: Int64 = 0, webRTCViewers: Int64 = 0, watched: Int64 = 0
    ) {
        self.connections = connections
        self.replies = replies
        self.sentBytes = sentBytes
        self.playlistViewers = playlistViewers
        self.streamViewers = streamViewers
        self.webRTCViewers = webRTCViewers
        self.watched = watched
    }
}
