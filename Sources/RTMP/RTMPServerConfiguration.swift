package import MediaTypes

/// Settings of the server's side of a connection. Durations are nanoseconds.
package struct RTMPServerConfiguration: Sendable {
    package var limits = RTMPLimits()
    /// Codecs that clients are told they may send, if they ask.
    package var codecs = FLVDemuxer.usualCodecs
    /// Payload bytes of the chunks we send.
    package var chunkSize = 4096
    /// From accept to the end of C2.
    package var handshakeTimeout: Int64 = 5_000_000_000
    /// From accept, or from the end of a publication, to `publish`.
    package var publishTimeout: Int64 = 10_000_000_000
    /// From `publish` to the decision. HaishinKit gives up after 3 s.
    package var decisionTimeout: Int64 = 2_500_000_000
    /// From the decision to the first audio or video.
    package var firstMediaTimeout: Int64 = 20_000_000_000
    /// Without a byte from the publisher. Long on purpose: a silent encoder is stalled, and only the network or the
    /// operator says that it is gone.
    package var mediaIdleTimeout: Int64 = 90_000_000_000

    package init() {}
}
