/// Splits the byte stream of an ICE-TCP connection into packets: each has its length before it, as 16 bits.
///
/// Pure: feed bytes with ``append(_:)``, then call ``next()`` until it needs more bytes.
///
/// Spec: RFC 4571 §2, RFC 6544 §3.
package struct FramedStream: Sendable {
    package enum Next: Sendable, Hashable {
        /// The next packet is incomplete: call again after ``FramedStream/append(_:)``.
        case needsBytes
        case packet([UInt8])
        /// The stream announces a packet of this many bytes, which is above the limit. Close the connection: where the
        /// next packet begins is unknown.
        case tooLong(Int)
    }

    /// Largest accepted packet in bytes. Peers send STUN, DTLS and RTP packets of at most 1,500 bytes.
    package static let largestPacket = 4096

    private var bytes: [UInt8] = []
    /// Where the next length begins in ``bytes``.
    private var start = 0
    private var refused: Int?

    package init() {}

    /// Bytes that are held: at most those of the last ``append(_:)`` and one incomplete packet, if every packet is
    /// taken by ``next()`` before the next ``append(_:)``.
    package var count: Int { self.bytes.count - self.start }

    package mutating func append(_ received: some Collection<UInt8>) {
        guard self.refused == nil else { return }
        if self.start > 0 {
            self.bytes.removeFirst(self.start)
            self.start = 0
        }
        self.bytes.append(contentsOf: received)
    }

    /// The next packet. Empty packets (RFC 4571 §2) are skipped.
    package mutating func next() -> Next {
        while self.count >= 2 {
            if let refused { return .tooLong(refused) }
            let length = Int(self.bytes[self.start]) << 8 | Int(self.bytes[self.start + 1])
            guard length <= FramedStream.largestPacket else {
                self.refused = length
                return .tooLong(length)
            }
            guard self.count >= 2 + length else { return .needsBytes }
            let packet = Array(self.bytes[self.start + 2..<self.start + 2 + length])
            self.start += 2 + length
            if !packet.isEmpty { return .packet(packet) }
        }
        return .needsBytes
    }

    /// A packet with its length before it.
    ///
    /// - Returns: nil above 65,535 bytes.
    package static func frame(_ packet: [UInt8]) -> [UInt8]? {
        guard let length = UInt16(exactly: packet.count) else { return nil }
        return [UInt8(length >> 8), UInt8(length & 0xFF)] + packet
    }
}
