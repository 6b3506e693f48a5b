package import MediaTypes
import RTMP

/// One source that is fetched from another server.
package struct PullSettings: Sendable {
    package let source: SourceID
    package let url: RTMPURL
    /// Nanoseconds without a byte of media until the connection is given up and made anew.
    package var idleTimeout: Int64 = 90 * TimeMath.nanoseconds

    /// Codecs that may come in.
    package var codecs = FLVDemuxer.usualCodecs

    package init(source: SourceID, url: RTMPURL) {
        self.source = source
        self.url = url
    }
}
