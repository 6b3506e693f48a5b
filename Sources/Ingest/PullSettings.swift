package import MediaTypes
import RTMP

/// Settings of one source that is pulled from another server over RTMP.
package struct PullSettings: Sendable {
    package let source: SourceID
    package let url: RTMPURL
    /// Nanoseconds without media after which the connection is closed; the next attempt follows after the back-off.
    package var idleTimeout: Int64 = 90 * TimeMath.nanoseconds

    /// Codecs that the server may send.
    package var codecs = FLVDemuxer.usualCodecs

    package init(source: SourceID, url: RTMPURL) {
        self.source = source
        self.url = url
    }
}
