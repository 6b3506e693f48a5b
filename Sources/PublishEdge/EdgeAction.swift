package import RTMP

/// An action that the owner of an ``EdgeSession`` must perform, in order.
package enum EdgeAction: Sendable, Hashable {
    /// Write these bytes to the publisher in one piece: some clients cannot read a split answer.
    case sendToPublisher([UInt8])
    /// Stop reading from the publisher until ``forward``.
    case pausePublisher
    /// Look the room up and answer with ``EdgeSession/found(_:now:)``. The names are those of ``KeyDirectory``.
    case lookUp([String])
    /// Connect to the room; answer with ``EdgeSession/roomConnected(now:)`` or ``EdgeSession/roomClosed(now:)``.
    case connect(RoomLocation)
    case sendToRoom([UInt8])
    /// From now on, pass the publisher's bytes to the room unchanged and read from the publisher again. The room's
    /// bytes still go through ``EdgeSession/receiveFromRoom(_:)``.
    case forward
    /// Close the connection to the room, or give up connecting; do not report it.
    case closeRoom
    /// Send pending bytes to the publisher, close the sending side, read and discard for a second, then close. Comes
    /// last, and once.
    case close(EdgeEnd)
}

/// Why the edge closes a publisher's connection.
package enum EdgeEnd: Sendable, Hashable {
    /// The publisher's bytes are not acceptable, or it did not publish in time.
    case publisherFailed(RTMPFailure)
    /// The publisher sent too much before the room had accepted it.
    case tooMuchData
    /// No room has this key.
    case unknownKey
    /// The key has a room, but it could not be reached, or the key directory could not be read in time.
    case unreachable
    /// The room accepted the connection and did not answer `publish` in time.
    case roomSilent
    /// The room's bytes are not RTMP.
    case roomFailed(RTMPFailure)
    /// The room numbers its message streams in another way than the edge did, so its publisher's bytes cannot be passed
    /// on unchanged. Workers of Tandem number them alike.
    case otherStreamID
    /// The room answered with this error code.
    case refused(code: String)
    /// The room closed the connection.
    case roomClosed
    /// The key directory has another location for the key than the one that the publisher is connected to.
    case moved
    /// The edge stops.
    case stopped

    /// Short and stable name, for metrics.
    package var name: String {
        switch self {
        case .publisherFailed: "publisherFailed"
        case .tooMuchData: "tooMuchData"
        case .unknownKey: "unknownKey"
        case .unreachable: "unreachable"
        case .roomSilent: "roomSilent"
        case .roomFailed: "roomFailed"
        case .otherStreamID: "otherStreamID"
        case .refused: "refused"
        case .roomClosed: "roomClosed"
        case .moved: "moved"
        case .stopped: "stopped"
        }
    }

    /// Every ``name``.
    package static let names = [
        "publisherFailed", "tooMuchData", "unknownKey", "unreachable", "roomSilent", "roomFailed", "otherStreamID",
        "refused", "roomClosed", "moved", "stopped",
    ]
}

extension EdgeEnd: CustomStringConvertible {
    package var description: String {
        switch self {
        case .publisherFailed(let failure): "\(failure)"
        case .tooMuchData: "too much data arrived before the room accepted the publisher"
        case .unknownKey: "no room has this key"
        case .unreachable: "the room cannot be found or reached"
        case .roomSilent: "the room did not answer in time"
        case .roomFailed(let failure): "the room does not speak RTMP: \(failure)"
        case .otherStreamID: "the room assigned another message stream id than the edge"
        case .refused(let code): "refused by the room: \(code)"
        case .roomClosed: "the room closed the connection"
        case .moved: "the room has moved"
        case .stopped: "the edge stops"
        }
    }
}
