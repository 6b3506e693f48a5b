/// What one viewer was sent and has reported. All values only grow.
package struct ViewerCounters: Sendable, Hashable {
    /// Bytes and packets of media that were sent, protected and with retransmissions.
    package var bytes: UInt64 = 0
    package var packets: UInt64 = 0
    package var retransmitted: UInt64 = 0
    /// Packets that the viewer has asked for again.
    package var requested: UInt64 = 0
    /// Requests for a key frame (PLI and FIR).
    package var pictureLossRequests: UInt64 = 0
    /// Packets that the viewer has reported as lost in its receiver reports.
    package var lost: UInt64 = 0
    /// Groups of frames that were left out because the viewer could not follow.
    package var skippedGroups: UInt64 = 0
    /// Datagrams that were refused: not authentic, repeated, malformed, media, or from an address without a valid check.
    package var refused: UInt64 = 0

    package init() {}

    static func += (left: inout ViewerCounters, right: ViewerCounters) {
        left.bytes &+= right.bytes
        left.packets &+= right.packets
        left.retransmitted &+= right.retransmitted
        left.requested &+= right.requested
        left.pictureLossRequests &+= right.pictureLossRequests
        left.lost &+= right.lost
        left.skippedGroups &+= right.skippedGroups
        left.refused &+= right.refused
    }
}
