package import RTMP

/// Counters of one source since the server started, over all its publishers.
package struct SourceStatistics: Sendable, Hashable {
    /// Number of publications that were accepted.
    package var publications = 0
    /// True while a publisher is connected.
    package var isPublishing = false
    /// Bytes received on accepted connections, protocol included. WebRTC: packets of media that were authentic.
    package var bytes: UInt64 = 0
    package var videoPackets = 0
    package var keyFrames = 0
    package var audioPackets = 0
    /// What the demuxer dropped or repaired in the current or last publication.
    package var demuxed = FLVDemuxer.Counters()
    /// Deviations of the publisher from the specification, in the current or last publication.
    package var quirks: RTMPQuirks = []
    /// Nanoseconds of the monotonic clock when the last packet arrived; 0 before the first.
    package var lastPacket: Int64 = 0

    /// Measurements of the current or last WebRTC publisher; nil if there was none.
    package var webRTC: WebRTCStatistics?

    package init() {}
}
