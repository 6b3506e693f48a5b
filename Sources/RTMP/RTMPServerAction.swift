package import MediaTypes

/// What the owner of a connection has to do now, in order.
package enum RTMPServerAction: Sendable {
    /// Write these bytes in one piece: some clients cannot read an answer that is cut.
    case send([UInt8])
    /// Decide with ``RTMPServerSession/decide(_:on:now:)``.
    case publishRequested(PublishRequest)
    case message(RTMPMediaMessage)
    /// What the encoder says of its stream. For display only: encoders are wrong in every field.
    case metadata([AMF0Property])
    /// What the encoder says the time was at `timestamp`, in the milliseconds of its media messages.
    case wallClock(WallClockTime, timestamp: UInt32)
    /// What the encoder says to players: the name of its message, and an array of the values behind it, as JSON text of at most 4,096
    /// bytes.
    case data(name: String, values: String)
    /// The accepted publication is over; the connection may publish again.
    case unpublished(UnpublishReason)
    /// Send what is left, close the sending side, read and drop for a second, close. Comes last, and once.
    case close(RTMPFailure)
}
