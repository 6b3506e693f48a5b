package import MediaTypes
package import WebRTC

/// What a call of ``WebRTCSession`` leaves to its caller, in order.
package struct WebRTCSessionOutput {
    package struct Datagram: Equatable {
        package let bytes: [UInt8]
        package let address: ICEAddress
    }

    package enum Change: Equatable {
        /// A valid connectivity check arrived from this address; reported for each check.
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
    package var datagrams: [Datagram] = []
    package var items: [SourceItem] = []
    package var changes: [Change] = []

    package init() {}

    /// Removes everything and keeps the memory.
    package mutating func clear() {
        self.datagrams.removeAll(keepingCapacity: true)
        self.items.removeAll(keepingCapacity: true)
        self.changes.removeAll(keepingCapacity: true)
    }
}
