package import MediaTypes
package import WebRTC

/// What a call of ``WebRTCSession`` leaves to its caller, in order.
package struct WebRTCSessionOutput: SessionOutput {
    package struct Datagram: Equatable {
        package let bytes: [UInt8]
        package let address: ICEAddress
    }

    /// Datagrams to send.
    package var datagrams: [Datagram] = []
    package var items: [SourceItem] = []
    package var changes: [SessionChange] = []

    package init() {}

    package mutating func addAlone(_ bytes: [UInt8], to address: ICEAddress) {
        self.datagrams.append(Datagram(bytes: bytes, address: address))
    }

    /// Removes everything and keeps the memory.
    package mutating func clear() {
        self.datagrams.removeAll(keepingCapacity: true)
        self.items.removeAll(keepingCapacity: true)
        self.changes.removeAll(keepingCapacity: true)
    }
}
