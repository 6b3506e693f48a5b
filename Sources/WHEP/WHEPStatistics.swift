/// Measurements of a room's WebRTC viewers. Counters begin with the server.
package struct WHEPStatistics: Sendable, Hashable {
    /// Viewers whose handshake is complete.
    package var viewers = 0
    /// Viewers whose offer was answered and who are not connected yet.
    package var joining = 0
    /// Viewers whose handshake is complete, by rendition.
    package var renditions: [String: Int] = [:]
    /// Number of viewers that have connected so far.
    package var sessions: UInt64 = 0
    /// Offers that were refused.
    package var refused: UInt64 = 0
    /// Bytes and packets of media that were sent, with retransmissions.
    package var bytes: UInt64 = 0
    package var packets: UInt64 = 0
    package var retransmitted: UInt64 = 0
    /// Packets that viewers have asked for again.
    package var nacks: UInt64 = 0
    /// Requests for a key frame (PLI and FIR).
    package var pictureLossRequests: UInt64 = 0
    /// Packets that viewers have reported as lost.
    package var lost: UInt64 = 0
    /// Groups of frames that were left out for viewers that could not follow.
    package var skippedGOPs: UInt64 = 0
    /// Datagrams that belong to no viewer, or were refused.
    package var strangers: UInt64 = 0

    package init() {}

    /// Sets the counters that are sums over the viewers, past and present.
    mutating func set(_ counters: ViewerCounters, strangers: UInt64) {
        self.bytes = counters.bytes
        self.packets = counters.packets
        self.retransmitted = counters.retransmitted
        self.nacks = counters.requested
        self.pictureLossRequests = counters.pictureLossRequests
        self.lost = counters.lost
        self.skippedGOPs = counters.skippedGroups
        self.strangers = counters.refused &+ strangers
    }
}
