/// The bounds of one connection. The defaults fit every real encoder and keep a hostile one cheap.
package struct RTMPLimits: Sendable {
    /// Distinct chunk stream ids.
    package var chunkStreams = 64
    /// Incomplete messages; at most ``RTMPChunkReader/maximumPartials``.
    package var partialMessages = RTMPChunkReader.maximumPartials
    /// Objects and arrays within one another, in commands and metadata.
    package var amfDepth = AMF0Reader.maximumDepth
    /// Bytes received of messages that are not complete.
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
    /// Bytes of media that wait for the decision on a publish request.
    package var undecidedBytes = 1 << 20
    /// Bytes of one metadata message that is passed on.
    package var metadataLength = 64 << 10
    /// Streams that one connection may have created and neither closed nor deleted.
    package var createdStreams = 8
    /// Commands and control messages a second, sustained and at once.
    package var commandRate = (perSecond: Int64(20), burst: Int64(100))
    /// Messages of under 16 bytes a second, sustained and at once.
    package var tinyMessageRate = (perSecond: Int64(5_000), burst: Int64(10_000))

    package init() {}

    /// Largest message of `type`, in bytes.
    package func length(of type: RTMPMessageType) -> Int {
        switch type {
        case .audio, .video, .aggregate: self.mediaLength
        case .dataAMF0, .dataAMF3: self.dataLength
        default: type.isControl ? self.controlLength : self.commandLength
        }
    }
}
