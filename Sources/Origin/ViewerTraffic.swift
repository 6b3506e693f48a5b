package import HTTPListener

/// What a viewers' listener has served since it was started, and to how many viewers.
package struct ViewerTraffic: Sendable {
    /// Open connections.
    package var connections: Int
    /// Replies by status; see ``ReplyCounters/rows``.
    package var replies: [ReplyCounters.Row]
    /// Bytes passed to the sockets; see ``ReplyCounters/sentBytes``.
    package var sentBytes: Int64
    /// Players that read playlists: an estimate from the pace of their requests, averaged over 30 seconds. Players
    /// behind a cache count only as far as the cache forwards their requests.
    package var playlistViewers: Int64
    /// Viewers of HTTP-FLV and WebSocket-FLV.
    package var streamViewers: Int64
    /// Milliseconds of playback that playlist requests cover: it grows by one second per second and player.
    package var watched: Int64

    /// A listener that has served nothing.
    package init(
        connections: Int = 0, replies: [ReplyCounters.Row] = [], sentBytes: Int64 = 0, playlistViewers: Int64 = 0,
        streamViewers: Int64 = 0, watched: Int64 = 0
    ) {
        self.connections = connections
        self.replies = replies
        self.sentBytes = sentBytes
        self.playlistViewers = playlistViewers
        self.streamViewers = streamViewers
        self.watched = watched
    }
}
