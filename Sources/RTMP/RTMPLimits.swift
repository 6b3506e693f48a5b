/// The limits of one connection. The defaults suit every real encoder and keep the cost of a hostile one low.
package struct RTMPLimits: Sendable {
    /// Number of distinct chunk stream ids.
    package var chunkStreams = 64
    /// Number of incomplete messages; at most ``RTMPChunkReader/maximumPartials``.
    package var partialMessages = RTMPChunkReader.maximumPartials
    /// Nesting depth of objects and arrays in commands and metadata.
    package var amfDepth = AMF0Reader.maximumDepth
    /// Bytes received of incomplete messages.
    package var partialBytes = 16 << 20
    /// Bytes of one audio, video or aggregate message.
    package var mediaLength = 8 << 20
    /// Bytes of one data message.
    package var dataLength = 1 << 20
    /// Bytes of one command or shared object message.
    package var commandLength = 64 << 10
    /// Bytes of one protocol or user control message.
    package var controlLength = 64
    /// Bytes from the handshake to `publish`.
    package var setupBytes = 64 << 10
    /// Bytes of media queued until the decision on a publish request.
    package var undecidedBytes = 1 << 20
    /// Bytes of one metadata message; larger ones are ignored.
    package var metadataLength = 64 << 10
    /// Streams of one connection that have been created and not closed or deleted.
    package var createdStreams = 8
    /// Commands and control messages per second, sustained and as a burst.
    package var commandRate = (perSecond: Int64(20), burst: Int64(100))
    /// Messages of less than 16 bytes per second, sustained and as a burst.
    package var tinyMessageRate = (perSecond: Int64(5_000), burst: Int64(10_000))

    package init() {}

    /// Maximum size of a message of `type`, in bytes.
    package func length(of type: RTMPMessageType) -> Int {
        switch type {
        case .audio, .video, .aggregate: self.mediaLength
        case .dataAMF0, .dataAMF3: self.dataLength
        default: type.isControl ? self.controlLength : self.commandLength
        }
    }
}
