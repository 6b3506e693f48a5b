/// The limits of one connection. The defaults suit every real encoder and keep the cost of a hostile one low.
package struct RTMPLimits: Sendable {
    /// Maximum number of distinct chunk stream ids.
    package var chunkStreams = 64
    /// Maximum number of incomplete messages; not more than ``RTMPChunkReader/maximumPartials``.
    package var partialMessages = RTMPChunkReader.maximumPartials
    /// Maximum nesting depth of objects and arrays in commands and metadata.
    package var amfDepth = AMF0Reader.maximumDepth
    /// Maximum number of bytes held of incomplete messages.
    package var partialBytes = 16 << 20
    /// Maximum size of one audio, video or aggregate message, in bytes.
    package var mediaLength = 8 << 20
    /// Maximum size of one data message, in bytes; a larger one ends the connection. See also ``metadataLength``.
    package var dataLength = 1 << 20
    /// Maximum size of one command, shared object message or message of an unknown type, in bytes.
    package var commandLength = 64 << 10
    /// Maximum size of one protocol or user control message, in bytes.
    package var controlLength = 64
    /// Maximum number of bytes that a client may send after the handshake, or after the end of a publication, before
    /// the read that contains `publish`.
    package var setupBytes = 64 << 10
    /// Maximum number of bytes queued until the decision on a publish request: each message counts as its payload and
    /// 128 bytes. Media over the limit is dropped; any other message over it ends the connection.
    package var undecidedBytes = 1 << 20
    /// Maximum size in bytes of a data message that is read; larger ones, up to ``dataLength``, are ignored.
    package var metadataLength = 64 << 10
    /// Maximum number of streams of one connection that have been created and not closed or deleted. The end of its
    /// publication also closes a stream.
    package var createdStreams = 8
    /// Rate limit of commands and control messages other than acknowledgements: per second, and as a burst.
    package var commandRate = (perSecond: Int64(20), burst: Int64(100))
    /// Rate limit of messages with a payload of less than 16 bytes: per second, and as a burst.
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
