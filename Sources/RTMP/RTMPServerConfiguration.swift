package import MediaTypes

/// Settings of the server side of a connection. Durations are in nanoseconds.
package struct RTMPServerConfiguration: Sendable {
    package var limits = RTMPLimits()
    /// Codecs that are announced to clients that announce Enhanced RTMP.
    package var codecs = FLVDemuxer.usualCodecs
    /// Payload bytes per chunk that the server sends.
    package var chunkSize = 4096
    /// Time limit from the accepted connection to the end of C2, the client's last handshake packet.
    package var handshakeTimeout: Int64 = 5_000_000_000
    /// Time limit from the accepted connection, or from the end of a publication, to `publish`.
    package var publishTimeout: Int64 = 10_000_000_000
    /// Time limit from `publish` to the decision. HaishinKit gives up after 3 s.
    package var decisionTimeout: Int64 = 2_500_000_000
    /// Time limit from the decision to the first audio or video message.
    package var firstMediaTimeout: Int64 = 20_000_000_000
    /// Time without any byte from the publisher, after its first media, after which the connection is closed. Long on
    /// purpose: meanwhile the source of a silent encoder is stalled, but not gone.
    package var mediaIdleTimeout: Int64 = 90_000_000_000

    package init() {}
}
