package import MediaTypes

/// An action that the owner of a server connection must perform, in order.
package enum RTMPServerAction: Sendable {
    /// Write these bytes in one piece: some clients cannot read a split answer.
    case send([UInt8])
    /// The client asks to publish: decide with ``RTMPServerSession/decide(_:on:now:)``.
    case publishRequested(PublishRequest)
    case message(RTMPMediaMessage)
    /// Metadata from the encoder. For display only, because every field can be wrong.
    case metadata([AMF0Property])
    /// The encoder's wall-clock time at `timestamp`, which is in milliseconds like the timestamps of its media
    /// messages.
    case wallClock(WallClockTime, timestamp: UInt32)
    /// A data message for players: its name, and the values after the name as a JSON array of at most 4,096 bytes.
    case data(name: String, values: String)
    /// The accepted publication has ended; the connection may publish again if the reason is
    /// ``UnpublishReason/client``.
    case unpublished(UnpublishReason)
    /// Send pending bytes, close the sending side, read and discard input for one second, then close the connection. It
    /// is the last action, and occurs at most once.
    case close(RTMPFailure)
}
