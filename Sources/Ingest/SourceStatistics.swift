package import RTMP

/// Counts of one source since the server started; every later publisher adds to them.
package struct SourceStatistics: Sendable, Hashable {
    /// Publications accepted.
    package var publications = 0
    /// Someone publishes right now.
    package var isPublishing = false
    /// Bytes received on accepted connections, protocol included.
    package var bytes: UInt64 = 0
    package var videoPackets = 0
    package var keyFrames = 0
    package var audioPackets = 0
    /// What the demuxer dropped or mended, of the current or last publication.
    package var demuxed = FLVDemuxer.Counters()
    /// What the publisher does against the letter of the specification, of the current or last publication.
    package var quirks: RTMPQuirks = []
    /// Nanoseconds of the monotonic clock when the last packet arrived; 0 before the first.
    package var lastPacket: Int64 = 0

    package init() {}
}
