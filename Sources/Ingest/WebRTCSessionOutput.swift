import MediaTypes
import WebRTC

/// What a call of ``WebRTCSession`` leaves to its caller, in order.
struct WebRTCSessionOutput {
    struct Datagram: Equatable {
        let bytes: [UInt8]
        let address: ICEAddress
    }

    enum Change: Equatable {
        /// An address has proved that it belongs to the publisher.
        case known(ICEAddress)
        /// The handshake is complete: media can be received.
        case connected
        /// Neither RTP nor RTCP has arrived for ``WebRTCSession/Limits/silence``.
        case silent
        /// RTP arrives again after ``silent``.
        case resumed
        case ended(WebRTCSession.End)
    }

    /// Datagrams to send.
    var datagrams: [Datagram] = []
    var items: [SourceItem] = []
    var changes: [Change] = []

    /// Removes everything and keeps the memory.
    mutating func clear() {
        self.datagrams.removeAll(keepingCapacity: true)
        self.items.removeAll(keepingCapacity: true)
        self.changes.removeAll(keepingCapacity: true)
    }
}
