package import WebRTC

/// What a call of ``ViewerSession`` leaves to its caller, in order.
package struct ViewerOutput: SessionOutput {
    /// Bytes to send to an address.
    package struct Datagram: Equatable {
        package var bytes: [UInt8]
        /// The bytes are several datagrams of this size, of which the last may be shorter; 0: they are one.
        package var segment = 0
        package var address: ICEAddress

        package init(bytes: [UInt8], segment: Int = 0, address: ICEAddress) {
            self.bytes = bytes
            self.segment = segment
            self.address = address
        }

        /// The bytes, divided into datagrams.
        package var parts: [ArraySlice<UInt8>] {
            guard self.segment > 0 else { return [self.bytes[...]] }
            return stride(from: 0, to: self.bytes.count, by: self.segment).map {
                self.bytes[$0..<min($0 + self.segment, self.bytes.count)]
            }
        }
    }

    /// Maximum number of packets in one ``Datagram``, and of their bytes: within the kernel's limits for segmentation.
    private static let mostSegments = 40
    private static let mostBytes = 60_000

    package var datagrams: [Datagram] = []
    package var changes: [SessionChange] = []
    /// Packets in the last datagram, if more may be added.
    private var segments = 0

    package init() {}

    /// Adds a media packet; packets of one size become one ``Datagram``.
    mutating func add(_ packet: [UInt8], to address: ICEAddress) {
        if let last = self.datagrams.indices.last, self.segments > 0, self.segments < Self.mostSegments,
            self.datagrams[last].address == address
        {
            let size =
                self.datagrams[last].segment > 0 ? self.datagrams[last].segment : self.datagrams[last].bytes.count
            if packet.count <= size, self.datagrams[last].bytes.count + packet.count <= Self.mostBytes {
                self.datagrams[last].segment = size
                self.datagrams[last].bytes += packet
                // No packet can follow a shorter one in the same datagram.
                self.segments = packet.count < size ? 0 : self.segments + 1
                return
            }
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(packet.count * 4)
        bytes += packet
        self.datagrams.append(Datagram(bytes: bytes, address: address))
        self.segments = 1
    }

    /// Adds a datagram that stays alone.
    package mutating func addAlone(_ bytes: [UInt8], to address: ICEAddress) {
        self.datagrams.append(Datagram(bytes: bytes, address: address))
        self.segments = 0
    }

    /// Removes everything and keeps the memory.
    package mutating func clear() {
        self.datagrams.removeAll(keepingCapacity: true)
        self.changes.removeAll(keepingCapacity: true)
        self.segments = 0
    }
}
