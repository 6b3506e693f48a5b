package import RTMP

/// Counters of one source since it was added, over all its publishers.
package struct SourceStatistics: Sendable, Hashable {
    /// Number of publications that were accepted.
    package var publications = 0
    /// True while the source is published; false while a connected WebRTC publisher is silent.
    package var isPublishing = false
    /// Bytes received. RTMP publishers: all bytes of the connection. WebRTC: authentic RTP and RTCP packets. SRT and
    /// RTMP pull sources: payload without protocol overhead.
    package var bytes: UInt64 = 0
    package var videoPackets = 0
    package var keyFrames = 0
    package var audioPackets = 0
    /// What the demuxer dropped or repaired in the current or last publication by RTMP or SRT.
    package var demuxed = FLVDemuxer.Counters()
    /// Deviations of the current or last RTMP publisher from the specification.
    package var quirks: RTMPQuirks = []
    /// Nanoseconds of the monotonic clock when the last packet arrived; 0 before the first.
    package var lastPacket: Int64 = 0

    /// Measurements of the current or last publisher; nil if it did not publish over WebRTC.
    package var webRTC: WebRTCStatistics?

    package init() {}
}
