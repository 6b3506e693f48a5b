package import MediaTypes

/// An action that the owner of a server connection must perform, in order.
package enum RTMPServerAction: Sendable {
    /// Write these bytes in one piece: some clients cannot read a split answer.
    case send([UInt8])
    /// Decide with ``RTMPServerSession/decide(_:on:now:)``.
    case publishRequested(PublishRequest)
    case message(RTMPMediaMessage)
    /// Metadata of the encoder. For display only: every field of it can be wrong.
    case metadata([AMF0Property])
    /// The wall-clock time of the encoder at `timestamp`, which is in milliseconds as in its media messages.
    case wallClock(WallClockTime, timestamp: UInt32)
    /// A data message for players: its name, and the values after the name as a JSON array of at most 4,096 bytes.
    case data(name: String, values: String)
    /// The accepted publication has ended; the connection may publish again.
    case unpublished(UnpublishReason)
    /// Send pending bytes, close the sending side, read and discard for a second, then close. Comes last, and once.
    case close(RTMPFailure)
}
